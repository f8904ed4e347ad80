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
