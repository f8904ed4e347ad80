//! Escapes texts of documents, which can contain commands of a terminal or of a CI service.

/// Returns a text of a document as it appears in messages: one line without control characters, characters that change
/// the direction of text, and `##[`, which begins a command of a CI service anywhere in a line.
pub fn plain_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if is_control(character) {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    escape_commands(&escaped)
}

/// Escapes the same as [`plain_text`] in a text of several lines, except the line breaks.
pub fn plain_lines(text: &str) -> String {
    text.split('\n').map(plain_text).collect::<Vec<_>>().join("\n")
}

fn escape_commands(text: &str) -> String {
    text.replace("##[", "##\\[")
}

/// Whether a character controls the terminal, ends a line or changes the direction of text.
fn is_control(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_one_line_without_commands() {
        for (text, expected) in [
            ("`maxLength` of \u{e9}", "`maxLength` of \u{e9}"),
            ("a\u{1b}[31m\u{9b}b", "a\\u{1b}[31m\\u{9b}b"),
            ("a\r\n::stop-commands::b\tc", "a\\r\\n::stop-commands::b\\tc"),
            ("\u{202e}a\u{2028}", "\\u{202e}a\\u{2028}"),
            ("a##[error]b", "a##\\[error]b"),
        ] {
            assert_eq!(plain_text(text), expected);
        }
        assert_eq!(plain_lines("a\n\u{1b}\n"), "a\n\\u{1b}\n");
    }
}
