//! Bodies: JSON, written straight from serde to bytes; texts and bytes as they are ([`plain`]).
//!
//! poem-openapi's own `Json` builds a `serde_json::Value` first, which costs two thirds of a list's time;
//! a body that is ready (a cached page, a kept answer) is sent as it is.

mod plain;

pub use plain::{BYTES, Bytes, TEXT, Text};

use poem::{FromRequest, IntoResponse, Request, RequestBody, Response};
use poem_openapi::payload::{ParsePayload, Payload};
use poem_openapi::registry::{MetaMediaType, MetaRequest, MetaSchemaRef, Registry};
use poem_openapi::types::Type;
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

/// A JSON body: a value still to be written, or bytes that stand for one.
#[derive(Debug, Clone)]
pub enum Json<T> {
    /// Written when the response is.
    Value(T),
    /// Sent as they are.
    Ready(bytes::Bytes),
}

/// The one media type of the API.
pub const JSON: &str = "application/json";

impl<T: Serialize> Json<T> {
    /// The body's bytes.
    ///
    /// # Panics
    /// Never for generated types: their maps have string keys and their serialisation cannot fail.
    pub fn into_bytes(self) -> bytes::Bytes {
        match self {
            Self::Value(value) => {
                serde_json::to_vec(&value).expect("generated types always serialise").into()
            }
            Self::Ready(bytes) => bytes,
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

impl<T: Type + DeserializeOwned> ParsePayload for Json<T> {
    const IS_REQUIRED: bool = T::IS_REQUIRED;

    async fn from_request(request: &Request, body: &mut RequestBody) -> poem::Result<Self> {
        let bytes = <bytes::Bytes as FromRequest>::from_request(request, body).await?;
        read(&bytes).map(Self::Value).map_err(poem::error::InternalServerError)
    }
}

/// The value of a body that its schema took.
///
/// To JSON Schema `1.0` and `1e3` are whole numbers; to serde they are not, so they are written as such where serde stumbles.
fn read<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(bytes).or_else(|error| {
        let mut value = serde_json::from_slice(bytes)?;
        if whole(&mut value) { serde_json::from_value(value) } else { Err(error) }
    })
}

/// Writes every whole number without a fraction; false when there was none.
#[allow(clippy::cast_possible_truncation)] // The bounds are looked at before.
fn whole(value: &mut Value) -> bool {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() <= EXACT);
            float.map(|float| *number = Number::from(float as i64)).is_some()
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, item| whole(item) | any),
        Value::Object(fields) => fields.values_mut().fold(false, |any, field| whole(field) | any),
        _ => false,
    }
}

impl<'a, T: Type + DeserializeOwned> ApiExtractor<'a> for Json<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];
    const PARAM_IS_REQUIRED: bool = T::IS_REQUIRED;
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        Some(MetaRequest {
            description: None,
            content: vec![MetaMediaType { content_type: JSON, schema: T::schema_ref() }],
            required: T::IS_REQUIRED,
        })
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        <Self as ParsePayload>::from_request(request, body).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_may_have_a_fraction_of_zero() {
        assert_eq!(read::<Vec<i64>>(b"[1, 2.0, -1e3]").ok(), Some(vec![1, 2, -1000]));
        assert!(read::<i64>(b"1.5").is_err());
        assert!(read::<i64>(b"1e300").is_err());
        assert_eq!(read::<f64>(b"2.0").ok(), Some(2.0));
    }
}
