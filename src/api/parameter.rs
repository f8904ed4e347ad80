//! Parameters that were judged before.
//!
//! [`Checked`](super::call::Checked) holds every parameter against the contract's own schema. poem-openapi would hold
//! them against its validators again, and compile the regular expression of a pattern at each request to do so; these
//! extractors declare the validators and read the value, and do no more. Never judges anything.

use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaParamIn, MetaSchemaRef, Registry};
use poem_openapi::types::ParseFromParameter;
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions, param};

macro_rules! judged_before {
    ($($(#[$about:meta])* $name:ident),*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone)]
        pub struct $name<T>(pub T);

        impl<'a, T: ParseFromParameter> ApiExtractor<'a> for $name<T> {
            const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
            const PARAM_IS_REQUIRED: bool = T::IS_REQUIRED;
            type ParamType = T;
            // Only `param_raw_type` hands a value to the validators, and it is left at `None`.
            type ParamRawType = T::RawValueType;

            fn register(registry: &mut Registry) {
                T::register(registry);
            }

            fn param_in() -> Option<MetaParamIn> {
                Some(MetaParamIn::$name)
            }

            fn param_schema_ref() -> Option<MetaSchemaRef> {
                Some(T::schema_ref())
            }

            async fn from_request(
                request: &'a Request,
                body: &mut RequestBody,
                options: ExtractParamOptions<T>,
            ) -> poem::Result<Self> {
                let read = <param::$name<T> as ApiExtractor<'a>>::from_request(request, body, options);
                read.await.map(|read| Self(read.0))
            }
        }
    )*};
}

judged_before!(
    /// A parameter of the path. poem-openapi knows path parameters by this type's name.
    Path,
    /// A parameter of the query string.
    Query,
    /// A parameter sent as a header.
    Header
);
