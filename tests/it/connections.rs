//! The limits of connections: how many, how long, and what is answered beyond them.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::conformance::assert_error;
use crate::support::{Answer, TestApp};

/// How long the server may take until something is seen.
const PATIENCE: Duration = Duration::from_secs(20);
/// The largest file that is served to everyone.
const LARGE: &str = "/docs/swagger-ui-bundle.js";

fn address(app: &TestApp) -> SocketAddr {
    app.base.trim_start_matches("http://").parse().expect("an address")
}

/// A connection with a receive buffer of 4 KiB, over which so many requests for a large file were sent.
async fn greedy(app: &TestApp, requests: usize) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("a small buffer");
    let mut stream = socket.connect(address(app)).await.expect("the server listens");
    let request = format!("GET {LARGE} HTTP/1.1\r\nHost: api\r\n\r\n").repeat(requests);
    stream.write_all(request.as_bytes()).await.expect("the requests are sent");
    stream
}

/// One request on a connection of its own.
async fn ask(app: &TestApp, path: &str) -> Answer {
    let request = format!("GET {path} HTTP/1.1\r\nHost: api\r\nConnection: close\r\n\r\n");
    let received = app.exchange(request.as_bytes(), false).await;
    received.answers.into_iter().next().expect("a response")
}

/// Asks until the server has a connection for this client again; how long that took.
async fn until_served(app: &TestApp) -> Duration {
    let started = Instant::now();
    while ask(app, "/docs/").await.status != 200 {
        assert!(started.elapsed() < PATIENCE, "the connection is still open");
        tokio::task::yield_now().await;
    }
    started.elapsed()
}

#[tokio::test]
async fn a_client_that_does_not_read_is_disconnected() {
    let app = TestApp::start_limited(|limits| {
        limits.per_address = 1;
        limits.timeouts.write = Duration::from_millis(300);
    })
    .await;
    let mut stream = greedy(&app, 20).await;
    assert_eq!(ask(&app, "/docs/").await.status, 500, "the only connection is in use");
    assert!(until_served(&app).await > Duration::from_millis(100));
    // What was sent before can be read; then the connection breaks off.
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.expect("an end");
    assert!(read.is_err() || bytes.len() < 20 * 1_000_000);
}

#[tokio::test]
async fn a_client_that_reads_a_byte_at_a_time_is_disconnected() {
    let app = TestApp::start_limited(|limits| {
        limits.per_address = 1;
        limits.timeouts.write = Duration::from_millis(300);
    })
    .await;
    let mut stream = greedy(&app, 20).await;
    let trickle = async {
        let mut byte = [0];
        let mut pause = tokio::time::interval(Duration::from_millis(20));
        while stream.read(&mut byte).await.is_ok_and(|read| read > 0) {
            pause.tick().await;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        _ = until_served(&app) => {}
        () = trickle => {}
    }
}

#[tokio::test]
async fn a_client_that_reads_slowly_gets_everything() {
    let app = TestApp::start_limited(|limits| limits.timeouts.write = Duration::from_millis(500)).await;
    let whole = app.get(LARGE).await.assert_status(200).body.len();
    let mut stream = greedy(&app, 1).await;
    let (mut received, mut buffer) = (0, vec![0; 64 * 1024]);
    let mut pause = tokio::time::interval(Duration::from_millis(5));
    while received < whole {
        pause.tick().await;
        let read = stream.read(&mut buffer).await.expect("the connection stays");
        assert!(read > 0, "{received} bytes of {whole}");
        received += read;
    }
}

#[tokio::test]
async fn beyond_the_limit_only_health_checks_are_answered() {
    let app = TestApp::start_with(&[("max_connections_per_address", "2")]).await;
    let open = [greedy(&app, 1).await, greedy(&app, 1).await];
    for path in ["/healthz", "/readyz", "/metrics"] {
        let answer = ask(&app, path).await.assert_status(200);
        assert_eq!(answer.header("connection"), "close");
        assert!(!answer.header("x-request-id").is_empty());
    }
    for path in ["/api/v1/courses", "/api/v1/nothing", "//api/v1/courses"] {
        let answer = ask(&app, path).await;
        assert_eq!(answer.header("connection"), "close");
        let message = assert_error(&answer, 500, "internal_error");
        assert_eq!(message, "The server failed to answer this request.");
        assert_eq!(answer.header("retry-after"), "");
    }
    for path in ["/docs/", "/dashboard", "/nothing"] {
        let answer = ask(&app, path).await.assert_status(500);
        assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
        assert!(String::from_utf8_lossy(&answer.body).starts_with("Too many connections"));
    }
    // A malformed request is refused as such, and a body is not waited for.
    let broken = app.exchange(b"GET /api/v1/courses HTTP/1.1\r\n\r\n", false).await;
    assert_error(&broken.answers[0], 400, "invalid_request");
    let post = b"POST /api/v1/students HTTP/1.1\r\nHost: api\r\nContent-Length: 100\r\n\r\n{";
    let refused = app.exchange(post, false).await;
    assert_error(&refused.answers[0], 500, "internal_error");

    drop(open);
    until_served(&app).await;
}

#[tokio::test]
async fn beyond_the_limit_a_connection_answers_one_request() {
    let app = TestApp::start_limited(|limits| limits.total = 1).await;
    let _open = greedy(&app, 1).await;
    let request = "GET /healthz HTTP/1.1\r\nHost: api\r\n\r\n".repeat(3);
    let received = app.exchange(request.as_bytes(), false).await;
    assert!(received.is_closed);
    assert_eq!(received.answers.len(), 1);
    assert_eq!((received.answers[0].status, received.answers[0].header("connection")), (200, "close"));
}

#[tokio::test]
async fn a_proxy_may_have_more_connections_than_a_client() {
    let settings = [("max_connections_per_address", "1"), ("trusted_proxies", "127.0.0.1")];
    let app = TestApp::start_with(&settings).await;
    let _open = [greedy(&app, 1).await, greedy(&app, 1).await, greedy(&app, 1).await];
    ask(&app, "/docs/").await.assert_status(200);
}

#[tokio::test]
async fn connections_that_send_nothing_do_not_keep_a_health_check_out() {
    let app = TestApp::start_limited(|limits| {
        limits.total = 1;
        limits.overflow = 4;
        limits.overflow_head = Duration::from_secs(60);
    })
    .await;
    let _open = greedy(&app, 1).await;
    let mut silent = Vec::new();
    for round in 0..10 {
        for _ in 0..5 {
            silent.push(TcpStream::connect(address(&app)).await.expect("the server listens"));
        }
        let asked = Instant::now();
        ask(&app, "/healthz").await.assert_status(200);
        assert!(asked.elapsed() < Duration::from_secs(1), "round {round}");
    }
    // The oldest made room for the newer ones.
    let mut first = silent.remove(0);
    let ended = tokio::time::timeout(PATIENCE, first.read(&mut [0])).await.expect("it is closed");
    assert!(matches!(ended, Ok(0) | Err(_)));
}

#[tokio::test]
async fn beyond_the_limit_a_request_that_finds_no_room_is_closed_at_once() {
    let app = TestApp::start_limited(|limits| {
        limits.total = 1;
        limits.overflow = 1;
        limits.overflow_age = PATIENCE * 10;
        limits.overflow_head = PATIENCE * 10;
    })
    .await;
    let _open = greedy(&app, 1).await;
    // A connection that has sent nothing yet keeps the only place, since it may be a health check.
    let mut silent = TcpStream::connect(address(&app)).await.expect("the server listens");
    let mut other = TcpStream::connect(address(&app)).await.expect("the server listens");
    let _ = other.write_all(b"GET /docs/ HTTP/1.1\r\nHost: api\r\n\r\n").await;
    let mut bytes = Vec::new();
    let _ = tokio::time::timeout(PATIENCE, other.read_to_end(&mut bytes)).await.expect("it is closed");
    assert_eq!(bytes, b"");
    silent.write_all(b"GET /healthz HTTP/1.1\r\nHost: api\r\n\r\n").await.expect("it is open");
    tokio::time::timeout(PATIENCE, silent.read_to_end(&mut bytes))
        .await
        .expect("an end")
        .expect("a response");
    assert!(bytes.starts_with(b"HTTP/1.1 200 "));
}

#[tokio::test]
async fn beyond_the_limit_a_silent_connection_is_soon_closed() {
    let app = TestApp::start_limited(|limits| {
        limits.total = 1;
        limits.overflow_head = Duration::from_millis(100);
    })
    .await;
    let _open = greedy(&app, 1).await;
    let mut silent = TcpStream::connect(address(&app)).await.expect("the server listens");
    let ended = tokio::time::timeout(PATIENCE, silent.read(&mut [0])).await.expect("it is closed");
    assert!(matches!(ended, Ok(0) | Err(_)));
}
