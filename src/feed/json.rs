//! Strict JSON: what a lenient parser would take in silence is a fault here, at its place.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::reject::fault;
use crate::domain::Fault;

/// The value that a line holds.
///
/// # Errors
/// Text that is no JSON; every name that stands twice in one object; every text with a NUL character, which
/// PostgreSQL cannot keep.
pub(super) fn parse(line: &[u8]) -> Result<Value, Vec<Fault>> {
    let faults = RefCell::default();
    let mut text = serde_json::Deserializer::from_slice(line);
    let place = Place { path: String::new(), faults: &faults };
    let value = place.deserialize(&mut text).and_then(|value| text.end().map(|()| value));
    let value = value.map_err(|error| vec![fault("", format!("the line is not JSON: {error}"))])?;
    let faults = faults.into_inner();
    if faults.is_empty() { Ok(value) } else { Err(faults) }
}

/// Where in the line a value stands: the names and numbers on the way to it, with `/` between them.
struct Place<'a> {
    path: String,
    faults: &'a RefCell<Vec<Fault>>,
}

impl Place<'_> {
    fn below(&self, name: impl fmt::Display) -> Self {
        let path = if self.path.is_empty() { name.to_string() } else { format!("{}/{name}", self.path) };
        Place { path, faults: self.faults }
    }

    fn say(&self, message: &str) {
        self.faults.borrow_mut().push(fault(&self.path, message));
    }

    fn check(&self, text: &str) {
        if text.contains('\0') {
            self.say("holds a NUL character");
        }
    }
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_> {
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

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        self.check(text);
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        self.check(&text);
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self.below(list.len()))? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            let place = self.below(&name);
            place.check(&name);
            if map.contains_key(&name) {
                place.say("stands twice");
            }
            let value = entries.next_value_seed(place)?;
            map.insert(name, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(line: &str) -> Vec<String> {
        parse(line.as_bytes()).unwrap_err().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_name_that_stands_twice_is_a_fault_at_its_place() {
        assert_eq!(
            faults(r#"{"a": 1, "b": [{"c": 1, "c": 2}], "a": 2}"#),
            ["b/0/c: stands twice", "a: stands twice"]
        );
    }

    #[test]
    fn nul_characters_and_broken_text_are_refused() {
        assert_eq!(faults(r#"{"a": "x\u0000"}"#), ["a: holds a NUL character"]);
        assert!(faults(r#"{"a": "\ud800"}"#)[0].contains("not JSON"));
        assert!(faults("{} {}")[0].contains("not JSON"));
    }
}
