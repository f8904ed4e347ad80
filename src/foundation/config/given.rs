//! What was given for each setting, and what became of it.

use std::collections::HashMap;

use secrecy::zeroize::Zeroizing;

use super::fault::Fault;
use super::source::Source;
use super::value::Field;

/// What was given: for each setting the text that won, with its source; and, once read, what it came to.
#[derive(Debug, Default)]
pub struct Given {
    pub(super) entries: HashMap<&'static str, Entry>,
    pub(super) faults: Vec<Fault>,
    pub(super) outcomes: Vec<Outcome>,
}

/// The text that won for one setting.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) text: Zeroizing<String>,
    pub(super) source: Source,
}

/// What one setting came to, without its secrets.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) key: &'static str,
    /// The value as it may be shown; `None` when there is none.
    pub(super) shown: Option<String>,
    pub(super) source: Source,
}

impl Given {
    /// The typed value of one setting; a fault is kept and gives `None`.
    pub(super) fn field<T: Field>(&mut self, key: &'static str) -> Option<T> {
        let default =
            super::settings().find(|setting| setting.key == key).and_then(|setting| setting.default);
        let (text, source) = match (self.entries.get(key), default) {
            (Some(entry), _) => (entry.text.as_str(), entry.source.clone()),
            (None, Some(default)) => (default, Source::Default),
            (None, None) => {
                self.outcomes.push(Outcome { key, shown: None, source: Source::Default });
                return T::absent();
            }
        };
        let value = T::parse(text);
        match &value {
            Some(value) => self.outcomes.push(Outcome { key, shown: Some(value.show()), source }),
            None if T::SECRET => {
                self.faults.push(Fault(format!("{source}: no value for `{key}`; expected {}", T::EXPECTED)));
            }
            None => self
                .faults
                .push(Fault(format!("{source}: {text:?} is no value for `{key}`; expected {}", T::EXPECTED))),
        }
        value
    }

    /// Where the value of a setting came from, as a message names it.
    pub(super) fn place(&self, key: &str) -> String {
        self.entries.get(key).map_or(Source::Default, |entry| entry.source.clone()).to_string()
    }
}
