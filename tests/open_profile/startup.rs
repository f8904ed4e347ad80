//! Checks that the server starts with each contract that the generator accepts.

use contract::source::Source;
use contract::{Conventions, Profile};
use contract_runtime::contract::{Body, Operation};
use contract_runtime::validate::schemas;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

const CONVENTIONS: Conventions<'static> = Conventions {
    path_prefix: "/",
    spelling_exceptions: &[],
    profile: Profile::Open,
    has_rate_limits: false,
};

/// Generates one keyword of a schema with a value that can be malformed.
fn plain_keyword() -> impl Strategy<Value = (String, Value)> {
    let keywords = [
        ("type", json!(["string", "integer", "object", "array", ["string", "null"], "any", 5])),
        ("pattern", json!(["^a$", "(?=a)", "[", "(a)\\1", 1])),
        ("required", json!([true, ["a"], "a", [1]])),
        ("minLength", json!([1, -1, "1", 1.5])),
        ("maximum", json!([1, "9", null])),
        ("exclusiveMinimum", json!([1, true])),
        ("multipleOf", json!([2, 0, -1])),
        ("enum", json!([["a"], [1, "a"], [], "a"])),
        ("const", json!(["a", { "$ref": "#/none" }])),
        ("format", json!(["date", "other", 1])),
        ("minItems", json!([1, "many"])),
        ("uniqueItems", json!([true, "yes"])),
        ("additionalProperties", json!([true, false, "no", { "type": "string" }])),
        ("dependentRequired", json!([{ "a": ["b"] }, { "a": "b" }])),
        ("default", json!(["a", { "pattern": "(?=a)" }])),
        ("readOnly", json!([true, "yes"])),
        ("nullable", json!([true])),
        ("$ref", json!(["#/components/schemas/Other", "#/none", "other.yaml", 1])),
        ("$id", json!(["urn:other", "other", 1])),
        ("$anchor", json!(["a", 1])),
    ];
    let values = keywords
        .map(|(keyword, values)| (keyword.to_owned(), values.as_array().expect("a list of values").clone()));
    select(values.to_vec()).prop_flat_map(|(keyword, values)| (Just(keyword), select(values)))
}

fn schema() -> impl Strategy<Value = Value> {
    let object = |keywords: Vec<(String, Value)>| Value::Object(Map::from_iter(keywords));
    let leaf = prop_oneof![
        Just(json!({ "type": "string" })),
        any::<bool>().prop_map(Value::Bool),
        prop::collection::vec(plain_keyword(), 0..3).prop_map(object),
    ];
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let one =
            select(vec!["items", "not", "if", "then", "contains", "propertyNames", "unevaluatedProperties"]);
        let list = select(vec!["allOf", "oneOf", "anyOf", "prefixItems"]);
        let map = select(vec!["properties", "patternProperties", "$defs", "dependentSchemas"]);
        let name = select(vec!["a", "b", "(?!a)", "pattern", "required"]);
        let keyword = prop_oneof![
            plain_keyword(),
            (one, inner.clone()).prop_map(|(keyword, schema)| (keyword.to_owned(), schema)),
            (list, prop::collection::vec(inner.clone(), 0..3))
                .prop_map(|(keyword, schemas)| (keyword.to_owned(), Value::Array(schemas))),
            (map, name, inner)
                .prop_map(|(keyword, name, schema)| (keyword.to_owned(), json!({ name: schema }))),
        ];
        prop::collection::vec(keyword, 1..4).prop_map(object)
    })
}

/// Returns the error of the server at its start, or `None` if the generator rejects the contract or the server starts.
fn startup_error(version: &str, schema: &Value) -> Option<String> {
    let content = json!({ "application/json": { "schema": schema } });
    let responses = json!({ "204": { "description": "A." } });
    let document = json!({
        "openapi": version,
        "info": { "title": "A", "version": "1" },
        "paths": { "/a": { "post": { "requestBody": { "content": content }, "responses": responses } } },
        "components": { "schemas": { "Other": { "type": "object", "properties": { "a": { "type": "string" } } } } },
    });
    let contract = contract::read(Source::new("a.json", document.to_string()), &CONVENTIONS).ok()?;
    let [operation] = &contract.document.operations[..] else { panic!("one operation") };
    let pointer = operation.body.as_ref().expect("the operation has a body").content.schema.pointer.clone();
    let body = Body { media_type: "application/json", schema: pointer.leak() };
    let operation = Operation {
        id: "a",
        method: "POST",
        path: "/a",
        tag: "a",
        scope: None,
        parameters: &[],
        body: Some(body),
        statuses: &[204],
    };
    let json = serde_json::to_string(&contract.root).expect("JSON");
    schemas::compile(&json, &[Box::leak(Box::new(operation))], |_| None)
        .err()
        .map(|error| format!("{error:#}"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_server_starts_with_each_contract_that_the_generator_accepts(
        version in select(vec!["3.0.3", "3.1.0"]),
        schema in schema(),
    ) {
        prop_assert_eq!(startup_error(version, &schema), None, "{} {}", version, schema);
    }
}
