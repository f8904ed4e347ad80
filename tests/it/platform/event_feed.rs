//! `listEvents`: all events of all workspaces, in one order, exactly once.

use std::time::{Duration, Instant};

use domain::event_feed::{self, FeedOutcome, FeedReader, FeedRequest, FeedStart};
use domain::workspaces::Mode;
use serde_json::{Value, json};

use crate::support::platform::platform_token;
use crate::support::{TestApp, TestKey, skip};

const EVENTS: &str = "/platform/v1/events";

/// Reads the feed from a cursor (`None` is the beginning) until there are no more events. Returns the events and the cursor.
async fn read_all(token: &TestKey, cursor: Option<String>, parameters: &str) -> (Vec<Value>, String) {
    let (mut events, mut cursor) = (Vec::new(), cursor);
    loop {
        let after = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let page = token.get(&format!("{EVENTS}?{parameters}{after}")).await.assert_status(200).json();
        events.extend(page["data"].as_array().expect("a list").clone());
        let pagination = &page["pagination"];
        let next = pagination["cursor"].as_str().expect("a cursor").to_owned();
        if pagination["has_more"] == false {
            return (events, next);
        }
        cursor = Some(next);
    }
}

/// Waits until the use of the only token is recorded. Until then, the feed ends before this write.
async fn wait_for_recorded_use(app: &TestApp) {
    let is_recorded = async || {
        let tokens = domain::platform_tokens::list(&app.app).await.expect("a list");
        tokens[0].last_used_at == Some(app.clock.now())
    };
    crate::support::wait_until("the use of the token is recorded", is_recorded).await;
}

/// Lets as many readers wait for events as a process accepts. They end when the returned value is dropped.
pub async fn wait_with_many_readers(app: &TestApp) -> tokio::task::JoinSet<()> {
    let mut readers = tokio::task::JoinSet::new();
    let request = FeedRequest {
        reader: FeedReader::Platform { workspace: None, mode: Mode::Live },
        after: None,
        start: FeedStart::Oldest,
        event_type: None,
        undelivered_to: None,
        limit: 1,
        // So long that no reader ends before it is dropped, and none is rejected because others read their first page.
        wait: Duration::from_mins(10),
    };
    let become_full = async || {
        // A reader ends if the probe took its place, or if its page cannot be read.
        while readers.try_join_next().is_some() {}
        let missing = event_feed::MAX_WAITING_READERS - readers.len();
        for _ in 0..missing {
            let (app, request) = (app.app.clone(), request.clone());
            readers.spawn(async move { drop(event_feed::read(&app, &request).await) });
        }
        if missing > 0 {
            // The new readers begin to read their page before the probe, which would take a place otherwise.
            return false;
        }
        // It waits with the others unless all places are taken.
        let probe = event_feed::read(&app.app, &request);
        let outcome = tokio::time::timeout(Duration::from_secs(2), probe).await;
        matches!(outcome, Ok(Ok(FeedOutcome::Busy))) && readers.try_join_next().is_none()
    };
    crate::support::wait_until("no further reader can wait", become_full).await;
    readers
}

fn ids(events: &[Value]) -> Vec<&str> {
    events.iter().map(|item| item["event"]["id"].as_str().expect("an id")).collect()
}

#[tokio::test]
async fn the_feed_contains_the_stored_bodies_of_all_workspaces() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "read:events").await;
    let (acme, other) = (app.workspace("acme").await, app.workspace("other").await);
    for (workspace, email) in [(&acme, "a@example.com"), (&other, "b@example.com"), (&acme, "c@example.com")]
    {
        workspace.change("student.upsert", json!({"key": email, "email": email})).await;
        app.clock.advance(Duration::from_millis(1));
    }
    let response = token.get(&format!("{EVENTS}?limit=1000")).await.assert_status(200);
    let stored = app.event_bodies().await;
    let items: Vec<String> = response.json()["data"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|item| item["sequence"].as_str().expect("text").to_owned())
        .collect();
    assert_eq!(items.len(), 3);
    assert!(items.is_sorted() && items.iter().all(|sequence| sequence.len() == 26), "{items:?}");
    let text = String::from_utf8(response.body.to_vec()).expect("UTF-8");
    for body in stored {
        assert!(text.contains(std::str::from_utf8(&body).expect("UTF-8")), "{text}");
    }
}

#[tokio::test]
async fn a_reader_that_follows_the_cursor_receives_each_event_once() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "read:events").await;
    let acme = app.workspace("acme").await;
    let (mut received, mut cursor) = (Vec::new(), None);
    for round in 0..4 {
        for number in 0..5 {
            let email = format!("s{round}-{number}@example.com");
            acme.change("student.upsert", json!({"key": email, "email": email})).await;
        }
        app.clock.advance(Duration::from_millis(1));
        let (events, next) = read_all(&token, cursor, "limit=2").await;
        received.extend(events);
        cursor = Some(next);
    }
    let (all, _) = read_all(&token, None, "limit=1000").await;
    assert_eq!((received.len(), &received), (20, &all));
    let (none, _) = read_all(&token, cursor, "limit=2").await;
    assert_eq!(none, Vec::<Value>::new());
}

#[tokio::test]
async fn an_event_of_a_transaction_that_commits_late_is_not_skipped() {
    let app = TestApp::start().await;
    if !app.uses_postgres() {
        return skip("PostgreSQL only: SQLite has one writer, so transactions commit in order");
    }
    let token = platform_token(&app, "read:events").await;
    let acme = app.workspace("acme").await;
    let mut late = app.begin_write().await;
    let at = app.clock.now();
    let event = domain::outbox::Event::StudentDeleted(domain::students::DeletedStudent {
        id: app.app.ids.next(at),
        email: "late@example.com".to_owned(),
        external_id: None,
        deleted_at: at,
    });
    domain::outbox::append(&app.app, &mut late, acme.id, at, event).await.expect("an event");
    app.clock.advance(Duration::from_millis(5));
    acme.change("student.upsert", json!({"key": "s", "email": "s@example.com"})).await;
    app.clock.advance(Duration::from_millis(5));
    let (before, cursor) = read_all(&token, None, "limit=10").await;
    assert_eq!(ids(&before), Vec::<&str>::new(), "an earlier transaction is still running");
    late.commit().await.expect("the commit succeeds");
    let (after, _) = read_all(&token, Some(cursor), "limit=10").await;
    let types: Vec<&Value> = after.iter().map(|item| &item["event"]["type"]).collect();
    assert_eq!(types, ["student.deleted", "student.created"]);
}

#[tokio::test]
async fn filters_select_events_by_type_workspace_and_time() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "read:events").await;
    let (acme, other) = (app.workspace("acme").await, app.workspace("other").await);
    acme.change("student.upsert", json!({"key": "a", "email": "a@example.com"})).await;
    other.change("student.upsert", json!({"key": "b", "email": "b@example.com"})).await;
    app.clock.advance(Duration::from_secs(60));
    let later = app.clock.now();
    acme.change("student.upsert", json!({"key": "a", "email": "new@example.com"})).await;
    app.clock.advance(Duration::from_millis(1));
    let count = async |parameters: String| read_all(&token, None, &parameters).await.0.len();
    assert_eq!(count("limit=9".to_owned()).await, 3);
    assert_eq!(count("type=student.updated".to_owned()).await, 1);
    assert_eq!(count(format!("workspace_id={}", other.id)).await, 1);
    assert_eq!(count(format!("workspace_id={}&type=student.created", acme.id)).await, 1);
    assert_eq!(count(format!("after={later}")).await, 1);
}

#[tokio::test]
async fn invalid_parameters_are_rejected() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "read:events").await;
    for (parameters, field) in [
        ("limit=0", "query limit"),
        ("limit=1001", "query limit"),
        ("wait=31", "query wait"),
        ("type=student.made", "query type"),
        ("cursor=abc", "query cursor"),
        ("cursor=7zzzzzzzzzzzzzzzzzzzzzzzzz", "query cursor"),
        ("workspace_id=wks_1", "query workspace_id"),
        ("after=yesterday", "query after"),
        ("after=2100-01-01T00:00:00Z", "query after"),
        ("page=2", "query page"),
    ] {
        let rejected = token.get(&format!("{EVENTS}?{parameters}")).await.assert_status(422);
        rejected.assert_errors_at(&[field]);
    }
}

#[tokio::test]
async fn a_cursor_that_is_older_than_the_stored_events_has_expired() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "read:events").await;
    let acme = app.workspace("acme").await;
    acme.change("student.upsert", json!({"key": "a", "email": "a@example.com"})).await;
    app.clock.advance(Duration::from_millis(1));
    let (_, cursor) = read_all(&token, None, "limit=10").await;
    wait_for_recorded_use(&app).await;
    app.clock.advance(Duration::from_secs(30 * 86_400 + 3_600 - 60));
    read_all(&token, Some(cursor.clone()), "limit=10").await;
    wait_for_recorded_use(&app).await;
    app.clock.advance(Duration::from_secs(120));
    let expired = token.get(&format!("{EVENTS}?cursor={cursor}")).await.assert_status(410);
    assert_eq!(expired.code(), "cursor_expired");
    let message = expired.message();
    let oldest = message.split('`').nth(3).expect("a cursor in the message");
    app.clock.advance(Duration::from_secs(60));
    let (events, _) = read_all(&token, Some(oldest.to_owned()), "limit=10").await;
    assert_eq!(events, Vec::<Value>::new());
}

#[tokio::test]
async fn a_waiting_reader_receives_an_event_as_soon_as_there_is_one() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "read:events").await;
    let acme = app.workspace("acme").await;
    let (_, cursor) = read_all(&token, None, "limit=10").await;
    let started = Instant::now();
    let path = format!("{EVENTS}?wait=20&cursor={cursor}");
    let waiting = token.get(&path);
    let change = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        acme.change("student.upsert", json!({"key": "a", "email": "a@example.com"})).await;
        app.clock.advance(Duration::from_millis(1));
    };
    let (response, ()) = tokio::join!(waiting, change);
    let page = response.assert_status(200).json();
    assert_eq!(page["data"][0]["event"]["type"], "student.created");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[tokio::test]
async fn many_waiting_readers_receive_an_event_and_leave_connections_for_others() {
    let app = TestApp::start_with_connection_limits(|limits| limits.per_address = 1000).await;
    let token = platform_token(&app, "read:events").await;
    let acme = app.workspace("acme").await;
    let key = acme.key_with_all_scopes().await;
    let (_, cursor) = read_all(&token, None, "limit=10").await;
    let readers: Vec<_> = (0..300)
        .map(|_| {
            let (token, path) = (token.clone(), format!("{EVENTS}?wait=30&cursor={cursor}"));
            tokio::spawn(async move { token.get(&path).await.assert_status(200).json()["data"].clone() })
        })
        .collect();
    key.get("/api/v1/courses").await.assert_status(200);
    acme.change("student.upsert", json!({"key": "a", "email": "a@example.com"})).await;
    app.clock.advance(Duration::from_millis(1));
    key.get("/api/v1/courses").await.assert_status(200);
    for reader in readers {
        let data = reader.await.expect("no panic");
        assert_eq!(data[0]["event"]["type"], "student.created", "{data}");
    }
}

#[tokio::test]
async fn a_waiting_reader_receives_nothing_when_the_time_is_over_or_the_server_stops() {
    let mut app = TestApp::start().await;
    let token = platform_token(&app, "read:events").await;
    let page = token.get(&format!("{EVENTS}?wait=1")).await.assert_status(200).json();
    assert_eq!((&page["data"], &page["pagination"]["has_more"]), (&json!([]), &json!(false)));
    let waiting = tokio::spawn({
        let token = token.clone();
        async move { token.get(&format!("{EVENTS}?wait=30")).await }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let started = Instant::now();
    app.stop().await;
    waiting.await.expect("no panic").assert_status(200);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[tokio::test]
async fn readers_beyond_the_limit_are_rejected() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "read:events").await;
    let readers = wait_with_many_readers(&app).await;
    token.get(EVENTS).await.assert_status(200);
    let rejected = token.get(&format!("{EVENTS}?wait=30")).await.assert_status(503);
    assert_eq!((rejected.code().as_str(), rejected.header("retry-after")), ("unavailable", "5"));
    drop(readers);
    let is_accepted = async || token.get(&format!("{EVENTS}?wait=1")).await.status == 200;
    crate::support::wait_until("readers are accepted again", is_accepted).await;
}

#[tokio::test]
async fn a_reader_with_too_many_connections_is_rejected_with_the_time_to_wait() {
    let app = TestApp::start_with_connection_limits(|limits| limits.per_address = 1).await;
    let token = platform_token(&app, "read:events").await;
    let address = app.base_url.strip_prefix("http://").expect("a URL");
    let _open = tokio::net::TcpStream::connect(address).await.expect("the server accepts connections");
    let request = format!(
        "GET {EVENTS} HTTP/1.1\r\nhost: api.test\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
        token.secret
    );
    let received = app.exchange(request.as_bytes(), false).await;
    let rejected = &received.responses[0];
    assert_eq!((rejected.status, rejected.header("retry-after")), (503, "5"));
    assert_eq!(rejected.json()["error"]["code"], "unavailable");
}

#[tokio::test]
#[ignore = "slow"]
async fn a_page_ends_before_it_becomes_large() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "read:events").await;
    let acme = app.workspace("acme").await;
    let description = "x".repeat(20_000);
    for number in 0..420 {
        let slug = format!("c-{number}");
        let course = json!({"key": slug, "slug": slug, "title": "Ink", "status": "published",
            "description": description});
        acme.change("course.upsert", course).await;
    }
    app.clock.advance(Duration::from_millis(1));
    let page = token.get(&format!("{EVENTS}?limit=1000")).await.assert_status(200);
    assert!((4 << 20..5 << 20).contains(&page.body.len()), "{} bytes", page.body.len());
    assert_eq!(page.json()["pagination"]["has_more"], true);
    assert_eq!(read_all(&token, None, "limit=1000").await.0.len(), 420);
}

#[tokio::test]
async fn a_cursor_does_not_depend_on_the_token() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "read:events").await;
    let acme = app.workspace("acme").await;
    for email in ["a@example.com", "b@example.com"] {
        acme.change("student.upsert", json!({"key": email, "email": email})).await;
    }
    app.clock.advance(Duration::from_millis(1));
    // The feed ends before a running write, such as that of the request log.
    let first = async || token.get(&format!("{EVENTS}?limit=1")).await.assert_status(200).json();
    crate::support::wait_until("the first event", async || first().await["data"][0].is_object()).await;
    let first = first().await;
    let cursor = first["pagination"]["cursor"].as_str().expect("a cursor").to_owned();
    let other = platform_token(&app, "read:events").await;
    let (rest, _) = read_all(&other, Some(cursor), "limit=1").await;
    assert_eq!(rest.len(), 1);
    assert_ne!(rest[0], first["data"][0]);
}

#[tokio::test]
async fn a_test_of_a_webhook_is_not_in_the_feed() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "read:events").await;
    let acme = app.workspace("acme").await;
    let (subscription, _) = acme.subscribe(&["student.created"]).await;
    let mut write = app.begin_write().await;
    domain::webhooks::send_test(&app.app, &mut write, acme.id, subscription, None).await.expect("a test");
    write.commit().await.expect("the commit succeeds");
    app.clock.advance(Duration::from_millis(1));
    assert_eq!(app.event_bodies().await.len(), 1);
    assert_eq!(read_all(&token, None, "limit=10").await.0, Vec::<Value>::new());
}

#[tokio::test]
async fn a_clock_that_is_set_back_over_a_restart_hides_no_event_and_expires_no_cursor() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "read:events").await;
    app.workspace("acme").await.student("ada").await;
    app.clock.advance(Duration::from_secs(1));
    let (events, cursor) = read_all(&token, None, "limit=100").await;
    assert_eq!(events.len(), 1);

    app.clock.set(app.clock.now() - Duration::from_secs(3_600));
    let app = app.restart().await;
    let token = app.key_with_secret(token.id.clone(), token.secret.clone());
    let (none, cursor) = read_all(&token, Some(cursor), "limit=100").await;
    assert_eq!(none.len(), 0);
    app.workspace("other").await.student("bob").await;
    // The server may be recording the use of the token, and the feed ends before a running write.
    let is_visible = async || read_all(&token, Some(cursor.clone()), "limit=100").await.0.len() == 1;
    crate::support::wait_until("the event is visible although the clock has not caught up", is_visible).await;
}

#[tokio::test]
async fn a_clock_that_was_far_ahead_expires_no_cursor() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "read:events").await;
    app.workspace("acme").await.student("ada").await;
    app.clock.advance(Duration::from_secs(1));
    let (_, cursor) = read_all(&token, None, "limit=100").await;

    let correct = app.clock.now();
    app.clock.advance(Duration::from_secs(40 * 86_400));
    app.workspace("acme").await.student("bob").await;
    app.clock.advance(Duration::from_secs(1));
    let (_, late_cursor) = read_all(&token, None, "limit=100").await;
    app.clock.set(correct);
    let app = app.restart().await;
    let token = app.key_with_secret(token.id.clone(), token.secret.clone());
    app.workspace("other").await.student("eve").await;
    for (cursor, expected) in [(Some(cursor), 2), (Some(late_cursor), 1), (None, 3)] {
        let are_visible = async || read_all(&token, cursor.clone(), "limit=100").await.0.len() == expected;
        crate::support::wait_until("the events are visible", are_visible).await;
    }
}
