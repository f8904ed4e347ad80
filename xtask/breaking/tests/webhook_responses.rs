//! Responses of receivers to webhooks and callbacks. The server reads them, so they are compared like requests.

use serde_json::{Value, json};

use super::super::rule::Level;
use super::behavior::document_with_operation;
use super::{differences, ids_and_levels};

/// Creates a document with a webhook and its responses.
fn webhook(responses: &Value) -> String {
    let webhooks = json!({"made": {"post": {"operationId": "onMade", "responses": responses}}});
    document_with_operation(&json!({"webhooks": webhooks}), &json!({}))
}

/// Creates a document with a callback and its responses.
fn callback(responses: &Value) -> String {
    let callbacks = json!({"made": {"{$request.body#/url}": {"post": {"responses": responses}}}});
    document_with_operation(&json!({}), &json!({"callbacks": callbacks}))
}

fn levels(reported: &[(String, Level)]) -> Vec<(&str, Level)> {
    reported.iter().map(|(id, level)| (id.as_str(), *level)).collect()
}

#[test]
fn a_response_header_of_a_webhook_is_compared_as_a_request_header() {
    let responses = |headers: Value| json!({"200": {"description": "Taken.", "headers": headers}});
    let header =
        |kind: &str, required: bool| json!({"X-A": {"required": required, "schema": {"type": kind}}});
    let no_header = || json!({});
    for (before, after, expected) in [
        (no_header(), header("string", true), ("new-required-request-parameter", Level::Error)),
        (no_header(), header("string", false), ("new-optional-request-parameter", Level::Info)),
        (header("string", true), no_header(), ("request-parameter-removed", Level::Warning)),
        (
            header("string", false),
            header("string", true),
            ("request-parameter-became-required", Level::Error),
        ),
        (header("string", true), header("string", false), ("request-parameter-became-optional", Level::Info)),
        (
            header("integer", true),
            header("number", true),
            ("request-parameter-type-generalized", Level::Info),
        ),
        (header("string", true), header("integer", true), ("request-parameter-type-changed", Level::Error)),
    ] {
        for document in [webhook, callback] {
            let reported = ids_and_levels(&differences(
                &document(&responses(before.clone())),
                &document(&responses(after.clone())),
            ));
            assert_eq!(levels(&reported), [expected], "{before} to {after}");
        }
    }
}

#[test]
fn a_response_header_of_a_webhook_can_be_removed_after_its_sunset() {
    let header = json!({"X-A": {"deprecated": true, "x-sunset": "2026-02-01"}});
    let before = webhook(&json!({"200": {"description": "Taken.", "headers": header}}));
    let reported =
        ids_and_levels(&differences(&before, &webhook(&json!({"200": {"description": "Taken."}}))));
    assert_eq!(levels(&reported), [("request-parameter-removed", Level::Info)]);
}

#[test]
fn the_path_to_a_response_header_of_a_webhook_contains_the_status() {
    let document = |max_length: u32| {
        let header = json!({"X-A": {"schema": {"type": "string", "maxLength": max_length}}});
        webhook(&json!({"200": {"description": "Taken.", "headers": header}}))
    };
    let findings = differences(&document(9), &document(8));
    assert_eq!(findings[0].id, "request-parameter-max-length-decreased");
    assert_eq!(findings[0].operations[0].path, "onMade 200 header X-A");
}

#[test]
fn a_range_covers_its_statuses_and_default_covers_failure_statuses() {
    let responses = |status: &str, kind: &str| {
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
            let (before, after) =
                (document(&responses(before, "integer")), document(&responses(after, "integer")));
            let mut reported = ids_and_levels(&differences(&before, &after));
            reported.sort_by_key(|(_, level)| std::cmp::Reverse(*level));
            assert_eq!(levels(&reported), expected, "{before} to {after}");
        }
    }
    // The response of the range is compared with that of the status.
    let reported = |kind| {
        ids_and_levels(&differences(
            &webhook(&responses("410", "integer")),
            &webhook(&responses("4XX", kind)),
        ))
    };
    assert!(reported("number").iter().all(|(_, level)| *level == Level::Info));
    assert!(reported("boolean").contains(&("request-body-type-changed".to_owned(), Level::Error)));
}
