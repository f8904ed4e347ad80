//! Property tests: any two documents can be compared, and a document compared with itself has no changes.

use contract::diagnostic::Code;
use contract::source::Source;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::compare::compare;
use super::super::document;
use super::TODAY;

/// Generates schemas with all keywords, including references.
fn schema() -> impl Strategy<Value = Value> {
    let word =
        prop::sample::select(vec!["string", "integer", "number", "boolean", "array", "object", "null"]);
    let leaf = prop_oneof![
        word.clone().prop_map(|word| json!({"type": word})),
        (word.clone(), word).prop_map(|(one, other)| json!({"type": [one, other]})),
        prop::sample::select(vec!["A", "B", "C"])
            .prop_map(|name| json!({"$ref": format!("#/components/schemas/{name}")})),
        any::<bool>().prop_map(Value::Bool),
        (0..4i64, 0..4i64)
            .prop_map(|(low, high)| json!({"minimum": low, "exclusiveMaximum": high, "multipleOf": 2})),
        (0..3u8, 0..3u8)
            .prop_map(|(low, high)| json!({"minLength": low, "maxLength": high, "pattern": "^a"})),
        prop::collection::vec(0..4u8, 0..3)
            .prop_map(|values| json!({"enum": values, "x-extensible-enum": values.len() % 2 == 0})),
        (0..3u8).prop_map(|value| json!({"const": value, "default": value, "nullable": true})),
        Just(json!({"type": "string", "deprecated": true, "x-sunset": "2026-12-31", "format": "date"})),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..3);
        let map = prop::collection::btree_map(prop::sample::select(vec!["a", "b", "c"]), inner.clone(), 0..3);
        let keyword = prop::sample::select(vec![
            "items", "not", "if", "then", "contains", "propertyNames", "additionalProperties", "unevaluatedProperties",
        ]);
        prop_oneof![
            (map.clone(), prop::collection::vec(prop::sample::select(vec!["a", "b"]), 0..2))
                .prop_map(|(properties, required)| json!({"type": "object", "properties": properties, "required": required})),
            (prop::sample::select(vec!["allOf", "oneOf", "anyOf", "prefixItems"]), list)
                .prop_map(|(keyword, list)| json!({keyword: list})),
            (prop::sample::select(vec!["patternProperties", "dependentSchemas"]), map)
                .prop_map(|(keyword, map)| json!({keyword: map})),
            (keyword, inner.clone()).prop_map(|(keyword, schema)| json!({keyword: schema})),
            (inner.clone(), any::<bool>()).prop_map(|(schema, flag)| json!({"allOf": [schema], "readOnly": flag, "writeOnly": !flag})),
        ]
    })
}

/// Whether a document is rejected because of circular references.
fn is_circular(text: &str) -> bool {
    let read = document::read(Source::new("a.json", text));
    read.is_err_and(|refused| refused.diagnostics.iter().all(|finding| finding.code == Code::CyclicRef))
}

/// Generates documents with schemas at several sites.
fn contract() -> impl Strategy<Value = String> {
    documents().prop_filter("documents with circular references are rejected", |text| !is_circular(text))
}

fn documents() -> impl Strategy<Value = String> {
    let parts = (prop::collection::vec(schema(), 6), any::<bool>(), any::<bool>(), 0..3u8);
    parts.prop_map(|(schemas, new, secure, status)| {
        let [a, b, c, body, query, answer] = schemas.try_into().expect("six schemas");
        let mut operation = json!({
            "parameters": [{"name": "q", "in": "query", "schema": query, "required": secure}],
            "requestBody": {"content": {"application/json": {"schema": body}}},
            "responses": {format!("20{status}"): {
                "headers": {"H": {"schema": b}},
                "content": {"application/json": {"schema": answer}},
            }},
        });
        if secure {
            operation["security"] = json!([{"key": ["read"]}]);
        }
        json!({
            "openapi": if new { "3.1.0" } else { "3.0.3" },
            "paths": {"/a": {"post": operation}},
            "webhooks": {"w": {"post": {"requestBody": {"content": {"text/plain": {"schema": c}}}}}},
            "components": {"schemas": {"A": a, "B": b, "C": c}},
        })
        .to_string()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_two_contracts_can_be_compared(base in contract(), revision in contract()) {
        let base = document::read(Source::new("base.json", base)).expect("a valid document");
        let revision = document::read(Source::new("revision.json", revision)).expect("a valid document");
        for finding in compare(&base, &revision, TODAY) {
            prop_assert!(!finding.message.is_empty() && finding.fingerprint.len() == 12);
        }
    }

    #[test]
    fn a_contract_against_itself_has_no_difference(text in contract()) {
        let base = document::read(Source::new("base.json", text.clone())).expect("a valid document");
        let revision = document::read(Source::new("revision.json", text)).expect("a valid document");
        let findings = compare(&base, &revision, TODAY);
        prop_assert!(findings.is_empty(), "{findings:#?}");
    }

    /// The documents differ in annotations, so the shortcut for identical schemas does not apply.
    #[test]
    fn a_contract_with_another_description_has_no_difference(text in contract()) {
        // In `not` and `if`, schemas with references must be identical.
        prop_assume!(!text.contains("\"not\":") && !text.contains("\"if\":"));
        let annotated = text.replace("{\"type\":", "{\"title\":\"T\",\"type\":").replace("\"enum\":", "\"description\":\"D\",\"enum\":");
        let base = document::read(Source::new("base.json", text)).expect("a valid document");
        let revision = document::read(Source::new("revision.json", annotated)).expect("a valid document");
        let findings = compare(&base, &revision, TODAY);
        prop_assert!(findings.is_empty(), "{findings:#?}");
    }

    #[test]
    fn no_input_makes_the_parser_panic(text in "(openapi: 3.1.0\n)?[a-z:\\-{}\\[\\]&*#\"' \n|>%@`!?,$/0-9\u{e9}]{0,80}") {
        if let Err(refused) = document::read(Source::new("any.yaml", text)) {
            prop_assert!(!refused.render(contract::diagnostic::DiagnosticFormat::Text).is_empty());
        }
    }
}
