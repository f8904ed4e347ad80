//! Tests that the 3.0 document accepts and rejects the same values as the contract.
//!
//! The validator does not support 3.0, so the schemas of the 3.0 document are converted back first: `nullable` allows
//! null for the whole schema, and an exclusive bound is a flag. Keywords that 3.0 does not support are removed from the
//! contract.

use contract::node::escape_pointer_token;
use jsonschema::{Registry, Validator};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use serde_json::{Map, Value, json};

use super::to_openapi_3_0;
use crate::{CONTRACTS, ContractConfig, client_document};
use contract::Profile;

/// Keywords that 3.0 does not support.
const UNSUPPORTED: [&str; 2] = ["propertyNames", "unevaluatedProperties"];

/// A schema of the contract, with validators for the schema before and after the conversion.
struct SchemaLocation {
    pointer: String,
    schema: Value,
    before: Validator,
    after: Validator,
    examples: Vec<Value>,
}

/// All schemas of a contract, and all strings of its examples.
struct ParsedContract {
    document: Value,
    schemas: Vec<SchemaLocation>,
    strings: Vec<String>,
}

fn read((config, for_clients): (&ContractConfig<'_>, bool)) -> ParsedContract {
    let source = contract::read_file(&contract::testing::workspace(), config.contract)
        .expect("the contract can be read");
    let contract = contract::read(source, &config.conventions).expect("the contract is valid");
    let opened = if for_clients { client_document::for_clients(&contract.root) } else { None };
    let root = opened.as_ref().unwrap_or(&contract.root);
    let mut document = root.to_json();
    remove_unsupported(&mut document);
    let after = to_3_1_schemas(to_openapi_3_0(root).to_json());
    let mut locations = Vec::new();
    walk(&document, "", &mut locations);
    let mut strings = vec![String::new(), "a".to_owned(), "x".repeat(600)];
    let (before_registry, after_registry) = (registry(&document), registry(&after));
    let schemas = locations.into_iter().map(|(pointer, schema, examples)| {
        examples.iter().for_each(|example| collect_strings(example, &mut strings));
        let (before, after) = (validator(&before_registry, &pointer), validator(&after_registry, &pointer));
        SchemaLocation { pointer, schema, before, after, examples }
    });
    let schemas = schemas.collect();
    drop(before_registry);
    ParsedContract { schemas, document, strings }
}

fn registry(document: &Value) -> Registry<'_> {
    Registry::new()
        .add("urn:document", document)
        .and_then(|registry| registry.prepare())
        .expect("the document can be registered")
}

/// Returns the validator of the schema at a JSON pointer.
fn validator(registry: &Registry<'_>, pointer: &str) -> Validator {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let encode = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    let fragment: String = pointer.bytes().map(encode).collect();
    let options = jsonschema::draft202012::options().should_validate_formats(true);
    let schema = json!({ "$ref": format!("urn:document#{fragment}") });
    options.with_registry(registry).build(&schema).unwrap_or_else(|error| panic!("{pointer}: {error}"))
}

/// Removes the keywords that 3.0 does not support.
fn remove_unsupported(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(remove_unsupported),
        Value::Object(fields) => {
            fields.retain(|name, _| !UNSUPPORTED.contains(&&**name));
            fields.values_mut().for_each(remove_unsupported);
        }
        _ => {}
    }
}

/// Converts schemas of 3.0 back to 3.1.
fn to_3_1_schemas(value: Value) -> Value {
    let mut fields = match value {
        Value::Array(items) => return items.into_iter().map(to_3_1_schemas).collect(),
        Value::Object(fields) => fields,
        other => return other,
    };
    for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if fields.get(flag) == Some(&Value::Bool(true)) {
            let bound = fields.remove(bound).expect("a flag has its bound");
            fields.insert(flag.to_owned(), bound);
        }
    }
    let nullable = fields.get("nullable") == Some(&Value::Bool(true)) && fields.remove("nullable").is_some();
    let fields: Map<_, _> = fields.into_iter().map(|(name, field)| (name, to_3_1_schemas(field))).collect();
    if nullable { json!({ "anyOf": [fields, { "type": "null" }] }) } else { Value::Object(fields) }
}

/// Collects each schema with its pointer and its examples.
fn walk(value: &Value, pointer: &str, locations: &mut Vec<(String, Value, Vec<Value>)>) {
    for (name, field) in value.as_object().into_iter().flatten() {
        let child_pointer = format!("{pointer}/{}", escape_pointer_token(name));
        match &**name {
            // In the 3.0 document webhooks have another key. Their schemas are in `components`.
            "webhooks" | "example" | "examples" => {}
            "schema" => {
                let named = value["examples"].as_object().into_iter().flatten();
                let named = named.filter_map(|(_, example)| example.get("value"));
                let examples = named.chain(value.get("example")).cloned().collect();
                locations.push((child_pointer, field.clone(), examples));
            }
            _ if pointer == "/components/schemas" => {
                locations.push((child_pointer, field.clone(), Vec::new()))
            }
            _ => walk(field, &child_pointer, locations),
        }
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        walk(item, &format!("{pointer}/{index}"), locations);
    }
}

fn collect_strings(value: &Value, strings: &mut Vec<String>) {
    match value {
        Value::String(text) if !strings.contains(text) => strings.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect_strings(item, strings)),
        Value::Object(fields) => fields.values().for_each(|field| collect_strings(field, strings)),
        _ => {}
    }
}

/// Generates random values for a schema. Most are valid.
struct ValueGenerator<'c> {
    contract: &'c ParsedContract,
    state: u64,
}

impl ValueGenerator<'_> {
    /// Returns a random number below `limit`.
    fn random_below(&mut self, limit: usize) -> usize {
        // splitmix64
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(limit.max(1)).expect("the number fits"))
            .expect("the number fits")
    }

    fn pick<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.random_below(values.len())].clone()
    }

    fn any_value(&mut self) -> Value {
        self.pick(&[
            json!(null),
            json!(true),
            json!(0),
            json!(-1),
            json!(1.5),
            json!(""),
            json!("a"),
            json!([]),
            json!({}),
        ])
    }

    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        if depth > 12 || self.random_below(25) == 0 {
            return self.any_value();
        }
        if let Some(target) = schema["$ref"].as_str() {
            let target = self
                .contract
                .document
                .pointer(target.trim_start_matches('#'))
                .expect("the reference resolves");
            return self.value(target, depth + 1);
        }
        for keyword in ["oneOf", "anyOf"] {
            if let Some(parts) = schema[keyword].as_array() {
                let part = self.pick(parts);
                return self.value(&part, depth + 1);
            }
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let values = parts.iter().map(|part| self.value(part, depth + 1)).collect::<Vec<_>>();
            let fields = values.iter().filter_map(Value::as_object).flatten();
            return Value::Object(fields.map(|(name, field)| (name.clone(), field.clone())).collect());
        }
        if let Some(values) = schema["enum"].as_array() {
            return self.pick(values);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        let types = schema["type"].as_array().cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
        let ty = self.pick(&types);
        self.value_of_type(ty.as_str().unwrap_or("any"), schema, depth)
    }

    fn value_of_type(&mut self, ty: &str, schema: &Value, depth: usize) -> Value {
        match ty {
            "null" => Value::Null,
            "boolean" => Value::Bool(true),
            "integer" | "number" => {
                let keywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
                let bounds =
                    keywords.iter().filter_map(|keyword| schema[keyword].as_i64()).collect::<Vec<_>>();
                let bound = if bounds.is_empty() { 1 } else { self.pick(&bounds) };
                self.pick(&[json!(bound), json!(bound - 1), json!(bound + 1), json!(25)])
            }
            "string" => Value::String(self.pick(&self.contract.strings)),
            "array" => {
                let count = self.random_below(4);
                (0..count).map(|_| self.value(&schema["items"], depth + 1)).collect()
            }
            "object" => self.object(schema, depth),
            _ => self.any_value(),
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let mut fields = Map::new();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            if self.random_below(20) > 0 {
                fields.insert(name.clone(), self.value(field, depth + 1));
            }
        }
        if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object()) {
            for name in ["a", "key", "another"].iter().take(self.random_below(4)) {
                fields.insert((*name).to_owned(), self.value(values, depth + 1));
            }
        } else if self.random_below(20) == 0 {
            fields.insert("unknown".to_owned(), Value::Null);
        }
        Value::Object(fields)
    }

    /// Replaces or removes a random part of a value.
    fn corrupt(&mut self, value: &mut Value) {
        let change = self.random_below(4);
        match value {
            Value::Array(items) if change > 0 && !items.is_empty() => {
                let at = self.random_below(items.len());
                self.corrupt(&mut items[at]);
            }
            Value::Object(fields) if change > 0 && !fields.is_empty() => {
                let names: Vec<String> = fields.keys().cloned().collect();
                let name = self.pick(&names);
                match (change, fields.get_mut(&name)) {
                    (1, _) => drop(fields.remove(&name)),
                    (_, Some(field)) => self.corrupt(field),
                    _ => {}
                }
            }
            other => *other = self.any_value(),
        }
    }
}

/// Returns whether a value is valid. Panics if the schema and its conversion disagree.
fn is_valid_in_both(contract: &ParsedContract, location: &SchemaLocation, value: &Value) -> bool {
    let (before, after) = (location.before.is_valid(value), location.after.is_valid(value));
    assert_eq!(
        before, after,
        "{} differs between the versions of {}: {value}",
        location.pointer, contract.document["info"]["title"]
    );
    before
}

/// Returns the contracts that follow the rules of this server, each as it is and as the document for client generators.
/// Other contracts can contain what 3.0 cannot express.
fn server_contracts() -> impl Iterator<Item = (&'static ContractConfig<'static>, bool)> {
    let contracts = CONTRACTS.iter().filter(|config| config.conventions.profile == Profile::Server);
    contracts.flat_map(|config| [(config, false), (config, true)])
}

#[test]
fn every_example_is_valid_before_and_after() {
    for contract in server_contracts().map(read) {
        for location in &contract.schemas {
            for example in &location.examples {
                assert!(is_valid_in_both(&contract, location, example), "{}: {example}", location.pointer);
            }
        }
    }
}

#[test]
fn both_versions_accept_the_same_values() {
    let contracts: Vec<ParsedContract> = server_contracts().map(read).collect();
    let (mut valid, mut invalid) = (0, 0);
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u64>());
    for _ in 0..3000 {
        let (contract_index, schema_index, state) =
            strategy.new_tree(&mut runner).expect("the strategy generates values").current();
        let contract = contract_index.get(&contracts);
        let location = schema_index.get(&contract.schemas);
        let mut generator = ValueGenerator { contract, state };
        let mut value = match &location.examples[..] {
            examples if !examples.is_empty() && generator.random_below(2) == 0 => generator.pick(examples),
            _ => generator.value(&location.schema, 0),
        };
        for _ in 0..generator.random_below(3) {
            generator.corrupt(&mut value);
        }
        if is_valid_in_both(contract, location, &value) { valid += 1 } else { invalid += 1 }
    }
    assert!(valid > 300 && invalid > 300, "too few values: {valid} valid, {invalid} invalid");
}
