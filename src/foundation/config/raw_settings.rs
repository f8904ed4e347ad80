//! The unparsed values of settings, and their conversion to typed values.

use std::collections::HashMap;

use secrecy::zeroize::Zeroizing;

use super::settings::{SETTINGS, Setting};
use super::value::SettingValue;

/// The unparsed value of each setting with its source. Parsing a setting adds an error, or a line to the report.
#[derive(Debug, Default)]
pub struct RawSettings {
    pub(super) values: HashMap<&'static str, RawValue>,
    pub(super) errors: Vec<String>,
    /// The headings and the lines of the report, in the order in which the settings were parsed. Secrets are masked.
    lines: Vec<(&'static str, String)>,
}

/// The unparsed value of one setting.
#[derive(Debug)]
pub(super) struct RawValue {
    pub(super) text: Zeroizing<String>,
    pub(super) source: String,
}

impl RawSettings {
    /// Parses the value of one setting, or its default if the setting is not set. If the value is invalid, records an
    /// error and returns `None`.
    pub(super) fn parse<T: SettingValue>(&mut self, key: &'static str) -> Option<T> {
        let &Setting { heading, default, toml_type, .. } =
            SETTINGS.iter().find(|setting| setting.key == key)?;
        let source = self.source(key);
        let Some(text) = self.values.get(key).map(|value| value.text.as_str()).or(default) else {
            self.lines.push((heading, format!("# {key} is not set")));
            return T::value_if_unset();
        };
        let value = T::parse(text);
        match &value {
            Some(value) => {
                let line = format!("{key} = {}", toml_type.format(&value.show()));
                self.lines.push((heading, format!("{line:<48} # {source}")));
            }
            None => {
                let problem = T::problem(text).map(|problem| format!(": {problem}")).unwrap_or_default();
                let text = if T::SECRET { String::new() } else { format!(" {text:?}") };
                let expected = T::EXPECTED;
                self.errors
                    .push(format!("{source}: invalid value{text} for `{key}`{problem}; expected {expected}"));
            }
        }
        value
    }

    /// Returns whether a source sets the setting.
    pub(super) fn is_set(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// Returns the source of a setting's value for messages, such as `--listen`, or `default` if the setting is not
    /// set.
    pub(super) fn source(&self, key: &str) -> String {
        self.values.get(key).map_or("default", |value| &value.source).to_owned()
    }

    /// Returns the effective configuration in the format of the file, with the source of each value. Secrets are
    /// masked.
    pub fn report(&self) -> String {
        let mut text = String::new();
        for group in self.lines.chunk_by(|left, right| left.0 == right.0) {
            text += &format!("# {}\n", group[0].0);
            for (_, line) in group {
                text += &format!("{line}\n");
            }
            text.push('\n');
        }
        text.trim_end().to_owned()
    }
}
