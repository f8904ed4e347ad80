//! Pairs of schemas in which several keywords interact, with the breaking rules that are expected.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::rule::Level;
use super::{differences, yaml};

/// Creates a document with one operation that uses the schema in its request body, a parameter or its response.
fn document(pair: &Value, side: &str) -> String {
    let content = json!({"application/json": {"schema": pair[side]}});
    let operation = match pair["as"].as_str() {
        Some("request") => json!({"operationId": "a", "requestBody": {"required": true, "content": content}}),
        Some("parameter") => {
            json!({"operationId": "a", "parameters": [{"name": "q", "in": "query", "schema": pair[side]}]})
        }
        Some("content") => {
            json!({"operationId": "a", "parameters": [{"name": "q", "in": "query", "content": content}]})
        }
        Some("response") => json!({"operationId": "a", "responses": {"200": {"content": content}}}),
        other => panic!("{}: unknown use {other:?}", pair["name"]),
    };
    let version = pair["openapi"].as_str().unwrap_or("3.1.0");
    let schemas = pair.get(format!("{side}-schemas")).or_else(|| pair.get("schemas"));
    let components = json!({"schemas": schemas.unwrap_or(&json!({}))});
    json!({"openapi": version, "paths": {"/a": {"post": operation}}, "components": components}).to_string()
}

#[test]
fn each_pair_has_exactly_the_expected_breaking_changes() {
    let pairs = yaml(include_str!("cases/pairs.yaml"));
    let mut wrong = Vec::new();
    for (family, pairs) in pairs.as_object().expect("families of pairs") {
        for pair in pairs.as_array().expect("a list of pairs") {
            let findings = differences(&document(pair, "base"), &document(pair, "revision"));
            let breaking = findings.iter().filter(|finding| finding.level == Level::Error);
            let found: BTreeSet<&str> = breaking.map(|finding| finding.id.as_str()).collect();
            let named = pair["breaks"].as_array().expect("a list of rules");
            let named: BTreeSet<&str> = named.iter().filter_map(Value::as_str).collect();
            if found != named {
                wrong.push(format!("{family}: {}: expected {named:?}, got {found:?}", pair["name"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
