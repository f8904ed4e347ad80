//! Webhooks: creation, changes, secrets, tests and the preview of filters.

use domain::webhooks::headers::MASK;
use insta::assert_json_snapshot;
use reqwest::Method;
use serde_json::{Value, json};

use super::{DELIVERIES, WEBHOOKS, create, delete, new_webhook, patch, path_of};
use crate::support::conformance::assert_error;
use crate::support::members::audit_entries;
use crate::support::{Endpoint, TestApp, TestKey, send};

#[tokio::test]
async fn a_subscription_needs_two_calls() {
    let app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let key = acme.key("write:webhooks").await;
    let endpoint = Endpoint::start().await;
    let body = json!({
        "url": endpoint.url(), "event_types": ["student.created"],
        "headers": [{"name": "Authorization", "value": "Bearer tenant-7"}],
    });
    let webhook = create(&key, body).await;
    acme.student("ada").await;
    assert_eq!(app.deliver_due().await, 1);
    let requests = endpoint.requests();
    let secret = webhook["secret"].as_str().expect("a secret");
    assert!(requests[0].is_signed(secret, app.clock.now().as_second()));
    assert_eq!(requests[0].header("authorization"), "Bearer tenant-7");

    delete(&key, &path_of(&webhook)).await.assert_status(204);
    acme.student("bob").await;
    assert_eq!(app.deliver_due().await, 0);
    assert_error(&delete(&key, &path_of(&webhook)).await, 404, "not_found");
}

#[tokio::test]
async fn a_webhook_shows_its_secret_once_and_header_values_never() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let body = json!({
        "url": "https://HOOKS.example/a", "event_types": ["order.paid", "student.created"],
        "filter": ["order.paid  /total_amount   gte 100"], "headers": [{"name": "X-Tenant", "value": "acme"}],
        "rate": 5, "ed25519": true, "description": "Invoices",
    });
    let created = key.post(WEBHOOKS, body).await.assert_status(201);
    let webhook = created.json();
    assert_eq!(created.header("location"), path_of(&webhook));
    assert!(webhook["secret"].as_str().is_some_and(|secret| secret.starts_with("whsec_")));
    assert_json_snapshot!(webhook, {".id" => "[id]", ".secret" => "[secret]"}, @r#"
    {
      "created_at": "2026-03-02T10:00:30.000Z",
      "description": "Invoices",
      "disabled_at": null,
      "ed25519": true,
      "event_types": [
        "student.created",
        "order.paid"
      ],
      "failing_since": null,
      "filter": [
        "order.paid /total_amount gte 100"
      ],
      "headers": [
        {
          "name": "x-tenant",
          "value": "****"
        }
      ],
      "id": "[id]",
      "rate": 5,
      "secret": "[secret]",
      "state": "enabled",
      "updated_at": "2026-03-02T10:00:30.000Z",
      "url": "https://hooks.example/a"
    }
    "#);
    let read = key.get(&path_of(&webhook)).await.assert_status(200).json();
    let mut without_secret = webhook;
    without_secret.as_object_mut().expect("an object").remove("secret");
    assert_eq!(read, without_secret);
    assert_eq!(key.get(WEBHOOKS).await.json()["data"], json!([read]));
}

/// Returns the locations and messages of the errors of a rejected request.
async fn errors(key: &TestKey, method: Method, path: &str, body: Value) -> Vec<String> {
    send(key.request(method, path).json(&body)).await.assert_status(422).errors()
}

#[tokio::test]
async fn a_url_that_must_not_be_called_is_rejected() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let webhook = create(&key, new_webhook()).await;
    for url in [
        "/hooks",
        "mailto:a@example.com",
        "http://example.com/",
        "ftp://example.com/",
        "https://user@example.com/",
        "https://:password@example.com/",
        "https://example.com/#part",
        "https://example.com:0/",
        "https://example.com/a b",
        "https://127.0.0.1/",
        "https://2130706433/",
        "https://localhost/",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
    ] {
        let body = json!({"url": url, "event_types": ["student.created"]});
        key.post(WEBHOOKS, body).await.assert_errors_at(&["body /url"]);
        patch(&key, &path_of(&webhook), json!({"url": url})).await.assert_errors_at(&["body /url"]);
    }
    assert_eq!(key.get(WEBHOOKS).await.ids().len(), 1);
}

#[tokio::test]
async fn stored_header_values_are_not_sent_to_another_server() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let mut body = new_webhook();
    body["headers"] = json!([{"name": "authorization", "value": "Bearer 7"}]);
    let path = path_of(&create(&key, body).await);
    let (moved, kept) = ("https://other.example/new", json!([{"name": "authorization", "value": "****"}]));
    for body in [json!({"url": moved}), json!({"url": moved, "headers": kept})] {
        patch(&key, &path, body).await.assert_errors_at(&["body /headers"]);
    }
    patch(&key, &path, json!({"url": "https://hooks.example/moved"})).await.assert_status(200);
    // A malformed URL is reported as such.
    patch(&key, &path, json!({"url": "other.example"})).await.assert_errors_at(&["body /url"]);
    let value = json!([{"name": "authorization", "value": "Bearer 8"}]);
    patch(&key, &path, json!({"url": moved, "headers": value})).await.assert_status(200);
    let back = json!({"url": "https://hooks.example/new", "headers": []});
    patch(&key, &path, back).await.assert_status(200);
    patch(&key, &path, json!({"url": moved})).await.assert_status(200);
}

#[tokio::test]
async fn errors_name_the_fields_of_the_contract() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let webhook = create(&key, new_webhook()).await;
    let path = path_of(&webhook);
    for (body, expected) in [
        (json!({"event_types": []}), "body /event_types: must have at least 1 item"),
        (json!({"event_types": ["student.creatd"]}), "body /event_types/0: must be one of `student.created`"),
        (
            json!({"filter": ["student.created /email eq a", "student.created /emial eq b"]}),
            "body /filter/1: `student.created` has no field `/emial`",
        ),
        (
            json!({"filter": ["order.paid /total_amount gt 1"]}),
            "body /filter/0: `order.paid` is not one of the event types; add it to them first",
        ),
        (
            json!({"headers": [{"name": "a", "value": "b"}, {"name": "Host", "value": "c"}]}),
            "body /headers/1: `host` is reserved",
        ),
        (
            json!({"headers": [{"name": "x-a", "value": "****"}]}),
            "body /headers/0: `x-a` has no stored value",
        ),
        (
            json!({"headers": [{"name": "x:a", "value": "b"}]}),
            "body /headers/0/name: must be the name of a header",
        ),
        (json!({"rate": 0}), "body /rate: must be at least 1"),
        (json!({"state": "disabled"}), "body /state: must be "),
        (json!({"description": "a".repeat(201)}), "body /description: must be at most 200 characters long"),
        (json!({"description": "a\nb"}), "body /description: must not contain control characters"),
        (json!({"name": "mine"}), "body /name: is not a field of this body"),
    ] {
        let found = errors(&key, Method::PATCH, &path, body.clone()).await;
        assert!(found.len() == 1 && found[0].starts_with(expected), "{body}: {found:?}");
    }
    let rotate = format!("{path}/rotate-secret");
    let found = errors(&key, Method::POST, &rotate, json!({"overlap_seconds": 604_801})).await;
    assert_eq!(found, ["body /overlap_seconds: must be at most 604800"]);
    for _ in 0..4 {
        key.post(&rotate, json!({})).await.assert_status(200);
    }
    let found = errors(&key, Method::POST, &rotate, json!({})).await;
    assert!(found[0].starts_with("body /overlap_seconds: would leave 5 older secrets active"), "{found:?}");
    key.post(&rotate, json!({"overlap_seconds": 0})).await.assert_status(200);

    patch(&key, &path, json!({"state": "paused"})).await.assert_status(200);
    let found = errors(&key, Method::POST, &format!("{path}/test"), json!({})).await;
    assert_eq!(found, ["path id: is not enabled, so nothing can be sent; enable it first"]);
    let unchanged = key.get(&path).await.json();
    assert_eq!(
        (&unchanged["filter"], &unchanged["headers"], &unchanged["rate"]),
        (&json!([]), &json!([]), &Value::Null)
    );
}

#[tokio::test]
async fn an_update_changes_only_the_fields_of_the_body() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key_with_all_scopes().await;
    let webhook = create(&key, new_webhook()).await;
    let path = path_of(&webhook);
    let controls = json!({
        "filter": ["student.created /email exists"], "headers": [{"name": "X-A", "value": "1"}], "rate": 7,
    });
    let changed = patch(&key, &path, controls).await.assert_status(200).json();
    assert_eq!(changed["headers"], json!([{"name": "x-a", "value": MASK}]));
    let body = json!({"event_types": ["student.created", "order.paid"], "rate": null});
    let changed = patch(&key, &path, body).await.assert_status(200).json();
    assert_eq!(
        (&changed["rate"], &changed["filter"]),
        (&Value::Null, &json!(["student.created /email exists"]))
    );
    // The mask keeps the stored value, and other headers are removed.
    let headers = json!([{"name": "x-a", "value": MASK}, {"name": "x-b", "value": "2"}]);
    let changed = patch(&key, &path, json!({"headers": headers})).await.assert_status(200).json();
    assert_eq!(changed["headers"].as_array().map(Vec::len), Some(2));
    let changed = patch(&key, &path, json!({"description": "For the CRM"})).await.assert_status(200).json();
    assert_eq!(changed["description"], "For the CRM");
    let changed = patch(&key, &path, json!({"description": null})).await.assert_status(200).json();
    assert_eq!(changed["description"], Value::Null);
    let body = json!({"event_types": ["order.paid"], "state": "paused"});
    let changed = patch(&key, &path, body).await.assert_status(200).json();
    assert_eq!((&changed["state"], &changed["filter"]), (&json!("paused"), &json!([])));
    let unchanged = patch(&key, &path, json!({})).await.assert_status(200).json();
    assert_eq!(unchanged, changed);
    let enabled = patch(&key, &path, json!({"state": "enabled"})).await.assert_status(200).json();
    assert_eq!(enabled["state"], "enabled");

    let mut entries = audit_entries(&acme).await;
    entries.reverse();
    insta::assert_snapshot!(entries.join("\n"), @r"
    API key billing Created a webhook https://hooks.example/new
    API key billing Changed the delivery controls of a webhook 1 condition, headers: x-a, rate: 7/s, Ed25519: no, https://hooks.example/new
    API key billing Updated a webhook https://hooks.example/new
    API key billing Changed the delivery controls of a webhook 1 condition, headers: x-a, rate: none, Ed25519: no, https://hooks.example/new
    API key billing Changed the delivery controls of a webhook 1 condition, headers: x-a x-b, rate: none, Ed25519: no, https://hooks.example/new
    API key billing Updated a webhook https://hooks.example/new, changed the description
    API key billing Updated a webhook https://hooks.example/new, changed the description
    API key billing Updated a webhook https://hooks.example/new, removed 1 condition on removed event types
    API key billing Paused a webhook https://hooks.example/new
    API key billing Enabled a webhook https://hooks.example/new
    ");
}

#[tokio::test]
async fn a_rotated_secret_signs_and_the_older_one_during_the_overlap() {
    let app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let (key, endpoint) = (acme.key_with_all_scopes().await, Endpoint::start().await);
    let webhook = create(&key, json!({"url": endpoint.url(), "event_types": ["student.created"]})).await;
    let rotate = format!("{}/rotate-secret", path_of(&webhook));
    let rotated = key.post(&rotate, json!({"overlap_seconds": 3600})).await.assert_status(200).json();
    assert_eq!(rotated["older_secrets_expire_at"], "2026-03-02T11:00:30.000Z");
    let test = key.post(&format!("{}/test", path_of(&webhook)), json!({})).await.assert_status(201);
    assert_eq!(test.json()["origin"], "test");
    assert_eq!(key.get(test.header("location")).await.assert_status(200).json(), test.json());
    app.deliver_due().await;
    let request = &endpoint.requests()[0];
    assert_eq!(request.event()["test"], true);
    for secret in [&webhook["secret"], &rotated["secret"]] {
        assert!(request.is_signed(secret.as_str().expect("a secret"), app.clock.now().as_second()));
    }
    let rotated = key.post(&rotate, json!({"overlap_seconds": 0})).await.assert_status(200).json();
    assert_eq!(rotated["older_secrets_expire_at"], Value::Null);
}

#[tokio::test]
async fn a_preview_shows_what_a_filter_would_have_matched() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key_with_all_scopes().await;
    let webhook = create(&key, new_webhook()).await;
    acme.student("ada").await;
    acme.student("bob").await;
    let path = format!("{}/preview-filter", path_of(&webhook));
    let body = json!({"filter": ["student.created /email starts_with ada"]});
    let preview = key.post(&path, body).await.assert_status(200).json();
    assert_eq!((&preview["examined"], &preview["matched"]), (&json!(2), &json!(1)));
    assert_eq!(
        preview["event_types"],
        json!([{"event_type": "student.created", "examined": 2, "matched": 1}])
    );
    assert_eq!(
        (preview["examples"].as_array().map(Vec::len), &preview["is_complete"]),
        (Some(1), &json!(true))
    );
    key.post(&path, json!({"filter": ["student.created"]})).await.assert_errors_at(&["body /filter/0"]);
    assert_eq!(key.get(&path_of(&webhook)).await.json()["filter"], json!([]), "the webhook is unchanged");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_clients_at_once_cannot_exceed_the_limit_of_webhooks() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key_with_all_scopes().await;
    for _ in 0..45 {
        acme.subscribe(&["student.created"]).await;
    }
    let calls = (0..10).map(|_| key.post(WEBHOOKS, new_webhook()));
    let responses = futures_util::future::join_all(calls).await;
    assert_eq!(responses.iter().filter(|response| response.status == 201).count(), 5);
    for rejected in responses.iter().filter(|response| response.status != 201) {
        rejected.assert_errors_at(&["body "]);
        assert!(
            rejected.message().starts_with("Webhooks are limited to 50 in a workspace"),
            "{}",
            rejected.message()
        );
    }
    assert_eq!(key.list_all(WEBHOOKS).await.len(), 50);
    assert_eq!(key.get(&format!("{DELIVERIES}?state=dead")).await.assert_status(200).ids().len(), 0);
}
