//! The output of commands: results on stdout, messages on stderr.

use std::fmt::Display;
use std::io::{self, Write};

use serde_json::Value;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use super::outcome::CommandError;

/// Writes a line to stdout and flushes it. Ignores a closed stdout.
pub(super) fn print(text: impl Display) -> Result<(), CommandError> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Writes a message to stderr.
pub(super) fn eprint(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Writes records to stdout as a JSON array.
pub(super) fn print_json(records: Vec<Value>) -> Result<(), CommandError> {
    print(json_text(&Value::Array(records)))
}

/// Formats a record as JSON in which no text can control the terminal. The values are the same, since JSON allows to escape
/// every character of a string.
pub(super) fn json_text(record: &Value) -> String {
    // Outside of strings, the only control characters are line breaks, since serde_json escapes those below U+0020.
    escape_controls(&format!("{record:#}"), &['\n'], json_escape)
}

/// Formats JSON on one line as [`json_text`] does.
pub(super) fn json_line(json: &str) -> String {
    escape_controls(json, &[], json_escape)
}

/// Returns the escape sequence of a character in JSON.
fn json_escape(c: char) -> String {
    c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

/// Escapes characters that control the terminal or change the direction of text, since a receiver of webhooks chooses the text.
/// Keeps tabs.
pub(super) fn plain_text(text: &str) -> String {
    escape_controls(text, &['\t'], |c| c.escape_unicode().to_string())
}

/// Replaces control characters (general category Cc), format characters (Cf) and separators of lines and paragraphs, except
/// those to `keep`.
fn escape_controls(text: &str, keep: &[char], escape: impl Fn(char) -> String) -> String {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator};
    let is_control =
        |c: char| matches!(c.general_category(), Control | Format | LineSeparator | ParagraphSeparator);
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match is_control(c) && !keep.contains(&c) {
            true => escaped.push_str(&escape(c)),
            false => escaped.push(c),
        }
    }
    escaped
}

/// Writes rows to stdout as a table with headings.
pub(super) fn print_table<const N: usize>(
    headings: [&str; N],
    rows: &[[String; N]],
) -> Result<(), CommandError> {
    let widths: [usize; N] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([headings[column].len()]).max().unwrap_or_default()
    });
    let write = |cells: [&str; N]| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        print(padded.collect::<Vec<_>>().join("  ").trim_end())
    };
    write(headings)?;
    rows.iter().try_for_each(|row| write(std::array::from_fn(|column| row[column].as_str())))
}

/// Formats a time as the API does: RFC 3339 in UTC, with milliseconds.
pub(super) fn format_time(time: jiff::Timestamp) -> String {
    format!("{time:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C0, DEL, C1, the direction of text, a line separator, and an invisible character above U+FFFF.
    const CONTROLS: &str = "\u{1b}[2J\u{7f}\u{9b}31m\u{202e}\u{2066}\u{2028}\u{feff}\u{e0041}";

    #[test]
    fn no_text_controls_the_terminal() {
        let escaped = r"\u{1b}[2J\u{7f}\u{9b}31m\u{202e}\u{2066}\u{2028}\u{feff}\u{e0041}";
        assert_eq!(plain_text(CONTROLS), escaped);
        assert_eq!(plain_text("a\tb é 名 😀"), "a\tb é 名 😀");
    }

    #[test]
    fn json_is_escaped_without_changing_the_values() {
        let record = serde_json::json!({"name": CONTROLS, "tab": "a\tb é 😀\n"});
        let text = json_text(&record);
        assert!(
            !text.contains(|c: char| c.is_control() && c != '\n' || CONTROLS.contains(c) && !c.is_ascii()),
            "{text:?}"
        );
        assert!(text.contains(r"\u001b[2J\u007f\u009b31m\u202e\u2066\u2028\ufeff\udb40\udc41"), "{text}");
        assert!(text.contains("é 😀"), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), record);
    }
}
