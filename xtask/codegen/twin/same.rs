//! The twin means the same: values, sound and unsound, are judged alike by a contract's schemas and by the twin's.
//!
//! The twin's are read by the rules of 3.0, as tools read them: `nullable` is 'or null' of all that stands beside it, and an
//! exclusive bound is a flag. What 3.0 has no word for is taken out of the contract first.

use contract::node::pointer_step;
use jsonschema::{Registry, Validator};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use serde_json::{Map, Value, json};

use super::twin;
use crate::{CONTRACTS, Names};

/// Keywords that 3.0 has no word for.
const LOST: [&str; 2] = ["propertyNames", "unevaluatedProperties"];

/// One place of a schema, with its judge before and after.
struct Site {
    pointer: String,
    schema: Value,
    before: Validator,
    after: Validator,
    examples: Vec<Value>,
}

/// Every schema of a contract, and every text that its examples hold.
struct Contract {
    document: Value,
    sites: Vec<Site>,
    texts: Vec<String>,
}

fn read(names: &Names<'_>) -> Contract {
    let source = contract::open(&contract::testing::workspace(), names.contract).expect("it can be read");
    let contract = contract::read(source, &names.customs).expect("it has no findings");
    let mut document = contract.root.to_json();
    loosen(&mut document);
    let after = modern(twin(&contract.root).to_json());
    let mut places = Vec::new();
    walk(&document, "", &mut places);
    let mut texts = vec![String::new(), "a".to_owned(), "x".repeat(600)];
    let (olds, news) = (registry(&document), registry(&after));
    let sites = places.into_iter().map(|(pointer, schema, examples)| {
        examples.iter().for_each(|example| gather(example, &mut texts));
        let (before, after) = (judge(&olds, &pointer), judge(&news, &pointer));
        Site { pointer, schema, before, after, examples }
    });
    let sites = sites.collect();
    drop(olds);
    Contract { sites, document, texts }
}

fn registry(document: &Value) -> Registry<'_> {
    Registry::new().add("urn:it", document).and_then(|registry| registry.prepare()).expect("it is registered")
}

fn judge(registry: &Registry<'_>, pointer: &str) -> Validator {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let encode = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    let fragment: String = pointer.bytes().map(encode).collect();
    let options = jsonschema::draft202012::options().should_validate_formats(true);
    let schema = json!({ "$ref": format!("urn:it#{fragment}") });
    options.with_registry(registry).build(&schema).unwrap_or_else(|error| panic!("{pointer}: {error}"))
}

/// Takes out what 3.0 cannot say.
fn loosen(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(loosen),
        Value::Object(fields) => {
            fields.retain(|name, _| !LOST.contains(&&**name));
            fields.values_mut().for_each(loosen);
        }
        _ => {}
    }
}

/// Schemas of 3.0 in the words of 3.1.
fn modern(value: Value) -> Value {
    let mut fields = match value {
        Value::Array(items) => return items.into_iter().map(modern).collect(),
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
    let fields: Map<_, _> = fields.into_iter().map(|(name, field)| (name, modern(field))).collect();
    if nullable { json!({ "anyOf": [fields, { "type": "null" }] }) } else { Value::Object(fields) }
}

/// Every place of a schema: the pointer, the schema, and the examples that belong to it.
fn walk(value: &Value, pointer: &str, places: &mut Vec<(String, Value, Vec<Value>)>) {
    for (name, field) in value.as_object().into_iter().flatten() {
        let below = format!("{pointer}/{}", pointer_step(name));
        match &**name {
            // What webhooks send stands under another name in the twin; its schemas are named ones.
            "webhooks" | "example" | "examples" => {}
            "schema" => {
                let several = value["examples"].as_object().into_iter().flatten();
                let several = several.filter_map(|(_, example)| example.get("value"));
                let examples = several.chain(value.get("example")).cloned().collect();
                places.push((below, field.clone(), examples));
            }
            _ if pointer == "/components/schemas" => places.push((below, field.clone(), Vec::new())),
            _ => walk(field, &below, places),
        }
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        walk(item, &format!("{pointer}/{index}"), places);
    }
}

fn gather(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if !texts.contains(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| gather(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| gather(field, texts)),
        _ => {}
    }
}

/// Makes values that a schema may take, and now and then one that it may not.
struct Maker<'c> {
    contract: &'c Contract,
    dice: u64,
}

impl Maker<'_> {
    fn below(&mut self, most: usize) -> usize {
        // splitmix64
        self.dice = self.dice.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.dice ^ (self.dice >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(most.max(1)).expect("it fits"))
            .expect("it fits")
    }

    fn pick<T: Clone>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())].clone()
    }

    fn anything(&mut self) -> Value {
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
        if depth > 12 || self.below(25) == 0 {
            return self.anything();
        }
        if let Some(target) = schema["$ref"].as_str() {
            let target = self.contract.document.pointer(target.trim_start_matches('#')).expect("it resolves");
            return self.value(target, depth + 1);
        }
        for keyword in ["oneOf", "anyOf"] {
            if let Some(parts) = schema[keyword].as_array() {
                let part = self.pick(parts);
                return self.value(&part, depth + 1);
            }
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let made = parts.iter().map(|part| self.value(part, depth + 1)).collect::<Vec<_>>();
            let fields = made.iter().filter_map(Value::as_object).flatten();
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
        self.of_type(ty.as_str().unwrap_or("any"), schema, depth)
    }

    fn of_type(&mut self, ty: &str, schema: &Value, depth: usize) -> Value {
        match ty {
            "null" => Value::Null,
            "boolean" => Value::Bool(true),
            "integer" | "number" => {
                let edges = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
                let edge = edges.iter().filter_map(|edge| schema[edge].as_i64()).collect::<Vec<_>>();
                let near = if edge.is_empty() { 1 } else { self.pick(&edge) };
                self.pick(&[json!(near), json!(near - 1), json!(near + 1), json!(25)])
            }
            "string" => Value::String(self.pick(&self.contract.texts)),
            "array" => {
                let count = self.below(4);
                (0..count).map(|_| self.value(&schema["items"], depth + 1)).collect()
            }
            "object" => self.object(schema, depth),
            _ => self.anything(),
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let mut fields = Map::new();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            if self.below(20) > 0 {
                fields.insert(name.clone(), self.value(field, depth + 1));
            }
        }
        if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object()) {
            for name in ["a", "key", "another"].iter().take(self.below(4)) {
                fields.insert((*name).to_owned(), self.value(values, depth + 1));
            }
        } else if self.below(20) == 0 {
            fields.insert("unheard_of".to_owned(), Value::Null);
        }
        Value::Object(fields)
    }

    /// Changes one place of a value.
    fn spoil(&mut self, value: &mut Value) {
        let change = self.below(4);
        match value {
            Value::Array(items) if change > 0 && !items.is_empty() => {
                let at = self.below(items.len());
                self.spoil(&mut items[at]);
            }
            Value::Object(fields) if change > 0 && !fields.is_empty() => {
                let names: Vec<String> = fields.keys().cloned().collect();
                let name = self.pick(&names);
                match (change, fields.get_mut(&name)) {
                    (1, _) => drop(fields.remove(&name)),
                    (_, Some(field)) => self.spoil(field),
                    _ => {}
                }
            }
            other => *other = self.anything(),
        }
    }
}

fn alike(contract: &Contract, site: &Site, value: &Value) -> bool {
    let (before, after) = (site.before.is_valid(value), site.after.is_valid(value));
    assert_eq!(
        before, after,
        "{} judges otherwise in {}: {value}",
        site.pointer, contract.document["info"]["title"]
    );
    before
}

#[test]
fn every_example_is_sound_before_and_after() {
    for contract in CONTRACTS.iter().map(read) {
        for site in &contract.sites {
            for example in &site.examples {
                assert!(alike(&contract, site, example), "{}: {example}", site.pointer);
            }
        }
    }
}

#[test]
fn values_of_every_schema_are_judged_alike() {
    let contracts: Vec<Contract> = CONTRACTS.iter().map(read).collect();
    let (mut sound, mut unsound) = (0, 0);
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u64>());
    for _ in 0..3000 {
        let (which, place, dice) = strategy.new_tree(&mut runner).expect("a case").current();
        let contract = which.get(&contracts);
        let site = place.get(&contract.sites);
        let mut maker = Maker { contract, dice };
        let mut value = match &site.examples[..] {
            examples if !examples.is_empty() && maker.below(2) == 0 => maker.pick(examples),
            _ => maker.value(&site.schema, 0),
        };
        for _ in 0..maker.below(3) {
            maker.spoil(&mut value);
        }
        if alike(contract, site, &value) { sound += 1 } else { unsound += 1 }
    }
    assert!(sound > 300 && unsound > 300, "{sound} sound and {unsound} unsound values say little");
}
