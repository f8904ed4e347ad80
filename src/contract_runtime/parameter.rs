//! Extractors for the parameters of operations.
//!
//! [`Route::validate`](super::router::Route::validate) validates parameters against the contract's schemas. The
//! extractors of poem-openapi would validate them again and compile patterns for each request. These extractors declare
//! the validators for the OpenAPI document and only convert the values.

use std::borrow::Cow;

use poem::{Request, RequestBody};
use poem_openapi::error::ParseParamError;
use poem_openapi::registry::{MetaParamIn, MetaSchemaRef, Registry};
use poem_openapi::types::ParseFromParameter;
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};

use super::call;
use super::contract::ParameterLocation;
use super::validate::header_values;

/// Converts the string values of a parameter to its type. Returns the default value if there are none.
fn convert<T: ParseFromParameter>(
    values: Vec<Cow<'_, str>>,
    options: ExtractParamOptions<T>,
) -> poem::Result<T> {
    let parsed = match (values.is_empty(), options.default_value) {
        (true, Some(default)) => return Ok(default()),
        (_, _) if options.explode => T::parse_from_parameters(values),
        (_, _) => T::parse_from_parameters(values.iter().flat_map(|value| value.split(','))),
    };
    parsed.map_err(|error| ParseParamError { name: options.name, reason: error.into_message() }.into())
}

// The functions `path`, `query`, `header` and `cookie` return the string values of a parameter, none if it was not
// sent. They have the same signature for the macro below; the last argument is poem-openapi's `explode`, which is false
// if one value contains all items of a list.

fn path<'r>(request: &'r Request, name: &str, _: bool) -> poem::Result<Vec<Cow<'r, str>>> {
    let input = call::input(request)?;
    // poem-openapi numbers path parameters (`param0`) in the order of the arguments. Generated code has the arguments
    // in the order of the contract.
    let mut path_parameters =
        input.operation.parameters.iter().filter(|parameter| parameter.location == ParameterLocation::Path);
    let index = name.strip_prefix("param").and_then(|index| index.parse().ok());
    let Some(parameter) = index.and_then(|index| path_parameters.nth(index)) else { return Ok(Vec::new()) };
    let values = input.path.iter().filter(|(name, _)| *name == parameter.name);
    Ok(values.map(|(_, value)| value.into()).collect())
}

fn query<'r>(request: &'r Request, name: &str, _: bool) -> poem::Result<Vec<Cow<'r, str>>> {
    let parameters = call::input(request)?.query.iter().filter(|parameter| parameter.name == name);
    Ok(parameters.map(|parameter| Cow::from(&parameter.value)).collect())
}

fn header<'r>(request: &'r Request, name: &str, explode: bool) -> poem::Result<Vec<Cow<'r, str>>> {
    if !explode {
        return Ok(header_values::header_list(request.headers(), name).into_iter().map(Cow::from).collect());
    }
    let lines = request.headers().get_all(name).iter().filter_map(|line| line.to_str().ok());
    Ok(lines.map(Cow::from).collect())
}

fn cookie<'r>(request: &'r Request, name: &str, _: bool) -> poem::Result<Vec<Cow<'r, str>>> {
    Ok(header_values::cookies(request.headers(), name).into_iter().map(Cow::from).collect())
}

macro_rules! extractors {
    ($($(#[$doc:meta])* $name:ident, $string_values:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name<T>(pub T);

        impl<'a, T: ParseFromParameter> ApiExtractor<'a> for $name<T> {
            const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
            const PARAM_IS_REQUIRED: bool = T::IS_REQUIRED;
            type ParamType = T;
            // Validators get their value from `param_raw_type`, which stays `None`.
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
                convert($string_values(request, options.name, options.explode)?, options).map(Self)
            }
        }
    )*};
}

extractors!(
    /// A path parameter. poem-openapi recognizes path parameters by this type name, so it must be `Path`.
    Path, path;
    /// A query parameter.
    Query, query;
    /// A header parameter.
    Header, header;
    /// A cookie parameter.
    Cookie, cookie;
);
