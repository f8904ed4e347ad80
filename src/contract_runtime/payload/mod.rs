//! Request and response bodies: JSON, streams of JSON lines, plain text and binary data.
//!
//! JSON is serialized directly to bytes. poem-openapi's `Json` builds a `serde_json::Value` first; for a list, that alone is two
//! thirds of its time.

mod line_reader;
pub(crate) mod lines;
mod optional;
mod plain;

pub use line_reader::{InputLine, LineReader, MAX_LINE_BYTES};
pub use lines::{LineError, LineStream, Lines, Streamed};
pub use optional::{InputBody, NoBody, OptionalBody};
pub use plain::{Bytes, Text, TypedBytes};

use std::task::Poll;

use poem::{IntoResponse, Request, RequestBody, Response};
use poem_openapi::payload::Payload;
use poem_openapi::registry::{MetaMediaType, MetaRequest, MetaSchemaRef, Registry};
use poem_openapi::types::Type;
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

use super::call::{self, Input};
use super::contract::JSON;

/// A JSON response body.
#[derive(Debug, Clone)]
pub enum Json<T> {
    /// A value that is not serialized yet.
    Value(T),
    /// JSON that is already serialized, such as a stored response.
    Serialized(bytes::Bytes),
}

impl<T: Serialize> Json<T> {
    /// Returns the serialized body.
    ///
    /// # Panics
    /// Panics when serialization fails. It cannot fail for generated types, whose maps have string keys.
    pub fn into_bytes(self) -> bytes::Bytes {
        match self {
            Self::Value(value) => {
                serde_json::to_vec(&value).expect("generated types can be serialized").into()
            }
            Self::Serialized(bytes) => bytes,
        }
    }
}

impl<T: Type> Payload for Json<T> {
    const CONTENT_TYPE: &'static str = JSON;

    fn schema_ref() -> MetaSchemaRef {
        T::schema_ref()
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

impl<T: Serialize + Send> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        Response::builder().content_type(JSON).body(self.into_bytes())
    }
}

/// A JSON request body, converted to the operation's type.
#[derive(Debug, Clone)]
pub struct JsonBody<T>(pub T);

/// Converts a JSON value, already validated against the contract, to a Rust type.
///
/// In JSON Schema, `1.0` and `1e3` are integers, but serde does not convert them to integer types. If the conversion
/// fails, such numbers are rewritten as integers, and the value is converted again. Validation rejects integers that are too large for that.
pub(crate) fn convert<T: DeserializeOwned>(mut value: Value) -> serde_json::Result<T> {
    if !contains_float(&value) {
        return serde_json::from_value(value);
    }
    T::deserialize(&value).or_else(|error| {
        if rewrite_integers(&mut value) { serde_json::from_value(value) } else { Err(error) }
    })
}

/// Returns whether a value is or contains a number with a fraction or an exponent.
fn contains_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(contains_float),
        Value::Object(fields) => fields.values().any(contains_float),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// Lets other tasks run once.
async fn yield_now() {
    let mut has_yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// 2^53: `f64` represents every integer up to this absolute value exactly.
pub(crate) const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Rewrites floats with an integer value between -2^53 and 2^53, at any depth, as integers. Returns false when there
/// are none.
#[allow(clippy::cast_possible_truncation)] // The bounds are checked before.
fn rewrite_integers(value: &mut Value) -> bool {
    match value {
        Value::Number(number) if number.is_f64() => {
            let float =
                number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() <= MAX_EXACT_INTEGER);
            float.map(|float| *number = Number::from(float as i64)).is_some()
        }
        Value::Array(items) => {
            items.iter_mut().fold(false, |rewritten, item| rewrite_integers(item) | rewritten)
        }
        Value::Object(fields) => {
            fields.values_mut().fold(false, |rewritten, field| rewrite_integers(field) | rewritten)
        }
        _ => false,
    }
}

impl<'a, T: Type + DeserializeOwned> ApiExtractor<'a> for JsonBody<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];
    const PARAM_IS_REQUIRED: bool = T::IS_REQUIRED;
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        Some(Self::meta())
    }

    async fn from_request(
        request: &'a Request,
        _: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        Self::from_input(call::input(request)?)
    }
}

impl<T: Type + DeserializeOwned> InputBody for JsonBody<T> {
    fn meta() -> MetaRequest {
        MetaRequest {
            description: None,
            content: vec![MetaMediaType { content_type: JSON, schema: T::schema_ref() }],
            required: T::IS_REQUIRED,
        }
    }

    fn register_schemas(registry: &mut Registry) {
        T::register(registry);
    }

    fn from_input(input: &Input) -> poem::Result<Self> {
        // The value is valid, so a failed conversion is an error of the server.
        convert(input.take_value()?).map(Self).map_err(poem::error::InternalServerError)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_integer_can_have_a_fraction_of_zero() {
        assert_eq!(convert::<Vec<i64>>(json!([1, 2.0, -1e3])).ok(), Some(vec![1, 2, -1000]));
        assert!(convert::<i64>(json!(1.5)).is_err());
        assert!(convert::<i64>(json!(1e300)).is_err());
        assert_eq!(convert::<f64>(json!(2.0)).ok(), Some(2.0));
    }
}
