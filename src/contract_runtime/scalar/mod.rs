//! Rust types for the string formats of a contract: times in this module; dates, UUIDs and base64 in [`strings`].

mod strings;

pub use strings::{Base64, Date, Uuid};

use std::borrow::Cow;

use jiff::Timestamp as Instant;
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};
use poem_openapi::types::{ParseError, ParseFromJSON, ParseFromParameter, ParseResult, ToJSON, Type};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A time (`format: date-time`, RFC 3339). Serialized in UTC with `Z` and milliseconds. Parsed with any UTC offset and
/// truncated to milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub Instant);

impl Timestamp {
    fn format(self) -> String {
        format!("{:.3}", self.0)
    }
}

/// Truncates a time to milliseconds.
fn truncate(time: Instant) -> Instant {
    Instant::from_millisecond(time.as_millisecond()).unwrap_or(time)
}

impl From<Instant> for Timestamp {
    fn from(time: Instant) -> Self {
        Self(time)
    }
}

impl From<Timestamp> for Instant {
    fn from(time: Timestamp) -> Self {
        time.0
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:.3}", self.0))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map(|time| Self(truncate(time))).map_err(serde::de::Error::custom)
    }
}

impl Type for Timestamp {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        "string_date-time".into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema::new_with_format("string", "date-time")))
    }

    fn as_raw_value(&self) -> Option<&Self::RawValueType> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self::RawElementValueType> + 'a> {
        Box::new(std::iter::once(self))
    }
}

impl ParseFromJSON for Timestamp {
    fn parse_from_json(value: Option<serde_json::Value>) -> ParseResult<Self> {
        match value {
            Some(serde_json::Value::String(text)) => Self::parse_from_parameter(&text),
            other => Err(ParseError::expected_type(other.unwrap_or_default())),
        }
    }
}

impl ParseFromParameter for Timestamp {
    fn parse_from_parameter(text: &str) -> ParseResult<Self> {
        text.parse().map(|time| Self(truncate(time))).map_err(ParseError::custom)
    }
}

impl ToJSON for Timestamp {
    fn to_json(&self) -> Option<serde_json::Value> {
        Some(serde_json::Value::String(self.format()))
    }
}
