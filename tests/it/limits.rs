//! Limits: what counts, what is told, and what happens at the end of a window.

use std::time::Duration;

use domain::app::App;
use domain::keys::{self, NewKey};
use domain::scope::Scopes;
use domain::workspaces::Quota;
use rate_limit::{Caps, Limiter, Subject};
use reqwest::Method;
use secrecy::ExposeSecret;

use crate::outage;
use crate::support::{Answer, Key, TestApp, invented_key, send};

const COURSES: &str = "/api/v1/courses";

fn remaining(answer: &Answer) -> (i64, i64) {
    let number = |name| answer.header(name).parse().unwrap_or_else(|_| panic!("{name} is no number"));
    (number("x-ratelimit-remaining"), number("x-ratelimit-daily-remaining"))
}

#[tokio::test]
async fn every_answer_tells_both_buckets() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.plain_key("read:courses").await;

    let answer = key.get(COURSES).await.assert_status(200);
    let headers = ["limit", "remaining", "reset", "daily-limit", "daily-remaining", "daily-reset"]
        .map(|name| answer.header(&format!("x-ratelimit-{name}")).to_owned());
    // 2026-03-02T10:01:00Z and 2026-03-03T00:00:00Z.
    assert_eq!(headers, ["60", "59", "1772445660", "1000", "999", "1772496000"]);
    assert_eq!(answer.header("retry-after"), "");
}

#[tokio::test]
async fn a_request_counts_whatever_its_answer() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.plain_key("read:courses").await;

    assert_eq!(remaining(&key.get(COURSES).await.assert_status(200)), (59, 999));
    assert_eq!(remaining(&key.get("/api/v1/orders").await.assert_status(403)), (58, 998));
    assert_eq!(remaining(&key.get("/api/v1/nothing").await.assert_status(404)), (57, 997));
    assert_eq!(remaining(&key.get("/api/v1/courses?limit=0").await.assert_status(422)), (56, 996));
    assert_eq!(remaining(&key.post(COURSES, serde_json::json!({})).await.assert_status(405)), (55, 995));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_sixty_one_requests_at_once_exactly_sixty_pass() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.plain_key("read:courses").await;

    let answers = futures_util::future::join_all((0..61).map(|_| key.get(COURSES))).await;
    let passed = answers.iter().filter(|answer| answer.status == 200).count();
    let refused: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 429).collect();
    assert_eq!((passed, refused.len()), (60, 1));

    let refused = refused[0];
    assert_eq!(refused.code(), "rate_limited");
    // The clock stands at half past the minute.
    assert_eq!(refused.header("retry-after"), "30");
    assert_eq!(refused.json()["error"]["retryAfterSeconds"], 30);
    // The refused one counted nowhere: 940 are left of the day, not 939.
    assert_eq!(remaining(refused), (0, 940));
}

#[tokio::test]
async fn the_minute_opens_again_at_the_top_of_the_clock_minute() {
    let app = TestApp::start().await;
    let quota = Quota { per_minute: Some(2), per_day: None };
    let key = app.workspace("acme").await.key_with("read:courses", quota, None).await;

    key.get(COURSES).await.assert_status(200);
    key.get(COURSES).await.assert_status(200);
    app.clock.advance(Duration::from_millis(29_500));
    let refused = key.get(COURSES).await.assert_status(429);
    assert_eq!(refused.header("retry-after"), "1");

    app.clock.advance(Duration::from_millis(500));
    assert_eq!(remaining(&key.get(COURSES).await.assert_status(200)), (1, 997));
}

#[tokio::test]
async fn a_day_is_a_utc_day_and_its_wait_wins_when_both_buckets_are_empty() {
    let app = TestApp::start().await;
    let quota = Quota { per_minute: Some(2), per_day: Some(2) };
    let key = app.workspace("acme").await.key_with("read:courses", quota, None).await;

    key.get(COURSES).await.assert_status(200);
    key.get(COURSES).await.assert_status(200);
    let refused = key.get(COURSES).await.assert_status(429);
    // From 10:00:30 to midnight.
    assert_eq!(refused.header("retry-after"), "50370");

    app.clock.advance(Duration::from_secs(50_370));
    assert_eq!(remaining(&key.get(COURSES).await.assert_status(200)), (1, 1));
}

#[tokio::test]
async fn the_count_of_the_day_survives_a_restart() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.plain_key("read:courses").await;
    for _ in 0..5 {
        key.get(COURSES).await.assert_status(200);
    }

    let app = app.restart().await;
    let key = app.key_of(key.id, key.secret);
    assert_eq!(remaining(&key.get(COURSES).await.assert_status(200)).1, 994);
}

/// Draws from the day of a key in one process so often, and gives what is left of it.
async fn draw(limiter: &Limiter, app: &App, key: &Key, times: usize) -> u32 {
    let mut left = 0;
    for _ in 0..times {
        let draw =
            limiter.draw(&app.db, &app.clock, Subject::Key(key.id.parse().unwrap()), Caps::default()).await;
        left = draw.standing().day_left;
    }
    left
}

#[tokio::test]
async fn a_day_is_one_for_all_processes_once_each_has_written_its_count() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.plain_key("read:courses").await;
    let (one, other) = (&app.app, &app.other_process().await);
    let (at_one, at_other) = (Limiter::default(), Limiter::default());
    assert_eq!(draw(&at_one, one, &key, 3).await, 997);
    assert_eq!(draw(&at_other, other, &key, 4).await, 996);

    at_one.flush(&one.db, &one.clock).await.unwrap();
    at_other.flush(&other.db, &other.clock).await.unwrap();
    assert_eq!(draw(&at_other, other, &key, 1).await, 992, "three here, four there");
    assert_eq!(draw(&at_one, one, &key, 1).await, 996, "not yet");
    at_other.flush(&other.db, &other.clock).await.unwrap();
    at_one.flush(&one.db, &one.clock).await.unwrap();
    assert_eq!(draw(&at_one, one, &key, 1).await, 990);
}

#[tokio::test]
async fn keys_do_not_share_their_buckets() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let quota = Quota { per_minute: Some(1), per_day: None };
    let one = workspace.key_with("read:courses", quota, None).await;
    let two = workspace.key_with("read:courses", quota, None).await;

    one.get(COURSES).await.assert_status(200);
    one.get(COURSES).await.assert_status(429);
    two.get(COURSES).await.assert_status(200);
}

#[tokio::test]
async fn whoever_has_no_key_draws_on_the_bucket_of_the_address() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.plain_key("read:courses").await;

    for left in (0..60).rev() {
        let answer = send(app.request(Method::GET, COURSES).bearer_auth("svc_live_guess")).await;
        assert_eq!((answer.status, remaining(&answer).0), (401, left));
    }
    let refused = send(app.request(Method::GET, COURSES)).await.assert_status(429);
    assert_eq!(refused.header("retry-after"), "30");
    // A forwarded address is not believed from a stranger.
    let forwarded = app.request(Method::GET, COURSES).header("x-forwarded-for", "203.0.113.7");
    send(forwarded).await.assert_status(429);
    // A valid key has a bucket of its own.
    assert_eq!(remaining(&key.get(COURSES).await.assert_status(200)).0, 59);
}

#[tokio::test]
async fn a_change_of_the_quota_holds_at_once() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.plain_key("read:courses").await;
    assert_eq!(key.get(COURSES).await.header("x-ratelimit-limit"), "60");

    workspace.set_quota(Quota { per_minute: Some(7), per_day: Some(9) }).await;
    let answer = key.get(COURSES).await.assert_status(200);
    assert_eq!((answer.header("x-ratelimit-limit"), answer.header("x-ratelimit-daily-limit")), ("7", "9"));
    assert_eq!(remaining(&answer), (5, 7));
}

#[tokio::test]
async fn a_clock_that_jumps_ahead_and_returns_locks_nobody_out() {
    let app = TestApp::start().await;
    let quota = Quota { per_minute: Some(2), per_day: Some(6) };
    let key = app.workspace("acme").await.key_with("read:courses", quota, None).await;
    let guess = || send(app.request(Method::GET, COURSES).bearer_auth("svc_live_guess"));
    let before = app.clock.now();
    assert_eq!(remaining(&key.get(COURSES).await.assert_status(200)), (1, 5));

    // Two hours ahead, and a day ahead: the windows there are exhausted.
    for hours in [2, 24] {
        app.clock.advance(Duration::from_secs(hours * 3600));
        while key.get(COURSES).await.status == 200 {}
        while guess().await.status == 401 {}
        app.clock.set(before);
    }

    // The minute is a new one. Of the day are left what the clock's own date has seen: one before, two in two hours.
    assert_eq!(remaining(&key.get(COURSES).await.assert_status(200)), (1, 2));
    assert_eq!(remaining(&guess().await.assert_status(401)).0, 59);
    key.get(COURSES).await.assert_status(200);
    let refused = key.get(COURSES).await.assert_status(429);
    assert_eq!(refused.header("retry-after"), "30");
}

#[tokio::test]
async fn a_clock_that_returns_by_less_than_a_minute_gives_no_second_minute() {
    let app = TestApp::start().await;
    let quota = Quota { per_minute: Some(2), per_day: None };
    let key = app.workspace("acme").await.key_with("read:courses", quota, None).await;
    let before = app.clock.now();
    app.clock.advance(Duration::from_secs(31));
    key.get(COURSES).await.assert_status(200);
    key.get(COURSES).await.assert_status(200);

    app.clock.set(before);
    let refused = key.get(COURSES).await.assert_status(429);
    assert_eq!(refused.header("retry-after"), "30", "never longer than the window is");
    app.clock.advance(Duration::from_secs(30));
    key.get(COURSES).await.assert_status(200);
}

/// Sends a key that nobody has.
async fn guess(app: &TestApp) -> Answer {
    send(app.request(Method::GET, COURSES).bearer_auth(invented_key())).await
}

/// Uses up the limit of the client address of this test.
async fn exhaust(app: &TestApp) {
    while guess(app).await.status == 401 {}
    guess(app).await.assert_status(429);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_guesses_cause_no_more_look_ups_than_were_admitted() {
    let app = TestApp::start().await;
    let principals = &app.app.principals;
    let mut statuses = Vec::new();
    for _ in 0..5 {
        let answers = futures_util::future::join_all((0..200).map(|_| guess(&app))).await;
        statuses.extend(answers.iter().map(|answer| answer.status));
    }
    let admitted = statuses.iter().filter(|status| **status == 401).count();
    let refused = statuses.iter().filter(|status| **status == 429).count();
    assert_eq!((admitted, refused), (60, 940));
    assert!(principals.look_ups() <= 60, "{} look-ups", principals.look_ups());
    assert_eq!(principals.filter_statements(), 1, "the clock stood still");

    app.clock.advance(Duration::from_millis(1_999));
    guess(&app).await.assert_status(429);
    assert_eq!(principals.filter_statements(), 1);
    app.clock.advance(Duration::from_millis(1));
    futures_util::future::join_all((0..50).map(|_| guess(&app))).await;
    assert_eq!(principals.filter_statements(), 2, "one reads, the others wait for it");
}

#[tokio::test]
async fn an_exhausted_address_causes_no_query() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.plain_key("read:courses").await;
    exhaust(&app).await;

    let outage = outage::begin(&app).await;
    for _ in 0..100 {
        guess(&app).await.assert_status(429);
    }
    // Later, one asks in vain which keys are new.
    app.clock.advance(Duration::from_secs(5));
    for _ in 0..3 {
        guess(&app).await.assert_status(429);
    }
    outage.end(&app).await;
    // A valid key from the same address passes, and draws on its own bucket.
    assert_eq!(remaining(&key.get(COURSES).await.assert_status(200)).0, 59);
}

#[tokio::test]
async fn from_an_exhausted_address_every_valid_key_passes_and_no_other() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let old = workspace.plain_key("read:courses").await;
    let revoked = workspace.plain_key("read:courses").await;
    exhaust(&app).await;
    old.get(COURSES).await.assert_status(200);

    // One that this process creates passes at once, one of another process within two seconds.
    workspace.plain_key("read:courses").await.get(COURSES).await.assert_status(200);
    let other = app.other_process().await;
    let mut write = other.begin_write().await.unwrap();
    let new =
        NewKey { name: "other".to_owned(), scopes: Scopes::all(), quota: Quota::default(), expires_at: None };
    let (record, secret) = keys::create(&other, &mut write, workspace.id, new).await.unwrap();
    write.commit().await.unwrap();
    let key = app.key_of(record.id.to_string(), secret.expose_secret().to_owned());
    app.clock.advance(Duration::from_secs(2));
    key.get(COURSES).await.assert_status(200);

    let mut write = app.write().await;
    keys::revoke(&app.app, &mut write, None, revoked.id.parse().unwrap()).await.unwrap();
    write.commit().await.unwrap();
    revoked.get(COURSES).await.assert_status(429);
}
