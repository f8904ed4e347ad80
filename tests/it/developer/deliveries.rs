//! Deliveries: lists, attempts, and sending again.

use domain::webhooks::send_test;
use entity::webhook_deliveries::queue::DeliveryTransition;
use foundation::id::SubscriptionId;
use serde_json::{Value, json};

use super::{DELIVERIES, create, patch, path_of};
use crate::support::members::audit_entries;
use crate::support::{Endpoint, TestApp, TestWorkspace, in_transaction};

/// Sends test events to a webhook in one transaction, a millisecond apart.
async fn send_tests(acme: &TestWorkspace<'_>, webhook: SubscriptionId, count: usize) {
    let outcome = in_transaction(acme.app, async |write| {
        for _ in 0..count {
            send_test(&acme.app.app, write, acme.id, webhook, None).await?;
        }
        Ok(())
    });
    outcome.await.expect("the deliveries are created");
    acme.app.clock.advance(std::time::Duration::from_millis(1));
}

#[tokio::test]
async fn deliveries_are_listed_newest_first_and_can_be_filtered() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key("read:webhooks").await;
    let (first, _) = acme.subscribe(&["student.created"]).await;
    let (second, _) = acme.subscribe(&["student.created", "order.paid"]).await;
    send_tests(&acme, first, 2).await;
    app.settle_due(Some(200), DeliveryTransition::Delivered).await;
    send_tests(&acme, second, 3).await;
    app.settle_due(Some(500), DeliveryTransition::Dead).await;
    send_tests(&acme, first, 1).await;

    let all = key.list_all(DELIVERIES).await;
    let of = |deliveries: &[Value], name: &str| -> Vec<String> {
        deliveries.iter().map(|delivery| delivery[name].as_str().expect("a string").to_owned()).collect()
    };
    assert_eq!(of(&all, "state"), ["pending", "dead", "dead", "dead", "delivered", "delivered"]);
    for limit in [1, 2, 4] {
        assert_eq!(key.list_all(&format!("{DELIVERIES}?limit={limit}")).await, all, "{limit}");
    }
    for (query, count) in [
        (format!("webhook_id={first}"), 3),
        (format!("webhook_id={second}"), 3),
        ("state=dead".to_owned(), 3),
        ("state=delivered".to_owned(), 2),
        (format!("webhook_id={first}&state=pending"), 1),
        ("event_type=student.created".to_owned(), 6),
        ("event_type=order.paid".to_owned(), 0),
        ("created_after=2026-03-02T10:00:30.001Z".to_owned(), 4),
        ("created_before=2026-03-02T10:00:30.001Z".to_owned(), 2),
    ] {
        let found = key.list_all(&format!("{DELIVERIES}?limit=2&{query}")).await;
        assert_eq!(found.len(), count, "{query}: {found:?}");
    }
    let dead = key.get(&format!("{DELIVERIES}?state=dead&limit=1")).await.json()["data"][0].clone();
    assert_eq!(
        (&dead["attempts"], &dead["last_status"], &dead["last_error"]),
        (&json!(1), &json!(500), &Value::Null)
    );
    let path = format!("{DELIVERIES}/{}", dead["id"].as_str().expect("an id"));
    assert_eq!(key.get(&path).await.assert_status(200).json(), dead);
    for (query, location) in [
        ("created_after=2026-03-02T10:00:30Z&created_before=2026-03-02T10:00:30Z", "query created_before"),
        ("state=failed", "query state"),
        ("event_type=student", "query event_type"),
        ("webhook_id=7", "query webhook_id"),
    ] {
        key.get(&format!("{DELIVERIES}?{query}")).await.assert_errors_at(&[location]);
    }
}

#[tokio::test]
async fn a_search_reads_a_limited_number_of_deliveries_for_each_page() {
    let app = TestApp::start_with(&[("max_subscriptions_per_workspace", "60")]).await;
    let acme = app.workspace("acme").await;
    let key = acme.key("read:webhooks").await;
    // Each of 50 webhooks may cause 100 rows to be read.
    for _ in 0..49 {
        acme.subscribe(&["student.created"]).await;
    }
    let (webhook, _) = acme.subscribe(&["student.created"]).await;
    send_tests(&acme, webhook, 1).await;
    app.settle_due(Some(200), DeliveryTransition::Delivered).await;
    send_tests(&acme, webhook, 120).await;
    let path = format!("{DELIVERIES}?state=delivered&limit=5");
    let first = key.get(&path).await.assert_status(200);
    assert!(first.ids().is_empty() && first.cursor().is_some(), "{}", first.json());
    assert_eq!(key.list_all(&path).await.len(), 1);
}

#[tokio::test]
async fn attempts_have_the_head_of_the_response() {
    let app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let (key, endpoint) = (acme.key_with_all_scopes().await, Endpoint::start().await);
    create(&key, json!({"url": endpoint.url(), "event_types": ["student.created"]})).await;
    endpoint.respond_with_header(503, "retry-after: 7");
    acme.student("ada").await;
    app.deliver_due().await;
    app.clock.advance(std::time::Duration::from_secs(60));
    app.deliver_due().await;
    let delivery = key.get(DELIVERIES).await.ids().remove(0);
    let attempts = key.get(&format!("{DELIVERIES}/{delivery}/attempts")).await.assert_status(200).json();
    let attempts = attempts["data"].as_array().expect("a list").clone();
    let statuses: Vec<&Value> = attempts.iter().map(|attempt| &attempt["status"]).collect();
    assert_eq!(statuses, [&json!(503), &json!(204)]);
    assert_eq!(
        (&attempts[0]["number"], &attempts[0]["response_headers"]["retry-after"]),
        (&json!(1), &json!("7"))
    );
}

#[tokio::test]
async fn a_delivery_is_sent_again_depending_on_its_state() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key_with_all_scopes().await;
    let webhook = create(&key, super::new_webhook()).await;
    let replay = async |delivery: &str| key.post_bytes(&format!("{DELIVERIES}/{delivery}/replay"), "").await;
    acme.student("ada").await;
    let pending = key.get(DELIVERIES).await.ids().remove(0);
    assert_eq!(replay(&pending).await.errors(), ["path id: is pending: it is sent automatically"]);
    app.settle_due(Some(500), DeliveryTransition::Dead).await;
    let replayed = replay(&pending).await.assert_status(201).json();
    assert_eq!(
        (&replayed["origin"], &replayed["replay_of"], &replayed["state"]),
        (&json!("replay"), &json!(pending), &json!("pending"))
    );
    assert_eq!(replay(&pending).await.errors(), ["path id: is a dead letter that was already sent again"]);
    app.settle_due(Some(200), DeliveryTransition::Delivered).await;
    let delivered = replayed["id"].as_str().expect("an id");
    assert_eq!(replay(delivered).await.assert_status(201).json()["origin"], "resend");

    // A test event can be sent again, too, and is held while the webhook is paused.
    key.post(&format!("{}/test", path_of(&webhook)), json!({})).await.assert_status(201);
    app.settle_due(None, DeliveryTransition::Dead).await;
    let test = key.get(&format!("{DELIVERIES}?state=dead")).await.json()["data"][0].clone();
    assert_eq!((&test["origin"], &test["last_error"]), (&json!("test"), &json!("timeout")));
    patch(&key, &path_of(&webhook), json!({"state": "paused"})).await.assert_status(200);
    let held = replay(test["id"].as_str().expect("an id")).await.assert_status(201).json();
    assert_eq!(held["state"], "held");
    let held = held["id"].as_str().expect("an id");
    assert_eq!(
        replay(held).await.errors(),
        ["path id: is held: it is sent when its subscription is enabled"]
    );
    let entries = audit_entries(&acme).await;
    assert!(
        entries.contains(&"API key billing Replayed dead letters student.created".to_owned()),
        "{entries:?}"
    );
    assert!(entries.contains(&"API key billing Resent a delivery student.created".to_owned()), "{entries:?}");
}
