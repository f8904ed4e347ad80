//! Traces that the processes export: their spans, their propagation, and the failures of the endpoint.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::support::program::{ServerProcess, TestProgram};
use crate::support::{Endpoint, OtlpReceiver, ReceivedSpan, tree, wait_until};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Starts a process with environment variables.
async fn start(program: &TestProgram, args: &[&str], variables: &[(&str, &str)]) -> ServerProcess {
    let mut command = program.command(args);
    command.env("CREATOR_API_LISTEN", "127.0.0.1:0").env("CREATOR_API_WEBHOOK_ALLOW", "127.0.0.0/8");
    command.env("CREATOR_API_LOG_FORMAT", "json").env("OTEL_BSP_SCHEDULE_DELAY", "50");
    command.envs(variables.iter().copied());
    program.start_server(command).await
}

/// Creates a subscription of the workspace `acme` to `student.created`.
async fn subscribe(program: &TestProgram, url: &str) {
    let args = ["webhooks", "create", "--workspace", "acme", "--url", url, "--event", "student.created"];
    let mut command = program.command(&args);
    command.env("CREATOR_API_WEBHOOK_ALLOW", "127.0.0.0/8");
    let created = program.run_command(command).await;
    assert_eq!(created.code, Some(0), "{created:?}");
}

/// Creates a student, and returns the request id.
async fn create_student(program: &TestProgram, server: &ServerProcess, secret: &str, email: &str) -> String {
    let key = server.key(&program.app, secret);
    let created = key.post("/api/v1/students", json!({ "email": email })).await.assert_status(201);
    created.header("x-request-id").to_owned()
}

/// Waits until a span with this name was exported, and returns it.
async fn wait_for_span(otlp: &OtlpReceiver, name: &str) -> ReceivedSpan {
    wait_until(name, async || otlp.find(name).is_some()).await;
    otlp.find(name).expect("it was exported")
}

/// Parses the lines of a log, without the message to the user who stops the process.
fn lines(log: &str) -> Vec<Value> {
    let lines = log.lines().filter(|line| !line.starts_with("stopping: "));
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"))).collect()
}

/// Returns whether a process has a thread with this name.
fn has_thread(server: &ServerProcess, name: &str) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{}/task", server.child.id().unwrap())).unwrap();
    let mut names =
        threads.filter_map(|thread| std::fs::read_to_string(thread.unwrap().path().join("comm")).ok());
    names.any(|thread| thread.trim() == name)
}

#[tokio::test]
async fn one_trace_joins_a_request_and_every_attempt_of_its_webhook() {
    let program = TestProgram::new().await;
    let secret = program.create_key("write:students").await;
    let (otlp, receiver) = (OtlpReceiver::start().await, Endpoint::start().await);
    subscribe(&program, &receiver.url()).await;
    receiver.respond_with([400]);
    let endpoint = otlp.endpoint();
    let server = start(&program, &["serve"], &[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)]).await;

    let request_id = create_student(&program, &server, &secret, "ada@example.com").await;
    wait_until("the first attempt", async || receiver.requests().len() == 1).await;
    wait_for_span(&otlp, "process student.created").await;
    let replay = || program.run(&["webhooks", "replay", "--all"]);
    wait_until("the replay", async || replay().await.stdout == "1 replayed\n").await;
    let attempts =
        || otlp.spans().into_iter().filter(|received| received.span.name == "process student.created");
    wait_until("two attempts", async || attempts().count() == 2).await;
    let request = wait_for_span(&otlp, "POST /api/v1/students").await;
    let log = server.stop_and_read_log().await;

    assert_eq!(request.resource["service.name"], "creator-api");
    assert_eq!(request.resource["service.version"], env!("CARGO_PKG_VERSION"));
    assert!(otlp.heads().iter().all(|head| head.starts_with("POST /v1/traces ")), "{:?}", otlp.heads());
    let spans = otlp.spans();
    let text = tree(&spans, &request.trace_id());
    let system = if program.app.uses_postgres() { "postgresql" } else { "sqlite" };
    insta::assert_snapshot!(text.replace(&format!("db.system.name={system}"), "db.system.name=SYSTEM"));
    // Each request to the receiver carries the context of its own span.
    let mut sent: Vec<String> =
        receiver.requests().iter().map(|request| request.header("traceparent").to_owned()).collect();
    let is_client =
        |received: &&ReceivedSpan| received.span.name == "POST" && received.trace_id() == request.trace_id();
    let mut expected: Vec<String> = spans.iter().filter(is_client).map(ReceivedSpan::traceparent).collect();
    sent.sort();
    expected.sort();
    assert_eq!(sent, expected);
    // The log contains the ids, and nothing for each delivery except for the one that is not retried.
    let lines = lines(&log);
    let access = lines.iter().find(|line| line["request.id"] == request_id.as_str()).unwrap();
    assert_eq!(access["trace_id"], request.trace_id());
    let of_deliveries: Vec<&Value> = lines.iter().filter(|line| line.get("delivery.id").is_some()).collect();
    assert_eq!(of_deliveries.len(), 1, "{log}");
    assert_eq!(of_deliveries[0]["message"], "a webhook failed and is not retried");
    // Neither secrets nor addresses are exported.
    let exported = format!("{spans:?}");
    for secret in [secret.as_str(), "svc_live_", "whsec_", "ada@", "/hook"] {
        assert!(!exported.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn a_worker_process_joins_the_trace() {
    let program = TestProgram::new().await;
    let secret = program.create_key("write:students").await;
    let (otlp, receiver) = (OtlpReceiver::start().await, Endpoint::start().await);
    subscribe(&program, &receiver.url()).await;
    let endpoint = otlp.endpoint();
    let variables = |name| [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()), ("OTEL_SERVICE_NAME", name)];
    let server = start(&program, &["serve", "--no-worker"], &variables("api")).await;
    let worker = start(&program, &["worker", "--metrics-listen", "127.0.0.1:0"], &variables("sender")).await;

    create_student(&program, &server, &secret, "ada@example.com").await;
    let attempt = wait_for_span(&otlp, "process student.created").await;
    let sent = wait_for_span(&otlp, "send student.created").await;
    assert_eq!(
        (attempt.resource["service.name"].as_str(), sent.resource["service.name"].as_str()),
        ("sender", "api")
    );
    assert_eq!(attempt.trace_id(), sent.trace_id());
    assert_eq!(attempt.span.parent_span_id, sent.span.span_id);
    assert_eq!(attempt.span.links[0].span_id, sent.span.span_id);
    assert_eq!((server.stop().await, worker.stop().await), (Some(0), Some(0)));
}

#[tokio::test]
async fn only_a_trusted_proxy_can_continue_a_trace() {
    let program = TestProgram::new().await;
    let otlp = OtlpReceiver::start().await;
    let endpoint = otlp.endpoint();
    let exporting = ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str());
    let untrusting = start(&program, &["serve", "--no-worker"], &[exporting]).await;
    let trusted = ("CREATOR_API_TRUSTED_PROXIES", "127.0.0.0/8");
    let trusting = start(&program, &["serve", "--no-worker"], &[exporting, trusted]).await;
    let get = async |server: &ServerProcess, path: &str, headers: &[(&str, &str)]| {
        let request = program.app.http.get(format!("{}{path}", server.base_url));
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        request.send().await.unwrap();
    };
    let span_of = async |path: &str| {
        let find = || otlp.spans().into_iter().find(|received| received.attributes()["url.path"] == path);
        wait_until(path, async || find().is_some()).await;
        find().unwrap()
    };
    get(&untrusting, "/api/v1/a", &[("traceparent", TRACEPARENT)]).await;
    let span = span_of("/api/v1/a").await;
    assert_ne!(span.trace_id(), TRACE);
    assert_eq!(span.span.parent_span_id, b"");

    let proxied = [("traceparent", TRACEPARENT), ("x-forwarded-proto", "https"), ("tracestate", "vendor=1")];
    get(&trusting, "/api/v1/b?secret=1", &proxied).await;
    let span = span_of("/api/v1/b").await;
    assert_eq!((span.trace_id().as_str(), span.span.trace_state.as_str()), (TRACE, "vendor=1"));
    assert_eq!(span.attributes()["url.scheme"], "https");
    assert!(!format!("{span:?}").contains("secret"));

    get(&trusting, "/api/v1/c", &[("traceparent", "00-0-0-01")]).await;
    assert_ne!(span_of("/api/v1/c").await.trace_id(), TRACE);
    // The proxy has decided that this trace is not recorded. Health checks never are.
    get(&trusting, "/api/v1/d", &[("traceparent", &TRACEPARENT.replace("-01", "-00"))]).await;
    get(&trusting, "/readyz", &[("traceparent", TRACEPARENT)]).await;
    get(&trusting, "/api/v1/students/ada%40example.com", &[]).await;
    span_of("/api/v1/students/****").await;
    let paths: Vec<String> = otlp.spans().iter().map(|span| span.attributes()["url.path"].clone()).collect();
    assert!(!paths.iter().any(|path| path == "/api/v1/d" || path == "/readyz"), "{paths:?}");
    assert_eq!((untrusting.stop().await, trusting.stop().await), (Some(0), Some(0)));
}

#[tokio::test]
async fn nothing_is_exported_if_traces_are_off_or_not_sampled() {
    let program = TestProgram::new().await;
    let secret = program.create_key("write:students").await;
    let (otlp, receiver) = (OtlpReceiver::start().await, Endpoint::start().await);
    subscribe(&program, &receiver.url()).await;
    let endpoint = otlp.endpoint();
    let exporting = ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str());
    let disabled = [
        vec![("OTEL_TRACES_SAMPLER", "always_on")],
        vec![exporting, ("OTEL_SDK_DISABLED", "true")],
        vec![exporting, ("OTEL_TRACES_EXPORTER", "none")],
        vec![exporting, ("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "0")],
        vec![exporting, ("OTEL_TRACES_SAMPLER", "always_off")],
    ];
    for (number, variables) in disabled.iter().enumerate() {
        let server = start(&program, &["serve"], variables).await;
        create_student(&program, &server, &secret, &format!("student-{number}@example.com")).await;
        wait_until("the webhook", async || receiver.requests().len() == number + 1).await;
        assert_eq!(receiver.requests()[number].header("traceparent"), "");
        let log = server.stop_and_read_log().await;
        assert!(!log.contains("trace_id"), "{log}");
    }
    assert_eq!(otlp.heads().len(), 0);
}

#[tokio::test]
async fn an_endpoint_that_hangs_or_refuses_does_not_affect_requests() {
    let program = TestProgram::new().await;
    let secret = program.create_key("write:students").await;
    let hanging = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let refusing = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for (name, address) in [("hanging", hanging.local_addr().unwrap()), ("refusing", refusing)] {
        let endpoint = format!("http://user:password@{address}");
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "8"),
            ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "8"),
        ];
        let server = start(&program, &["serve", "--no-worker"], &variables).await;
        assert!(has_thread(&server, "traces"), "requests do not share a thread with the export");
        let started = Instant::now();
        for number in 0..25 {
            create_student(&program, &server, &secret, &format!("{name}-{number}@example.com")).await;
        }
        assert!(started.elapsed() < Duration::from_secs(8), "{name}: {:?}", started.elapsed());
        let metrics = program.app.http.get(format!("{}/metrics", server.base_url)).send().await.unwrap();
        let metrics = metrics.text().await.unwrap();
        let dropped = metrics.lines().filter_map(|line| line.strip_prefix("trace_spans_dropped_total{"));
        let dropped: u64 = dropped.map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum();
        assert!(dropped > 0, "{name}");
        let stopping = Instant::now();
        let log = server.stop_and_read_log().await;
        assert!(stopping.elapsed() < Duration::from_secs(8), "{name}: {:?}", stopping.elapsed());
        let lines = lines(&log);
        let reports: Vec<&Value> =
            lines.iter().filter(|line| line["message"] == "spans of traces were not exported").collect();
        assert!((1..=2).contains(&reports.len()), "{name}: {log}");
        // Each request has three spans. All are reported.
        let reported: u64 = reports.iter().map(|line| line["spans"].as_u64().unwrap()).sum();
        assert_eq!(reported, 75, "{name}: {log}");
        assert!(!log.contains("password"), "{log}");
    }
}

#[tokio::test]
async fn invalid_variables_are_reported_at_the_start() {
    let program = TestProgram::new().await;
    let mut command = program.command(&["serve"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
    command.env("OTEL_TRACES_SAMPLER", "sometimes").env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let output = program.run_command(command).await;
    assert_eq!(output.code, Some(2), "{output:?}");
    insta::assert_snapshot!(output.stderr);
}
