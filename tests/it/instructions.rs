//! The instructions that the server executes on eight paths.
//!
//! `cargo xtask test --only instructions` runs this test in callgrind and compares the counts with their budgets. In the other steps,
//! it only checks the responses.

use std::process::Command;
use std::time::Duration;

use domain::workspaces::Quota;
use foundation::config::{LogConfig, LogFormat};
use foundation::telemetry;
use poem::http::Method;
use poem::web::headers;
use poem::{Endpoint, Request, Response};
use serde_json::json;

use crate::support::platform::{NDJSON, line, platform_token};
use crate::support::{self, TestApp};

/// How often each path is executed in a measurement.
const REPEATS: usize = 5;
/// How often each path is measured. The lowest count is used, since nothing else reduces it.
const MEASUREMENTS: usize = 6;

/// Counts the instructions of this process, if it runs in callgrind.
struct InstructionCounter {
    /// The path of the program `callgrind_control`.
    control: Option<std::ffi::OsString>,
}

impl InstructionCounter {
    fn new() -> Self {
        let counter = Self { control: std::env::var_os("CALLGRIND_CONTROL") };
        counter.run("--instr=on");
        counter
    }

    /// Writes the count since the previous call to a file, with the number of executions and the name of the path. The first measurement
    /// of a path fills caches, so it is not written.
    fn end(&self, measurement: usize, path: &str) {
        match measurement {
            0 => self.run("--zero"),
            _ => self.run(&format!("--dump={REPEATS} {path}")),
        }
    }

    fn run(&self, argument: &str) {
        if let Some(control) = &self.control {
            let output = Command::new(control).arg(argument).arg(std::process::id().to_string()).output();
            let output = output.expect("callgrind_control runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

/// A request: method, path, secret and body.
type RequestData = (Method, String, String, String);

/// Sends requests to the endpoint one by one. Panics unless all responses have this status.
async fn call(endpoint: &impl Endpoint<Output = Response>, requests: &[RequestData], status: u16) {
    for (method, path, secret, body) in requests {
        let request = Request::builder().method(method.clone()).uri(path.parse().expect("a path"));
        let media_type = if path.ends_with("changes") { NDJSON } else { "application/json" };
        let request = request.typed_header(headers::Authorization::bearer(secret).expect("a secret"));
        let request = request.header("host", "api.test").header("user-agent", "integration/1.0");
        let request = match body.as_str() {
            "" => request.finish(),
            body => request.content_type(media_type).body(body.to_owned()),
        };
        let response = endpoint.get_response(request).await;
        let found = response.status().as_u16();
        let text = response.into_body().into_string().await.expect("a complete body");
        assert_eq!(found, status, "{text}");
    }
}

fn get(path: &str, secret: &str) -> RequestData {
    (Method::GET, path.to_owned(), secret.to_owned(), String::new())
}

/// Returns the requests that create students whose addresses contain this name.
fn create_students(secret: &str, name: &str) -> Vec<RequestData> {
    let request = |number| {
        let student =
            json!({"email": format!("{name}-{number}@example.com"), "name": "Ada", "tags": ["vip"]});
        (Method::POST, "/api/v1/students".to_owned(), secret.to_owned(), student.to_string())
    };
    (0..REPEATS).map(request).collect()
}

/// Returns the changes that create students with these numbers, one per line.
fn student_lines(name: &str) -> String {
    let student = |number| {
        let data =
            json!({"key": format!("{name}-{number}"), "email": format!("{name}-{number}@example.net")});
        line(&format!("{name}-{number}"), "student.upsert", &data)
    };
    (0..REPEATS).map(student).collect()
}

#[tokio::test]
async fn eight_paths_stay_within_their_budgets() {
    let mut app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let course = acme.course("design", 12).await;
    for number in 0..25 {
        acme.course(&format!("course-{number}"), 3).await;
        acme.student(&format!("student-{number}")).await;
    }
    let key = acme.key_with_all_scopes().await.secret;
    let one = Quota { per_minute: Some(1), per_day: Some(1) };
    let exhausted = acme.key_with_quota("read:courses", one, None).await;
    exhausted.get("/api/v1/courses").await.assert_status(200);
    let importer = platform_token(&app, "write:changes").await.secret;
    let receiver = support::Endpoint::start().await;

    let repeat = |request: RequestData| vec![vec![request; REPEATS]; 1 + MEASUREMENTS];
    let create = |number| create_students(&key, &format!("student-{number}"));
    let course = format!("/api/v1/courses/{course}");
    let paths = [
        ("listCourses", 200, repeat(get("/api/v1/courses", &key))),
        ("getCourse", 200, repeat(get(&course, &key))),
        ("listStudents", 200, repeat(get("/api/v1/students", &key))),
        ("createStudent", 201, (0..=MEASUREMENTS).map(create).collect()),
        ("401", 401, repeat(get("/api/v1/courses", "svc_live_guessed"))),
        ("429", 429, repeat(get("/api/v1/courses", &exhausted.secret))),
    ];
    // The jobs of a running server would add to the counts.
    app.stop().await;
    let server = app.endpoint().await;
    let counter = InstructionCounter::new();
    // As in a real server, each request writes a line.
    let log = LogConfig { log_format: LogFormat::Json, ..app.app.config.log.clone() };
    let _log = counter.control.is_some().then(|| telemetry::start(&log));
    for (path, status, measurements) in paths {
        for (number, requests) in measurements.iter().enumerate() {
            call(&server, requests, status).await;
            counter.end(number, path);
            if status == 401 {
                // Each minute, only a few requests of an address without a valid key are not 429.
                app.clock.advance(Duration::from_secs(60));
            }
        }
    }
    for number in 0..=MEASUREMENTS {
        let lines = student_lines(&format!("import-{number}"));
        call(&server, &[(Method::POST, "/platform/v1/changes".to_owned(), importer.clone(), lines)], 200)
            .await;
        counter.end(number, "imported change");
    }
    let acme = app.workspace("acme").await;
    acme.subscribe_endpoint(&receiver, &["student.created"]).await;
    let worker = app.worker();
    for number in 0..=MEASUREMENTS {
        call(&server, &create_students(&key, &format!("event-{number}")), 201).await;
        counter.end(0, "createStudent");
        assert_eq!(worker.deliver_due().await.expect("the queue is read"), REPEATS);
        counter.end(number, "delivery");
    }
}
