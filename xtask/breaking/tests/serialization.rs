//! How values are sent: parameters that become lists, media types without a schema, and encodings of parts.

use serde_json::{Value, json};

use super::super::rule::Level;
use super::behavior::document_with_operation;
use super::verdicts::reported;
use super::{differences, ids_and_levels};

#[test]
fn the_default_of_a_parameter_that_becomes_a_list_is_compared() {
    let document = |parameter: Value| {
        let mut parameter = parameter;
        parameter["name"] = json!("q");
        parameter["in"] = json!("query");
        document_with_operation(&json!({}), &json!({"parameters": [parameter]}))
    };
    let text = |keywords: Value| {
        let mut schema = keywords;
        schema["type"] = json!("string");
        json!({"schema": schema})
    };
    let list = |keywords: Value| {
        let mut schema = keywords;
        schema["type"] = json!("array");
        schema["items"] = json!({"type": "string"});
        json!({"schema": schema})
    };
    let with = |parameter: Value, key: &str, value: Value| {
        let mut parameter = parameter;
        parameter[key] = value;
        parameter
    };
    let none = json!({});
    let (a, of_a) = (json!({"default": "a"}), json!({"default": ["a"]}));
    for (before, after, expected) in [
        (text(a.clone()), list(of_a.clone()), vec![]),
        (json!({"schema": {"type": "integer", "default": 1}}), list(json!({"default": ["1"]})), vec![]),
        (
            text(none.clone()),
            list(of_a.clone()),
            vec!["request-parameter-default-value-added: the default [\"a\"] was added"],
        ),
        (
            text(a.clone()),
            list(none.clone()),
            vec!["request-parameter-default-value-removed: the default \"a\" was removed"],
        ),
        (
            text(a.clone()),
            list(json!({"default": ["a", "b"]})),
            vec!["request-parameter-default-value-changed: the default changed from \"a\" to [\"a\",\"b\"]"],
        ),
        (with(text(a.clone()), "required", json!(true)), with(list(none), "required", json!(true)), vec![]),
        // `explode` has no effect on a single value.
        (with(text(a.clone()), "explode", json!(false)), list(of_a.clone()), vec![]),
        (
            with(list(of_a.clone()), "explode", json!(false)),
            list(of_a),
            vec!["request-parameter-explode-changed: `explode` changed from false to true"],
        ),
    ] {
        assert_eq!(
            reported(&document(before.clone()), &document(after.clone())),
            expected,
            "{before} {after}"
        );
    }
}

#[test]
fn a_media_type_without_a_schema_accepts_the_same_as_an_empty_schema() {
    let document = |content: Value| {
        let body = json!({"content": {"application/json": content}});
        document_with_operation(&json!({}), &json!({"requestBody": body, "responses": {"200": body}}))
    };
    let (none, empty, described) =
        (json!({}), json!({"schema": {}}), json!({"schema": {"description": "D"}}));
    for (before, after) in [(&none, &empty), (&empty, &none), (&none, &described), (&described, &none)] {
        let reported = ids_and_levels(&differences(&document(before.clone()), &document(after.clone())));
        assert_eq!(reported, [], "{before} {after}");
    }
    let added =
        ids_and_levels(&differences(&document(none), &document(json!({"schema": {"type": "object"}}))));
    assert!(added.contains(&("request-body-media-type-schema-added".to_owned(), Level::Error)), "{added:?}");
}

#[test]
fn encodings_are_compared_by_the_content_that_can_be_sent() {
    let document = |encoding: Value, headers: Value| {
        let schema = json!({"type": "object", "properties": {"p": {"type": "string"}}});
        let content = json!({"multipart/form-data": {"schema": schema, "encoding": {"p": encoding}}});
        document_with_operation(
            &json!({"components": {"headers": headers}}),
            &json!({"requestBody": {"content": content}, "responses": {"200": {"content": content}}}),
        )
    };
    let reported = |before: Value, after: Value| {
        let headers = json!({"H": {"schema": {"type": "string"}}});
        let findings = differences(&document(before, headers.clone()), &document(after, headers));
        let findings = findings.into_iter().filter(|finding| finding.level > Level::Info);
        findings.map(|finding| finding.id).collect::<Vec<_>>()
    };
    let content_type = |names: &str| json!({"contentType": names});
    let (request, response) = ("request-body-encoding-changed", "response-body-encoding-changed");
    let header = |header: Value| json!({"headers": {"X-A": header}});
    for (before, after, expected) in [
        (content_type("image/png, image/jpeg"), content_type("image/JPEG,image/png"), vec![]),
        (content_type("image/png"), content_type("image/png, image/jpeg"), vec![response]),
        (content_type("image/png, image/jpeg"), content_type("image/png"), vec![request]),
        (content_type("image/png"), content_type("image/*"), vec![response]),
        (content_type("image/png"), content_type("text/plain"), vec![request, response]),
        (content_type("image/png"), json!({}), vec![request, response]),
        (
            header(json!({"description": "D", "schema": {"type": "string"}})),
            header(json!({"$ref": "#/components/headers/H"})),
            vec![],
        ),
        (
            header(json!({"schema": {"type": "integer"}})),
            header(json!({"schema": {"type": "boolean"}})),
            vec!["request-parameter-type-changed", "response-header-type-changed"],
        ),
        (
            json!({}),
            header(json!({"required": true, "schema": {"type": "string"}})),
            vec!["new-required-request-parameter"],
        ),
        (json!({}), json!({"other": 1}), vec!["unclassified-change"; 2]),
        (json!({}), json!({"style": "form", "explode": true, "x-a": 1}), vec![]),
        (json!({}), json!({"explode": false}), vec![request, response]),
    ] {
        assert_eq!(reported(before.clone(), after.clone()), expected, "{before} {after}");
    }
}
