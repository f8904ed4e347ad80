//! Bodies that can be absent.

use poem::{IntoResponse, Request, RequestBody, Response};
use poem_openapi::payload::Payload;
use poem_openapi::registry::{MetaRequest, MetaSchema, MetaSchemaRef, Registry};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};

use crate::call::{self, Input};
use crate::contract::BYTES;

/// An optional request body. `None` if the body is empty.
#[derive(Debug, Clone)]
pub struct OptionalBody<T>(pub Option<T>);

/// A request body that can be read from the validated input of a call.
pub trait InputBody: Sized {
    /// Declares the body for the OpenAPI document.
    fn meta() -> MetaRequest;

    /// Registers the schemas of the body.
    fn register_schemas(registry: &mut Registry);

    /// Reads the body.
    ///
    /// # Errors
    /// Returns an error if the validated value does not have the type of the body, which is an error of the server.
    fn from_input(input: &Input) -> poem::Result<Self>;
}

impl<'a, T: InputBody + Send> ApiExtractor<'a> for OptionalBody<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];
    const PARAM_IS_REQUIRED: bool = false;
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        T::register_schemas(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        Some(MetaRequest { required: false, ..T::meta() })
    }

    async fn from_request(
        request: &'a Request,
        _: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        let input = call::input(request)?;
        let body = (!input.body.is_empty()).then(|| T::from_input(input));
        body.transpose().map(Self)
    }
}

/// The absent body of a response whose status the service chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoBody;

impl Payload for NoBody {
    const CONTENT_TYPE: &'static str = BYTES;

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema::ANY))
    }

    fn register(_: &mut Registry) {}
}

impl IntoResponse for NoBody {
    fn into_response(self) -> Response {
        Response::default()
    }
}
