//! Compares the findings with a JSON Schema validator: every incompatibility that the validator shows must be reported.
//!
//! A schema and a changed one validate many values. A value that was valid and no longer is must be reported as a breaking
//! change of a request; a value that became valid, as one of a response.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use super::super::rule::Level;
use super::differences;

fn typed() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["string", "integer", "number", "boolean", "array", "object", "null"])
}

/// Generates schemas without subschemas.
fn leaf() -> impl Strategy<Value = Value> {
    let values = json!([null, 1, 2, "a", "b", true]).as_array().cloned().unwrap_or_default();
    let range = vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
    prop_oneof![
        3 => typed().prop_map(|word| json!({"type": word})),
        1 => (typed(), typed()).prop_map(|(one, other)| if one == other { json!({"type": one}) } else { json!({"type": [one, other]}) }),
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
const WITH_ONE: [&str; 9] = [
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
const WITH_LIST: [&str; 4] = ["allOf", "oneOf", "anyOf", "prefixItems"];
/// Keywords with schemas by name or pattern.
const WITH_NAMES: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];

fn schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(2, 12, 3, |inner| {
        let map = || prop::collection::btree_map(name(), inner.clone(), 0..3);
        let patterns = || prop::collection::btree_map(pattern(), inner.clone(), 0..3);
        let others = || prop_oneof![any::<bool>().prop_map(Value::Bool), inner.clone()];
        let one = prop::sample::select(WITH_ONE.to_vec());
        prop_oneof![
            3 => (map(), names()).prop_map(|(properties, required)| {
                json!({"type": "object", "properties": properties, "required": required})
            }),
            1 => (map(), inner.clone()).prop_map(|(properties, others)| {
                json!({"type": "object", "properties": properties, "additionalProperties": others})
            }),
            1 => (map(), prop::bool::ANY).prop_map(|(properties, others)| {
                json!({"type": "object", "properties": properties, "additionalProperties": others})
            }),
            1 => (inner.clone(), prop::sample::select(vec!["minItems", "maxItems"]), 0..3)
                .prop_map(|(items, key, bound)| json!({"type": "array", "items": items, key: bound})),
            4 => (prop::sample::select(WITH_LIST.to_vec()), prop::collection::vec(inner.clone(), 1..4))
                .prop_map(|(keyword, list)| json!({keyword: list})),
            2 => (one, inner.clone()).prop_map(|(keyword, schema)| json!({keyword: schema})),
            1 => (map(), prop::sample::select(vec!["properties", "dependentSchemas"]))
                .prop_map(|(map, keyword)| json!({keyword: map})),
            2 => patterns().prop_map(|patterns| json!({"patternProperties": patterns})),
            2 => (patterns(), map(), others()).prop_map(|(patterns, properties, others)| {
                json!({"patternProperties": patterns, "properties": properties, "additionalProperties": others})
            }),
            1 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(test, then, other)| json!({"if": test, "then": then, "else": other})),
            1 => (inner.clone(), prop::sample::select(vec!["minContains", "maxContains"]), 0..3)
                .prop_map(|(schema, key, bound)| json!({"type": "array", "contains": schema, key: bound})),
            1 => (name(), names()).prop_map(|(name, needed)| json!({"dependentRequired": {name: needed}})),
        ]
    })
}

/// Collects the JSON pointers of a schema and its subschemas.
fn places(schema: &Value, pointer: &str, into: &mut Vec<String>) {
    into.push(pointer.to_owned());
    for (key, value) in schema.as_object().into_iter().flatten() {
        let pointer = format!("{pointer}/{key}");
        match value {
            Value::Array(items) if WITH_LIST.contains(&key.as_str()) => {
                for (at, item) in items.iter().enumerate() {
                    places(item, &format!("{pointer}/{at}"), into);
                }
            }
            Value::Object(map) if WITH_NAMES.contains(&key.as_str()) => {
                for (name, value) in map {
                    places(value, &format!("{pointer}/{name}"), into);
                }
            }
            _ if WITH_ONE.contains(&key.as_str()) || key == "else" => places(value, &pointer, into),
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
    Without(prop::sample::Index),
    /// Adds keywords.
    With(Value),
    /// Removes or adds an item of a list.
    List(prop::sample::Index, Option<Value>),
    /// Adds or removes a name in `required`.
    Required(&'static str),
    /// Adds or removes a pattern.
    Pattern(&'static str, Value),
}

fn change() -> impl Strategy<Value = SchemaChange> {
    prop_oneof![
        2 => schema().prop_map(SchemaChange::Replace),
        2 => any::<prop::sample::Index>().prop_map(SchemaChange::Without),
        2 => leaf().prop_map(SchemaChange::With),
        2 => schema().prop_map(SchemaChange::With),
        2 => (any::<prop::sample::Index>(), prop::option::of(schema())).prop_map(|(at, new)| SchemaChange::List(at, new)),
        1 => name().prop_map(SchemaChange::Required),
        1 => (pattern(), leaf()).prop_map(|(pattern, schema)| SchemaChange::Pattern(pattern, schema)),
    ]
}

fn changed(schema: &Value, at: &prop::sample::Index, change: &SchemaChange) -> Value {
    let mut schema = schema.clone();
    let mut pointers = Vec::new();
    places(&schema, "", &mut pointers);
    let here =
        schema.pointer_mut(&pointers[at.index(pointers.len())]).expect("the pointer refers to a schema");
    match (change, here) {
        (SchemaChange::Without(key), Value::Object(keywords)) if !keywords.is_empty() => {
            let key = key.get(keywords.keys().cloned().collect::<Vec<_>>().as_slice()).clone();
            keywords.remove(&key);
        }
        (SchemaChange::With(Value::Object(more)), Value::Object(keywords)) => keywords.extend(more.clone()),
        (SchemaChange::List(at, new), Value::Object(keywords)) => {
            let lists = keywords.iter_mut().filter(|(key, _)| WITH_LIST.contains(&key.as_str()));
            for items in lists.filter_map(|(_, list)| list.as_array_mut()) {
                match new {
                    Some(new) => items.push(new.clone()),
                    None if items.len() > 1 => drop(items.remove(at.index(items.len()))),
                    None => {}
                }
            }
        }
        (SchemaChange::Required(name), Value::Object(keywords)) => {
            let mut required =
                keywords.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            let position = required.iter().position(|known| known == name);
            match position {
                Some(at) => drop(required.remove(at)),
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
        (SchemaChange::Replace(new), here) => *here = new.clone(),
        _ => {}
    }
    schema
}

/// Returns values to validate: plain ones, and arrays and objects of them.
fn values() -> Vec<Value> {
    let plain = json!([null, true, false, 0, 1, 2, 3, 4, -1, 1.5, "", "a", "b", "c", "abc", [], {}, [1], ["a"], {"a": 1}, {"b": null}]);
    let plain = plain.as_array().cloned().unwrap_or_default();
    let mut values = plain.clone();
    for (at, one) in plain.iter().enumerate() {
        values.push(json!([one]));
        values.extend(["a", "b", "c", "d"].map(|name| json!({name: one})));
        for step in [1, 4, 7] {
            let other = &plain[(at + step) % plain.len()];
            values.push(json!([one, other]));
            values.push(json!([one, other, one]));
            values.extend(
                [("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")]
                    .map(|(left, right)| json!({left: one, right: other})),
            );
            values.push(json!({"a": one, "b": other, "c": one}));
        }
    }
    values
}

/// Creates a document with a request body and a response body.
fn document(takes: &Value, answers: &Value) -> String {
    let content = |schema: &Value| json!({"application/json": {"schema": schema}});
    json!({"openapi": "3.1.0", "paths": {"/a": {"post": {
        "requestBody": {"required": true, "content": content(takes)},
        "responses": {"200": {"content": content(answers)}},
    }}}})
    .to_string()
}

/// Creates a validator of the `jsonschema` crate.
fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::draft202012::new(schema).unwrap_or_else(|error| panic!("{schema}: {error}"))
}

/// Whether a value matches two alternatives of a `oneOf`. Widening one of them then narrows the schema, which the rules do not
/// model.
fn overlaps(schema: &Value, values: &[Value]) -> bool {
    let mut pointers = Vec::new();
    places(schema, "", &mut pointers);
    let lists = pointers.iter().filter_map(|pointer| schema.pointer(pointer)?.get("oneOf")?.as_array());
    lists.into_iter().any(|members| {
        let members: Vec<_> = members.iter().map(validator).collect();
        values.iter().any(|value| members.iter().filter(|member| member.is_valid(value)).count() > 1)
    })
}

/// Whether a rule is about added or removed properties. That clients ignore unknown properties is a convention of APIs, not of
/// schemas.
fn is_convention(id: &str) -> bool {
    [
        "new-optional-request-property",
        "request-property-removed",
        "response-optional-property-added",
        "response-required-property-added",
        "response-optional-property-removed",
    ]
    .contains(&id)
}

/// By default the cases are the same on each run. `SEMANTICS_CASES` specifies another number of cases, with a random seed.
fn config() -> ProptestConfig {
    let expected = std::env::var("SEMANTICS_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig {
        cases: expected.unwrap_or(96),
        rng_seed: expected.map_or(RngSeed::Fixed(1), |_| RngSeed::Random),
        failure_persistence: None,
        max_global_rejects: 1_000_000,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_incompatibility_is_reported(schema in schema(), at in any::<prop::sample::Index>(), change in change()) {
        let revision = changed(&schema, &at, &change);
        let values = values();
        prop_assume!(schema != revision && !overlaps(&schema, &values) && !overlaps(&revision, &values));
        let (before, after) = (validator(&schema), validator(&revision));
        let breaks = |from: &jsonschema::Validator, to: &jsonschema::Validator| {
            values.iter().find(|value| from.is_valid(value) && !to.is_valid(value)).cloned()
        };
        let any = json!(true);
        for (base, changed, value) in [
            (document(&schema, &any), document(&revision, &any), breaks(&before, &after)),
            (document(&any, &schema), document(&any, &revision), breaks(&after, &before)),
        ] {
            let findings = differences(&base, &changed);
            let is_reported = findings.iter().any(|finding| finding.level == Level::Error || is_convention(&finding.id));
            let ids: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
            let direction = if base.contains("\"schema\":true}},\"required\"") { "response" } else { "request" };
            prop_assert!(value.is_none() || is_reported, "{direction}: {value:?} breaks, but only {ids:?} are reported\n{schema}\n{revision}");
        }
    }
}
