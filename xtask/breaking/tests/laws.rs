//! Laws of the comparison, as property tests over generated documents: a refactoring is no change, widening a request or
//! narrowing a response breaks no client, and a text that a parameter or header no longer accepts is reported.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};

use super::super::rule::Level;
use super::differences;
use super::semantics::{config, document, leaf, schema, validator};

/// Decisions of a refactoring or a change, used in turn.
#[derive(Clone, Debug)]
struct Decisions(Vec<Index>);

impl Decisions {
    /// Returns the next decision: a number below `count`.
    fn next(&mut self, count: usize) -> usize {
        let decision = self.0.pop();
        decision.map_or(0, |decision| decision.index(count))
    }
}

fn decisions() -> impl Strategy<Value = Decisions> {
    prop::collection::vec(any::<Index>(), 40).prop_map(Decisions)
}

/// Keywords with a schema, a list of schemas, and schemas by name.
const SCHEMA_KEYWORDS: [&str; 9] = [
    "items",
    "not",
    "contains",
    "propertyNames",
    "additionalProperties",
    "if",
    "then",
    "else",
    "unevaluatedItems",
];
const LIST_KEYWORDS: [&str; 4] = ["allOf", "oneOf", "anyOf", "prefixItems"];
const NAME_KEYWORDS: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];

/// Rewrites a schema without changing its meaning: extracts subschemas to components, wraps them in `allOf`, and reorders
/// keywords, alternatives, listed values, types and required names.
fn refactor(schema: &Value, decisions: &mut Decisions, components: &mut Map<String, Value>) -> Value {
    let Value::Object(keywords) = schema else { return schema.clone() };
    let mut rewritten: Vec<(String, Value)> = Vec::new();
    for (keyword, value) in keywords {
        let value = match value {
            Value::Array(items) if LIST_KEYWORDS.contains(&keyword.as_str()) => {
                let mut items: Vec<Value> =
                    items.iter().map(|item| refactor(item, decisions, components)).collect();
                if keyword != "prefixItems" {
                    reorder(&mut items, decisions);
                }
                Value::Array(items)
            }
            Value::Array(items) if ["enum", "required", "type"].contains(&keyword.as_str()) => {
                let mut items = items.clone();
                reorder(&mut items, decisions);
                Value::Array(items)
            }
            Value::Object(named) if NAME_KEYWORDS.contains(&keyword.as_str()) => {
                let rewrite =
                    |(name, value): (&String, &Value)| (name.clone(), refactor(value, decisions, components));
                Value::Object(named.iter().map(rewrite).collect())
            }
            value if SCHEMA_KEYWORDS.contains(&keyword.as_str()) => refactor(value, decisions, components),
            value => value.clone(),
        };
        rewritten.push((keyword.clone(), value));
    }
    reorder(&mut rewritten, decisions);
    let rewritten = Value::Object(rewritten.into_iter().collect());
    match decisions.next(5) {
        0 | 1 => {
            // Names that end alike must not be confused.
            let name = format!("N{}", components.len());
            components.insert(name.clone(), json!({"properties": {"value": rewritten}}));
            json!({"$ref": format!("#/components/schemas/{name}/properties/value")})
        }
        2 => {
            let name = format!("N{}", components.len());
            components.insert(name.clone(), rewritten);
            json!({"$ref": format!("#/components/schemas/{name}")})
        }
        3 => json!({"allOf": [rewritten]}),
        _ => rewritten,
    }
}

/// Reorders a list by moving one item to the first place.
fn reorder<T>(items: &mut Vec<T>, decisions: &mut Decisions) {
    if items.len() > 1 {
        let item = items.remove(decisions.next(items.len()));
        items.insert(0, item);
    }
}

/// Creates a document that uses schemas in a request, a response, a parameter and a response header.
fn document_with_schemas(schemas: &[Value], components: &Map<String, Value>) -> String {
    let [body, response, query, header] = schemas else { panic!("four schemas are required") };
    let content = |schema: &Value| json!({"application/json": {"schema": schema}});
    json!({"openapi": "3.1.0", "paths": {"/a": {"post": {
        "parameters": [{"name": "q", "in": "query", "schema": query}],
        "requestBody": {"required": true, "content": content(body)},
        "responses": {"200": {"content": content(response), "headers": {"H": {"schema": header}}}},
    }}}, "components": {"schemas": components}})
    .to_string()
}

/// Returns the ids of the findings that are not at level info.
fn reported(base: &str, revision: &str) -> Vec<String> {
    let findings = differences(base, revision);
    findings.into_iter().filter(|finding| finding.level > Level::Info).map(|finding| finding.id).collect()
}

/// Generates typical schemas of APIs. The alternatives of `oneOf` have different types or constants.
fn typical_schema() -> impl Strategy<Value = Value> {
    let text = (0..3u8, 5..9u8, prop::sample::select(vec!["^[a-f]+$", "^[a-z]*$", r"^\d{2,}$"]));
    let leaf = prop_oneof![
        text.clone()
            .prop_map(|(least, most, _)| json!({"type": "string", "minLength": least, "maxLength": most})),
        text.prop_map(|(_, most, pattern)| json!({"type": "string", "pattern": pattern, "maxLength": most})),
        prop::sample::subsequence(vec!["x", "y", "z"], 1..3)
            .prop_map(|values| json!({"type": "string", "enum": values})),
        (0..5, 5..9).prop_map(|(least, most)| json!({"type": "integer", "minimum": least, "maximum": most})),
        (0..5, 5..9).prop_map(
            |(least, most)| json!({"type": ["number", "null"], "exclusiveMinimum": least, "maximum": most})
        ),
        Just(json!({"type": ["string", "integer"]})),
        Just(json!({"type": "boolean"})),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let kind = |kind: &str, value: Value| {
            json!({"type": "object", "required": ["kind"], "properties": {"kind": {"const": kind}, "value": value}})
        };
        prop_oneof![
            (inner.clone(), inner.clone(), any::<bool>(), prop::sample::subsequence(vec!["a", "b"], 0..3)).prop_map(
                |(first, second, is_open, required)| json!({
                    "type": "object", "properties": {"a": first, "b": second}, "required": required, "additionalProperties": is_open,
                })
            ),
            (inner.clone(), 0..2, 3..5)
                .prop_map(|(items, least, most)| json!({"type": "array", "items": items, "minItems": least, "maxItems": most})),
            (inner.clone(), inner.clone()).prop_map(move |(first, second)| json!({"oneOf": [kind("1", first), kind("2", second)]})),
            (inner.clone(), inner.clone()).prop_map(|(first, second)| json!({"anyOf": [first, second]})),
            inner.prop_map(|items| json!({"oneOf": [{"type": "array", "items": items}, {"type": "string"}, {"type": "null"}]})),
        ]
    })
}

/// Changes a schema so that it accepts at least the same values. If `keeps_kind` is true, the schema is an alternative of
/// `oneOf`, and does not accept values of further types or kinds.
fn widen(schema: &Value, decisions: &mut Decisions, added: &Value, keeps_kind: bool) -> Value {
    let mut schema = schema.clone();
    let Some(keywords) = schema.as_object_mut() else { return schema };
    let mut parts: Vec<(&mut Value, bool)> = Vec::new();
    for (keyword, value) in keywords.iter_mut() {
        match (keyword.as_str(), value) {
            ("items", part) => parts.push((part, false)),
            ("properties", Value::Object(named)) => {
                parts.extend(
                    named.iter_mut().filter(|(name, _)| *name != "kind").map(|(_, part)| (part, false)),
                );
            }
            ("oneOf", Value::Array(members)) => parts.extend(members.iter_mut().map(|member| (member, true))),
            ("anyOf", Value::Array(members)) => {
                parts.extend(members.iter_mut().map(|member| (member, false)))
            }
            _ => {}
        }
    }
    if !parts.is_empty() && decisions.next(3) > 0 {
        let (part, keeps_kind) = parts.swap_remove(decisions.next(parts.len()));
        *part = widen(part, decisions, added, keeps_kind);
        return schema;
    }
    let bounds = [
        "minLength",
        "maxLength",
        "pattern",
        "minimum",
        "exclusiveMinimum",
        "maximum",
        "minItems",
        "maxItems",
    ];
    match decisions.next(6) {
        0 => keywords.retain(|keyword, _| !bounds.contains(&keyword.as_str())),
        1 => {
            for (keyword, value) in
                keywords.iter_mut().filter(|(keyword, _)| bounds.contains(&keyword.as_str()))
            {
                match value.as_i64() {
                    Some(bound) if keyword.starts_with("max") => *value = json!(bound + 1),
                    Some(bound) => *value = json!((bound - 1).max(0)),
                    None => *value = json!("^[a-z0-9]*$"),
                }
            }
        }
        2 if !keeps_kind => {
            keywords.remove("required");
        }
        3 => {
            if let Some(values) = keywords.get_mut("enum").and_then(Value::as_array_mut) {
                values.push(json!("w"));
            }
        }
        4 if !keeps_kind => return json!({"anyOf": [schema, added]}),
        5 if !keeps_kind => {
            if let Some(name) = keywords.get("type").filter(|name| name.is_string()) {
                let name = name.clone();
                keywords.insert("type".to_owned(), json!([name, "null"]));
                if let Some(values) = keywords.get_mut("enum").and_then(Value::as_array_mut) {
                    values.push(Value::Null);
                }
            }
        }
        _ => {}
    }
    schema
}

/// Texts that are sent in a URL or a header.
const TEXTS: [&str; 9] = ["", "a", "abc", "1", "2", "4", "1.5", "true", "-1"];

/// Whether a schema accepts a text in one of its meanings: string, number or boolean.
fn accepts_text(schema: &jsonschema::Validator, text: &str) -> bool {
    let number_or_boolean = serde_json::from_str::<Value>(text).ok();
    schema.is_valid(&json!(text)) || number_or_boolean.is_some_and(|value| schema.is_valid(&value))
}

/// Generates schemas of values that are sent as text, with unions and `null`.
fn text_schema() -> impl Strategy<Value = Value> {
    let leaf = leaf()
        .prop_filter("text is no array and no object", |schema| {
            let text = schema.to_string();
            !text.contains("array") && !text.contains("object") && schema.is_object()
        })
        .boxed();
    prop_oneof![
        3 => leaf.clone(),
        1 => prop::collection::vec(leaf.clone(), 1..3).prop_map(|members| json!({"anyOf": members})),
        1 => (leaf.clone(), leaf).prop_map(|(left, right)| json!({"allOf": [left, right]})),
    ]
}

/// Creates a document with a parameter and a response header.
fn text_document(parameter: &Value, header: &Value) -> String {
    json!({"openapi": "3.1.0", "paths": {"/a": {"get": {
        "parameters": [{"name": "q", "in": "query", "schema": parameter}],
        "responses": {"200": {"headers": {"H": {"schema": header}}}},
    }}}})
    .to_string()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_refactoring_is_no_change(
        schemas in prop::collection::vec(prop_oneof![schema(), typical_schema()], 4),
        mut decisions in decisions(),
    ) {
        let (mut components, mut refactored) = (Map::new(), Vec::new());
        for schema in &schemas {
            refactored.push(refactor(schema, &mut decisions, &mut components));
        }
        let inline = document_with_schemas(&schemas, &Map::new());
        let extracted = document_with_schemas(&refactored, &components);
        for (base, revision) in [(&inline, &extracted), (&extracted, &inline), (&extracted, &extracted)] {
            let findings = differences(base, revision);
            let other: Vec<&str> =
                findings.iter().map(|finding| finding.id.as_str()).filter(|id| *id != "api-schema-removed").collect();
            prop_assert!(other.is_empty(), "{other:?}\n{base}\n{revision}");
        }
    }

    #[test]
    fn components_can_be_renamed(schemas in prop::collection::vec(typical_schema(), 4), mut decisions in decisions()) {
        let (mut components, mut refactored) = (Map::new(), Vec::new());
        for schema in &schemas {
            refactored.push(refactor(schema, &mut decisions, &mut components));
        }
        let base = document_with_schemas(&refactored, &components);
        // Each component gets the name of another one.
        let mut revision = base.clone();
        for index in (0..components.len()).rev() {
            let (old, new) = (format!("N{index}"), format!("N{}", index + 1));
            revision = revision.replace(&format!("\"{old}\":"), &format!("\"{new}\":"));
            revision = revision.replace(&format!("schemas/{old}\""), &format!("schemas/{new}\""));
            revision = revision.replace(&format!("schemas/{old}/"), &format!("schemas/{new}/"));
        }
        let findings = reported(&base, &revision);
        prop_assert!(findings.is_empty(), "{findings:?}\n{base}\n{revision}");
    }

    #[test]
    fn widening_a_request_and_narrowing_a_response_break_no_client(
        narrow in typical_schema(), added in typical_schema(), mut decisions in decisions(),
    ) {
        let wide = widen(&narrow, &mut decisions, &added, false);
        let any = json!(true);
        for (base, revision) in [
            (document(&narrow, &any), document(&wide, &any)),
            (document(&any, &wide), document(&any, &narrow)),
        ] {
            let findings = reported(&base, &revision);
            prop_assert!(findings.is_empty(), "{findings:?}\n{base}\n{revision}");
        }
    }

    #[test]
    fn every_incompatible_text_is_reported(before in text_schema(), after in text_schema()) {
        let validators = (validator(&before), validator(&after));
        let find = |producer: &jsonschema::Validator, consumer: &jsonschema::Validator| {
            TEXTS.iter().find(|text| accepts_text(producer, text) && !accepts_text(consumer, text))
        };
        let any = json!({"type": "string"});
        for (base, revision, text) in [
            (text_document(&before, &any), text_document(&after, &any), find(&validators.0, &validators.1)),
            (text_document(&any, &before), text_document(&any, &after), find(&validators.1, &validators.0)),
        ] {
            let findings = reported(&base, &revision);
            prop_assert!(text.is_none() || !findings.is_empty(), "{text:?}\n{base}\n{revision}");
        }
    }
}
