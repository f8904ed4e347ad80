//! JSON bodies, written straight from serde to bytes.
//!
//! poem-openapi's own `Json` builds a `serde_json::Value` first, which costs two thirds of a list's time;
//! a body that is ready (a cached page, a kept answer) is sent as it is.

use bytes::Bytes;
use poem::{FromRequest, IntoResponse, Request, RequestBody, Response};
use poem_openapi::payload::{ParsePayload, Payload};
use poem_openapi::registry::{MetaMediaType, MetaRequest, MetaSchemaRef, Registry};
use poem_openapi::types::Type;
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A JSON body: a value still to be written, or bytes that stand for one.
#[derive(Debug, Clone)]
pub enum Json<T> {
    /// Written when the response is.
    Value(T),
    /// Sent as they are.
    Ready(Bytes),
}

/// The one media type of the API.
pub const JSON: &str = "application/json";

impl<T: Serialize> Json<T> {
    /// The body's bytes.
    ///
    /// # Panics
    /// Never for generated types: their maps have string keys and their serialisation cannot fail.
    pub fn into_bytes(self) -> Bytes {
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
        let bytes = <Bytes as FromRequest>::from_request(request, body).await?;
        serde_json::from_slice(&bytes).map(Self::Value).map_err(poem::error::InternalServerError)
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
