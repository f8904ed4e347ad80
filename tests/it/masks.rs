//! Masks ids in snapshots.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

/// An id of any type: its prefix, and 26 base32 characters of a UUIDv7.
static ID: LazyLock<Regex> = LazyLock::new(|| {
    let prefixes = "wks|crs|mod|les|stu|enr|ord|oli|rfd|ent|crt|lvs|rec|evt|whs|dlv|rpl|key|req|usr";
    Regex::new(&format!("({prefixes})_[0-7][0-9a-hjkmnp-tv-z]{{25}}")).expect("a valid pattern")
});

/// Replaces each id by its prefix and a number. The same id always gets the same number, so a snapshot still shows which
/// records refer to each other. A string that is not a valid id stays unchanged and fails the snapshot.
pub fn masked(value: &Value) -> Value {
    Masks::default().value(value)
}

/// The numbers assigned so far.
#[derive(Default)]
struct Masks {
    names: BTreeMap<String, String>,
    counts: BTreeMap<String, usize>,
}

impl Masks {
    fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.value(item)).collect()),
            Value::Object(fields) => {
                // Sorted, so that the numbers do not depend on the order of the map.
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
        let number = self.counts.entry(prefix.to_owned()).or_default();
        *number += 1;
        let name = format!("{prefix}_{number}");
        self.names.insert(id.to_owned(), name.clone());
        name
    }
}
