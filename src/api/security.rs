//! The security scheme as poem-openapi sees it.
//!
//! Keys are judged by the middleware before a route is chosen; these types only declare the scheme, so that
//! the code's own document names it with the scope of each operation.

use std::marker::PhantomData;

use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaSecurityScheme, Registry};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};

use super::contract::Credential;

/// The security scheme of a contract.
pub trait Scheme {
    /// Its name in the contract.
    const NAME: &'static str;
    /// Where callers put their keys.
    const CREDENTIAL: Credential;
}

/// Declares a scheme at an operation.
pub struct Key<S>(PhantomData<S>);

impl<'a, S: Scheme> ApiExtractor<'a> for Key<S> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        let (scheme, key_in, name) = match S::CREDENTIAL {
            Credential::Bearer => (Some("bearer"), None, None),
            Credential::Basic => (Some("basic"), None, None),
            Credential::Header(name) => (None, Some("header"), Some(name)),
            Credential::Cookie(name) => (None, Some("cookie"), Some(name)),
        };
        registry.create_security_scheme(
            S::NAME,
            MetaSecurityScheme {
                ty: if scheme.is_some() { "http" } else { "apiKey" },
                description: None,
                name,
                key_in,
                scheme,
                bearer_format: None,
                flows: None,
                openid_connect_url: None,
            },
        );
    }

    fn security_schemes() -> Vec<&'static str> {
        vec![S::NAME]
    }

    async fn from_request(
        _: &'a Request,
        _: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        Ok(Self(PhantomData))
    }
}
