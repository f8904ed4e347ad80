//! Reads JSON strictly.
//!
//! Refuses what lenient parsers let pass: duplicate keys at any depth, text behind the value, nesting beyond
//! [`MAX_DEPTH`], NUL characters, lone surrogates, invalid UTF-8. Knows nothing of schemas.

use std::cell::RefCell;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// How deep arrays and objects may be nested.
pub const MAX_DEPTH: usize = 64;
/// Faults told of one text at most: a text may hold one in every few bytes.
pub const MAX_FAULTS: usize = 100;
/// Characters of a key that a pointer shows.
const MAX_KEY: usize = 64;

/// One thing wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The JSON pointer (RFC 6901) of its place; empty for the text as a whole.
    pub pointer: String,
    /// What is wrong: the end of a sentence that begins with the place.
    pub message: String,
}

/// The value that a text holds, or what is wrong with it.
///
/// A fault of syntax ends the reading, so it comes alone with the faults found before it.
///
/// # Errors
/// The faults, in the order of the text.
pub fn read(text: &[u8]) -> Result<Value, Vec<Fault>> {
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(vec![fault(String::new(), "is empty; a JSON object is expected")]);
    }
    if text.starts_with(b"\xef\xbb\xbf") {
        return Err(vec![fault(String::new(), "begins with a byte order mark; send UTF-8 without one")]);
    }
    let Ok(text) = std::str::from_utf8(text) else {
        return Err(vec![fault(String::new(), "is not valid UTF-8")]);
    };
    let reader = Reader::default();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Node(&reader).deserialize(&mut deserializer).and_then(|value| {
        deserializer.end()?;
        Ok(value)
    });
    let mut faults = reader.faults.into_inner();
    match value {
        Ok(value) if faults.is_empty() => return Ok(value),
        Ok(_) => {}
        Err(error) if error.to_string().starts_with(TOO_DEEP) => {
            // Where it is too deep is everywhere below; the pointer would be as long as the nesting.
            faults.push(fault(String::new(), &format!("is nested deeper than {MAX_DEPTH} levels")));
        }
        Err(error) => {
            let pointer = pointer(&reader.path.into_inner());
            faults.push(fault(pointer, &syntax(&error)));
        }
    }
    Err(faults)
}

fn fault(pointer: String, message: &str) -> Fault {
    Fault { pointer, message: message.to_owned() }
}

/// What a syntax error means, in words.
fn syntax(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = match error.line() {
        1 => format!("column {}", error.column()),
        line => format!("line {line}, column {}", error.column()),
    };
    if text.contains("surrogate") || text.starts_with("unexpected end of hex escape") {
        return format!("holds half of a surrogate pair (a `\\u` escape) at {place}");
    }
    if text.starts_with("trailing characters") {
        return format!("is followed by more text at {place}; send one JSON value");
    }
    if error.is_eof() {
        return format!("is cut short at {place}: the JSON does not end");
    }
    if text.starts_with("number out of range") {
        return format!("holds a number that is too large at {place}");
    }
    let reason = text.split(" at line ").next().unwrap_or(&text);
    format!("is not valid JSON at {place}: {reason}")
}

const TOO_DEEP: &str = "nested too deep";

/// One step of the way into a value.
enum Step {
    Key(String),
    Index(usize),
}

/// The JSON pointer (RFC 6901) of a way.
fn pointer(path: &[Step]) -> String {
    path.iter().fold(String::new(), |mut pointer, step| {
        pointer.push('/');
        match step {
            Step::Key(key) => match key.char_indices().nth(MAX_KEY) {
                None => pointer.push_str(&escape(key)),
                Some((end, _)) => {
                    pointer.push_str(&escape(&key[..end]));
                    pointer.push_str("...");
                }
            },
            Step::Index(index) => pointer.push_str(&index.to_string()),
        }
        pointer
    })
}

/// A key as a token of a JSON pointer.
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Where the reading stands, and what was found.
#[derive(Default)]
struct Reader {
    path: RefCell<Vec<Step>>,
    faults: RefCell<Vec<Fault>>,
}

impl Reader {
    fn report(&self, message: &str) {
        if self.faults.borrow().len() == MAX_FAULTS {
            return;
        }
        self.faults.borrow_mut().push(fault(pointer(&self.path.borrow()), message));
    }

    fn check_text(&self, text: &str) {
        if text.contains('\0') {
            self.report("must not hold the character NUL (U+0000)");
        }
    }

    /// Goes one step in. The step is taken back only when the value was read: a syntax error leaves the path
    /// where it happened.
    fn enter<E: de::Error>(&self, step: Step) -> Result<(), E> {
        let mut path = self.path.borrow_mut();
        path.push(step);
        if path.len() > MAX_DEPTH { Err(E::custom(TOO_DEEP)) } else { Ok(()) }
    }

    fn leave(&self) {
        self.path.borrow_mut().pop();
    }
}

#[derive(Clone, Copy)]
struct Node<'r>(&'r Reader);

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
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
        self.0.check_text(value);
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        self.0.check_text(&value);
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        loop {
            self.0.enter(Step::Index(values.len()))?;
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
            self.0.enter(Step::Key(key.clone()))?;
            self.0.check_text(&key);
            let value = entries.next_value_seed(self)?;
            if map.contains_key(&key) {
                self.0.report("stands more than once in its object");
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

    fn faults(body: impl AsRef<[u8]>) -> Vec<String> {
        let faults = read(body.as_ref()).expect_err("the body is at fault");
        faults.into_iter().map(|fault| format!("{}: {}", fault.pointer, fault.message)).collect()
    }

    #[test]
    fn duplicate_keys_are_found_at_every_depth() {
        assert_eq!(
            faults(r#"{"a": {"b": 1, "b": 2}, "x/y": 0, "a": [{"c": 1, "c": 1}], "x/y": 1}"#),
            [
                "/a/b: stands more than once in its object",
                "/a/0/c: stands more than once in its object",
                "/a: stands more than once in its object",
                "/x~1y: stands more than once in its object",
            ]
        );
    }

    #[test]
    fn many_faults_under_a_long_key_stay_a_short_answer() {
        let text = format!(r#"{{"{}": {{{}"a": 1}}}}"#, "k".repeat(100_000), r#""a": 1,"#.repeat(20_000));
        let told = faults(text);
        assert_eq!(told.len(), MAX_FAULTS);
        assert!(told.iter().all(|fault| fault.len() < 200));
    }

    #[test]
    fn nothing_but_one_value_is_taken() {
        assert_eq!(faults(""), [": is empty; a JSON object is expected"]);
        assert_eq!(faults("{} {}"), [": is followed by more text at column 4; send one JSON value"]);
        assert_eq!(faults(r#"{"a": [1, "#), ["/a/1: is cut short at column 10: the JSON does not end"]);
        assert_eq!(faults(b"{\"a\": \"\xff\"}"), [": is not valid UTF-8"]);
        assert_eq!(faults("{'a': 1}"), [": is not valid JSON at column 2: key must be a string"]);
        assert_eq!(faults(r#"{"a": 1e999}"#), ["/a: holds a number that is too large at column 11"]);
    }

    #[test]
    fn characters_that_no_database_keeps_are_named_with_their_place() {
        assert_eq!(
            faults(r#"{"tags": ["x", "a\u0000b"]}"#),
            ["/tags/1: must not hold the character NUL (U+0000)"]
        );
        let lone = faults(r#"{"name": "a\ud800b"}"#);
        assert!(lone[0].starts_with("/name: holds half of a surrogate pair"), "{lone:?}");
        let trail = faults(r#"{"name": "\udc00"}"#);
        assert!(trail[0].starts_with("/name: holds half of a surrogate pair"), "{trail:?}");
    }

    #[test]
    fn ten_thousand_levels_end_at_the_sixty_fifth() {
        let deep = faults("[".repeat(10_000));
        assert_eq!(deep, [": is nested deeper than 64 levels"]);
        let deep = faults("{\"a\":".repeat(10_000));
        assert_eq!(deep, [": is nested deeper than 64 levels"]);
        let fits = format!("{}1{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
        assert!(read(fits.as_bytes()).is_ok());
    }

    proptest! {
        #[test]
        fn what_serde_writes_is_read_back(text in "\\PC*", number in any::<i64>(), flag in any::<bool>()) {
            let value = serde_json::json!({"t": text, "n": [number, null], "f": {"flag": flag}});
            prop_assert_eq!(read(value.to_string().as_bytes()).ok(), Some(value));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
        }
    }
}
