//! Parses JSON into a tree with source spans.
//!
//! JSON has a separate parser because the YAML parser does not read JSON's surrogate escapes (`\ud83d\ude00`), and is
//! too slow for the largest contracts, which are JSON. This module does not depend on OpenAPI.

use super::node::{Node, Value};
use super::source::{Source, Span};
use super::tree::TreeBuilder;
use crate::diagnostic::Diagnostic;

/// Returns whether the source starts like a JSON document.
pub(super) fn starts_like_json(source: &Source) -> bool {
    let text = source.text.trim_start_matches('\u{feff}').trim_start();
    text.starts_with(['{', '['])
}

/// Returns whether the source's file name ends in `.json`.
pub(super) fn has_json_extension(source: &Source) -> bool {
    source.name.to_ascii_lowercase().ends_with(".json")
}

/// Parses the only document of a source. Returns `None` after a fatal error, such as a syntax error.
pub(super) fn read(source: &Source, diagnostics: &mut Vec<Diagnostic>) -> Option<Node> {
    let text = &source.text;
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut parser =
        JsonParser { text, offset: start, open_collections: Vec::new(), tree: TreeBuilder::new(diagnostics) };
    if let Err(error) = parser.document() {
        // Report a missing delimiter at the end of the last token, not in the white space behind it.
        let offset = error.offset.min(text.trim_end().len());
        let span = Span { start: offset, end: offset };
        parser.tree.report_fatal(
            span,
            format!("invalid JSON: {}", error.message),
            "fix the syntax error; the rest of the file was not read",
        );
    }
    parser.tree.finish()
}

struct JsonSyntaxError {
    /// The byte offset of the error.
    offset: usize,
    message: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CollectionKind {
    List,
    Mapping,
}

struct JsonParser<'a> {
    text: &'a str,
    /// The byte offset of the next character.
    offset: usize,
    /// The collections whose end has not been parsed yet, from the outermost to the innermost.
    open_collections: Vec<CollectionKind>,
    tree: TreeBuilder<'a>,
}

impl JsonParser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.offset).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.offset += 1;
        }
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, JsonSyntaxError> {
        Err(JsonSyntaxError { offset: self.boundary(self.offset), message: message.into() })
    }

    /// Returns the last character boundary at or before an offset.
    fn boundary(&self, offset: usize) -> usize {
        (0..=offset.min(self.text.len()))
            .rev()
            .find(|offset| self.text.is_char_boundary(*offset))
            .unwrap_or(0)
    }

    /// Parses the values one after another. Open collections are in a list instead of on the call stack, so that
    /// deep nesting cannot overflow the stack.
    fn document(&mut self) -> Result<(), JsonSyntaxError> {
        loop {
            self.skip_space();
            self.begin_value()?;
            if self.tree.has_fatal_error() || !self.after_value()? {
                break;
            }
        }
        self.skip_space();
        if !self.tree.has_fatal_error() && self.offset < self.text.len() {
            return self.error("expected the end of the file");
        }
        Ok(())
    }

    /// Parses the starts of collections up to the first scalar, and that scalar. Stops before the end of an empty
    /// collection.
    fn begin_value(&mut self) -> Result<(), JsonSyntaxError> {
        loop {
            let start = self.offset;
            match self.peek() {
                Some(b'{') => {
                    self.offset += 1;
                    self.tree.begin_mapping(start, 0);
                    self.open_collections.push(CollectionKind::Mapping);
                    self.skip_space();
                    if self.tree.has_fatal_error() || self.peek() == Some(b'}') {
                        return Ok(());
                    }
                    self.key()?;
                }
                Some(b'[') => {
                    self.offset += 1;
                    self.tree.begin_sequence(start, 0);
                    self.open_collections.push(CollectionKind::List);
                    self.skip_space();
                    if self.tree.has_fatal_error() || self.peek() == Some(b']') {
                        return Ok(());
                    }
                }
                _ => {
                    let value = self.scalar()?;
                    self.tree.value(Node { span: Span { start, end: self.offset }, value }, 0);
                    return Ok(());
                }
            }
        }
    }

    /// Advances to the next value. Returns `false` at the end of the document.
    fn after_value(&mut self) -> Result<bool, JsonSyntaxError> {
        loop {
            let Some(kind) = self.open_collections.last() else { return Ok(false) };
            let (end, name) = if *kind == CollectionKind::List { (b']', "`]`") } else { (b'}', "`}`") };
            self.skip_space();
            match self.peek() {
                Some(b',') => {
                    self.offset += 1;
                    self.skip_space();
                    if self.open_collections.last() == Some(&CollectionKind::Mapping) {
                        self.key()?;
                    }
                    return Ok(true);
                }
                Some(byte) if byte == end => {
                    self.offset += 1;
                    self.open_collections.pop();
                    self.tree.end(self.offset);
                }
                _ => return self.error(format!("expected `,` or {name}")),
            }
        }
    }

    fn key(&mut self) -> Result<(), JsonSyntaxError> {
        let start = self.offset;
        if self.peek() != Some(b'"') {
            return self.error("expected a key in double quotes");
        }
        let key = self.string()?;
        self.tree.key(key, Span { start, end: self.offset });
        self.skip_space();
        if self.peek() != Some(b':') {
            return self.error("expected `:`");
        }
        self.offset += 1;
        self.skip_space();
        Ok(())
    }

    fn scalar(&mut self) -> Result<Value, JsonSyntaxError> {
        match self.peek() {
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.literal(),
        }
    }

    fn literal(&mut self) -> Result<Value, JsonSyntaxError> {
        for (literal, value) in
            [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)]
        {
            if self.text[self.offset..].starts_with(literal) {
                self.offset += literal.len();
                return Ok(value);
            }
        }
        self.error("expected a value")
    }

    fn number(&mut self) -> Result<Value, JsonSyntaxError> {
        let rest = &self.text[self.offset..];
        let length = rest.find(|letter: char| !matches!(letter, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'));
        let digits = &rest[..length.unwrap_or(rest.len())];
        let value = match (is_number(digits), digits.parse::<i64>(), digits.parse::<f64>()) {
            (true, Ok(value), _) => Value::Integer(value),
            (true, _, Ok(value)) if value.is_finite() => Value::Float(value),
            _ => return self.error(format!("`{digits}` is not a valid number")),
        };
        self.offset += digits.len();
        Ok(value)
    }

    /// Parses a string, from the opening to the closing quote. `serde_json` decodes strings with escapes.
    fn string(&mut self) -> Result<String, JsonSyntaxError> {
        let start = self.offset;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        let mut plain = true;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => {
                    plain = false;
                    end += 2;
                }
                Some(0..0x20) => {
                    self.offset = end;
                    return self.error("unescaped control character in a string");
                }
                Some(_) => end += 1,
                None => return self.error("unterminated string"),
            }
        }
        self.offset = end + 1;
        if plain {
            return Ok(self.text[start + 1..end].to_owned());
        }
        serde_json::from_str(&self.text[start..=end]).map_err(|_| JsonSyntaxError {
            offset: start,
            message: "invalid escape sequence in a string".to_owned(),
        })
    }
}

/// Returns whether the text is a number of JSON. Rust also parses `01`, `1.` and `.5`.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (integer, fraction) = match mantissa.split_once('.') {
        Some((integer, fraction)) => (integer, Some(fraction)),
        None => (mantissa, None),
    };
    digits(integer)
        && (integer == "0" || !integer.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read_text(text: &str) -> Option<serde_json::Value> {
        let tree = read(&Source::new("a.json", text), &mut Vec::new());
        tree.map(|tree| tree.to_json())
    }

    #[test]
    fn json_is_parsed_like_serde_json_parses_it() {
        let text = r#" {"a": [1, -2.5, true, null, {}], "b": {"c": "\ud83d\ude00\n"}, "d": [] } "#;
        assert_eq!(read_text(text), Some(serde_json::from_str(text).unwrap()));
        for wrong in
            ["{", "[1,]", "{\"a\"}", "{\"a\":1,}", "1 2", "\"\\q\"", "\"a", "{'a': 1}", "[1 2]", "\"\\"]
        {
            assert_eq!(read_text(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn numbers_follow_the_grammar_of_json() {
        for valid in ["0", "-1", "10", "1.5", "0.0", "-1e9", "1E+2", "1.25e-3"] {
            assert_eq!(read_text(&format!("[{valid}]")), serde_json::from_str(&format!("[{valid}]")).ok());
        }
        for invalid in ["01", "-01", "00", "1.", "-1.", "1.e5", "1e", "1e+", "-", "1.2.3", "1-2", "1e5.0"] {
            assert_eq!(read_text(&format!("[{invalid}]")), None, "{invalid}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn exactly_the_numbers_of_json_are_accepted(text in "-?[0-9]{0,3}\\.?[0-9]{0,3}([eE][+-]?[0-9]{0,2})?") {
            let is_valid = serde_json::from_str::<serde_json::Value>(&text).is_ok();
            prop_assert_eq!(read_text(&text).is_some(), is_valid, "{}", text);
        }

        #[test]
        fn no_input_causes_a_panic(text in "[\\[\\]{}:,\"\\\\a01eé \\n.-]{0,40}") {
            let tree = read_text(&text);
            prop_assert!(tree.is_none() || serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
            // `serde_json` accepts duplicate keys, which this parser reports.
            if let Ok(value) = serde_json::from_str::<serde_json::Value>(&text)
                && !matches!(&value, serde_json::Value::Object(object) if object.len() < text.matches(':').count())
            {
                prop_assert!(tree.is_some() || text.contains('{'), "{text}");
            }
        }
    }
}
