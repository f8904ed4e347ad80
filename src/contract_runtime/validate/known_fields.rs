//! Suggests a field for a misspelled one.

use std::collections::HashMap;

use serde_json::Value;

use super::query;
use super::walk::for_each_schema;
use crate::reference;

/// A field is suggested for an unknown one only if their similarity is greater than this.
const MIN_SIMILARITY: f64 = 0.8;

/// The maximum depth of references and `allOf` inside of each other.
const MAX_DEPTH: usize = 32;

/// The keywords that reject unknown fields.
const CLOSING: [&str; 2] = ["additionalProperties", "unevaluatedProperties"];

/// The names of the fields of each closed object, by the JSON pointer of the keyword that rejects others.
#[derive(Debug)]
pub(super) struct KnownFields(HashMap<String, Vec<String>>);

impl KnownFields {
    /// Collects the names from the schemas of a document.
    pub(super) fn of(document: &Value) -> Self {
        let mut known = HashMap::new();
        for_each_schema(document, |pointer, fields| {
            for keyword in CLOSING {
                if fields.get(keyword) == Some(&Value::Bool(false)) {
                    let mut names = Vec::new();
                    collect_names(document, document.pointer(pointer).unwrap_or(document), &mut names, 0);
                    known.insert(format!("{pointer}/{keyword}"), names);
                }
            }
        });
        Self(known)
    }

    /// Returns the field that is most similar to `unknown`. `keyword` is the JSON pointer of the keyword that rejects `unknown`, encoded
    /// for a URI.
    pub(super) fn similar(&self, keyword: &str, unknown: &str) -> Option<&str> {
        let names = self.0.get(&query::decode_segment(keyword)?)?;
        let similarity = |name: &String| strsim::jaro_winkler(name, unknown);
        let closest = names.iter().max_by(|left, right| similarity(left).total_cmp(&similarity(right)))?;
        (similarity(closest) > MIN_SIMILARITY).then_some(&**closest)
    }
}

/// Collects the names of the properties of a schema and of the schemas that apply together with it.
fn collect_names(document: &Value, schema: &Value, names: &mut Vec<String>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    names.extend(properties.into_iter().flat_map(|properties| properties.keys().cloned()));
    let target = reference::target(schema).and_then(|pointer| document.pointer(pointer));
    let members = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
    for part in target.into_iter().chain(members) {
        collect_names(document, part, names, depth + 1);
    }
}
