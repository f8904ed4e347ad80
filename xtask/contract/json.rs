//! JSON text into a tree with places.
//!
//! JSON is YAML but for its escapes (`\ud83d\ude00`) and the time it takes; large contracts are JSON. It never knows what
//! OpenAPI is.

use super::node::{Node, Value};
use super::source::{Source, Span};
use super::tree::Builder;
use crate::diagnostic::Diagnostic;

/// Whether the text begins as a JSON document does.
pub(super) fn looks_like(source: &Source) -> bool {
    let text = source.text.trim_start_matches('\u{feff}').trim_start();
    text.starts_with(['{', '['])
}

/// Whether the file says by its name that it is JSON.
pub(super) fn is_called(source: &Source) -> bool {
    source.name.to_ascii_lowercase().ends_with(".json")
}

/// Reads the one document of a text.
pub(super) fn read(source: &Source, findings: &mut Vec<Diagnostic>) -> Option<Node> {
    let text = &source.text;
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut reading = Reading { text, at: start, open: Vec::new(), tree: Builder::new(findings) };
    if let Err(fault) = reading.document() {
        // What is missing at the end is missing behind the last word.
        let at = fault.at.min(text.trim_end().len());
        let place = Span { start: at, end: at };
        reading.tree.stop(
            place,
            format!("the contract is not JSON: {}", fault.message),
            "everything after this place is unread",
        );
    }
    reading.tree.finish()
}

struct Fault {
    at: usize,
    message: String,
}

/// A collection that is open: a list or a mapping.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    List,
    Mapping,
}

struct Reading<'a> {
    text: &'a str,
    at: usize,
    open: Vec<Open>,
    tree: Builder<'a>,
}

impl Reading<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn fault<T>(&self, message: impl Into<String>) -> Result<T, Fault> {
        Err(Fault { at: self.boundary(self.at), message: message.into() })
    }

    fn boundary(&self, at: usize) -> usize {
        (0..=at.min(self.text.len())).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(0)
    }

    /// Values one after another; what is open is a list of its own, so that depth costs no stack.
    fn document(&mut self) -> Result<(), Fault> {
        loop {
            self.skip_space();
            self.begin_value()?;
            if self.tree.is_stopped() || !self.after_value()? {
                break;
            }
        }
        self.skip_space();
        if !self.tree.is_stopped() && self.at < self.text.len() {
            return self.fault("something follows the document");
        }
        Ok(())
    }

    /// A scalar, or the head of a collection down to its first value.
    fn begin_value(&mut self) -> Result<(), Fault> {
        loop {
            let start = self.at;
            match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    self.tree.begin_mapping(start, 0);
                    self.open.push(Open::Mapping);
                    self.skip_space();
                    if self.tree.is_stopped() || self.peek() == Some(b'}') {
                        return Ok(());
                    }
                    self.key()?;
                }
                Some(b'[') => {
                    self.at += 1;
                    self.tree.begin_sequence(start, 0);
                    self.open.push(Open::List);
                    self.skip_space();
                    if self.tree.is_stopped() || self.peek() == Some(b']') {
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

    /// Goes to the next value; false when the document is over.
    fn after_value(&mut self) -> Result<bool, Fault> {
        loop {
            let Some(open) = self.open.last() else { return Ok(false) };
            let (end, name) = if *open == Open::List { (b']', "`]`") } else { (b'}', "`}`") };
            self.skip_space();
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.skip_space();
                    if self.open.last() == Some(&Open::Mapping) {
                        self.key()?;
                    }
                    return Ok(true);
                }
                Some(byte) if byte == end => {
                    self.at += 1;
                    self.open.pop();
                    self.tree.end(self.at);
                }
                _ => return self.fault(format!("a comma or {name} must stand here")),
            }
        }
    }

    fn key(&mut self) -> Result<(), Fault> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return self.fault("a key in double quotes must stand here");
        }
        let key = self.string()?;
        self.tree.key(key, Span { start, end: self.at });
        self.skip_space();
        if self.peek() != Some(b':') {
            return self.fault("a colon must stand here");
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    fn scalar(&mut self) -> Result<Value, Fault> {
        match self.peek() {
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Result<Value, Fault> {
        for (word, value) in
            [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)]
        {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        self.fault("a value must stand here")
    }

    fn number(&mut self) -> Result<Value, Fault> {
        let rest = &self.text[self.at..];
        let length = rest.find(|letter: char| !matches!(letter, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'));
        let digits = &rest[..length.unwrap_or(rest.len())];
        let value = match digits.parse::<i64>() {
            Ok(value) => Value::Integer(value),
            Err(_) => match digits.parse::<f64>() {
                Ok(value) if value.is_finite() => Value::Float(value),
                _ => return self.fault(format!("`{digits}` is not a number")),
            },
        };
        self.at += digits.len();
        Ok(value)
    }

    /// A string, from its opening to its closing quote. What has escapes is read by `serde_json`.
    fn string(&mut self) -> Result<String, Fault> {
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
                    return self.fault("a string ends before its closing quote");
                }
                Some(_) => end += 1,
                None => return self.fault("a string has no closing quote"),
            }
        }
        self.at = end + 1;
        if plain {
            return Ok(self.text[start + 1..end].to_owned());
        }
        serde_json::from_str(&self.text[start..=end]).map_err(|_| Fault {
            at: start,
            message: "a string has an escape that JSON does not know".to_owned(),
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
    fn json_is_read_as_serde_reads_it() {
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
        fn no_text_makes_it_panic(text in "[\\[\\]{}:,\"\\\\a1eé \\n.-]{0,40}") {
            let ours = read_text(&text);
            if let Ok(value) = serde_json::from_str::<serde_json::Value>(&text)
                && !matches!(&value, serde_json::Value::Object(object) if object.len() < text.matches(':').count())
            {
                prop_assert!(ours.is_some() || text.contains('{'), "{text}");
            }
        }
    }
}
