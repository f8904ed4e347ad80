//! What the comparison as a whole owes: recursion ends, a shared change is told once, spellings do not count, what cannot be
//! compared is refused.

use contract::source::Source;
use serde_json::{Value, json};

use super::super::document;
use super::super::finding::Finding;
use super::super::rule::Level;
use super::{differences, told};

fn ids(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.id.as_str()).filter(|id| !id.starts_with("api-")).collect()
}

/// A document whose one operation answers with `A`.
pub(super) fn answering(schemas: &Value) -> String {
    let answer =
        json!({"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}});
    let paths = json!({"/a": {"get": {"operationId": "getA", "responses": answer}}});
    json!({"openapi": "3.1.0", "paths": paths, "components": {"schemas": schemas}}).to_string()
}

#[test]
fn recursion_ends_and_the_shortest_way_is_told() {
    let tree = |kind: &str| {
        let node = json!({"type": "object", "properties": {
            "value": {"type": kind}, "children": {"type": "array", "items": {"$ref": "#/components/schemas/A"}},
        }});
        answering(&json!({"A": node}))
    };
    let findings = differences(&tree("string"), &tree("integer"));
    assert_eq!(ids(&findings), ["response-property-type-changed"]);
    assert_eq!(findings[0].reach[0].path, "getA 200 -> value");
}

#[test]
fn a_chain_of_a_thousand_schemas_costs_no_stack() {
    let chain = |last: &str| {
        let mut schemas = json!({"A": {"properties": {"p": {"$ref": "#/components/schemas/S0"}}}});
        for at in 0..5_000 {
            let next = json!({"$ref": format!("#/components/schemas/S{}", at + 1)});
            schemas[format!("S{at}")] =
                if at % 2 == 0 { json!({"allOf": [next]}) } else { json!({"properties": {"p": next}}) };
        }
        schemas["S5000"] = json!({"type": last});
        answering(&schemas)
    };
    assert_eq!(ids(&differences(&chain("string"), &chain("integer"))), ["response-property-type-changed"]);
}

#[test]
fn a_shared_change_is_told_once_with_all_who_reach_it() {
    let document = |length: u32| {
        let answer =
            json!({"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}});
        let operation = |id: &str| json!({"get": {"operationId": id, "responses": answer}});
        let a = json!({"properties": {"p": {"type": "string", "maxLength": length}}});
        json!({"openapi": "3.1.0", "paths": {"/a": operation("getA"), "/b": operation("getB")}, "components": {"schemas": {"A": a}}})
            .to_string()
    };
    let findings = differences(&document(1), &document(2));
    let found: Vec<&Finding> = findings.iter().filter(|finding| finding.level == Level::Error).collect();
    assert_eq!(found.len(), 1);
    let ways: Vec<&str> = found[0].reach.iter().map(|reach| reach.path.as_str()).collect();
    assert_eq!(ways, ["getA 200 -> p", "getB 200 -> p"]);
}

#[test]
fn a_fingerprint_does_not_know_the_line() {
    let document = |length: u32, more: &str| {
        format!(
            "openapi: 3.1.0\n{more}paths:\n  /a:\n    get:\n      operationId: getA\n      parameters:\n        - name: q\n          \
             in: query\n          schema: {{type: string, maxLength: {length}}}\n"
        )
    };
    let one = differences(&document(9, ""), &document(8, ""));
    let other = differences(&document(9, "# a\n\n"), &document(8, "info: {title: T}\n# b\n"));
    assert_eq!(one[0].fingerprint, other[0].fingerprint);
    assert_ne!(one[0].fingerprint, differences(&document(9, ""), &document(7, ""))[0].fingerprint);
}

#[test]
fn the_spellings_of_3_0_are_those_of_3_1() {
    let document = |version: &str, schema: Value| {
        let body = json!({"content": {"application/json": {"schema": schema}}});
        json!({"openapi": version, "paths": {"/a": {"post": {"requestBody": body}}}}).to_string()
    };
    let old = document(
        "3.0.3",
        json!({"type": "integer", "nullable": true, "minimum": 0, "exclusiveMinimum": true, "example": 1}),
    );
    let new = document("3.1.0", json!({"type": ["null", "integer"], "exclusiveMinimum": 0}));
    assert_eq!(told(&differences(&old, &new)), []);
    assert_eq!(told(&differences(&new, &old)), []);
}

#[test]
fn alternatives_are_matched_whatever_their_order() {
    let of = |names: [&str; 3]| {
        let members: Vec<Value> =
            names.iter().map(|name| json!({"$ref": format!("#/components/schemas/{name}")})).collect();
        let kind = |name: &str| json!({"type": "object", "properties": {"kind": {"const": name}, (name): {"type": "string"}}});
        answering(&json!({"A": {"oneOf": members}, "X": kind("x"), "Y": kind("y"), "Z": kind("z")}))
    };
    assert!(differences(&of(["X", "Y", "Z"]), &of(["Z", "X", "Y"])).is_empty());
}

#[test]
fn what_cannot_be_compared_is_refused_in_one_sentence() {
    let refused = |text: &str| {
        let refused = document::read(Source::new("a.yaml", text)).expect_err("it cannot be compared");
        refused.findings.into_iter().map(|finding| finding.message).collect::<Vec<_>>().join("; ")
    };
    let head = "openapi: 3.1.0\ncomponents:\n  schemas:\n    A:\n";
    assert_eq!(
        refused(&format!("{head}      $ref: '#/components/schemas/B'")),
        "`#/components/schemas/B` leads nowhere"
    );
    assert_eq!(refused(&format!("{head}      $ref: b.yaml")), "`b.yaml` leads into another document");
    assert!(refused(&format!("{head}      $dynamicRef: '#a'")).starts_with("`$dynamicRef` depends"));
    assert!(refused(&format!("{head}      $schema: https://example.com")).starts_with("the dialect"));
    assert_eq!(refused(""), "the file is empty");
    assert!(refused("openapi: 3.2.0").contains("3.0.x and 3.1.x can be compared"));
}

#[test]
fn a_name_in_braces_does_not_count() {
    let document = |name: &str| {
        let parameter = json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}});
        let path = format!("/a/{{{name}}}");
        json!({"openapi": "3.1.0", "paths": {path: {"parameters": [parameter], "get": {"operationId": "getA"}}}}).to_string()
    };
    let findings = differences(&document("id"), &document("key"));
    assert_eq!(told(&findings), [("request-path-parameter-renamed".to_owned(), Level::Info)]);
}

/// A document with one operation, and what else is said of both.
pub(super) fn operating(root: &Value, operation: &Value) -> String {
    let mut document = json!({"openapi": "3.1.0", "paths": {"/a": {"get": operation}}});
    for (key, value) in root.as_object().expect("keys") {
        document[key] = value.clone();
    }
    document.to_string()
}

#[test]
fn what_is_said_for_all_may_be_said_for_each() {
    let security = json!([{"key": ["read"]}]);
    let servers = json!([{"url": "https://a.example"}]);
    let parameter = json!([{"name": "q", "in": "query", "schema": {"type": "string"}}]);
    let shared = json!({"security": security, "servers": servers, "paths": {"/a": {"parameters": parameter, "get": {}}}});
    let own = json!({"security": security, "servers": servers, "parameters": parameter});
    assert_eq!(told(&differences(&operating(&shared, &json!({})), &operating(&json!({}), &own))), []);
    assert_eq!(told(&differences(&operating(&json!({}), &own), &operating(&shared, &json!({})))), []);
}

#[test]
fn a_key_that_was_optional_and_is_asked_for_breaks() {
    let asking = |security: Value| operating(&json!({}), &json!({"security": security}));
    let found = |was: Value, now: Value| {
        let findings = differences(&asking(was), &asking(now));
        ids_of_security(&findings)
    };
    assert_eq!(found(json!([{}, {"key": []}]), json!([{"key": []}])), ["api-security-added"]);
    assert_eq!(found(json!([{"key": []}]), json!([{}, {"key": []}])), ["api-security-removed"]);
    assert_eq!(found(json!([{"a": []}, {"b": []}]), json!([{"b": []}])), ["api-security-removed"]);
    assert_eq!(
        found(json!([{"a": []}]), json!([{"a": [], "b": []}])),
        ["api-security-added", "api-security-removed"]
    );
    assert_eq!(found(json!([{"a": ["x"]}, {"a": ["y"]}]), json!([{"a": ["y"]}])), ["api-security-removed"]);
}

fn ids_of_security(findings: &[Finding]) -> Vec<String> {
    let mut ids: Vec<String> = findings.iter().map(|finding| finding.id.clone()).collect();
    ids.retain(|id| id.starts_with("api-security"));
    ids.sort();
    ids
}

#[test]
fn a_change_of_a_shared_thing_has_one_place_whatever_lacked_it() {
    let document = |pattern: bool| {
        let schema =
            if pattern { json!({"type": "string", "pattern": "^a"}) } else { json!({"type": "string"}) };
        let body = |name: &str| {
            let schema = json!({"properties": {name: {"$ref": "#/components/schemas/S"}}});
            json!({"post": {"operationId": name, "requestBody": {"content": {"application/json": {"schema": schema}}}}})
        };
        json!({"openapi": "3.1.0", "paths": {"/a": body("a"), "/b": body("b")}, "components": {"schemas": {"S": schema}}})
            .to_string()
    };
    let findings = differences(&document(false), &document(true));
    assert_eq!(ids(&findings), ["request-property-pattern-added"]);
    let reached: Vec<&str> =
        findings.iter().flat_map(|finding| &finding.reach).map(|reach| reach.operation.as_str()).collect();
    assert_eq!(reached, ["a", "b"]);
}

#[test]
fn a_success_is_not_covered_by_the_default() {
    let answering = |status: &str| {
        operating(
            &json!({}),
            &json!({"responses": {status: {"description": "D"}, "default": {"description": "D"}}}),
        )
    };
    let removed = |was, now| {
        ids(&differences(&answering(was), &answering(now))).contains(&"response-success-status-removed")
    };
    assert!(removed("200", "202"));
    assert!(!removed("200", "2XX"));
}
