//! Limits on connections: their number, their timeouts, and the responses beyond the limits.
//!
//! Beyond the limits, the server still accepts a small number of overflow connections. Each answers one request: health
//! checks and `/metrics` succeed, and other requests are rejected.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::support::conformance::assert_error;
use crate::support::{TestApp, TestResponse, skip};

/// The maximum time that a test waits for the server.
const TIMEOUT: Duration = Duration::from_secs(20);

fn address(app: &TestApp) -> SocketAddr {
    app.base_url.trim_start_matches("http://").parse().expect("an address")
}

/// Returns the path of the largest file that the server serves without a key: the script of Swagger UI.
async fn large_file(app: &TestApp) -> String {
    let page = String::from_utf8(app.get("/docs/reference").await.assert_status(200).body).expect("UTF-8");
    let (before, _) = page.split_once("/swagger-ui-bundle.js\"").expect("the page loads Swagger UI");
    let (_, folder) = before.rsplit_once('"').expect("a URL");
    format!("{folder}/swagger-ui-bundle.js")
}

/// Opens a connection and requests more than fits into the buffers of the sockets, without reading.
async fn send_without_reading(app: &TestApp) -> TcpStream {
    send(app, "/openapi/v1.json", 20).await
}

/// Opens a connection with a receive buffer of 4 KiB and sends this number of requests for a file.
async fn send(app: &TestApp, file: &str, requests: usize) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("a small buffer");
    let mut stream = socket.connect(address(app)).await.expect("the server listens");
    let request = format!("GET {file} HTTP/1.1\r\nHost: api\r\n\r\n").repeat(requests);
    stream.write_all(request.as_bytes()).await.expect("the requests are sent");
    stream
}

/// Sends one request on a new connection.
async fn request_once(app: &TestApp, path: &str) -> TestResponse {
    let request = format!("GET {path} HTTP/1.1\r\nHost: api\r\nConnection: close\r\n\r\n");
    let received = app.exchange(request.as_bytes(), false).await;
    received.responses.into_iter().next().expect("a response")
}

/// Repeats a request until the server accepts a connection of this client again, and returns the time that this took.
async fn wait_until_served(app: &TestApp) -> Duration {
    let started = Instant::now();
    while request_once(app, "/docs/").await.status != 200 {
        assert!(started.elapsed() < TIMEOUT, "the connection is still open");
        tokio::task::yield_now().await;
    }
    started.elapsed()
}

#[tokio::test]
async fn a_client_that_does_not_read_is_disconnected() {
    let app = TestApp::start_with_connection_limits(|limits| {
        limits.per_address = 1;
        limits.timeouts.write = Duration::from_millis(300);
    })
    .await;
    let mut stream = send_without_reading(&app).await;
    assert_eq!(request_once(&app, "/docs/").await.status, 500, "the only connection is in use");
    assert!(wait_until_served(&app).await > Duration::from_millis(100));
    // The bytes sent before can be read; then the connection is closed.
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(TIMEOUT, stream.read_to_end(&mut bytes))
        .await
        .expect("the connection ends in time");
    assert!(read.is_err() || bytes.len() < 20 * 1_000_000);
}

#[tokio::test]
async fn a_client_that_reads_a_byte_at_a_time_is_disconnected() {
    let app = TestApp::start_with_connection_limits(|limits| {
        limits.per_address = 1;
        limits.timeouts.write = Duration::from_millis(300);
    })
    .await;
    let mut stream = send_without_reading(&app).await;
    let read_slowly = async {
        let mut byte = [0];
        let mut pause = tokio::time::interval(Duration::from_millis(20));
        while stream.read(&mut byte).await.is_ok_and(|read| read > 0) {
            pause.tick().await;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        _ = wait_until_served(&app) => {}
        () = read_slowly => {}
    }
}

#[tokio::test]
async fn a_client_whose_machine_acknowledges_nothing_is_disconnected() {
    if !cfg!(target_os = "linux") {
        return skip("Linux only: other systems decide themselves how long they wait");
    }
    let app = TestApp::start_with_connection_limits(|limits| {
        limits.per_address = 1;
        limits.timeouts.write = Duration::from_secs(600);
        limits.timeouts.acknowledgment = Duration::from_millis(300);
    })
    .await;
    // With a full receive buffer, the system of the client acknowledges no more data.
    let _stream = send_without_reading(&app).await;
    assert_eq!(request_once(&app, "/docs/").await.status, 500, "the only connection is in use");
    assert!(wait_until_served(&app).await > Duration::from_millis(100));
}

#[tokio::test]
async fn a_client_that_reads_slowly_gets_everything() {
    let app =
        TestApp::start_with_connection_limits(|limits| limits.timeouts.write = Duration::from_millis(500))
            .await;
    let file = large_file(&app).await;
    let expected_length = app.get(&file).await.assert_status(200).body.len();
    assert!(expected_length > 1_000_000, "{expected_length} bytes fit into the buffers of the sockets");
    let mut stream = send(&app, &file, 1).await;
    let (mut received, mut buffer) = (0, vec![0; 64 * 1024]);
    let mut pause = tokio::time::interval(Duration::from_millis(5));
    while received < expected_length {
        pause.tick().await;
        let read = stream.read(&mut buffer).await.expect("the connection stays open");
        assert!(read > 0, "{received} bytes of {expected_length}");
        received += read;
    }
}

#[tokio::test]
async fn beyond_the_limit_only_health_checks_are_answered() {
    let app = TestApp::start_with(&[("max_connections_per_address", "2")]).await;
    let open = [send_without_reading(&app).await, send_without_reading(&app).await];
    for path in ["/healthz", "/readyz", "/metrics"] {
        let response = request_once(&app, path).await.assert_status(200);
        assert_eq!(response.header("connection"), "close");
        assert!(!response.header("x-request-id").is_empty());
    }
    for path in ["/api/v1/courses", "/api/v1/nothing", "//api/v1/courses"] {
        let response = request_once(&app, path).await;
        assert_eq!(response.header("connection"), "close");
        let message = assert_error(&response, 500, "internal_error");
        assert_eq!(message, "The server encountered an internal error.");
        assert_eq!(response.header("retry-after"), "");
    }
    for path in ["/docs/", "/dashboard", "/nothing"] {
        let response = request_once(&app, path).await.assert_status(500);
        assert_eq!(response.header("content-type"), "text/plain; charset=utf-8");
        assert!(String::from_utf8_lossy(&response.body).starts_with("Too many connections"));
    }
    // A malformed request gets its own error, and the server does not wait for a body.
    let malformed = app.exchange(b"GET /api/v1/courses HTTP/1.1\r\n\r\n", false).await;
    assert_error(&malformed.responses[0], 400, "invalid_request");
    let post = b"POST /api/v1/students HTTP/1.1\r\nHost: api\r\nContent-Length: 100\r\n\r\n{";
    let rejected = app.exchange(post, false).await;
    assert_error(&rejected.responses[0], 500, "internal_error");

    drop(open);
    wait_until_served(&app).await;
}

#[tokio::test]
async fn beyond_the_limit_a_connection_answers_one_request() {
    let app = TestApp::start_with_connection_limits(|limits| limits.total = 1).await;
    let _open = send_without_reading(&app).await;
    let request = "GET /healthz HTTP/1.1\r\nHost: api\r\n\r\n".repeat(3);
    let received = app.exchange(request.as_bytes(), false).await;
    assert!(received.is_closed);
    assert_eq!(received.responses.len(), 1);
    assert_eq!((received.responses[0].status, received.responses[0].header("connection")), (200, "close"));

    let page = request_once(&app, "/metrics").await.assert_status(200);
    let page = String::from_utf8_lossy(&page.body).into_owned();
    let prefix = "http_server_rejected_connections_total{reason=\"server_limit\"} ";
    let count = page.lines().find_map(|line| line.strip_prefix(prefix));
    assert!(count.is_some_and(|count| count != "0"), "{page}");
}

#[tokio::test]
async fn a_trusted_proxy_can_open_more_connections_than_a_client() {
    let settings = [("max_connections_per_address", "1"), ("trusted_proxies", "127.0.0.1")];
    let app = TestApp::start_with(&settings).await;
    let _open = [
        send_without_reading(&app).await,
        send_without_reading(&app).await,
        send_without_reading(&app).await,
    ];
    request_once(&app, "/docs/").await.assert_status(200);
}

#[tokio::test]
async fn silent_connections_do_not_block_health_checks() {
    let app = TestApp::start_with_connection_limits(|limits| {
        limits.total = 1;
        limits.overflow = 4;
        limits.overflow_head_timeout = Duration::from_secs(60);
    })
    .await;
    let _open = send_without_reading(&app).await;
    let mut silent = Vec::new();
    for round in 0..10 {
        for _ in 0..5 {
            silent.push(TcpStream::connect(address(&app)).await.expect("the server listens"));
        }
        let requested_at = Instant::now();
        request_once(&app, "/healthz").await.assert_status(200);
        assert!(requested_at.elapsed() < Duration::from_secs(1), "round {round}");
    }
    // The oldest connections were closed in favor of the newer ones.
    let mut first = silent.remove(0);
    let ended =
        tokio::time::timeout(TIMEOUT, first.read(&mut [0])).await.expect("the connection is closed in time");
    assert!(matches!(ended, Ok(0) | Err(_)));
}

#[tokio::test]
async fn beyond_the_overflow_limit_a_connection_is_closed_immediately() {
    let app = TestApp::start_with_connection_limits(|limits| {
        limits.total = 1;
        limits.overflow = 1;
        limits.overflow_min_age = TIMEOUT * 10;
        limits.overflow_head_timeout = TIMEOUT * 10;
    })
    .await;
    let _open = send_without_reading(&app).await;
    // A connection that has sent nothing keeps the only overflow slot, because it may become a health check.
    let mut silent = TcpStream::connect(address(&app)).await.expect("the server listens");
    let mut second = TcpStream::connect(address(&app)).await.expect("the server listens");
    let _ = second.write_all(b"GET /docs/ HTTP/1.1\r\nHost: api\r\n\r\n").await;
    let mut bytes = Vec::new();
    let _ = tokio::time::timeout(TIMEOUT, second.read_to_end(&mut bytes))
        .await
        .expect("the connection is closed in time");
    assert_eq!(bytes, b"");
    silent.write_all(b"GET /healthz HTTP/1.1\r\nHost: api\r\n\r\n").await.expect("the connection is open");
    tokio::time::timeout(TIMEOUT, silent.read_to_end(&mut bytes))
        .await
        .expect("the response ends in time")
        .expect("a response");
    assert!(bytes.starts_with(b"HTTP/1.1 200 "));
}

#[tokio::test]
async fn beyond_the_limit_a_silent_connection_is_closed_after_a_short_timeout() {
    let app = TestApp::start_with_connection_limits(|limits| {
        limits.total = 1;
        limits.overflow_head_timeout = Duration::from_millis(100);
    })
    .await;
    let _open = send_without_reading(&app).await;
    let mut silent = TcpStream::connect(address(&app)).await.expect("the server listens");
    let ended =
        tokio::time::timeout(TIMEOUT, silent.read(&mut [0])).await.expect("the connection is closed in time");
    assert!(matches!(ended, Ok(0) | Err(_)));
}
