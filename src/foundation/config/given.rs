//! The text given for each setting, and the typed value it has.

use std::collections::HashMap;

use secrecy::zeroize::Zeroizing;

use super::settings::{SETTINGS, Setting};
use super::value::Field;

/// For each setting, the text that takes precedence, with its source; once read, the faults and the report.
#[derive(Debug, Default)]
pub struct Given {
    pub(super) entries: HashMap<&'static str, Entry>,
    pub(super) faults: Vec<String>,
    /// The lines of the report with their headings, secrets masked.
    lines: Vec<(&'static str, String)>,
}

/// The text of one setting.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) text: Zeroizing<String>,
    pub(super) source: String,
}

impl Given {
    /// The typed value of one setting; a fault is kept and gives `None`.
    pub(super) fn field<T: Field>(&mut self, key: &'static str) -> Option<T> {
        let &Setting { heading, default, shape, .. } = SETTINGS.iter().find(|setting| setting.key == key)?;
        let source = self.place(key);
        let Some(text) = self.entries.get(key).map(|entry| entry.text.as_str()).or(default) else {
            self.lines.push((heading, format!("# {key} is not set")));
            return T::absent();
        };
        let value = T::parse(text);
        match &value {
            Some(value) => {
                let line = format!("{key} = {}", shape.write(&value.show()));
                self.lines.push((heading, format!("{line:<48} # {source}")));
            }
            None => {
                let text = if T::SECRET { "no value".to_owned() } else { format!("{text:?} is no value") };
                self.faults.push(format!("{source}: {text} for `{key}`; expected {}", T::EXPECTED));
            }
        }
        value
    }

    /// Where the value of a setting came from, as a message names it.
    pub(super) fn place(&self, key: &str) -> String {
        self.entries.get(key).map_or("default", |entry| &entry.source).to_owned()
    }

    /// The effective configuration as lines of the file, each with its source; secrets are masked.
    pub fn report(&self) -> String {
        let mut text = String::new();
        for concern in self.lines.chunk_by(|left, right| left.0 == right.0) {
            text += &format!("# {}\n", concern[0].0);
            for (_, line) in concern {
                text += &format!("{line}\n");
            }
            text.push('\n');
        }
        text.trim_end().to_owned()
    }
}
