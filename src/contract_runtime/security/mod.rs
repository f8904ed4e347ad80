//! Extracts API keys from requests and declares security schemes for poem-openapi.
//!
//! The service authenticates requests before it calls a route. [`SecurityRequirement`] only declares the scheme, so
//! that the OpenAPI document built from the code contains it with the scope of each operation.

mod requirements;

pub use requirements::{Denial, PresentedCredential, RequiredScheme, RequiredSchemes};

use std::borrow::Cow;
use std::marker::PhantomData;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use poem::http::{HeaderMap, HeaderValue, header};
use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaSecurityScheme, Registry};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};

use super::contract::Credential;
use super::validate::header_values;

impl Credential {
    /// Returns the key of a request. `None` if it is missing, malformed, empty or sent more than once.
    pub fn find(self, headers: &HeaderMap) -> Option<Cow<'_, str>> {
        let key = match self {
            Self::Bearer => Cow::from(authorization(headers, "bearer")?),
            Self::Basic => {
                let user_and_password = STANDARD.decode(authorization(headers, "basic")?).ok()?;
                let user_and_password = String::from_utf8(user_and_password).ok()?;
                Cow::from(user_and_password.strip_suffix(':')?.to_owned())
            }
            Self::Header(name) => Cow::from(exactly_one(headers.get_all(name).iter())?.to_str().ok()?),
            Self::Cookie(name) => Cow::from(exactly_one(header_values::cookies(headers, name).into_iter())?),
            Self::None => return None,
        };
        (!key.is_empty()).then_some(key)
    }

    /// Returns the `WWW-Authenticate` header for a response with status 401.
    pub fn challenge(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Bearer => "Bearer",
            Self::Basic => "Basic realm=\"api\", charset=\"UTF-8\"",
            // RFC 9110, section 11.6.1, requires the header, and no scheme is registered for keys in custom headers and
            // cookies.
            Self::Header(_) | Self::Cookie(_) | Self::None => "ApiKey",
        })
    }
}

/// Returns the credentials in the `Authorization` header. `None` unless there is exactly one, of the expected scheme.
fn authorization<'h>(headers: &'h HeaderMap, expected: &str) -> Option<&'h str> {
    let value = exactly_one(headers.get_all(header::AUTHORIZATION).iter())?;
    let (scheme, key) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case(expected).then_some(key.trim_matches(' '))
}

fn exactly_one<T>(mut values: impl Iterator<Item = T>) -> Option<T> {
    values.next().filter(|_| values.next().is_none())
}

/// The security scheme of a contract.
pub trait SecurityScheme {
    /// The name in the contract.
    const NAME: &'static str;
    /// Where clients send their key.
    const CREDENTIAL: Credential;
}

/// Declares that an operation requires a security scheme.
pub struct SecurityRequirement<S>(PhantomData<S>);

impl<'a, S: SecurityScheme> ApiExtractor<'a> for SecurityRequirement<S> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        let (scheme, key_in, name) = match S::CREDENTIAL {
            Credential::Bearer => (Some("bearer"), None, None),
            Credential::Basic => (Some("basic"), None, None),
            Credential::Header(name) => (None, Some("header"), Some(name)),
            Credential::Cookie(name) => (None, Some("cookie"), Some(name)),
            Credential::None => return,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, values: &[&'static str]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for value in values {
            map.append(name, HeaderValue::from_static(value));
        }
        map
    }

    #[test]
    fn a_bearer_key_requires_exactly_one_header() {
        let find_key = |values: &[&'static str]| {
            Credential::Bearer.find(&headers("authorization", values)).map(Cow::into_owned)
        };
        assert_eq!(find_key(&["Bearer abc"]).as_deref(), Some("abc"));
        assert_eq!(find_key(&["bEARER  abc "]).as_deref(), Some("abc"));
        for values in
            [&[][..], &["Bearer a", "Bearer a"], &["Basic abc"], &["Bearer"], &["Bearer "], &["abc"]]
        {
            assert_eq!(find_key(values), None, "{values:?}");
        }
    }

    #[test]
    fn a_key_is_found_only_where_the_contract_declares_it() {
        let find_key = |credential: Credential, name, values: &[&'static str]| {
            credential.find(&headers(name, values)).map(Cow::into_owned)
        };
        // The decoded values are `abc:` and `abc:secret`.
        assert_eq!(find_key(Credential::Basic, "authorization", &["Basic YWJjOg=="]).as_deref(), Some("abc"));
        assert_eq!(find_key(Credential::Basic, "authorization", &["Basic YWJjOnNlY3JldA=="]), None);
        assert_eq!(find_key(Credential::Basic, "authorization", &["Bearer abc"]), None);
        assert_eq!(find_key(Credential::Header("x-key"), "x-key", &["abc"]).as_deref(), Some("abc"));
        assert_eq!(find_key(Credential::Header("x-key"), "x-key", &["abc", "abc"]), None);
        assert_eq!(find_key(Credential::Header("x-key"), "authorization", &["Bearer abc"]), None);
        assert_eq!(find_key(Credential::Cookie("key"), "cookie", &["a=b; key=abc"]).as_deref(), Some("abc"));
        assert_eq!(find_key(Credential::Cookie("key"), "cookie", &["key=abc; key=abc"]), None);
        assert_eq!(find_key(Credential::Cookie("key"), "cookie", &["key="]), None);
    }
}
