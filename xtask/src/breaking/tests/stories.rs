//! What the comparison as a whole owes: recursion ends, a shared change is told once, spellings do not count, what cannot be
//! compared is refused.

use serde_json::{Value, json};

use super::super::document;
use super::super::finding::Finding;
use super::super::rule::Level;
use super::{differences, told};
use crate::contract::source::Source;

fn ids(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.id.as_str()).filter(|id| !id.starts_with("api-")).collect()
}

/// A document whose one operation answers with `A`.
fn answering(schemas: &Value) -> String {
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
fn recursion_through_all_of_ends() {
    let looped = |length: u32| {
        answering(&json!({
            "A": {"allOf": [{"$ref": "#/components/schemas/B"}, {"type": "object"}]},
            "B": {"allOf": [{"$ref": "#/components/schemas/A"}], "properties": {"p": {"type": "string", "maxLength": length}}},
        }))
    };
    assert!(differences(&looped(1), &looped(1)).is_empty());
    assert_eq!(ids(&differences(&looped(1), &looped(2))), ["response-property-max-length-increased"]);
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
