//! That nothing passes unseen: each value of the real contract that means something, changed alone, is a difference.

use std::path::Path;

use serde_json::Value;

use super::super::compare::compare;
use super::{TODAY, read, yaml};

/// Keywords that say something to readers only, or name what stays where it is.
const SAYS_NOTHING: [&str; 10] = [
    "description",
    "summary",
    "title",
    "example",
    "examples",
    "externalDocs",
    "bearerFormat",
    "info",
    "openapi",
    "$ref",
];

/// The pointers of all values that mean something, below a value.
fn meaningful(value: &Value, pointer: &str, names: bool, into: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                if !names && (SAYS_NOTHING.contains(&key.as_str()) || key.starts_with("x-")) {
                    continue;
                }
                let pointer = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                meaningful(value, &pointer, !names && key == "properties", into);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                meaningful(item, &format!("{pointer}/{at}"), false, into);
            }
        }
        _ => into.push(pointer.to_owned()),
    }
}

/// Another value of the same kind.
fn other(pointer: &str, value: &Value) -> Value {
    match value {
        Value::Bool(flag) => Value::Bool(!flag),
        Value::Number(number) => Value::from(number.as_i64().unwrap_or_default() + 1),
        // A type must be one.
        Value::String(word) if pointer.contains("/type") && word != "boolean" => Value::from("boolean"),
        Value::String(word) => Value::from(format!("{word}z")),
        _ => Value::from("z"),
    }
}

/// How many values are passed over for each that is tried; `UNSEEN_EVERY=1` tries all.
fn stride() -> usize {
    std::env::var("UNSEEN_EVERY").ok().and_then(|every| every.parse().ok()).unwrap_or(61)
}

#[test]
fn a_value_that_means_something_cannot_change_unseen() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../openapi/v1.yaml");
    let mut contract = yaml(&std::fs::read_to_string(path).expect("the contract can be read"));
    contract.as_object_mut().expect("a mapping").remove("tags");
    let base = read("base.json", &contract.to_string());
    let mut pointers = Vec::new();
    meaningful(&contract, "", false, &mut pointers);
    let mut unseen = Vec::new();
    // A parameter of a path must be sent, whatever is written.
    pointers.retain(|pointer| pointer != "/paths/~1api~1v1~1courses~1{id}/get/parameters/0/required");
    for pointer in pointers.iter().step_by(stride()) {
        let mut changed = contract.clone();
        let value = changed.pointer_mut(pointer).expect("the pointer leads to a value");
        *value = other(pointer, value);
        if compare(&base, &read("revision.json", &changed.to_string()), TODAY).is_empty() {
            unseen.push(pointer);
        }
    }
    assert!(unseen.is_empty(), "of {} values these changed unseen: {unseen:#?}", pointers.len());
}
