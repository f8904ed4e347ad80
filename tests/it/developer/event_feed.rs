//! `listEvents`: the events of a workspace in one order, exactly once, and what was not delivered to a webhook.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use domain::outbox::{self, Event};
use domain::students::DeletedStudent;
use entity::webhook_deliveries::queue::DeliveryTransition;
use serde_json::{Value, json};

use super::EVENTS;
use crate::support::platform::platform_token;
use crate::support::{Endpoint, TestApp, TestKey, TestWorkspace, in_transaction, skip, wait_until};

const DAY: Duration = Duration::from_hours(24);

/// Reads events from a cursor (`None` is the beginning) until there are no more. Returns the items and the last cursor.
async fn read_all(key: &TestKey, cursor: Option<&str>, parameters: &str) -> (Vec<Value>, String) {
    let (mut items, mut cursor) = (Vec::new(), cursor.map(str::to_owned));
    loop {
        let after = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let page = key.get(&format!("{EVENTS}?{parameters}{after}")).await.assert_status(200).json();
        items.extend(page["data"].as_array().expect("a list").clone());
        let next = page["pagination"]["cursor"].as_str().expect("a cursor").to_owned();
        if page["pagination"]["has_more"] == false {
            return (items, next);
        }
        cursor = Some(next);
    }
}

/// Reads all events until there are this many. The list ends before a running write, such as that of the request log.
pub(super) async fn read_count(key: &TestKey, parameters: &str, count: usize) -> Vec<Value> {
    let mut items = Vec::new();
    wait_until("all events are visible", async || {
        items = read_all(key, None, parameters).await.0;
        items.len() >= count
    })
    .await;
    assert_eq!(items.len(), count, "{items:?}");
    items
}

fn id(item: &Value) -> String {
    item["event"]["id"].as_str().expect("an id").to_owned()
}

/// Returns the part before the `@` of the email address in each event.
fn emails(items: &[Value]) -> Vec<&str> {
    items.iter().filter_map(|item| item["event"]["data"]["email"].as_str()?.split('@').next()).collect()
}

async fn student(workspace: &TestWorkspace<'_>, name: &str) {
    workspace.upsert_student(name).await;
    workspace.app.clock.advance(Duration::from_millis(1));
}

#[tokio::test]
async fn a_receiver_that_was_down_for_three_days_catches_up() {
    let app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let (healthy, failing) = (Endpoint::start().await, Endpoint::start().await);
    acme.subscribe_endpoint(&healthy, &["student.created", "student.updated"]).await;
    let webhook = acme.subscribe_endpoint(&failing, &["student.created", "student.updated"]).await;
    let mut number = 0;
    let mut change = async || {
        for _ in 0..4 {
            number += 1;
            acme.change("student.upsert", json!({"key": "s", "email": format!("s{number}@example.com")}))
                .await;
            student(&acme, &format!("n{number}")).await;
        }
        app.deliver_due().await;
    };
    change().await;
    let received_before = failing.requests().len();
    failing.always_respond_with(503);
    for _ in 0..6 {
        change().await;
        app.clock.advance(DAY / 2);
    }
    app.deliver_due().await;
    failing.always_respond_with(204);
    change().await;

    let key = acme.key("read:events").await;
    let expected: BTreeMap<String, String> = healthy
        .requests()
        .iter()
        .map(|request| (request.header("webhook-id").to_owned(), request.header("x-svc-sequence").to_owned()))
        .collect();
    let all = read_count(&key, "limit=7", expected.len()).await;
    let listed: BTreeMap<String, String> =
        all.iter().map(|item| (id(item), item["sequence"].as_str().expect("text").to_owned())).collect();
    assert_eq!(listed, expected, "the same events with the same sequence as the healthy receiver got");
    assert!(all.is_sorted_by_key(|item| item["sequence"].as_str().expect("text").to_owned()));

    let undelivered = format!("limit=7&undelivered_to={}", webhook.id);
    let missed: BTreeSet<String> = read_all(&key, None, &undelivered).await.0.iter().map(id).collect();
    let received = failing.requests();
    let accepted = received[..received_before].iter().chain(&received[received.len() - 8..]);
    let accepted: BTreeSet<String> =
        accepted.map(|request| request.header("webhook-id").to_owned()).collect();
    assert!(missed.is_disjoint(&accepted) && accepted.len() >= received_before);
    let caught_up: BTreeSet<String> = missed.union(&accepted).cloned().collect();
    assert_eq!(caught_up, expected.into_keys().collect());
}

#[tokio::test]
async fn a_webhook_has_not_received_what_is_pending_held_or_dead() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    student(&acme, "before").await;
    let (webhook, _) = acme.subscribe(&["student.created"]).await;
    for (name, status, transition) in
        [("delivered", 200, DeliveryTransition::Delivered), ("dead", 400, DeliveryTransition::Dead)]
    {
        student(&acme, name).await;
        assert_eq!(app.settle_due(Some(status), transition).await, 1);
    }
    student(&acme, "pending").await;
    acme.change("student.upsert", json!({"key": "pending", "email": "of_another_type@example.com"})).await;
    in_transaction(&app, async |write| domain::webhooks::pause(write, acme.id, webhook).await)
        .await
        .expect("a change");
    student(&acme, "held").await;
    let key = acme.key("read:events").await;
    let undelivered = format!("undelivered_to={webhook}");
    assert_eq!(emails(&read_count(&key, &undelivered, 3).await), ["dead", "pending", "held"]);
    assert_eq!(
        emails(&read_all(&key, None, &format!("{undelivered}&type=student.updated")).await.0),
        [""; 0]
    );

    // The dead letter is sent again.
    let dead = &acme.deliveries(webhook).await[1];
    let replay = format!("{}/{}/replay", super::DELIVERIES, dead.id);
    in_transaction(&app, async |write| {
        domain::webhooks::enable(&app.app, write, acme.id, webhook, domain::webhooks::HeldAction::Send).await
    })
    .await
    .expect("a change");
    acme.key("write:webhooks").await.post(&replay, json!({})).await.assert_status(201);
    assert_eq!(app.settle_due(Some(200), DeliveryTransition::Delivered).await, 3);
    assert_eq!(read_all(&key, None, &undelivered).await.0, Vec::<Value>::new());

    let (foreign, _) = app.workspace("other").await.subscribe(&["student.created"]).await;
    key.get(&format!("{EVENTS}?undelivered_to={foreign}")).await.assert_status(404);
}

#[tokio::test]
async fn an_event_whose_deliveries_are_not_all_written_is_not_skipped() {
    let app = TestApp::start_with(&[("max_subscriptions_per_workspace", "1000")]).await;
    let acme = app.workspace("acme").await;
    let mut subscribed = Vec::new();
    for _ in 0..70 {
        subscribed.push(acme.subscribe(&["student.created"]).await.0);
    }
    student(&acme, "ada").await;
    student(&acme, "bob").await;
    let key = acme.key("read:events").await;
    let last = subscribed.iter().max().expect("a webhook");
    let undelivered = format!("undelivered_to={last}");
    let (early, cursor) = read_all(&key, None, &undelivered).await;
    assert_eq!(emails(&early), [""; 0], "its deliveries are written later");
    let mut found = Vec::new();
    wait_until("the deliveries are written", async || {
        webhooks::maintenance::run_once(&app.app).await.expect("maintenance succeeds");
        found = read_all(&key, Some(&cursor), &undelivered).await.0;
        found.len() == 2
    })
    .await;
    assert_eq!(emails(&found), ["ada", "bob"]);
}

#[tokio::test]
async fn the_list_has_the_stored_bodies_of_its_workspace_and_no_others() {
    let app = TestApp::start().await;
    let (acme, other) = (app.workspace("acme").await, app.workspace("other").await);
    student(&acme, "ada").await;
    student(&other, "eve").await;
    let (webhook, _) = acme.subscribe(&["student.created"]).await;
    in_transaction(&app, async |write| {
        domain::webhooks::send_test(&app.app, write, acme.id, webhook, None).await
    })
    .await
    .expect("a test event");
    app.clock.advance(Duration::from_secs(60));
    let later = app.clock.now();
    acme.change("student.upsert", json!({"key": "ada", "email": "new@example.com"})).await;
    app.clock.advance(Duration::from_millis(1));

    let key = acme.key("read:events").await;
    read_count(&key, "limit=1", 2).await;
    let response = key.get(EVENTS).await.assert_status(200);
    let text = String::from_utf8(response.body.clone()).expect("UTF-8");
    for body in app.event_bodies().await {
        let body = std::str::from_utf8(&body).expect("UTF-8");
        let is_listed = !body.contains("eve@") && !body.contains("\"test\":true");
        assert_eq!(text.contains(body), is_listed, "{body}");
    }
    assert_eq!(emails(&read_count(&key, &format!("after={later}"), 1).await), ["new"]);
    assert_eq!(emails(&read_count(&key, "type=student.created", 1).await), ["ada"]);
    let rejected = key.get(&format!("{EVENTS}?after=2100-01-01T00:00:00Z")).await;
    rejected.assert_errors_at(&["query after"]);
}

#[tokio::test]
async fn cursors_belong_to_their_workspace_and_api() {
    let app = TestApp::start().await;
    let (acme, other) = (app.workspace("acme").await, app.workspace("other").await);
    student(&acme, "ada").await;
    let (key, foreign_key) = (acme.key("read:events read:webhooks").await, other.key("read:events").await);
    let (_, own) = read_all(&key, None, "limit=5").await;
    let (_, foreign) = read_all(&foreign_key, None, "limit=5").await;
    let token = platform_token(&app, "read:events").await;
    let platform = token.get("/platform/v1/events").await.json()["pagination"]["cursor"].clone();
    for _ in 0..2 {
        acme.subscribe(&["student.created"]).await;
    }
    let webhooks = key.get(&format!("{}?limit=1", super::WEBHOOKS)).await.cursor().expect("a cursor");
    for cursor in [&foreign, platform.as_str().expect("a cursor"), &webhooks, "abc", &own[1..]] {
        for path in [EVENTS, super::EVENT_STREAM] {
            let rejected = key.get(&format!("{path}?cursor={cursor}")).await;
            rejected.assert_errors_at(&["query cursor"]);
        }
    }
    // Not to the key.
    read_all(&acme.key("read:events").await, Some(&own), "limit=5&type=order.paid").await;
    let rejected = token.get(&format!("/platform/v1/events?cursor={own}")).await;
    assert_eq!(rejected.error_locations(), ["query cursor"]);
}

#[tokio::test]
async fn an_older_cursor_than_the_stored_events_has_expired() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key("read:events").await;
    let (_, cursor) = read_all(&key, None, "limit=5").await;
    app.clock.advance(31 * DAY);
    let key = acme.key("read:events").await;
    for path in [EVENTS, super::EVENT_STREAM] {
        let expired = key.get(&format!("{path}?cursor={cursor}")).await.assert_status(410);
        assert_eq!((expired.code().as_str(), expired.errors().len()), ("cursor_expired", 1));
        let message = expired.message();
        let oldest = message.split('`').nth(3).expect("a cursor in the message");
        read_all(&key, Some(oldest), "limit=5").await;
    }
}

#[tokio::test]
async fn an_event_of_a_transaction_that_commits_late_is_not_skipped() {
    let app = TestApp::start().await;
    if !app.uses_postgres() {
        return skip("PostgreSQL only: SQLite has one writer, so transactions commit in order");
    }
    let acme = app.workspace("acme").await;
    let key = acme.key("read:events").await;
    let (mut late, at) = (app.begin_write().await, app.clock.now());
    let deleted = DeletedStudent {
        id: app.app.ids.next(at),
        email: "late@example.com".to_owned(),
        external_id: None,
        deleted_at: at,
    };
    outbox::append(&app.app, &mut late, acme.id, at, Event::StudentDeleted(deleted)).await.expect("an event");
    app.clock.advance(Duration::from_millis(5));
    student(&acme, "s").await;
    let (before, cursor) = read_all(&key, None, "limit=10").await;
    assert_eq!(emails(&before), [""; 0], "an earlier transaction is still running");
    late.commit().await.expect("the commit succeeds");
    let (after, _) = read_all(&key, Some(&cursor), "limit=10").await;
    assert_eq!(emails(&after), ["late", "s"]);
}

#[tokio::test]
async fn waiting_readers_receive_an_event_and_others_an_empty_page() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key("read:events").await;
    let (_, cursor) = read_all(&key, None, "limit=10").await;
    let wait = format!("{EVENTS}?wait=30&cursor={cursor}");
    let started = Instant::now();
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let (key, wait) = (key.clone(), wait.clone());
            tokio::spawn(async move {
                loop {
                    // Without an event, the probe below took its place.
                    let page = key.get(&wait).await.assert_status(200).json();
                    if page["data"][0].is_object() {
                        return page;
                    }
                }
            })
        })
        .collect();
    let probe = format!("{EVENTS}?wait=1&cursor={cursor}");
    wait_until("a fifth reader does not wait", async || {
        let is_busy = key.get(&probe).await.json()["pagination"]["has_more"] == true;
        if !is_busy {
            // The probe took the place of a reader, which repeats its request after a second.
            tokio::time::sleep(Duration::from_millis(1_100)).await;
        }
        is_busy
    })
    .await;
    // Neither the platform nor another key is affected.
    let token = platform_token(&app, "read:events").await;
    token.get("/platform/v1/events?wait=1").await.assert_status(200);
    acme.key("read:events").await.get(&format!("{EVENTS}?wait=1")).await.assert_status(200);
    student(&acme, "ada").await;
    for reader in readers {
        let page = reader.await.expect("no panic");
        assert_eq!(emails(page["data"].as_array().expect("a list")), ["ada"]);
    }
    assert!(started.elapsed() < Duration::from_secs(25), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_waiting_reader_misses_no_event_among_those_of_other_workspaces() {
    let app = TestApp::start().await;
    let (acme, other) = (app.workspace("acme").await, app.workspace("other").await);
    let key = acme.key("read:events").await;
    let (_, mut cursor) = read_all(&key, None, "limit=10").await;
    let reader = tokio::spawn(async move {
        let mut found = Vec::new();
        while found.len() < 4 {
            let page = key.get(&format!("{EVENTS}?wait=30&cursor={cursor}")).await.assert_status(200).json();
            found.extend(emails(page["data"].as_array().expect("a list")).into_iter().map(str::to_owned));
            cursor = page["pagination"]["cursor"].as_str().expect("a cursor").to_owned();
        }
        found
    });
    for number in 1..=40 {
        let workspace = if number % 10 == 0 { &acme } else { &other };
        student(workspace, &format!("s{number}")).await;
    }
    assert_eq!(reader.await.expect("no panic"), ["s10", "s20", "s30", "s40"]);
}
