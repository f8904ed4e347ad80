//! Pairs of schemas in which several keywords interact, and the breaking changes that must be reported for each.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::rule::Level;
use super::{differences, yaml};

/// Creates a document with one operation that uses the schema in its request body, a parameter or its response.
pub(super) fn document(pair: &Value, side: &str) -> String {
    let content = json!({"application/json": {"schema": pair[side]}});
    let operation = match pair["as"].as_str() {
        Some("request") => json!({"operationId": "a", "requestBody": {"required": true, "content": content}}),
        Some("parameter") => {
            json!({"operationId": "a", "parameters": [{"name": "q", "in": "query", "schema": pair[side]}]})
        }
        Some("required parameter") => {
            let parameter = json!({"name": "q", "in": "query", "required": true, "schema": pair[side]});
            json!({"operationId": "a", "parameters": [parameter]})
        }
        Some("header") => {
            json!({"operationId": "a", "responses": {"200": {"headers": {"H": {"schema": pair[side]}}}}})
        }
        Some("content") => {
            json!({"operationId": "a", "parameters": [{"name": "q", "in": "query", "content": content}]})
        }
        Some("response") => json!({"operationId": "a", "responses": {"200": {"content": content}}}),
        unknown => panic!("{}: unknown `as` {unknown:?}", pair["name"]),
    };
    let version = pair["openapi"].as_str().unwrap_or("3.1.0");
    let schemas = pair.get(format!("{side}-schemas")).or_else(|| pair.get("schemas"));
    let components = json!({"schemas": schemas.unwrap_or(&json!({}))});
    json!({"openapi": version, "paths": {"/a": {"post": operation}}, "components": components}).to_string()
}

#[test]
fn each_pair_has_exactly_the_expected_breaking_changes() {
    check_pairs(&yaml(include_str!("cases/pairs.yaml")));
}

#[test]
fn alternatives_patterns_parameters_and_headers_are_judged_by_the_values_that_can_be_sent() {
    check_pairs(&yaml(include_str!("cases/verdicts.yaml")));
}

/// Compares each pair, and expects exactly the listed rules at level error.
fn check_pairs(pairs: &Value) {
    let mut wrong = Vec::new();
    for (group, pairs) in pairs.as_object().expect("the groups of pairs are a mapping") {
        for pair in pairs.as_array().expect("each group is a list") {
            let findings = differences(&document(pair, "base"), &document(pair, "revision"));
            let breaking = findings.iter().filter(|finding| finding.level == Level::Error);
            let reported: BTreeSet<&str> = breaking.map(|finding| finding.id.as_str()).collect();
            let expected = pair["breaks"].as_array().expect("`breaks` is a list of rules");
            let expected: BTreeSet<&str> = expected.iter().filter_map(Value::as_str).collect();
            if reported != expected {
                wrong.push(format!("{group}: {}: expected {expected:?}, got {reported:?}", pair["name"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
