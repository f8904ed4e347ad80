//! Responses of receivers to webhooks and callbacks, which the server reads.

use serde_json::{Value, json};

use super::super::rule::Level;
use super::behavior::operating;
use super::{differences, ids_and_levels};

/// Creates a document with a webhook and its responses.
fn webhook(responses: &Value) -> String {
    let webhooks = json!({"made": {"post": {"operationId": "onMade", "responses": responses}}});
    operating(&json!({"webhooks": webhooks}), &json!({}))
}

/// Creates a document with a callback and its responses.
fn callback(responses: &Value) -> String {
    let callbacks = json!({"made": {"{$request.body#/url}": {"post": {"responses": responses}}}});
    operating(&json!({}), &json!({"callbacks": callbacks}))
}

fn levels(found: &[(String, Level)]) -> Vec<(&str, Level)> {
    found.iter().map(|(id, level)| (id.as_str(), *level)).collect()
}

#[test]
fn a_response_header_of_a_webhook_is_compared_as_a_request_header() {
    let with = |headers: Value| json!({"200": {"description": "Taken.", "headers": headers}});
    let of = |kind: &str, required: bool| json!({"X-A": {"required": required, "schema": {"type": kind}}});
    let none = || json!({});
    for (before, after, expected) in [
        (none(), of("string", true), ("new-required-request-parameter", Level::Error)),
        (none(), of("string", false), ("new-optional-request-parameter", Level::Info)),
        (of("string", true), none(), ("request-parameter-removed", Level::Warning)),
        (of("string", false), of("string", true), ("request-parameter-became-required", Level::Error)),
        (of("string", true), of("string", false), ("request-parameter-became-optional", Level::Info)),
        (of("integer", true), of("number", true), ("request-parameter-type-generalized", Level::Info)),
        (of("string", true), of("integer", true), ("request-parameter-type-changed", Level::Error)),
    ] {
        for document in [webhook, callback] {
            let found = ids_and_levels(&differences(
                &document(&with(before.clone())),
                &document(&with(after.clone())),
            ));
            assert_eq!(levels(&found), [expected], "{before} to {after}");
        }
    }
}

#[test]
fn a_response_header_of_a_webhook_can_be_removed_after_its_sunset() {
    let header = json!({"X-A": {"deprecated": true, "x-sunset": "2026-02-01"}});
    let before = webhook(&json!({"200": {"description": "Taken.", "headers": header}}));
    let found = ids_and_levels(&differences(&before, &webhook(&json!({"200": {"description": "Taken."}}))));
    assert_eq!(levels(&found), [("request-parameter-removed", Level::Info)]);
}

#[test]
fn the_path_to_a_response_header_of_a_webhook_contains_the_status() {
    let with = |length: u32| {
        let header = json!({"X-A": {"schema": {"type": "string", "maxLength": length}}});
        webhook(&json!({"200": {"description": "Taken.", "headers": header}}))
    };
    let findings = differences(&with(9), &with(8));
    assert_eq!(findings[0].id, "request-parameter-max-length-decreased");
    assert_eq!(findings[0].operations[0].path, "onMade 200 header X-A");
}

#[test]
fn a_range_covers_its_statuses_and_default_covers_failures() {
    let with = |status: &str, kind: &str| {
        let content = json!({"application/json": {"schema": {"type": kind}}});
        json!({status: {"description": "D", "content": content}})
    };
    let (removed, added) = ("webhook-response-status-removed", "webhook-response-status-added");
    for (before, after, expected) in [
        ("410", "4XX", vec![(added, Level::Info)]),
        ("410", "default", vec![(added, Level::Info)]),
        ("200", "2XX", vec![(added, Level::Info)]),
        ("200", "default", vec![(removed, Level::Error), (added, Level::Info)]),
        ("410", "404", vec![(removed, Level::Error), (added, Level::Info)]),
        ("4XX", "410", vec![(removed, Level::Error), (added, Level::Info)]),
        ("default", "4XX", vec![(removed, Level::Error), (added, Level::Info)]),
    ] {
        for document in [webhook, callback] {
            let (before, after) = (document(&with(before, "integer")), document(&with(after, "integer")));
            let mut found = ids_and_levels(&differences(&before, &after));
            found.sort_by_key(|(_, level)| std::cmp::Reverse(*level));
            assert_eq!(levels(&found), expected, "{before} to {after}");
        }
    }
    // The response of the range is compared with that of the status.
    let found =
        |kind| ids_and_levels(&differences(&webhook(&with("410", "integer")), &webhook(&with("4XX", kind))));
    assert!(found("number").iter().all(|(_, level)| *level == Level::Info));
    assert!(found("boolean").contains(&("request-body-type-changed".to_owned(), Level::Error)));
}
