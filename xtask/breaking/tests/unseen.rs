//! That nothing passes unseen: each value of the real contract that means something, changed alone, is a difference.

use std::collections::BTreeSet;
use std::path::Path;

use contract::node::Value as Tree;
use contract::source::Source;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::super::compare::compare;
use super::super::document::Document;
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
fn other(pointer: &str, value: &Tree) -> Tree {
    match value {
        Tree::Bool(flag) => Tree::Bool(!flag),
        Tree::Integer(number) => Tree::Integer(number + 1),
        Tree::Float(number) => Tree::Float(number + 1.0),
        // A type must be one.
        Tree::String(word) if pointer.contains("/type") && word != "boolean" => {
            Tree::String("boolean".to_owned())
        }
        Tree::String(word) => Tree::String(format!("{word}z")),
        _ => Tree::String("z".to_owned()),
    }
}

/// One of how many values is tried, unless `UNSEEN_EVERY` says otherwise; `cargo xtask test` sets it to 1 and tries all.
const STRIDE: usize = 7;

fn stride() -> usize {
    std::env::var("UNSEEN_EVERY").ok().and_then(|every| every.parse().ok()).unwrap_or(STRIDE).max(1)
}

/// The first value that is tried: another one with each change of the contract, so that in time all have their turn.
fn first(contract: &str, stride: usize) -> usize {
    let digest = Sha256::digest(contract.as_bytes());
    usize::from(u16::from_be_bytes([digest[0], digest[1]])) % stride
}

/// A document with one value changed. The tree alone is changed: reading takes longer than comparing.
fn with(base: &Document, pointer: &str) -> Document {
    let mut root = base.root.clone();
    let steps = pointer.split('/').skip(1);
    let place = steps.fold(&mut root, |node, step| {
        let key = step.replace("~1", "/").replace("~0", "~");
        match &mut node.value {
            Tree::Mapping(entries) => {
                let entry = entries.iter_mut().find(|entry| entry.key.text == key);
                &mut entry.unwrap_or_else(|| panic!("{pointer} leads nowhere")).value
            }
            Tree::Sequence(items) => &mut items[key.parse::<usize>().expect("a number of an item")],
            _ => panic!("{pointer} leads nowhere"),
        }
    });
    place.value = other(pointer, &place.value);
    Document { source: Source::new("revision.json", base.source.text.as_str()), root, version: base.version }
}

#[test]
fn a_value_that_means_something_cannot_change_unseen() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../openapi/v1.yaml");
    let text = std::fs::read_to_string(path).expect("the contract can be read");
    let mut contract = yaml(&text);
    contract.as_object_mut().expect("a mapping").remove("tags");
    let base = read("base.json", &contract.to_string());
    let mut pointers = Vec::new();
    meaningful(&contract, "", false, &mut pointers);
    // A parameter of a path must be sent, whatever is written.
    pointers.retain(|pointer| pointer != "/paths/~1api~1v1~1courses~1{id}/get/parameters/0/required");
    let stride = stride();
    let tried: Vec<&String> = pointers.iter().skip(first(&text, stride)).step_by(stride).collect();
    assert!(tried.len() >= pointers.len() / stride && !tried.is_empty(), "{} are tried", tried.len());
    let unseen: Vec<&&String> =
        tried.iter().filter(|pointer| compare(&base, &with(&base, pointer), TODAY).is_empty()).collect();
    assert!(unseen.is_empty(), "of {} values these changed unseen: {unseen:#?}", pointers.len());
}

#[test]
fn every_value_has_its_turn() {
    let turns: BTreeSet<usize> = (0..200).map(|at| first(&format!("contract {at}"), STRIDE)).collect();
    assert_eq!(turns.len(), STRIDE);
}
