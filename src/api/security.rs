//! The security scheme as poem-openapi sees it.
//!
//! Keys are judged by the middleware before a route is chosen; this type only declares the scheme, so that
//! the code's own document names it with the scope of each operation.

use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaSecurityScheme, Registry};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};

/// Declares `apiKey`, an HTTP bearer scheme.
pub struct ApiKey;

/// The scheme's name in the contract.
pub const SCHEME: &str = "apiKey";

impl<'a> ApiExtractor<'a> for ApiKey {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        registry.create_security_scheme(
            SCHEME,
            MetaSecurityScheme {
                ty: "http",
                description: None,
                name: None,
                key_in: None,
                scheme: Some("bearer"),
                bearer_format: None,
                flows: None,
                openid_connect_url: None,
            },
        );
    }

    fn security_schemes() -> Vec<&'static str> {
        vec![SCHEME]
    }

    async fn from_request(
        _: &'a Request,
        _: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        Ok(Self)
    }
}
