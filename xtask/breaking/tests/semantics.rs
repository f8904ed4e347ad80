//! Compares the findings with a JSON Schema validator: every incompatibility that the validator shows must be reported.
//!
//! A schema and a changed one validate many values. If a value is no longer valid, the change must be reported as
//! breaking in requests; if a value became valid, as breaking in responses.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use super::super::rule::Level;
use super::differences;

fn type_name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["string", "integer", "number", "boolean", "array", "object", "null"])
}

/// Generates schemas without subschemas.
pub(super) fn leaf() -> impl Strategy<Value = Value> {
    let values = json!([null, 1, 2, "a", "b", true]).as_array().cloned().unwrap_or_default();
    let range = vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
    prop_oneof![
        3 => type_name().prop_map(|name| json!({"type": name})),
        1 => (type_name(), type_name()).prop_map(|(first, second)| if first == second { json!({"type": first}) } else { json!({"type": [first, second]}) }),
        1 => prop::sample::subsequence(values, 1..=3).prop_map(|values| json!({"enum": values})),
        1 => prop::sample::select(vec![json!(1), json!("a"), json!(null)]).prop_map(|value| json!({"const": value})),
        1 => (prop::sample::select(range), 1..4).prop_map(|(key, bound)| json!({"type": "integer", key: bound})),
        1 => (prop::sample::select(vec!["minLength", "maxLength"]), 0..3)
            .prop_map(|(key, bound)| json!({"type": "string", key: bound})),
        1 => prop::sample::subsequence(vec!["a", "b", "c"], 2).prop_map(|values| json!({"type": "string", "enum": values})),
        1 => prop::sample::select(vec![json!(true), json!({}), json!({"not": {}})]),
    ]
}

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "c"])
}

fn names() -> impl Strategy<Value = Vec<&'static str>> {
    prop::sample::subsequence(vec!["a", "b", "c"], 0..=2)
}

/// Generates patterns, several of which match the same name.
fn pattern() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "c", "", "a|b", "^.$", "^a", "c$"])
}

/// Keywords with one schema.
const KEYWORDS_WITH_SCHEMA: [&str; 9] = [
    "items",
    "not",
    "contains",
    "propertyNames",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "then",
    "if",
];
/// Keywords with a list of schemas.
const KEYWORDS_WITH_LIST: [&str; 4] = ["allOf", "oneOf", "anyOf", "prefixItems"];
/// Keywords with schemas by name or pattern.
const KEYWORDS_WITH_NAMES: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];

/// Generates schemas with many different keywords.
pub(super) fn schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(2, 12, 3, |inner| {
        let map = || prop::collection::btree_map(name(), inner.clone(), 0..3);
        let patterns = || prop::collection::btree_map(pattern(), inner.clone(), 0..3);
        let additional = || prop_oneof![any::<bool>().prop_map(Value::Bool), inner.clone()];
        let keyword_with_schema = prop::sample::select(KEYWORDS_WITH_SCHEMA.to_vec());
        prop_oneof![
            3 => (map(), names()).prop_map(|(properties, required)| {
                json!({"type": "object", "properties": properties, "required": required})
            }),
            1 => (map(), inner.clone()).prop_map(|(properties, additional)| {
                json!({"type": "object", "properties": properties, "additionalProperties": additional})
            }),
            1 => (map(), prop::bool::ANY).prop_map(|(properties, additional)| {
                json!({"type": "object", "properties": properties, "additionalProperties": additional})
            }),
            1 => (inner.clone(), prop::sample::select(vec!["minItems", "maxItems"]), 0..3)
                .prop_map(|(items, key, bound)| json!({"type": "array", "items": items, key: bound})),
            4 => (prop::sample::select(KEYWORDS_WITH_LIST.to_vec()), prop::collection::vec(inner.clone(), 1..4))
                .prop_map(|(keyword, list)| json!({keyword: list})),
            2 => (keyword_with_schema, inner.clone()).prop_map(|(keyword, schema)| json!({keyword: schema})),
            1 => (map(), prop::sample::select(vec!["properties", "dependentSchemas"]))
                .prop_map(|(map, keyword)| json!({keyword: map})),
            2 => patterns().prop_map(|patterns| json!({"patternProperties": patterns})),
            2 => (patterns(), map(), additional()).prop_map(|(patterns, properties, additional)| {
                json!({"patternProperties": patterns, "properties": properties, "additionalProperties": additional})
            }),
            1 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(condition, then, otherwise)| json!({"if": condition, "then": then, "else": otherwise})),
            1 => (inner.clone(), prop::sample::select(vec!["minContains", "maxContains"]), 0..3)
                .prop_map(|(schema, key, bound)| json!({"type": "array", "contains": schema, key: bound})),
            1 => (name(), names()).prop_map(|(name, required)| json!({"dependentRequired": {name: required}})),
        ]
    })
}

/// Collects the JSON pointers of a schema and its subschemas. `pointer` is that of the schema.
fn collect_pointers(schema: &Value, pointer: &str, pointers: &mut Vec<String>) {
    pointers.push(pointer.to_owned());
    for (key, value) in schema.as_object().into_iter().flatten() {
        let pointer = format!("{pointer}/{key}");
        match value {
            Value::Array(items) if KEYWORDS_WITH_LIST.contains(&key.as_str()) => {
                for (index, item) in items.iter().enumerate() {
                    collect_pointers(item, &format!("{pointer}/{index}"), pointers);
                }
            }
            Value::Object(map) if KEYWORDS_WITH_NAMES.contains(&key.as_str()) => {
                for (name, value) in map {
                    collect_pointers(value, &format!("{pointer}/{name}"), pointers);
                }
            }
            _ if KEYWORDS_WITH_SCHEMA.contains(&key.as_str()) || key == "else" => {
                collect_pointers(value, &pointer, pointers)
            }
            _ => {}
        }
    }
}

/// A change of a schema.
#[derive(Clone, Debug)]
enum SchemaChange {
    /// Replaces the schema.
    Replace(Value),
    /// Removes a keyword.
    RemoveKeyword(prop::sample::Index),
    /// Adds the keywords of another schema; they replace existing ones.
    AddKeywords(Value),
    /// Adds this item to each list of schemas, such as `allOf`, or removes one item from each list if it is `None`.
    List(prop::sample::Index, Option<Value>),
    /// Adds or removes a name in `required`.
    Required(&'static str),
    /// Adds or removes a pattern.
    Pattern(&'static str, Value),
}

fn change() -> impl Strategy<Value = SchemaChange> {
    prop_oneof![
        2 => schema().prop_map(SchemaChange::Replace),
        2 => any::<prop::sample::Index>().prop_map(SchemaChange::RemoveKeyword),
        2 => leaf().prop_map(SchemaChange::AddKeywords),
        2 => schema().prop_map(SchemaChange::AddKeywords),
        2 => (any::<prop::sample::Index>(), prop::option::of(schema())).prop_map(|(index, new)| SchemaChange::List(index, new)),
        1 => name().prop_map(SchemaChange::Required),
        1 => (pattern(), leaf()).prop_map(|(pattern, schema)| SchemaChange::Pattern(pattern, schema)),
    ]
}

/// Applies a change to the schema or one of its subschemas, which `position` selects.
fn apply_change(schema: &Value, position: &prop::sample::Index, change: &SchemaChange) -> Value {
    let mut schema = schema.clone();
    let mut pointers = Vec::new();
    collect_pointers(&schema, "", &mut pointers);
    let target = schema
        .pointer_mut(&pointers[position.index(pointers.len())])
        .expect("the pointer refers to a schema");
    match (change, target) {
        (SchemaChange::RemoveKeyword(key), Value::Object(keywords)) if !keywords.is_empty() => {
            let key = key.get(keywords.keys().cloned().collect::<Vec<_>>().as_slice()).clone();
            keywords.remove(&key);
        }
        (SchemaChange::AddKeywords(Value::Object(added)), Value::Object(keywords)) => {
            keywords.extend(added.clone())
        }
        (SchemaChange::List(index, new), Value::Object(keywords)) => {
            let lists = keywords.iter_mut().filter(|(key, _)| KEYWORDS_WITH_LIST.contains(&key.as_str()));
            for items in lists.filter_map(|(_, list)| list.as_array_mut()) {
                match new {
                    Some(new) => items.push(new.clone()),
                    None if items.len() > 1 => drop(items.remove(index.index(items.len()))),
                    None => {}
                }
            }
        }
        (SchemaChange::Required(name), Value::Object(keywords)) => {
            let mut required =
                keywords.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            let position = required.iter().position(|required_name| required_name == name);
            match position {
                Some(index) => drop(required.remove(index)),
                None => required.push(json!(name)),
            }
            keywords.insert("required".to_owned(), json!(required));
        }
        (SchemaChange::Pattern(pattern, schema), Value::Object(keywords)) => {
            let patterns = keywords.entry("patternProperties").or_insert_with(|| json!({}));
            let patterns = patterns.as_object_mut().expect("patterns are a mapping");
            if patterns.remove(*pattern).is_none() {
                patterns.insert((*pattern).to_owned(), schema.clone());
            }
        }
        (SchemaChange::Replace(new), target) => *target = new.clone(),
        _ => {}
    }
    schema
}

/// Returns values to validate: plain ones, and arrays and objects of them.
fn values() -> Vec<Value> {
    let plain = json!([null, true, false, 0, 1, 2, 3, 4, -1, 1.5, "", "a", "b", "c", "abc", [], {}, [1], ["a"], {"a": 1}, {"b": null}]);
    let plain = plain.as_array().cloned().unwrap_or_default();
    let mut values = plain.clone();
    for (index, first) in plain.iter().enumerate() {
        values.push(json!([first]));
        values.extend(["a", "b", "c", "d"].map(|name| json!({name: first})));
        for step in [1, 4, 7] {
            let second = &plain[(index + step) % plain.len()];
            values.push(json!([first, second]));
            values.push(json!([first, second, first]));
            values.extend(
                [("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")]
                    .map(|(left, right)| json!({left: first, right: second})),
            );
            values.push(json!({"a": first, "b": second, "c": first}));
        }
    }
    values
}

/// Creates a document with a request body and a response body.
pub(super) fn document(request: &Value, response: &Value) -> String {
    let content = |schema: &Value| json!({"application/json": {"schema": schema}});
    json!({"openapi": "3.1.0", "paths": {"/a": {"post": {
        "requestBody": {"required": true, "content": content(request)},
        "responses": {"200": {"content": content(response)}},
    }}}})
    .to_string()
}

/// Creates a validator of the `jsonschema` crate.
pub(super) fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::draft202012::new(schema).unwrap_or_else(|error| panic!("{schema}: {error}"))
}

/// Whether a value matches two alternatives of a `oneOf`, except for values for which `is_decided` returns true. It gets
/// the alternatives that the value matches. Widening one of them then narrows the schema.
fn has_overlap(schema: &Value, values: &[Value], is_decided: impl Fn(&Value, &[&Value]) -> bool) -> bool {
    let mut pointers = Vec::new();
    collect_pointers(schema, "", &mut pointers);
    let lists = pointers.iter().filter_map(|pointer| schema.pointer(pointer)?.get("oneOf")?.as_array());
    lists.into_iter().any(|members| {
        let members: Vec<_> = members.iter().map(|member| (validator(member), member)).collect();
        values.iter().any(|value| {
            let matching = members.iter().filter(|(validator, _)| validator.is_valid(value));
            let matching: Vec<&Value> = matching.map(|(_, member)| *member).collect();
            matching.len() > 1 && !is_decided(value, &matching)
        })
    })
}

/// Whether overlaps of alternatives are found: those of values other than null, among alternatives without subschemas.
fn is_decided_overlap(value: &Value, members: &[&Value]) -> bool {
    let has_subschemas = |member: &&Value| {
        let mut pointers = Vec::new();
        collect_pointers(member, "", &mut pointers);
        pointers.len() > 1
    };
    !value.is_null() && !members.iter().any(has_subschemas)
}

/// Whether a rule is about added or removed properties. By a convention of APIs, senders omit properties that their
/// schema does not declare, and receivers ignore them. JSON Schema does not have this convention, so a finding of such
/// a rule explains the validator's result even if it is not an error.
fn relies_on_convention(id: &str) -> bool {
    [
        "new-optional-request-property",
        "request-property-removed",
        "response-optional-property-added",
        "response-required-property-added",
        "response-optional-property-removed",
    ]
    .contains(&id)
}

/// Returns the test configuration. By default, the 256 cases are the same on each run. The environment variable
/// `PROPTEST_CASES` sets another number of cases, with a random seed.
pub(super) fn config() -> ProptestConfig {
    let is_random = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig {
        rng_seed: if is_random { RngSeed::Random } else { RngSeed::Fixed(1) },
        failure_persistence: None,
        max_global_rejects: 1_000_000,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_incompatibility_is_reported(schema in schema(), position in any::<prop::sample::Index>(), change in change()) {
        let revision = apply_change(&schema, &position, &change);
        let values = values();
        prop_assume!(schema != revision);
        let has_overlaps = |is_decided: fn(&Value, &[&Value]) -> bool| {
            has_overlap(&schema, &values, is_decided) || has_overlap(&revision, &values, is_decided)
        };
        prop_assume!(!has_overlaps(is_decided_overlap));
        let (has_decided_overlaps, any) = (has_overlaps(|_, _| false), json!(true));
        let (before, after) = (validator(&schema), validator(&revision));
        let find_incompatible = |producer: &jsonschema::Validator, consumer: &jsonschema::Validator| {
            values.iter().find(|value| producer.is_valid(value) && !consumer.is_valid(value)).cloned()
        };
        let no_longer_valid = find_incompatible(&before, &after);
        let newly_valid = find_incompatible(&after, &before);
        for (direction, base, changed, value) in [
            ("request", document(&schema, &any), document(&revision, &any), no_longer_valid),
            ("response", document(&any, &schema), document(&any, &revision), newly_valid),
        ] {
            // Servers do not send values that match two alternatives.
            if direction == "response" && has_decided_overlaps {
                continue;
            }
            let findings = differences(&base, &changed);
            let is_reported = findings
                .iter()
                .any(|finding| finding.level == Level::Error || relies_on_convention(&finding.id));
            let ids: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
            prop_assert!(value.is_none() || is_reported, "{direction}: {value:?} breaks, but only {ids:?} are reported\n{schema}\n{revision}");
        }
    }
}
