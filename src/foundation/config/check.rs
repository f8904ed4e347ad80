//! The configuration as it came out, and the table of all settings.

use std::fmt::Write;

use super::{CONCERNS, Given, Setting};

/// The effective configuration as lines of the file, each with its source; secrets are masked.
pub fn report(given: &Given) -> String {
    let mut text = String::new();
    for (heading, settings) in CONCERNS {
        let _ = writeln!(text, "# {heading}");
        for setting in *settings {
            let Some(outcome) = given.outcomes.iter().find(|outcome| outcome.key == setting.key) else {
                continue;
            };
            let _ = match &outcome.shown {
                Some(shown) => {
                    let line = format!("{} = {}", setting.key, setting.shape.write(shown));
                    writeln!(text, "{line:<48} # {}", outcome.source)
                }
                None => writeln!(text, "# {} is not set", setting.key),
            };
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}

/// Every setting as rows of a Markdown table. The key of the file is the flag with underscores.
pub fn markdown() -> String {
    let mut text = String::from("| flag | variable | default | meaning |\n|---|---|---|---|\n");
    for setting in super::settings() {
        text.push_str(&row(setting));
    }
    text
}

fn row(setting: &Setting) -> String {
    let file = if setting.hidden { "-file" } else { "" };
    let default = setting.default.map_or_else(|| "none".to_owned(), |text| format!("`{text}`"));
    let (flag, variable, meaning) = (setting.flag(), setting.variable, setting.help_text());
    format!("| `--{flag}{file}` | `{variable}` | {default} | {meaning} |\n")
}
