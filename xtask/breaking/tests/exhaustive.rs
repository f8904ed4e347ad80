//! Changes the values of this project's contract that affect clients, one at a time, and expects a finding for each
//! change.
//!
//! By default, only some of the values are tested, because testing all takes long.

use std::collections::BTreeSet;
use std::path::Path;

use contract::node::Value as Tree;
use contract::source::Source;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::super::document::OpenApiDocument;
use super::{TODAY, compare, read, yaml};

/// Keywords that do not affect clients, and `$ref`, because a changed reference would have no target.
const SKIPPED_KEYWORDS: [&str; 10] = [
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

/// Collects the JSON pointers of all scalar values, except those below skipped keywords and extensions (`x-`). If
/// `keys_are_names`, the keys of the value are names of properties, and none is skipped.
fn collect_pointers(value: &Value, pointer: &str, keys_are_names: bool, pointers: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                if !keys_are_names && (SKIPPED_KEYWORDS.contains(&key.as_str()) || key.starts_with("x-")) {
                    continue;
                }
                let pointer = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                collect_pointers(value, &pointer, !keys_are_names && key == "properties", pointers);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect_pointers(item, &format!("{pointer}/{index}"), false, pointers);
            }
        }
        _ => pointers.push(pointer.to_owned()),
    }
}

/// Returns a different value of the same type; null becomes a string.
fn different_value(pointer: &str, value: &Tree) -> Tree {
    match value {
        Tree::Bool(flag) => Tree::Bool(!flag),
        Tree::Integer(number) => Tree::Integer(number + 1),
        Tree::Float(number) => Tree::Float(number + 1.0),
        // A type must be a valid type name.
        Tree::String(text) if pointer.contains("/type") && text != "boolean" => {
            Tree::String("boolean".to_owned())
        }
        Tree::String(text) => Tree::String(format!("{text}z")),
        _ => Tree::String("z".to_owned()),
    }
}

/// The default distance between tested values: every seventh value is tested. The environment variable
/// `BREAKING_VALUE_STRIDE` overrides it. `cargo xtask test` sets the variable to 1 to test all values.
const DEFAULT_STRIDE: usize = 7;

fn stride() -> usize {
    std::env::var("BREAKING_VALUE_STRIDE")
        .ok()
        .and_then(|stride| stride.parse().ok())
        .unwrap_or(DEFAULT_STRIDE)
        .max(1)
}

/// Returns the index of the first value to test. It depends on the contract, so that other values are tested after each
/// change.
fn first_index(contract: &str, stride: usize) -> usize {
    let digest = Sha256::digest(contract.as_bytes());
    usize::from(u16::from_be_bytes([digest[0], digest[1]])) % stride
}

/// Returns a document with one changed value. Only the tree is changed, because parsing takes longer than comparing.
fn with_changed_value(base: &OpenApiDocument, pointer: &str) -> OpenApiDocument {
    let mut root = base.root.clone();
    let steps = pointer.split('/').skip(1);
    let target = steps.fold(&mut root, |node, step| {
        let key = step.replace("~1", "/").replace("~0", "~");
        match &mut node.value {
            Tree::Mapping(entries) => {
                let entry = entries.iter_mut().find(|entry| entry.key.text == key);
                &mut entry.unwrap_or_else(|| panic!("{pointer} does not exist")).value
            }
            Tree::Sequence(items) => {
                &mut items[key.parse::<usize>().expect("a step into a list is an index")]
            }
            _ => panic!("{pointer} does not exist"),
        }
    });
    target.value = different_value(pointer, &target.value);
    OpenApiDocument {
        source: Source::new("revision.json", base.source.text.as_str()),
        root,
        version: base.version,
        warnings: Vec::new(),
    }
}

fn is_required_flag_of_path_parameter(contract: &Value, pointer: &str) -> bool {
    let parameter = pointer.strip_suffix("/required").and_then(|parameter| contract.pointer(parameter));
    parameter.is_some_and(|parameter| parameter["in"] == "path")
}

#[test]
fn every_change_of_a_value_that_affects_clients_is_found() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../openapi/v1.yaml");
    let text = std::fs::read_to_string(path).expect("the contract can be read");
    let mut contract = yaml(&text);
    contract.as_object_mut().expect("the contract is a mapping").remove("tags");
    let base = read("base.json", &contract.to_string());
    let mut pointers = Vec::new();
    collect_pointers(&contract, "", false, &mut pointers);
    // `required` of a path parameter has no effect.
    pointers.retain(|pointer| !is_required_flag_of_path_parameter(&contract, pointer));
    let stride = stride();
    let tested: Vec<&String> = pointers.iter().skip(first_index(&text, stride)).step_by(stride).collect();
    assert!(
        tested.len() >= pointers.len() / stride && !tested.is_empty(),
        "only {} of {} values are tested",
        tested.len(),
        pointers.len()
    );
    let undetected: Vec<&&String> = tested
        .iter()
        .filter(|pointer| compare(&base, &with_changed_value(&base, pointer), TODAY).is_empty())
        .collect();
    assert!(
        undetected.is_empty(),
        "changes of these values (of {}) were not found: {undetected:#?}",
        pointers.len()
    );
}

#[test]
fn all_values_are_tested_over_time() {
    let first_indices: BTreeSet<usize> =
        (0..200).map(|number| first_index(&format!("contract {number}"), DEFAULT_STRIDE)).collect();
    assert_eq!(first_indices.len(), DEFAULT_STRIDE);
}
