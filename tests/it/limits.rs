//! Rate limits: which requests count, the rate-limit status in the headers, and the end of a window.

use std::time::Duration;

use domain::app::App;
use domain::keys::{self, NewKey};
use domain::scope::Scopes;
use domain::workspaces::Quota;
use rate_limit::{Limiter, Limits, Subject};
use reqwest::Method;
use secrecy::ExposeSecret;

use crate::support::{TestApp, TestKey, TestResponse, outage, send, well_formed_unknown_key};

const COURSES: &str = "/api/v1/courses";

/// Returns the remaining requests of the minute and of the day.
fn remaining(response: &TestResponse) -> (i64, i64) {
    let number = |name| response.header(name).parse().unwrap_or_else(|_| panic!("{name} is no number"));
    (number("x-ratelimit-remaining"), number("x-ratelimit-daily-remaining"))
}

#[tokio::test]
async fn every_response_reports_the_minute_and_the_day() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_default_quota("read:courses").await;

    let response = key.get(COURSES).await.assert_status(200);
    let headers = ["limit", "remaining", "reset", "daily-limit", "daily-remaining", "daily-reset"]
        .map(|name| response.header(&format!("x-ratelimit-{name}")).to_owned());
    // 2026-03-02T10:01:00Z and 2026-03-03T00:00:00Z.
    assert_eq!(headers, ["60", "59", "1772445660", "1000", "999", "1772496000"]);
    assert_eq!(response.header("retry-after"), "");
}

#[tokio::test]
async fn a_request_counts_regardless_of_its_status() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_default_quota("read:courses").await;

    assert_eq!(remaining(&key.get(COURSES).await.assert_status(200)), (59, 999));
    assert_eq!(remaining(&key.get("/api/v1/orders").await.assert_status(403)), (58, 998));
    assert_eq!(remaining(&key.get("/api/v1/nothing").await.assert_status(404)), (57, 997));
    assert_eq!(remaining(&key.get("/api/v1/courses?limit=0").await.assert_status(422)), (56, 996));
    assert_eq!(remaining(&key.post(COURSES, serde_json::json!({})).await.assert_status(405)), (55, 995));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_sixty_one_concurrent_requests_exactly_sixty_pass() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_default_quota("read:courses").await;

    let responses = futures_util::future::join_all((0..61).map(|_| key.get(COURSES))).await;
    let passed = responses.iter().filter(|response| response.status == 200).count();
    let rejected: Vec<&TestResponse> = responses.iter().filter(|response| response.status == 429).collect();
    assert_eq!((passed, rejected.len()), (60, 1));

    let rejected = rejected[0];
    assert_eq!(rejected.code(), "rate_limited");
    // The clock is at half past the minute.
    assert_eq!(rejected.header("retry-after"), "30");
    assert_eq!(rejected.json()["error"]["retryAfterSeconds"], 30);
    // The rejected request did not count: 940 are left of the day, not 939.
    assert_eq!(remaining(rejected), (0, 940));
}

#[tokio::test]
async fn the_minute_limit_resets_at_the_start_of_the_clock_minute() {
    let app = TestApp::start().await;
    let quota = Quota { per_minute: Some(2), per_day: None };
    let key = app.workspace("acme").await.key_with_quota("read:courses", quota, None).await;

    key.get(COURSES).await.assert_status(200);
    key.get(COURSES).await.assert_status(200);
    app.clock.advance(Duration::from_millis(29_500));
    let rejected = key.get(COURSES).await.assert_status(429);
    assert_eq!(rejected.header("retry-after"), "1");

    app.clock.advance(Duration::from_millis(500));
    assert_eq!(remaining(&key.get(COURSES).await.assert_status(200)), (1, 997));
}

#[tokio::test]
async fn the_day_limit_resets_at_midnight_utc_and_sets_retry_after_when_both_are_exhausted() {
    let app = TestApp::start().await;
    let quota = Quota { per_minute: Some(2), per_day: Some(2) };
    let key = app.workspace("acme").await.key_with_quota("read:courses", quota, None).await;

    key.get(COURSES).await.assert_status(200);
    key.get(COURSES).await.assert_status(200);
    let rejected = key.get(COURSES).await.assert_status(429);
    // From 10:00:30 to midnight.
    assert_eq!(rejected.header("retry-after"), "50370");

    app.clock.advance(Duration::from_secs(50_370));
    assert_eq!(remaining(&key.get(COURSES).await.assert_status(200)), (1, 1));
}

#[tokio::test]
async fn the_daily_count_survives_a_restart() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_default_quota("read:courses").await;
    for _ in 0..5 {
        key.get(COURSES).await.assert_status(200);
    }

    let app = app.restart().await;
    let key = app.key_with_secret(key.id, key.secret);
    assert_eq!(remaining(&key.get(COURSES).await.assert_status(200)).1, 994);
}

/// Counts this number of requests against the limits of a key in one process, and returns the remaining requests of
/// the day.
async fn count_requests(limiter: &Limiter, app: &App, key: &TestKey, times: usize) -> u32 {
    let mut day_left = 0;
    for _ in 0..times {
        let decision = limiter
            .acquire(&app.db, &app.clock, Subject::Key(key.id.parse().unwrap()), Limits::default())
            .await;
        day_left = decision.status().day_left;
    }
    day_left
}

#[tokio::test]
async fn the_daily_count_is_shared_by_processes_after_each_flush() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_default_quota("read:courses").await;
    let (first_app, second_app) = (&app.app, &app.other_process().await);
    let (first_limiter, second_limiter) = (Limiter::default(), Limiter::default());
    assert_eq!(count_requests(&first_limiter, first_app, &key, 3).await, 997);
    assert_eq!(count_requests(&second_limiter, second_app, &key, 4).await, 996);

    first_limiter.flush(&first_app.db, &first_app.clock).await.unwrap();
    second_limiter.flush(&second_app.db, &second_app.clock).await.unwrap();
    assert_eq!(
        count_requests(&second_limiter, second_app, &key, 1).await,
        992,
        "three in one process, four in the other"
    );
    assert_eq!(
        count_requests(&first_limiter, first_app, &key, 1).await,
        996,
        "the other process had not flushed when this one did"
    );
    second_limiter.flush(&second_app.db, &second_app.clock).await.unwrap();
    first_limiter.flush(&first_app.db, &first_app.clock).await.unwrap();
    assert_eq!(count_requests(&first_limiter, first_app, &key, 1).await, 990);
}

#[tokio::test]
async fn keys_do_not_share_their_limits() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let quota = Quota { per_minute: Some(1), per_day: None };
    let first_key = workspace.key_with_quota("read:courses", quota, None).await;
    let second_key = workspace.key_with_quota("read:courses", quota, None).await;

    first_key.get(COURSES).await.assert_status(200);
    first_key.get(COURSES).await.assert_status(429);
    second_key.get(COURSES).await.assert_status(200);
}

#[tokio::test]
async fn requests_without_a_key_count_against_the_client_address() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_default_quota("read:courses").await;

    for expected_remaining in (0..60).rev() {
        let response = send(app.request(Method::GET, COURSES).bearer_auth("svc_live_guess")).await;
        assert_eq!((response.status, remaining(&response).0), (401, expected_remaining));
    }
    let rejected = send(app.request(Method::GET, COURSES)).await.assert_status(429);
    assert_eq!(rejected.header("retry-after"), "30");
    // A forwarded address is not trusted from an untrusted client.
    let forwarded = app.request(Method::GET, COURSES).header("x-forwarded-for", "203.0.113.7");
    send(forwarded).await.assert_status(429);
    // A valid key has its own limit.
    assert_eq!(remaining(&key.get(COURSES).await.assert_status(200)).0, 59);
}

#[tokio::test]
async fn a_changed_quota_applies_immediately() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_default_quota("read:courses").await;
    assert_eq!(key.get(COURSES).await.header("x-ratelimit-limit"), "60");

    workspace.set_quota(Quota { per_minute: Some(7), per_day: Some(9) }).await;
    let response = key.get(COURSES).await.assert_status(200);
    assert_eq!(
        (response.header("x-ratelimit-limit"), response.header("x-ratelimit-daily-limit")),
        ("7", "9")
    );
    assert_eq!(remaining(&response), (5, 7));
}

#[tokio::test]
async fn a_clock_that_jumps_ahead_and_back_does_not_lock_out_clients() {
    let app = TestApp::start().await;
    let quota = Quota { per_minute: Some(2), per_day: Some(6) };
    let key = app.workspace("acme").await.key_with_quota("read:courses", quota, None).await;
    let send_guessed_key = || send(app.request(Method::GET, COURSES).bearer_auth("svc_live_guess"));
    let before = app.clock.now();
    assert_eq!(remaining(&key.get(COURSES).await.assert_status(200)), (1, 5));

    // The client exhausts the windows that begin two hours and one day later.
    for hours in [2, 24] {
        app.clock.advance(Duration::from_secs(hours * 3600));
        while key.get(COURSES).await.status == 200 {}
        while send_guessed_key().await.status == 401 {}
        app.clock.set(before);
    }

    // The minute has a new window. The day still counts three requests of the current date: one before the jump, and
    // two in the window two hours later.
    assert_eq!(remaining(&key.get(COURSES).await.assert_status(200)), (1, 2));
    assert_eq!(remaining(&send_guessed_key().await.assert_status(401)).0, 59);
    key.get(COURSES).await.assert_status(200);
    let rejected = key.get(COURSES).await.assert_status(429);
    assert_eq!(rejected.header("retry-after"), "30");
}

#[tokio::test]
async fn setting_the_clock_back_into_the_previous_minute_does_not_reset_the_limit() {
    // A shared store would reject the last request of this test. The process itself rejects the request in the previous
    // minute, so the store does not learn that the clock was set back, and still counts the two requests in the minute
    // in which they were sent. In memory, the count moves to the previous minute and ends with it.
    let app = TestApp::start_with(&[("limit_store", "memory")]).await;
    let quota = Quota { per_minute: Some(2), per_day: None };
    let key = app.workspace("acme").await.key_with_quota("read:courses", quota, None).await;
    let before = app.clock.now();
    app.clock.advance(Duration::from_secs(31));
    key.get(COURSES).await.assert_status(200);
    key.get(COURSES).await.assert_status(200);

    app.clock.set(before);
    let rejected = key.get(COURSES).await.assert_status(429);
    assert_eq!(
        rejected.header("retry-after"),
        "30",
        "until the end of the minute to which the clock was set back"
    );
    app.clock.advance(Duration::from_secs(30));
    key.get(COURSES).await.assert_status(200);
}

/// Sends a random key that does not exist.
async fn send_unknown_key(app: &TestApp) -> TestResponse {
    send(app.request(Method::GET, COURSES).bearer_auth(well_formed_unknown_key())).await
}

/// Exhausts the limit of this test's client address.
async fn exhaust_address_limit(app: &TestApp) {
    while send_unknown_key(app).await.status == 401 {}
    send_unknown_key(app).await.assert_status(429);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_guessed_keys_cause_at_most_as_many_lookups_as_the_limit() {
    let app = TestApp::start().await;
    let principals = &app.app.principals;
    let mut statuses = Vec::new();
    for _ in 0..5 {
        let responses = futures_util::future::join_all((0..200).map(|_| send_unknown_key(&app))).await;
        statuses.extend(responses.iter().map(|response| response.status));
    }
    let admitted = statuses.iter().filter(|status| **status == 401).count();
    let rejected = statuses.iter().filter(|status| **status == 429).count();
    assert_eq!((admitted, rejected), (60, 940));
    assert!(principals.lookups() <= 60, "{} lookups", principals.lookups());
    assert_eq!(principals.existing_key_queries(), 2, "the clock did not advance");

    app.clock.advance(Duration::from_millis(1_999));
    send_unknown_key(&app).await.assert_status(429);
    assert_eq!(principals.existing_key_queries(), 2);
    app.clock.advance(Duration::from_millis(1));
    futures_util::future::join_all((0..50).map(|_| send_unknown_key(&app))).await;
    assert_eq!(
        principals.existing_key_queries(),
        4,
        "one request queries the database, and the others wait for the result"
    );
}

#[tokio::test]
async fn requests_from_an_exhausted_address_are_rejected_during_a_database_outage() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_default_quota("read:courses").await;
    exhaust_address_limit(&app).await;

    let outage = outage::begin(&app).await;
    // These requests cause no query of their own: the process has already read which keys exist.
    for _ in 0..100 {
        send_unknown_key(&app).await.assert_status(429);
    }
    // After this time, the next request reads again which keys exist. The query fails, so the keys read before are
    // used.
    app.clock.advance(Duration::from_secs(5));
    for _ in 0..3 {
        send_unknown_key(&app).await.assert_status(429);
    }
    outage.end(&app).await;
    // A valid key from the same address passes and counts against its own limit.
    assert_eq!(remaining(&key.get(COURSES).await.assert_status(200)).0, 59);
}

#[tokio::test]
async fn from_an_exhausted_address_only_valid_keys_pass() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let existing = workspace.key_with_default_quota("read:courses").await;
    let revoked = workspace.key_with_default_quota("read:courses").await;
    exhaust_address_limit(&app).await;
    existing.get(COURSES).await.assert_status(200);

    // A key created by this process passes immediately. A key created by another process passes after two seconds.
    workspace.key_with_default_quota("read:courses").await.get(COURSES).await.assert_status(200);
    let other = app.other_process().await;
    let mut write = other.begin_write().await.unwrap();
    let new = NewKey {
        name: "other".to_owned(),
        scopes: Scopes::all(),
        quota: Quota::default(),
        expires_at: None,
        networks: Vec::new(),
    };
    let (record, secret) = keys::create(&other, &mut write, workspace.id, new).await.unwrap();
    write.commit().await.unwrap();
    let key = app.key_with_secret(record.id.to_string(), secret.expose_secret().to_owned());
    app.clock.advance(Duration::from_secs(2));
    key.get(COURSES).await.assert_status(200);

    let mut write = app.begin_write().await;
    keys::revoke(&app.app, &mut write, None, revoked.id.parse().unwrap()).await.unwrap();
    write.commit().await.unwrap();
    revoked.get(COURSES).await.assert_status(429);
}
