//! The extractors of parameters.
//!
//! [`Route::read`](super::router::Route::read) validates every parameter against the contract's own schema.
//! poem-openapi's extractors would validate again, and compile the regular expression of a pattern at each request;
//! these declare the validators for the document, and only convert the value.

use std::borrow::Cow;

use poem::{Request, RequestBody};
use poem_openapi::error::ParseParamError;
use poem_openapi::registry::{MetaParamIn, MetaSchemaRef, Registry};
use poem_openapi::types::ParseFromParameter;
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};

use super::call;
use super::contract::Place;
use super::validate::texts;

/// The value of a parameter that is sent as these texts.
fn convert<T: ParseFromParameter>(
    texts: Vec<Cow<'_, str>>,
    options: ExtractParamOptions<T>,
) -> poem::Result<T> {
    let read = match (texts.is_empty(), options.default_value) {
        (true, Some(default)) => return Ok(default()),
        (_, _) if options.explode => T::parse_from_parameters(texts),
        (_, _) => T::parse_from_parameters(texts.iter().flat_map(|text| text.split(','))),
    };
    read.map_err(|error| ParseParamError { name: options.name, reason: error.into_message() }.into())
}

fn path<'r>(request: &'r Request, name: &str, _: bool) -> poem::Result<Vec<Cow<'r, str>>> {
    let input = call::input(request)?;
    // poem-openapi numbers the parameters of a path (`param0`) in the order of the arguments, which is the contract's.
    let mut declared = input.operation.parameters.iter().filter(|parameter| parameter.place == Place::Path);
    let number = name.strip_prefix("param").and_then(|number| number.parse().ok());
    let parameter = number.and_then(|number| declared.nth(number));
    let captured = input.captured.iter().filter(|(known, _)| parameter.is_some_and(|it| it.name == *known));
    Ok(captured.map(|(_, value)| value.into()).collect())
}

fn query<'r>(request: &'r Request, name: &str, _: bool) -> poem::Result<Vec<Cow<'r, str>>> {
    let pairs = call::input(request)?.query.iter();
    Ok(pairs.filter(|pair| pair.name == name).map(|pair| Cow::from(&pair.value)).collect())
}

fn header<'r>(request: &'r Request, name: &str, explode: bool) -> poem::Result<Vec<Cow<'r, str>>> {
    if !explode {
        return Ok(texts::header_list(request.headers(), name).into_iter().map(Cow::from).collect());
    }
    let lines = request.headers().get_all(name).iter().filter_map(|line| line.to_str().ok());
    Ok(lines.map(Cow::from).collect())
}

fn cookie<'r>(request: &'r Request, name: &str, _: bool) -> poem::Result<Vec<Cow<'r, str>>> {
    Ok(texts::cookies(request.headers(), name).into_iter().map(Cow::from).collect())
}

macro_rules! extractors {
    ($($(#[$about:meta])* $name:ident, $texts:ident;)*) => {$(
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
                _: &mut RequestBody,
                options: ExtractParamOptions<T>,
            ) -> poem::Result<Self> {
                convert($texts(request, options.name, options.explode)?, options).map(Self)
            }
        }
    )*};
}

extractors!(
    /// A parameter of the path. poem-openapi knows path parameters by this type's name.
    Path, path;
    /// A parameter of the query string.
    Query, query;
    /// A parameter sent as a header.
    Header, header;
    /// A parameter sent in a cookie.
    Cookie, cookie;
);
