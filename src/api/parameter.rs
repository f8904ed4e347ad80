//! Parameters that were judged before.
//!
//! [`Checked`](super::call::Checked) holds every parameter against the contract's own schema. poem-openapi would hold
//! them against its validators again, and compile the regular expression of a pattern at each request to do so; these
//! extractors declare the validators and read the value, and do no more. Never judges anything.

use poem::{Request, RequestBody};
use poem_openapi::error::ParseParamError;
use poem_openapi::registry::{MetaParamIn, MetaSchemaRef, Registry};
use poem_openapi::types::{ParseError, ParseFromParameter};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions, param};

use super::validate::texts;

/// Reads a list that is sent as one value with commas; poem-openapi panics where it is absent.
fn listed<T: ParseFromParameter>(text: Option<&str>, options: &ExtractParamOptions<T>) -> poem::Result<T> {
    match (text, options.default_value) {
        (None, Some(default)) => Ok(default()),
        (text, _) => {
            let items = text.into_iter().flat_map(|text| text.split(','));
            T::parse_from_parameters(items).map_err(|error| refused(options.name, error))
        }
    }
}

fn refused<T: ParseFromParameter>(name: &'static str, error: ParseError<T>) -> poem::Error {
    ParseParamError { name, reason: error.into_message() }.into()
}

async fn path<T: ParseFromParameter>(
    request: &Request,
    body: &mut RequestBody,
    options: ExtractParamOptions<T>,
) -> poem::Result<T> {
    <param::Path<T> as ApiExtractor>::from_request(request, body, options).await.map(|read| read.0)
}

async fn query<T: ParseFromParameter>(
    request: &Request,
    body: &mut RequestBody,
    options: ExtractParamOptions<T>,
) -> poem::Result<T> {
    if options.explode {
        return <param::Query<T> as ApiExtractor>::from_request(request, body, options)
            .await
            .map(|read| read.0);
    }
    let text = texts::query(request.original_uri().query().unwrap_or_default(), options.name);
    listed(text.as_deref(), &options)
}

async fn header<T: ParseFromParameter>(
    request: &Request,
    body: &mut RequestBody,
    options: ExtractParamOptions<T>,
) -> poem::Result<T> {
    if options.explode {
        return <param::Header<T> as ApiExtractor>::from_request(request, body, options)
            .await
            .map(|read| read.0);
    }
    listed(texts::header_list(request.headers(), options.name).as_deref(), &options)
}

async fn cookie<T: ParseFromParameter>(
    request: &Request,
    _: &mut RequestBody,
    options: ExtractParamOptions<T>,
) -> poem::Result<T> {
    match (texts::cookies(request.headers(), options.name).into_iter().next(), options.default_value) {
        (None, Some(default)) => Ok(default()),
        (text, _) => T::parse_from_parameters(text.iter()).map_err(|error| refused(options.name, error)),
    }
}

macro_rules! judged_before {
    ($($(#[$about:meta])* $name:ident, $read:ident;)*) => {$(
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
                $read(request, body, options).await.map(Self)
            }
        }
    )*};
}

judged_before!(
    /// A parameter of the path. poem-openapi knows path parameters by this type's name.
    Path, path;
    /// A parameter of the query string.
    Query, query;
    /// A parameter sent as a header.
    Header, header;
    /// A parameter sent in a cookie.
    Cookie, cookie;
);
