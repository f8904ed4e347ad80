//! What a receiver answers to a webhook or a callback: there it is the server who reads.

use serde_json::{Value, json};

use super::super::rule::Level;
use super::stories::operating;
use super::{differences, told};

/// A webhook whose receiver answers so.
fn webhook(responses: &Value) -> String {
    let webhooks = json!({"made": {"post": {"operationId": "onMade", "responses": responses}}});
    operating(&json!({"webhooks": webhooks}), &json!({}))
}

/// A callback whose receiver answers so.
fn callback(responses: &Value) -> String {
    let callbacks = json!({"made": {"{$request.body#/url}": {"post": {"responses": responses}}}});
    operating(&json!({}), &json!({"callbacks": callbacks}))
}

fn levels(found: &[(String, Level)]) -> Vec<(&str, Level)> {
    found.iter().map(|(id, level)| (id.as_str(), *level)).collect()
}

#[test]
fn a_header_of_an_answer_is_read_as_one_of_a_request() {
    let with = |headers: Value| json!({"200": {"description": "Taken.", "headers": headers}});
    let of = |kind: &str, required: bool| json!({"X-A": {"required": required, "schema": {"type": kind}}});
    let none = || json!({});
    for (was, now, expected) in [
        (none(), of("string", true), ("new-required-request-parameter", Level::Error)),
        (none(), of("string", false), ("new-optional-request-parameter", Level::Info)),
        (of("string", true), none(), ("request-parameter-removed", Level::Warning)),
        (of("string", false), of("string", true), ("request-parameter-became-required", Level::Error)),
        (of("string", true), of("string", false), ("request-parameter-became-optional", Level::Info)),
        (of("integer", true), of("number", true), ("request-parameter-type-generalized", Level::Info)),
        (of("string", true), of("integer", true), ("request-parameter-type-changed", Level::Error)),
    ] {
        for document in [webhook, callback] {
            let found = told(&differences(&document(&with(was.clone())), &document(&with(now.clone()))));
            assert_eq!(levels(&found), [expected], "{was} to {now}");
        }
    }
}

#[test]
fn a_header_of_an_answer_that_was_announced_to_end_is_gone_without_a_warning() {
    let header = json!({"X-A": {"deprecated": true, "x-sunset": "2026-02-01"}});
    let was = webhook(&json!({"200": {"description": "Taken.", "headers": header}}));
    let found = told(&differences(&was, &webhook(&json!({"200": {"description": "Taken."}}))));
    assert_eq!(levels(&found), [("request-parameter-removed", Level::Info)]);
}

#[test]
fn the_way_to_a_header_of_an_answer_names_the_status() {
    let with = |length: u32| {
        let header = json!({"X-A": {"schema": {"type": "string", "maxLength": length}}});
        webhook(&json!({"200": {"description": "Taken.", "headers": header}}))
    };
    let findings = differences(&with(9), &with(8));
    assert_eq!(findings[0].id, "request-parameter-max-length-decreased");
    assert_eq!(findings[0].reach[0].path, "onMade 200 header X-A");
}

#[test]
fn a_status_is_understood_by_its_class_too_and_a_failure_by_the_default() {
    let with = |status: &str, kind: &str| {
        let content = json!({"application/json": {"schema": {"type": kind}}});
        json!({status: {"description": "D", "content": content}})
    };
    let (removed, added) = ("webhook-response-status-removed", "webhook-response-status-added");
    for (was, now, expected) in [
        ("410", "4XX", vec![(added, Level::Info)]),
        ("410", "default", vec![(added, Level::Info)]),
        ("200", "2XX", vec![(added, Level::Info)]),
        ("200", "default", vec![(removed, Level::Error), (added, Level::Info)]),
        ("410", "404", vec![(removed, Level::Error), (added, Level::Info)]),
        ("4XX", "410", vec![(removed, Level::Error), (added, Level::Info)]),
        ("default", "4XX", vec![(removed, Level::Error), (added, Level::Info)]),
    ] {
        for document in [webhook, callback] {
            let (was, now) = (document(&with(was, "integer")), document(&with(now, "integer")));
            let mut found = told(&differences(&was, &now));
            found.sort_by_key(|(_, level)| std::cmp::Reverse(*level));
            assert_eq!(levels(&found), expected, "{was} to {now}");
        }
    }
    // What the class takes is compared with what the status did.
    let found = |kind| told(&differences(&webhook(&with("410", "integer")), &webhook(&with("4XX", kind))));
    assert!(found("number").iter().all(|(_, level)| *level == Level::Info));
    assert!(found("boolean").contains(&("request-body-type-changed".to_owned(), Level::Error)));
}
