//! JSON values whose objects keep the order of their fields, so that pages show fields and examples in the order of the contract.

use std::fmt;
use std::ops::Index;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Number;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

static NULL: Json = Json::Null;

impl Json {
    /// Returns the text of a string. Empty for all other values.
    pub(crate) fn text(&self) -> &str {
        self.as_str().unwrap_or_default()
    }

    /// Returns the text of a string.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the items of an array. Empty for all other values.
    pub(crate) fn items(&self) -> &[Json] {
        match self {
            Self::Array(items) => items,
            _ => &[],
        }
    }

    /// Returns the fields of an object. Empty for all other values.
    pub(crate) fn fields(&self) -> &[(String, Json)] {
        match self {
            Self::Object(fields) => fields,
            _ => &[],
        }
    }

    /// Returns a field of an object.
    pub(crate) fn get(&self, name: &str) -> Option<&Json> {
        self.fields().iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    /// Returns whether the value is `null`, or a field that does not exist.
    pub(crate) fn is_null(&self) -> bool {
        *self == Self::Null
    }

    /// Returns whether the value is `true`.
    pub(crate) fn is_true(&self) -> bool {
        *self == Self::Bool(true)
    }

    /// Returns the value at a JSON pointer through objects.
    pub(crate) fn pointer(&self, pointer: &str) -> Option<&Json> {
        let unescape = |name: &str| name.replace("~1", "/").replace("~0", "~");
        pointer.split('/').skip(1).try_fold(self, |value, name| value.get(&unescape(name)))
    }

    /// Returns the JSON text on one line.
    pub(crate) fn compact(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the JSON text, indented by two spaces per level.
    pub(crate) fn pretty(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// Returns a field of an object, or `null`.
impl Index<&str> for Json {
    type Output = Json;

    fn index(&self, name: &str) -> &Json {
        self.get(name).unwrap_or(&NULL)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::from(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element()? {
            array.push(item);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = entries.next_entry()? {
            fields.push(field);
        }
        Ok(Json::Object(fields))
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => items.serialize(serializer),
            Self::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_keep_the_order_of_their_fields() {
        let text = r#"{"b":[1,-2,0.5,null,true],"a/x":{"c":"é"}}"#;
        let json: Json = serde_json::from_str(text).unwrap();
        assert_eq!(json.compact(), text);
        assert_eq!(json.pointer("/a~1x/c").map(Json::text), Some("é"));
        assert!(json["none"]["none"].is_null() && json["b"].items().len() == 5);
    }
}
