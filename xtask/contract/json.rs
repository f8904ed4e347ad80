//! Parses JSON into a tree with source spans.
//!
//! The YAML parser does not read JSON's surrogate escapes (`\ud83d\ude00`) and is slower, and large contracts are JSON.
//! This module does not depend on OpenAPI.

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

/// Parses the only document of a source.
pub(super) fn read(source: &Source, diagnostics: &mut Vec<Diagnostic>) -> Option<Node> {
    let text = &source.text;
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut parser = JsonParser { text, at: start, open: Vec::new(), tree: TreeBuilder::new(diagnostics) };
    if let Err(error) = parser.document() {
        // Report a missing delimiter at the end of the last token, not in the white space behind it.
        let at = error.at.min(text.trim_end().len());
        let span = Span { start: at, end: at };
        parser.tree.report_fatal(
            span,
            format!("invalid JSON: {}", error.message),
            "fix the syntax error; the rest of the file was not read",
        );
    }
    parser.tree.finish()
}

struct JsonSyntaxError {
    at: usize,
    message: String,
}

/// A collection whose end has not been parsed yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CollectionKind {
    List,
    Mapping,
}

struct JsonParser<'a> {
    text: &'a str,
    at: usize,
    open: Vec<CollectionKind>,
    tree: TreeBuilder<'a>,
}

impl JsonParser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, JsonSyntaxError> {
        Err(JsonSyntaxError { at: self.boundary(self.at), message: message.into() })
    }

    fn boundary(&self, at: usize) -> usize {
        (0..=at.min(self.text.len())).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(0)
    }

    /// Parses the values one after another. Open collections are in `open` instead of on the call stack, so that deep
    /// nesting cannot overflow the stack.
    fn document(&mut self) -> Result<(), JsonSyntaxError> {
        loop {
            self.skip_space();
            self.begin_value()?;
            if self.tree.has_fatal_error() || !self.after_value()? {
                break;
            }
        }
        self.skip_space();
        if !self.tree.has_fatal_error() && self.at < self.text.len() {
            return self.error("expected the end of the file");
        }
        Ok(())
    }

    /// Parses a scalar, or the start of a collection up to its first value.
    fn begin_value(&mut self) -> Result<(), JsonSyntaxError> {
        loop {
            let start = self.at;
            match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    self.tree.begin_mapping(start, 0);
                    self.open.push(CollectionKind::Mapping);
                    self.skip_space();
                    if self.tree.has_fatal_error() || self.peek() == Some(b'}') {
                        return Ok(());
                    }
                    self.key()?;
                }
                Some(b'[') => {
                    self.at += 1;
                    self.tree.begin_sequence(start, 0);
                    self.open.push(CollectionKind::List);
                    self.skip_space();
                    if self.tree.has_fatal_error() || self.peek() == Some(b']') {
                        return Ok(());
                    }
                }
                _ => {
                    let value = self.scalar()?;
                    self.tree.value(Node { span: Span { start, end: self.at }, value }, 0);
                    return Ok(());
                }
            }
        }
    }

    /// Advances to the next value. Returns `false` at the end of the document.
    fn after_value(&mut self) -> Result<bool, JsonSyntaxError> {
        loop {
            let Some(open) = self.open.last() else { return Ok(false) };
            let (end, name) = if *open == CollectionKind::List { (b']', "`]`") } else { (b'}', "`}`") };
            self.skip_space();
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.skip_space();
                    if self.open.last() == Some(&CollectionKind::Mapping) {
                        self.key()?;
                    }
                    return Ok(true);
                }
                Some(byte) if byte == end => {
                    self.at += 1;
                    self.open.pop();
                    self.tree.end(self.at);
                }
                _ => return self.error(format!("expected `,` or {name}")),
            }
        }
    }

    fn key(&mut self) -> Result<(), JsonSyntaxError> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return self.error("expected a key in double quotes");
        }
        let key = self.string()?;
        self.tree.key(key, Span { start, end: self.at });
        self.skip_space();
        if self.peek() != Some(b':') {
            return self.error("expected `:`");
        }
        self.at += 1;
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
            if self.text[self.at..].starts_with(literal) {
                self.at += literal.len();
                return Ok(value);
            }
        }
        self.error("expected a value")
    }

    fn number(&mut self) -> Result<Value, JsonSyntaxError> {
        let rest = &self.text[self.at..];
        let length = rest.find(|letter: char| !matches!(letter, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'));
        let digits = &rest[..length.unwrap_or(rest.len())];
        let value = match digits.parse::<i64>() {
            Ok(value) => Value::Integer(value),
            Err(_) => match digits.parse::<f64>() {
                Ok(value) if value.is_finite() => Value::Float(value),
                _ => return self.error(format!("`{digits}` is not a valid number")),
            },
        };
        self.at += digits.len();
        Ok(value)
    }

    /// Parses a string, from the opening to the closing quote. `serde_json` decodes strings with escapes.
    fn string(&mut self) -> Result<String, JsonSyntaxError> {
        let start = self.at;
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
                    self.at = end;
                    return self.error("unescaped control character in a string");
                }
                Some(_) => end += 1,
                None => return self.error("unterminated string"),
            }
        }
        self.at = end + 1;
        if plain {
            return Ok(self.text[start + 1..end].to_owned());
        }
        serde_json::from_str(&self.text[start..=end]).map_err(|_| JsonSyntaxError {
            at: start,
            message: "unknown escape sequence in a string".to_owned(),
        })
    }
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

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_input_causes_a_panic(text in "[\\[\\]{}:,\"\\\\a1eé \\n.-]{0,40}") {
            let ours = read_text(&text);
            if let Ok(value) = serde_json::from_str::<serde_json::Value>(&text)
                && !matches!(&value, serde_json::Value::Object(object) if object.len() < text.matches(':').count())
            {
                prop_assert!(ours.is_some() || text.contains('{'), "{text}");
            }
        }
    }
}
