//! Rust types for dates, UUIDs and base64 strings.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};
use poem_openapi::types::{ParseError, ParseFromJSON, ParseFromParameter, ParseResult, ToJSON, Type};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A calendar date (`format: date`), such as `2026-02-14`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(pub jiff::civil::Date);

/// A UUID (`format: uuid`). Serialized in lower case with hyphens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(pub uuid::Uuid);

/// Bytes in padded base64 (`format: byte`, RFC 4648, section 4).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Base64(pub Vec<u8>);

impl Date {
    fn parse(text: &str) -> Result<Self, jiff::Error> {
        text.parse().map(Self)
    }

    fn format(&self) -> String {
        self.0.to_string()
    }
}

impl Uuid {
    fn parse(text: &str) -> Result<Self, uuid::Error> {
        text.parse().map(Self)
    }

    fn format(&self) -> String {
        self.0.to_string()
    }
}

impl Base64 {
    fn parse(text: &str) -> Result<Self, base64::DecodeError> {
        STANDARD.decode(text).map(Self)
    }

    fn format(&self) -> String {
        STANDARD.encode(&self.0)
    }

    /// Returns whether a string is padded base64.
    pub(crate) fn is_valid(text: &str) -> bool {
        Self::parse(text).is_ok()
    }
}

macro_rules! string_formats {
    ($($name:ident, $format:literal;)*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.format())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::parse(&Cow::<str>::deserialize(deserializer)?).map_err(serde::de::Error::custom)
            }
        }

        impl Type for $name {
            const IS_REQUIRED: bool = true;
            type RawValueType = Self;
            type RawElementValueType = Self;

            fn name() -> Cow<'static, str> {
                concat!("string_", $format).into()
            }

            fn schema_ref() -> MetaSchemaRef {
                MetaSchemaRef::Inline(Box::new(MetaSchema::new_with_format("string", $format)))
            }

            fn as_raw_value(&self) -> Option<&Self::RawValueType> {
                Some(self)
            }

            fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
                Box::new(std::iter::once(self))
            }
        }

        impl ParseFromJSON for $name {
            fn parse_from_json(value: Option<serde_json::Value>) -> ParseResult<Self> {
                match value {
                    Some(serde_json::Value::String(text)) => Self::parse_from_parameter(&text),
                    other => Err(ParseError::expected_type(other.unwrap_or_default())),
                }
            }
        }

        impl ParseFromParameter for $name {
            fn parse_from_parameter(text: &str) -> ParseResult<Self> {
                Self::parse(text).map_err(ParseError::custom)
            }
        }

        impl ToJSON for $name {
            fn to_json(&self) -> Option<serde_json::Value> {
                Some(serde_json::Value::String(self.format()))
            }
        }
    )*};
}

string_formats! {
    Date, "date";
    Uuid, "uuid";
    Base64, "byte";
}
