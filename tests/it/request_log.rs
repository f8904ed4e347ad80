//! The request log: its contents, its masking of secrets, and its pruning.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use domain::page::{PageRequest, TimeSpan};
use domain::requests::{
    self, CompletedRequest, LoggedRequest, RequestFilter, StatusFilter, by_request_id, list_daily,
};
use domain::workspaces::Quota;
use domain::{Error, keys};
use foundation::id::WorkspaceId;
use jiff::tz::TimeZone;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{TestApp, send};

const COURSES: &str = "/api/v1/courses";
const DAY: Duration = Duration::from_secs(86_400);

impl TestApp {
    /// Flushes the log and returns the workspace's entries that match the filter, newest first.
    pub async fn log(&self, workspace: WorkspaceId, filter: RequestFilter) -> Vec<LoggedRequest> {
        requests::flush(&self.app).await.unwrap();
        requests::list(&self.app, workspace, &filter, PageRequest::newest_first(None, 100))
            .await
            .unwrap()
            .items
    }
}

#[tokio::test]
async fn a_logged_request_has_all_details_to_repeat_it() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    let request = key.request(Method::GET, "/api/v1/courses?limit=2").header("x-request-id", "mine-1");
    send(request.header("x-team", "blue")).await.assert_status(200);

    let log = app.log(workspace.id, RequestFilter::default()).await;
    assert_eq!(log.len(), 1);
    let entry = &log[0];
    assert_eq!((entry.method.as_str(), entry.target.as_str()), ("GET", "/api/v1/courses?limit=2"));
    assert_eq!((entry.operation.as_deref(), entry.status), (Some("listCourses"), 200));
    assert_eq!((entry.request_id.as_str(), entry.address.as_str()), ("mine-1", "127.0.0.1"));
    assert_eq!((entry.key.to_string(), entry.received_at), (key.id, app.clock.now()));
    assert_eq!((entry.headers["x-team"].as_str(), &entry.error), ("blue", &None));
    assert_eq!(&requests::get(&app.app, workspace.id, entry.id).await.unwrap(), entry);
    assert_eq!(&by_request_id(&app.app, workspace.id, "mine-1").await.unwrap(), entry);
}

#[tokio::test]
async fn secrets_are_masked() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    let path = format!("{COURSES}?api_key={}&note={}", key.secret, key.secret);
    let request = key.request(Method::GET, &path).header("cookie", "session=open-sesame");
    send(request.header("x-note", format!("see {}", key.secret))).await.assert_status(422);

    let log = app.log(workspace.id, RequestFilter::default()).await;
    assert_eq!(log[0].target, "/api/v1/courses?api_key=****&note=****");
    for name in ["authorization", "cookie", "x-note"] {
        assert_eq!(log[0].headers[name], "****");
    }
    let random = &key.secret[9..];
    let printed = format!("{:?}{}", log[0], String::from_utf8_lossy(log[0].error.as_deref().unwrap()));
    assert!(!printed.contains(random) && !printed.contains("sesame"), "{printed}");
}

/// Errors repeat what the client sent, so they can contain secrets.
#[tokio::test]
async fn a_secret_is_logged_nowhere_wherever_a_client_sends_it() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses write:students").await;
    let secret = &key.secret;
    let twice = secret.replace('_', "%255F");
    let mut requests = vec![
        key.request(Method::GET, &format!("{COURSES}/{secret}")),
        key.request(Method::GET, &format!("{COURSES}/{twice}")),
        key.request(Method::GET, &format!("{COURSES}?limit={secret}")),
        key.request(Method::GET, &format!("{COURSES}?{secret}=1")),
        key.request(Method::GET, &format!("{COURSES}?{secret}={secret}")),
        key.request(Method::GET, &format!("{COURSES}?api_key:{secret}=1")),
        key.request(Method::GET, &format!("{COURSES}?api_key:{twice}=1")),
        key.request(Method::GET, &format!("/api/v1/{secret}")),
        key.request(Method::from_bytes(secret.as_bytes()).unwrap(), COURSES),
        key.request(Method::GET, &format!("{COURSES}/crs_x")).header("x-request-id", secret),
        key.request(Method::GET, &format!("{COURSES}/crs_x")).header("if-none-match", secret),
        key.request(Method::GET, &format!("{COURSES}/crs_x")).header(secret, "1"),
    ];
    for body in [
        json!({"email": secret}),
        json!({"email": "ada@example.com", secret: 1}),
        json!({"email": "ada@example.com", "locale": secret}),
        json!(secret),
    ] {
        requests.push(key.request(Method::POST, "/api/v1/students").json(&body));
    }
    let media_type = key.request(Method::POST, "/api/v1/students").header("content-type", secret).body("{}");
    let not_json = key.request(Method::POST, "/api/v1/students").header("content-type", "application/json");
    requests.extend([media_type, not_json.body(secret.clone())]);
    let count = requests.len();
    for request in requests {
        let response = send(request).await;
        assert!((400..500).contains(&response.status), "{response:?}");
    }

    let log = app.log(workspace.id, RequestFilter::default()).await;
    assert_eq!(log.len(), count);
    // The names of headers become lower case.
    let random = secret[9..29].to_ascii_lowercase();
    let leaks: Vec<String> = log
        .iter()
        .map(|entry| format!("{entry:?} {}", String::from_utf8_lossy(entry.error.as_deref().unwrap())))
        .filter(|entry| entry.to_ascii_lowercase().contains(&random))
        .collect();
    assert!(leaks.is_empty(), "{} of {count} entries contain the key:\n{}", leaks.len(), leaks.join("\n"));
}

#[tokio::test]
async fn every_rejected_request_of_a_known_key_is_logged_with_its_error() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let quota = Quota { per_minute: Some(4), per_day: None };
    let key = workspace.key_with_quota("read:courses", quota, None).await;
    key.get("/api/v1/orders").await.assert_status(403);
    key.get("/api/v1/nothing").await.assert_status(404);
    key.post(COURSES, json!({})).await.assert_status(405);
    key.get("/api/v1/courses?limit=0").await.assert_status(422);
    key.get(COURSES).await.assert_status(429);
    send(app.request(Method::GET, COURSES).bearer_auth("svc_live_guess")).await.assert_status(401);

    let log = app.log(workspace.id, RequestFilter::default()).await;
    let logged: Vec<(u16, Option<&str>)> =
        log.iter().rev().map(|entry| (entry.status, entry.operation.as_deref())).collect();
    let list_courses = Some("listCourses");
    assert_eq!(
        logged,
        [(403, Some("listOrders")), (404, None), (405, None), (422, list_courses), (429, None)]
    );
    for entry in &log {
        let envelope: Value = serde_json::from_slice(entry.error.as_deref().unwrap()).unwrap();
        assert_eq!(envelope["error"]["request_id"], entry.request_id);
    }
    let today = list_daily(&app.app, workspace.id, 1, &TimeZone::UTC).await.unwrap()[0];
    assert_eq!((today.succeeded, today.rejected, today.rate_limited, today.failed), (0, 4, 1, 0));
}

#[tokio::test]
async fn the_log_is_filtered_by_key_status_operation_and_time() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let (first_key, second_key) = (workspace.key("read:courses").await, workspace.key("read:courses").await);
    first_key.get(COURSES).await.assert_status(200);
    app.clock.advance(Duration::from_secs(60));
    let later = app.clock.now();
    first_key.get("/api/v1/courses/crs_x").await.assert_status(404);
    second_key.get("/api/v1/orders").await.assert_status(403);

    let statuses = async |filter: RequestFilter| {
        app.log(workspace.id, filter).await.iter().map(|entry| entry.status).collect::<Vec<_>>()
    };
    let all = RequestFilter::default;
    assert_eq!(
        statuses(RequestFilter { key: Some(first_key.id.parse().unwrap()), ..all() }).await,
        [404, 200]
    );
    assert_eq!(statuses(RequestFilter { status: Some(StatusFilter::Class(4)), ..all() }).await, [403, 404]);
    assert_eq!(statuses(RequestFilter { status: Some(StatusFilter::Exact(200)), ..all() }).await, [200]);
    assert_eq!(statuses(RequestFilter { operation: Some("getCourse".into()), ..all() }).await, [404]);
    let received = TimeSpan { from: None, to: Some(later) };
    assert_eq!(statuses(RequestFilter { received, ..all() }).await, [200]);

    let first =
        requests::list(&app.app, workspace.id, &all(), PageRequest::newest_first(None, 2)).await.unwrap();
    let second = requests::list(&app.app, workspace.id, &all(), PageRequest::newest_first(first.next, 2))
        .await
        .unwrap();
    assert_eq!((first.items.len(), second.items[0].status, second.next), (2, 200, None));
}

#[tokio::test]
async fn requests_of_another_workspace_are_not_visible() {
    let app = TestApp::start().await;
    let (acme, other) = (app.workspace("acme").await, app.workspace("other").await);
    let request = acme.key("read:courses").await.request(Method::GET, COURSES);
    send(request.header("x-request-id", "mine")).await.assert_status(200);

    let entry = app.log(acme.id, RequestFilter::default()).await.remove(0);
    assert_eq!(app.log(other.id, RequestFilter::default()).await, []);
    let of_key = RequestFilter { key: Some(entry.key), ..RequestFilter::default() };
    assert_eq!(app.log(other.id, of_key).await, []);
    for absent in
        [requests::get(&app.app, other.id, entry.id).await, by_request_id(&app.app, other.id, "mine").await]
    {
        assert!(matches!(absent, Err(Error::NotFound(_))), "{absent:?}");
    }
    assert_eq!(list_daily(&app.app, other.id, 1, &TimeZone::UTC).await.unwrap()[0].total(), 0);
}

#[tokio::test]
async fn dropped_requests_are_counted_in_a_metric() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    let recorder = app.app.requests();
    let requests = (0..10_000).map(|number| CompletedRequest {
        workspace: workspace.id,
        key: key.id.parse().unwrap(),
        request_id: format!("request-{number}"),
        operation: None,
        method: "GET".to_owned(),
        target: "/".to_owned(),
        status: 200,
        duration_us: 1,
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        headers: BTreeMap::new(),
        error: None,
        received_at: app.clock.now(),
    });
    // No other task runs before the flush, because the runtime has one thread and this line does not await.
    requests.for_each(|request| recorder.log(request));
    let written = requests::flush(&app.app).await.unwrap();
    assert!((500..10_000).contains(&written), "{written}");
    let metrics = String::from_utf8(app.get("/metrics").await.body.to_vec()).unwrap();
    let line = metrics.lines().find(|line| line.starts_with("request_log_dropped_total ")).unwrap();
    let dropped: u64 = line.rsplit(' ').next().unwrap().parse().unwrap();
    // Other tests of this process may have dropped entries as well.
    assert!(dropped >= 10_000 - written as u64, "{line}");
    key.get(COURSES).await.assert_status(200);
    assert_eq!(
        app.log(workspace.id, RequestFilter::default()).await[0].operation.as_deref(),
        Some("listCourses")
    );
}

#[tokio::test]
async fn shutdown_writes_pending_log_entries() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await.id;
    let key = app.workspace("acme").await.key("read:courses").await;
    key.get(COURSES).await.assert_status(200);

    let app = app.restart().await;
    let log =
        requests::list(&app.app, workspace, &RequestFilter::default(), PageRequest::newest_first(None, 10))
            .await
            .unwrap();
    assert_eq!(log.items.len(), 1);
    assert_eq!(list_daily(&app.app, workspace, 1, &TimeZone::UTC).await.unwrap()[0].succeeded, 1);
}

#[tokio::test]
async fn the_log_is_pruned_after_seven_days_and_daily_sums_after_ninety() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    key.get(COURSES).await.assert_status(200);
    assert_eq!(app.log(workspace.id, RequestFilter::default()).await.len(), 1);

    app.clock.advance(7 * DAY - Duration::from_secs(1));
    assert_eq!(requests::prune(&app.app).await.unwrap(), 0);
    app.clock.advance(Duration::from_secs(2));
    key.get(COURSES).await.assert_status(200);
    requests::flush(&app.app).await.unwrap();
    requests::prune(&app.app).await.unwrap();
    assert_eq!(app.log(workspace.id, RequestFilter::default()).await.len(), 1, "the new entry remains");

    let week = list_daily(&app.app, workspace.id, 8, &TimeZone::UTC).await.unwrap();
    assert_eq!(week.iter().map(|day| day.succeeded).collect::<Vec<_>>(), [1, 0, 0, 0, 0, 0, 0, 1]);
    app.clock.advance(82 * DAY);
    requests::prune_daily(&app.app).await.unwrap();
    let all = list_daily(&app.app, workspace.id, 90, &TimeZone::UTC).await.unwrap();
    assert_eq!((all[0].succeeded, all[7].succeeded, all.len()), (1, 1, 90));
    app.clock.advance(DAY);
    requests::prune_daily(&app.app).await.unwrap();
    assert_eq!(
        list_daily(&app.app, workspace.id, 90, &TimeZone::UTC)
            .await
            .unwrap()
            .iter()
            .map(|day| day.total())
            .sum::<u64>(),
        1
    );
    assert!(list_daily(&app.app, workspace.id, 91, &TimeZone::UTC).await.is_err());
}

#[tokio::test]
async fn without_the_request_log_requests_are_only_counted() {
    let app = TestApp::start_with(&[("request_log", "off")]).await;
    let workspace = app.workspace("acme").await;
    workspace.key("read:courses").await.get(COURSES).await.assert_status(200);
    assert_eq!(app.log(workspace.id, RequestFilter::default()).await, []);
    assert_eq!(list_daily(&app.app, workspace.id, 1, &TimeZone::UTC).await.unwrap()[0].succeeded, 1);
}

#[tokio::test]
async fn the_requests_of_today_are_shown_with_the_quota() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let quota = Quota { per_minute: None, per_day: Some(2) };
    let key = workspace.key_with_quota("read:courses", quota, None).await;
    workspace.key_with_default_quota("read:courses").await;
    for status in [200, 200, 429] {
        key.get(COURSES).await.assert_status(status);
    }
    let app = app.restart().await;
    let workspace = app.workspace("acme").await.id;
    let usage = keys::list_usage(&app.app, workspace).await.unwrap();
    let calls: Vec<_> = usage
        .iter()
        .map(|usage| (usage.calls_today, usage.quota.per_minute.requests, usage.quota.per_day.requests))
        .collect();
    assert_eq!(calls, [(0, 60, 1000), (2, 60, 2)]);
    assert!(usage[1].key.last_used_at.is_some());
}
