//! Pairs of schemas whose parts work together: what breaks between them, named one by one.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::rule::Level;
use super::{differences, yaml};

/// A document whose one operation takes the schema, in its body or in a parameter, or answers with it.
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
        other => panic!("{} is a {other:?}", pair["name"]),
    };
    let version = pair["openapi"].as_str().unwrap_or("3.1.0");
    let schemas = pair.get(format!("{side}-schemas")).or_else(|| pair.get("schemas"));
    let components = json!({"schemas": schemas.unwrap_or(&json!({}))});
    json!({"openapi": version, "paths": {"/a": {"post": operation}}, "components": components}).to_string()
}

#[test]
fn a_pair_breaks_by_the_rules_it_names_and_no_others() {
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
                wrong.push(format!("{family}: {} breaks by {found:?}, not {named:?}", pair["name"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
