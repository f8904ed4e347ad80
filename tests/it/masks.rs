//! Ids, made fit for a snapshot.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

/// An id of any kind: its prefix, and 26 characters of base32 UUIDv7.
static ID: LazyLock<Regex> = LazyLock::new(|| {
    let prefixes = "wks|crs|mod|les|stu|enr|ord|oli|rfd|ent|crt|lvs|rec|evt|whs|dlv|rpl|key|req|usr";
    Regex::new(&format!("({prefixes})_[0-7][0-9a-hjkmnp-tv-z]{{25}}")).expect("the pattern is one")
});

/// The value with each id replaced by its prefix and a number: the same id has the same number throughout, so a
/// snapshot still shows what refers to what. A text that is no whole id stays, and fails the snapshot.
pub fn masked(value: &Value) -> Value {
    Masks::default().value(value)
}

/// The ids met so far, by their text.
#[derive(Default)]
struct Masks {
    names: BTreeMap<String, String>,
    met: BTreeMap<String, usize>,
}

impl Masks {
    fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.value(item)).collect()),
            Value::Object(fields) => {
                // Sorted, so that the numbers do not depend on how the map keeps its order.
                let fields: BTreeMap<&String, &Value> = fields.iter().collect();
                Value::Object(
                    fields.into_iter().map(|(name, value)| (self.text(name), self.value(value))).collect(),
                )
            }
            other => other.clone(),
        }
    }

    fn text(&mut self, text: &str) -> String {
        ID.replace_all(text, |id: &Captures<'_>| self.name(&id[0], &id[1])).into_owned()
    }

    fn name(&mut self, id: &str, prefix: &str) -> String {
        if let Some(name) = self.names.get(id) {
            return name.clone();
        }
        let number = self.met.entry(prefix.to_owned()).or_default();
        *number += 1;
        let name = format!("{prefix}_{number}");
        self.names.insert(id.to_owned(), name.clone());
        name
    }
}
