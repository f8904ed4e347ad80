//! Parses JSON strictly.
//!
//! Many parsers accept duplicate keys, trailing characters, deep nesting, NUL characters, unpaired surrogates and
//! invalid UTF-8. This one rejects them; the maximum depth is [`MAX_DEPTH`].

use std::cell::RefCell;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Maximum nesting depth of arrays and objects.
pub const MAX_DEPTH: usize = 64;
/// Maximum number of errors reported per document, not counting the syntax error that stops the parser.
pub const MAX_ERRORS: usize = 100;
/// Maximum number of characters of a key in a reported pointer.
const MAX_KEY_CHARACTERS: usize = 64;

/// An error in a JSON document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The JSON pointer (RFC 6901) to the location of the error. Empty for the whole document.
    pub pointer: String,
    /// What is wrong. The end of a sentence that begins with the location.
    pub message: String,
}

/// Parses a JSON document.
///
/// # Errors
/// Returns the errors in document order: at most [`MAX_ERRORS`] duplicate keys and NUL characters, then the syntax
/// error that stopped the parser, if any.
pub fn parse(document: &[u8]) -> Result<Value, Vec<SyntaxError>> {
    if document.iter().all(u8::is_ascii_whitespace) {
        return Err(vec![syntax_error(String::new(), "is empty; expected a JSON object")]);
    }
    if document.starts_with(b"\xef\xbb\xbf") {
        return Err(vec![syntax_error(
            String::new(),
            "starts with a byte order mark; send UTF-8 without one",
        )]);
    }
    let Ok(text) = std::str::from_utf8(document) else {
        return Err(vec![syntax_error(String::new(), "is not valid UTF-8")]);
    };
    let reader = JsonReader::default();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = ValueSeed(&reader).deserialize(&mut deserializer).and_then(|value| {
        deserializer.end()?;
        Ok(value)
    });
    let mut errors = reader.errors.into_inner();
    match value {
        Ok(value) if errors.is_empty() => return Ok(value),
        Ok(_) => {}
        Err(error) if error.to_string().starts_with(TOO_DEEP) => {
            // Reported for the whole document, because the pointer would be as long as the nesting is deep.
            errors.push(syntax_error(String::new(), &format!("is nested deeper than {MAX_DEPTH} levels")));
        }
        Err(error) => {
            let pointer = pointer(&reader.path.into_inner());
            errors.push(syntax_error(pointer, &describe_syntax_error(&error)));
        }
    }
    Err(errors)
}

fn syntax_error(pointer: String, message: &str) -> SyntaxError {
    SyntaxError { pointer, message: message.to_owned() }
}

/// Describes an error of the JSON parser with its position. Only the parser's message identifies the kind of error.
fn describe_syntax_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = match error.line() {
        1 => format!("column {}", error.column()),
        line => format!("line {line}, column {}", error.column()),
    };
    if text.contains("surrogate") || text.starts_with("unexpected end of hex escape") {
        return format!("contains an unpaired surrogate (a `\\u` escape) at {position}");
    }
    if text.starts_with("trailing characters") {
        return format!("has trailing characters at {position}; send one JSON value");
    }
    if error.is_eof() {
        return format!("is incomplete: the JSON ends at {position}");
    }
    if text.starts_with("number out of range") {
        return format!("contains a number that is too large at {position}");
    }
    let reason = text.split(" at line ").next().unwrap_or(&text);
    format!("is not valid JSON at {position}: {reason}")
}

/// The message of the error that stops the parser at [`MAX_DEPTH`].
const TOO_DEEP: &str = "nested too deep";

/// A step of the path to a value in a document.
enum PathStep {
    Key(String),
    Index(usize),
}

/// Returns the JSON pointer (RFC 6901) for a path, with long keys shortened.
fn pointer(path: &[PathStep]) -> String {
    path.iter().fold(String::new(), |mut pointer, step| {
        pointer.push('/');
        match step {
            PathStep::Key(key) => match key.char_indices().nth(MAX_KEY_CHARACTERS) {
                None => pointer.push_str(&escape(key)),
                Some((end, _)) => {
                    pointer.push_str(&escape(&key[..end]));
                    pointer.push_str("...");
                }
            },
            PathStep::Index(index) => pointer.push_str(&index.to_string()),
        }
        pointer
    })
}

/// Escapes a key for use in a JSON pointer.
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The current path of the parser and the errors found so far.
#[derive(Default)]
struct JsonReader {
    path: RefCell<Vec<PathStep>>,
    errors: RefCell<Vec<SyntaxError>>,
}

impl JsonReader {
    /// Adds an error at the current path, up to [`MAX_ERRORS`].
    fn report(&self, message: &str) {
        if self.errors.borrow().len() == MAX_ERRORS {
            return;
        }
        self.errors.borrow_mut().push(syntax_error(pointer(&self.path.borrow()), message));
    }

    fn report_nul(&self, text: &str) {
        if text.contains('\0') {
            self.report("must not contain the character NUL (U+0000)");
        }
    }

    /// Adds a step to the path. [`JsonReader::leave`] removes it only after the value was parsed, so the path of a
    /// syntax error is preserved. Returns an error if the path is longer than [`MAX_DEPTH`].
    fn enter<E: de::Error>(&self, step: PathStep) -> Result<(), E> {
        let mut path = self.path.borrow_mut();
        path.push(step);
        if path.len() > MAX_DEPTH { Err(E::custom(TOO_DEEP)) } else { Ok(()) }
    }

    fn leave(&self) {
        self.path.borrow_mut().pop();
    }
}

/// Deserializes a value like `serde_json::Value`, but reports duplicate keys and NUL characters to the reader.
#[derive(Clone, Copy)]
struct ValueSeed<'r>(&'r JsonReader);

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        self.0.report_nul(value);
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        self.0.report_nul(&value);
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        loop {
            self.0.enter(PathStep::Index(values.len()))?;
            let next = items.next_element_seed(self)?;
            self.0.leave();
            match next {
                Some(value) => values.push(value),
                None => return Ok(Value::Array(values)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            self.0.enter(PathStep::Key(key.clone()))?;
            self.0.report_nul(&key);
            let value = entries.next_value_seed(self)?;
            if map.contains_key(&key) {
                self.0.report("is a duplicate key");
            }
            self.0.leave();
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn errors(body: impl AsRef<[u8]>) -> Vec<String> {
        let errors = parse(body.as_ref()).expect_err("the body must be rejected");
        errors.into_iter().map(|error| format!("{}: {}", error.pointer, error.message)).collect()
    }

    #[test]
    fn duplicate_keys_are_found_at_every_depth() {
        assert_eq!(
            errors(r#"{"a": {"b": 1, "b": 2}, "x/y": 0, "a": [{"c": 1, "c": 1}], "x/y": 1}"#),
            [
                "/a/b: is a duplicate key",
                "/a/0/c: is a duplicate key",
                "/a: is a duplicate key",
                "/x~1y: is a duplicate key",
            ]
        );
    }

    #[test]
    fn the_number_of_errors_and_the_length_of_pointers_are_limited() {
        let text = format!(r#"{{"{}": {{{}"a": 1}}}}"#, "k".repeat(100_000), r#""a": 1,"#.repeat(20_000));
        let errors = errors(text);
        assert_eq!(errors.len(), MAX_ERRORS);
        assert!(errors.iter().all(|error| error.len() < 200));
    }

    #[test]
    fn only_a_single_complete_value_is_accepted() {
        assert_eq!(errors(""), [": is empty; expected a JSON object"]);
        assert_eq!(errors("{} {}"), [": has trailing characters at column 4; send one JSON value"]);
        assert_eq!(errors(r#"{"a": [1, "#), ["/a/1: is incomplete: the JSON ends at column 10"]);
        assert_eq!(errors(b"{\"a\": \"\xff\"}"), [": is not valid UTF-8"]);
        assert_eq!(errors("{'a': 1}"), [": is not valid JSON at column 2: key must be a string"]);
        assert_eq!(errors(r#"{"a": 1e999}"#), ["/a: contains a number that is too large at column 11"]);
    }

    #[test]
    fn characters_that_the_database_cannot_store_are_reported_with_their_location() {
        assert_eq!(
            errors(r#"{"tags": ["x", "a\u0000b"]}"#),
            ["/tags/1: must not contain the character NUL (U+0000)"]
        );
        let high_surrogate = errors(r#"{"name": "a\ud800b"}"#);
        assert!(high_surrogate[0].starts_with("/name: contains an unpaired surrogate"), "{high_surrogate:?}");
        let low_surrogate = errors(r#"{"name": "\udc00"}"#);
        assert!(low_surrogate[0].starts_with("/name: contains an unpaired surrogate"), "{low_surrogate:?}");
    }

    #[test]
    fn nesting_beyond_64_levels_is_rejected() {
        let too_deep = errors("[".repeat(10_000));
        assert_eq!(too_deep, [": is nested deeper than 64 levels"]);
        let too_deep = errors("{\"a\":".repeat(10_000));
        assert_eq!(too_deep, [": is nested deeper than 64 levels"]);
        let deepest = format!("{}1{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
        assert!(parse(deepest.as_bytes()).is_ok());
    }

    proptest! {
        #[test]
        fn serialized_values_are_preserved(text in "\\PC*", number in any::<i64>(), flag in any::<bool>()) {
            let value = serde_json::json!({"t": text, "n": [number, null], "f": {"flag": flag}});
            prop_assert_eq!(parse(value.to_string().as_bytes()).ok(), Some(value));
        }

        #[test]
        fn arbitrary_bytes_do_not_cause_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }
    }
}
