//! Property tests: any two documents can be compared, and a document compared with itself has no changes.

use contract::diagnostic::Code;
use contract::source::Source;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::document;
use super::semantics::config;
use super::{TODAY, compare};

/// Generates schemas with many different keywords, including references.
fn schema() -> impl Strategy<Value = Value> {
    let type_name =
        prop::sample::select(vec!["string", "integer", "number", "boolean", "array", "object", "null"]);
    let leaf = prop_oneof![
        type_name.clone().prop_map(|name| json!({"type": name})),
        (type_name.clone(), type_name).prop_map(|(first, second)| json!({"type": [first, second]})),
        prop::sample::select(vec!["A", "B", "C"])
            .prop_map(|name| json!({"$ref": format!("#/components/schemas/{name}")})),
        any::<bool>().prop_map(Value::Bool),
        (0..4i64, 0..4i64).prop_map(
            |(minimum, maximum)| json!({"minimum": minimum, "exclusiveMaximum": maximum, "multipleOf": 2})
        ),
        (0..3u8, 0..3u8).prop_map(
            |(minimum, maximum)| json!({"minLength": minimum, "maxLength": maximum, "pattern": "^a"})
        ),
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

/// Returns whether a document is rejected only because of circular references.
fn is_circular(text: &str) -> bool {
    let read = document::read(Source::new("a.json", text));
    read.is_err_and(|invalid| invalid.diagnostics.iter().all(|diagnostic| diagnostic.code == Code::CyclicRef))
}

/// Generates documents with schemas at several sites and without circular references.
fn contract() -> impl Strategy<Value = String> {
    documents().prop_filter("documents with circular references are rejected", |text| !is_circular(text))
}

fn documents() -> impl Strategy<Value = String> {
    let parts = (prop::collection::vec(schema(), 6), any::<bool>(), any::<bool>(), 0..3u8);
    parts.prop_map(|(schemas, is_3_1, is_secured, status)| {
        let [a, b, c, body, query, response] = schemas.try_into().expect("six schemas are generated");
        let mut operation = json!({
            "parameters": [{"name": "q", "in": "query", "schema": query, "required": is_secured}],
            "requestBody": {"content": {"application/json": {"schema": body}}},
            "responses": {format!("20{status}"): {
                "headers": {"H": {"schema": b}},
                "content": {"application/json": {"schema": response}},
            }},
        });
        if is_secured {
            operation["security"] = json!([{"key": ["read"]}]);
        }
        json!({
            "openapi": if is_3_1 { "3.1.0" } else { "3.0.3" },
            "paths": {"/a": {"post": operation}},
            "webhooks": {"w": {"post": {"requestBody": {"content": {"text/plain": {"schema": c}}}}}},
            "components": {"schemas": {"A": a, "B": b, "C": c}},
        })
        .to_string()
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_two_contracts_can_be_compared(base in contract(), revision in contract()) {
        let base = document::read(Source::new("base.json", base)).expect("a valid document");
        let revision = document::read(Source::new("revision.json", revision)).expect("a valid document");
        for finding in compare(&base, &revision, TODAY) {
            prop_assert!(!finding.message.is_empty() && finding.fingerprint.len() == 12);
        }
    }

    #[test]
    fn a_contract_compared_with_itself_has_no_findings(text in contract()) {
        let base = document::read(Source::new("base.json", text.clone())).expect("a valid document");
        let revision = document::read(Source::new("revision.json", text)).expect("a valid document");
        let findings = compare(&base, &revision, TODAY);
        prop_assert!(findings.is_empty(), "{findings:#?}");
    }

    /// The documents differ in annotations, so the optimization for identical schemas does not apply.
    #[test]
    fn a_contract_with_other_annotations_has_no_findings(text in contract()) {
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
        if let Err(invalid) = document::read(Source::new("any.yaml", text)) {
            prop_assert!(!invalid.render(contract::diagnostic::DiagnosticFormat::Text).is_empty());
        }
    }
}
