//! Masks ids in snapshots, because ids differ from run to run.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

/// An id of a type that occurs in snapshots: its prefix, and a UUIDv7 as 26 base32 characters.
static ID: LazyLock<Regex> = LazyLock::new(|| {
    let prefixes = "wks|crs|mod|les|stu|enr|ord|oli|rfd|ent|crt|lvs|rec|evt|whs|dlv|rpl|key|req|usr";
    Regex::new(&format!("({prefixes})_[0-7][0-9a-hjkmnp-tv-z]{{25}}")).expect("a valid pattern")
});

/// Replaces each id with its prefix and a number, such as `stu_1`. The same id always gets the same number, so a
/// snapshot still shows which records refer to each other. An invalid id stays unchanged, so the snapshot fails.
pub fn mask_ids(value: &Value) -> Value {
    IdReplacements::default().mask_value(value)
}

/// The replaced ids so far.
#[derive(Default)]
struct IdReplacements {
    /// The replacements by id.
    replacements: BTreeMap<String, String>,
    /// The number of different ids by prefix.
    counts: BTreeMap<String, usize>,
}

impl IdReplacements {
    fn mask_value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.mask_text(text)),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.mask_value(item)).collect()),
            Value::Object(fields) => {
                // Sorted, because the numbers must not depend on the order of the map.
                let fields: BTreeMap<&String, &Value> = fields.iter().collect();
                Value::Object(
                    fields
                        .into_iter()
                        .map(|(name, value)| (self.mask_text(name), self.mask_value(value)))
                        .collect(),
                )
            }
            other => other.clone(),
        }
    }

    fn mask_text(&mut self, text: &str) -> String {
        ID.replace_all(text, |captures: &Captures<'_>| self.replacement(&captures[0], &captures[1]))
            .into_owned()
    }

    fn replacement(&mut self, id: &str, prefix: &str) -> String {
        if let Some(replacement) = self.replacements.get(id) {
            return replacement.clone();
        }
        let number = self.counts.entry(prefix.to_owned()).or_default();
        *number += 1;
        let replacement = format!("{prefix}_{number}");
        self.replacements.insert(id.to_owned(), replacement.clone());
        replacement
    }
}
