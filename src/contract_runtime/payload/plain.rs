//! Request and response bodies other than JSON: plain text and binary data.

use poem::http::{HeaderValue, header};
use poem::{IntoResponse, Request, RequestBody, Response};
use poem_openapi::payload::Payload;
use poem_openapi::registry::{MetaMediaType, MetaRequest, MetaSchema, MetaSchemaRef, Registry};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};

use super::InputBody;
use crate::call::{self, Input};
use crate::contract::{BYTES, TEXT};

/// A `text/plain` body in UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text(pub String);

/// An `application/octet-stream` body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bytes(pub bytes::Bytes);

/// A response body with the media type that the operation chooses, for responses that the contract declares with a range
/// such as `image/*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedBytes {
    /// The media type. It must be in the range.
    pub media_type: String,
    /// The bytes of the body.
    pub bytes: bytes::Bytes,
}

impl TypedBytes {
    /// Returns the bytes of the body.
    pub fn into_bytes(self) -> bytes::Bytes {
        self.bytes
    }
}

impl Payload for TypedBytes {
    const CONTENT_TYPE: &'static str = BYTES;

    fn schema_ref() -> MetaSchemaRef {
        Bytes::schema_ref()
    }

    fn register(_: &mut Registry) {}
}

impl IntoResponse for TypedBytes {
    /// A media type that is not valid in HTTP becomes `application/octet-stream`.
    fn into_response(self) -> Response {
        let media_type = HeaderValue::from_str(&self.media_type).unwrap_or(HeaderValue::from_static(BYTES));
        Response::builder().header(header::CONTENT_TYPE, media_type).body(self.bytes)
    }
}

impl Text {
    /// Returns the bytes of the body.
    pub fn into_bytes(self) -> bytes::Bytes {
        self.0.into()
    }

    fn schema() -> MetaSchema {
        MetaSchema::new("string")
    }

    fn read(input: &Input) -> poem::Result<Self> {
        // Validation has stored the text as a JSON string.
        serde_json::from_value(input.take_value()?).map(Self).map_err(poem::error::InternalServerError)
    }
}

impl Bytes {
    /// Returns the bytes of the body.
    pub fn into_bytes(self) -> bytes::Bytes {
        self.0
    }

    fn schema() -> MetaSchema {
        MetaSchema::ANY
    }

    #[allow(clippy::unnecessary_wraps, reason = "the macro calls the same function of both types")]
    fn read(input: &Input) -> poem::Result<Self> {
        Ok(Self(input.body.clone()))
    }
}

macro_rules! plain_payloads {
    ($($name:ident, $media_type:ident, $content_type:literal;)*) => {$(
        impl Payload for $name {
            const CONTENT_TYPE: &'static str = $media_type;

            fn schema_ref() -> MetaSchemaRef {
                MetaSchemaRef::Inline(Box::new(Self::schema()))
            }

            fn register(_: &mut Registry) {}
        }

        impl IntoResponse for $name {
            fn into_response(self) -> Response {
                Response::builder().content_type($content_type).body(self.into_bytes())
            }
        }

        impl<'a> ApiExtractor<'a> for $name {
            const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];
            const PARAM_IS_REQUIRED: bool = true;
            type ParamType = ();
            type ParamRawType = ();

            fn request_meta() -> Option<MetaRequest> {
                Some(Self::meta())
            }

            async fn from_request(
                request: &'a Request,
                _: &mut RequestBody,
                _: ExtractParamOptions<()>,
            ) -> poem::Result<Self> {
                Self::read(call::input(request)?)
            }
        }

        impl InputBody for $name {
            fn meta() -> MetaRequest {
                MetaRequest {
                    description: None,
                    content: vec![MetaMediaType {
                        content_type: $media_type,
                        schema: <Self as Payload>::schema_ref(),
                    }],
                    required: true,
                }
            }

            fn register_schemas(_: &mut Registry) {}

            fn from_input(input: &Input) -> poem::Result<Self> {
                Self::read(input)
            }
        }
    )*};
}

plain_payloads! {
    Text, TEXT, "text/plain; charset=utf-8";
    Bytes, BYTES, "application/octet-stream";
}
