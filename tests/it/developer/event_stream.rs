//! `streamEvents`: each event when it happens, heartbeats, and the end of a stream.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use domain::keys;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

use super::{EVENT_STREAM, EVENTS};
use crate::support::{TestApp, TestKey, in_transaction, send, wait_until};

/// An open stream.
struct TestStream {
    response: Response,
    rest: Vec<u8>,
    lines: VecDeque<Value>,
}

impl TestStream {
    async fn open(key: &TestKey, parameters: &str) -> Self {
        let request = key.request(Method::GET, &format!("{EVENT_STREAM}?{parameters}"));
        let response = request.send().await.expect("a response");
        assert_eq!(response.status(), 200);
        Self { response, rest: Vec::new(), lines: VecDeque::new() }
    }

    /// Returns the next line. Returns `None` at the end of the stream, which is complete.
    async fn next(&mut self) -> Option<Value> {
        while self.lines.is_empty() {
            let chunk = tokio::time::timeout(Duration::from_secs(30), self.response.chunk()).await;
            self.rest.extend(chunk.expect("a chunk in time").expect("the response is complete")?);
            while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                self.lines.push_back(serde_json::from_slice(&line).expect("JSON"));
            }
        }
        self.lines.pop_front()
    }

    /// Returns the next line, which must be a heartbeat, and its cursor.
    async fn heartbeat(&mut self) -> String {
        let line = self.next().await.expect("a line");
        assert_eq!((&line["event"], &line["sequence"]), (&Value::Null, &Value::Null));
        line["cursor"].as_str().expect("a cursor").to_owned()
    }

    /// Returns the next event and its cursor. Skips heartbeats.
    async fn event(&mut self) -> (Value, String) {
        loop {
            let line = self.next().await.expect("a line");
            if line["event"].is_object() {
                return (line["event"].clone(), line["cursor"].as_str().expect("a cursor").to_owned());
            }
        }
    }
}

async fn start() -> (TestApp, TestKey) {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key("read:events").await;
    (app, key)
}

async fn student(app: &TestApp, name: &str) {
    app.workspace("acme").await.upsert_student(name).await;
    app.clock.advance(Duration::from_millis(1));
}

#[tokio::test]
async fn events_arrive_after_their_commit_and_a_cursor_continues_after_them() {
    let (app, key) = start().await;
    student(&app, "before").await;
    let mut stream = TestStream::open(&key, "").await;
    stream.heartbeat().await;
    let started = Instant::now();
    student(&app, "ada").await;
    let (ada, cursor) = stream.event().await;
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!(ada["data"]["email"], "ada@example.com", "earlier events are not sent");
    student(&app, "bob").await;
    let (bob, _) = stream.event().await;
    drop(stream);

    let mut again = TestStream::open(&key, &format!("cursor={cursor}")).await;
    let (event, cursor) = again.event().await;
    assert_eq!(event, bob, "neither a gap nor a duplicate");
    let listed = key.get(&format!("{EVENTS}?cursor={cursor}")).await.assert_status(200).json();
    assert_eq!(listed["data"], json!([]));
    let stored = app.event_bodies().await;
    assert_eq!(serde_json::from_slice::<Value>(&stored[1]).expect("JSON"), ada);
    let other_key = app.workspace("acme").await.key("read:events").await;
    let mut since = TestStream::open(&other_key, "since=60&type=student.created").await;
    assert_eq!(since.event().await.0["data"]["email"], "before@example.com");
}

#[tokio::test]
async fn other_workspaces_and_types_are_not_streamed() {
    let (app, key) = start().await;
    let mut stream = TestStream::open(&key, "type=student.updated").await;
    stream.heartbeat().await;
    app.workspace("other").await.upsert_student("eve").await;
    student(&app, "ada").await;
    let change = json!({"key": "ada", "email": "new@example.com"});
    app.workspace("acme").await.change("student.upsert", change).await;
    app.clock.advance(Duration::from_millis(1));
    let (event, _) = stream.event().await;
    assert_eq!(
        (&event["type"], &event["data"]["email"]),
        (&json!("student.updated"), &json!("new@example.com"))
    );
}

#[tokio::test]
async fn a_burst_of_many_pages_has_no_gap() {
    let (app, key) = start().await;
    for parameters in ["", "since=60"] {
        let mut stream = TestStream::open(&key, parameters).await;
        stream.next().await.expect("a line");
        let before = app.event_bodies().await.len();
        for number in 0..250 {
            app.workspace("acme")
                .await
                .upsert_student(&format!("student{}-{number}", parameters.len()))
                .await;
        }
        app.clock.advance(Duration::from_secs(70));
        let expected = app.event_bodies().await.split_off(before);
        for body in expected {
            assert_eq!(stream.event().await.0, serde_json::from_slice::<Value>(&body).expect("JSON"));
        }
    }
}

#[tokio::test]
async fn a_stream_has_heartbeats_and_ends_after_ten_minutes() {
    let (app, key) = start().await;
    let mut stream = TestStream::open(&key, "").await;
    let first = stream.heartbeat().await;
    app.clock.advance(Duration::from_secs(15));
    let second = stream.heartbeat().await;
    // With the cursor of a heartbeat, the same events follow.
    student(&app, "ada").await;
    let (ada, _) = stream.event().await;
    for cursor in [first, second] {
        let key = app.workspace("acme").await.key("read:events").await;
        let mut other = TestStream::open(&key, &format!("cursor={cursor}")).await;
        assert_eq!(other.event().await.0, ada);
    }
    app.clock.advance(Duration::from_secs(584));
    stream.heartbeat().await;
    app.clock.advance(Duration::from_secs(1));
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn a_key_can_have_two_streams() {
    let (app, key) = start().await;
    let first = TestStream::open(&key, "").await;
    let _second = TestStream::open(&key, "").await;
    let rejected = key.get(EVENT_STREAM).await.assert_status(429);
    assert_eq!((rejected.code().as_str(), rejected.header("retry-after")), ("rate_limited", "5"));
    assert!(rejected.message().starts_with("Too many streams are open."), "{}", rejected.message());
    let _other = TestStream::open(&app.workspace("acme").await.key("read:events").await, "").await;
    drop(first);
    let is_accepted = async || {
        let response = key.request(Method::GET, EVENT_STREAM).send().await.expect("a response");
        response.status() == 200
    };
    wait_until("another stream is accepted", is_accepted).await;
}

#[tokio::test]
async fn a_stream_is_one_request() {
    let app = TestApp::start().await;
    let quota = domain::workspaces::Quota { per_minute: Some(10), per_day: None };
    let key = app.workspace("acme").await.key_with_quota("read:events", quota, None).await;
    let mut stream = TestStream::open(&key, "").await;
    assert_eq!(stream.response.headers()["x-ratelimit-remaining"], "9");
    stream.heartbeat().await;
    student(&app, "ada").await;
    stream.event().await;
    assert_eq!(key.get(EVENTS).await.header("x-ratelimit-remaining"), "8");
}

#[tokio::test]
async fn a_stream_ends_when_its_key_is_revoked() {
    let (app, key) = start().await;
    let other = app.workspace("acme").await.key("read:events").await;
    let mut streams = [TestStream::open(&key, "").await, TestStream::open(&other, "type=order.paid").await];
    for (stream, key) in streams.iter_mut().zip([&key, &other]) {
        stream.heartbeat().await;
        let id = key.id.parse().expect("an id");
        in_transaction(&app, async |write| keys::revoke(&app.app, write, None, id).await)
            .await
            .expect("a change");
    }
    // At the next event, and at the next heartbeat.
    student(&app, "ada").await;
    assert_eq!(streams[0].next().await, None);
    app.clock.advance(Duration::from_secs(15));
    assert_eq!(streams[1].next().await, None);
    key.get(EVENT_STREAM).await.assert_status(401);
}

#[tokio::test]
async fn a_stream_ends_when_the_server_stops() {
    let (mut app, key) = start().await;
    let mut stream = TestStream::open(&key, "").await;
    stream.heartbeat().await;
    let started = Instant::now();
    app.stop().await;
    assert_eq!(stream.next().await, None);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[tokio::test]
#[ignore = "slow"]
async fn a_reader_that_reads_nothing_is_cut_off() {
    let app = TestApp::start_with_connection_limits(|limits| {
        limits.timeouts.write = Duration::from_millis(300);
    })
    .await;
    let acme = app.workspace("acme").await;
    let key = acme.key("read:events").await;
    for number in 0..500 {
        let slug = format!("c-{number}");
        let course = json!({"key": slug, "slug": slug, "title": "Ink", "status": "published",
            "description": "x".repeat(20_000)});
        acme.change("course.upsert", course).await;
    }
    app.clock.advance(Duration::from_millis(1));
    let head = format!(
        "GET {EVENT_STREAM}?since=60 HTTP/1.1\r\nhost: api.test\r\nauthorization: Bearer {}\r\n\r\n",
        key.secret
    );
    let mut stalled = Vec::new();
    for _ in 0..2 {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(4096).expect("a small buffer");
        let address = app.base_url.strip_prefix("http://").expect("a URL").parse().expect("an address");
        let mut connection = socket.connect(address).await.expect("the server accepts connections");
        connection.write_all(head.as_bytes()).await.expect("the connection is open");
        let mut beginning = [0; 12];
        connection.read_exact(&mut beginning).await.expect("the response begins");
        assert_eq!(&beginning, b"HTTP/1.1 200");
        stalled.push(connection);
    }
    let is_accepted = async || {
        let request = key.request(Method::GET, &format!("{EVENT_STREAM}?cursor=x"));
        send(request).await.assert_status(422);
        // Both places are free.
        let open = async || key.request(Method::GET, EVENT_STREAM).send().await.expect("a response");
        let (first, second) = (open().await, open().await);
        (first.status().as_u16(), second.status().as_u16()) == (200, 200)
    };
    wait_until("the streams are cut off", is_accepted).await;
    for mut connection in stalled {
        let mut response = Vec::new();
        let _ = connection.read_to_end(&mut response).await;
        assert!(!response.ends_with(b"0\r\n\r\n"), "the response is complete");
    }
}
