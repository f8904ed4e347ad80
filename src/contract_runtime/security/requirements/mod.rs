//! What the contract requires of the callers of an operation (`security`), read from the contract's JSON.

use std::borrow::Cow;
use std::collections::BTreeSet;

use anyhow::{Context, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use poem::Request;
use poem::http::HeaderValue;
use serde_json::Value;

use super::{authorization, exactly_one};
use crate::contract::{Credential, Operation};
use crate::validate::{Violations, header_values, query};
use crate::{json, reference};

/// The alternatives of `security`. A caller needs the credentials of all schemes of one alternative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredSchemes {
    /// There is at least one. An empty alternative allows anonymous callers.
    alternatives: Vec<Vec<RequiredScheme>>,
}

/// A security scheme that an operation requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredScheme {
    /// The name of the scheme in the contract.
    pub name: String,
    /// The scopes that the credential must have.
    pub scopes: Vec<String>,
    place: CredentialPlace,
}

/// A credential in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentedCredential<'r> {
    /// The scheme of the credential, with the scopes that it must have.
    pub scheme: &'r RequiredScheme,
    /// The key or token. For `Authorization: Basic`, this is `user:password`. For other HTTP schemes, it is what follows
    /// the name of the scheme.
    pub value: Cow<'r, str>,
}

/// Why credentials are not accepted.
#[derive(Debug)]
pub enum Denial {
    /// There are no credentials, or they are not valid.
    Unauthenticated,
    /// The credentials are valid, but do not allow the operation: for example, they lack a scope.
    Forbidden,
    /// The credentials could not be checked.
    Failed(poem::Error),
}

/// Where requests contain the credential of a scheme.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CredentialPlace {
    /// `Authorization` with this scheme in lowercase, such as `bearer`.
    Authorization(String),
    /// `Authorization: Basic`.
    Basic,
    /// A header with this name.
    Header(String),
    /// A cookie with this name.
    Cookie(String),
    /// A query parameter with this name.
    Query(String),
}

impl RequiredSchemes {
    /// Reads the requirements of an operation from the contract's JSON.
    ///
    /// # Errors
    /// Returns an error if the document does not have the operation, for malformed requirements, for undeclared schemes, and for schemes whose credential is not in
    /// the request.
    pub(crate) fn of(document: &Value, operation: &Operation) -> anyhow::Result<Self> {
        let method = operation.method.to_ascii_lowercase();
        let declared = document
            .pointer(&format!("/paths/{}/{method}", json::escape(operation.path)))
            .context("the contract's JSON does not have the operation")?;
        let Some(security) = declared.get("security").or_else(|| document.get("security")) else {
            return Ok(Self { alternatives: vec![Vec::new()] });
        };
        let alternatives = security.as_array().context("`security` is not a list")?;
        let mut alternatives = alternatives
            .iter()
            .map(|alternative| required_schemes(document, alternative))
            .collect::<anyhow::Result<Vec<_>>>()?;
        if alternatives.is_empty() {
            alternatives.push(Vec::new());
        }
        Ok(Self { alternatives })
    }

    /// Returns the alternatives in the order of the contract. There is at least one. An empty alternative allows
    /// anonymous callers.
    pub fn alternatives(&self) -> &[Vec<RequiredScheme>] {
        &self.alternatives
    }

    /// Returns whether callers without credentials can call the operation.
    pub fn is_public(&self) -> bool {
        self.alternatives.iter().any(Vec::is_empty)
    }

    /// Returns the values of `WWW-Authenticate` for a response with status 401, one for each kind of credential.
    pub fn challenges(&self) -> Vec<HeaderValue> {
        let schemes = self.alternatives.iter().flatten();
        let mut challenges: Vec<_> = schemes.filter_map(|scheme| scheme.place.challenge()).collect();
        let mut seen = BTreeSet::new();
        challenges.retain(|challenge| seen.insert(challenge.as_bytes().to_vec()));
        challenges
    }

    /// Returns the caller of a request. Calls `verify` with the credentials of each alternative that the request
    /// satisfies, in the order of the contract, until one is accepted. If anonymous callers are allowed, the last call
    /// has no credentials.
    ///
    /// # Errors
    /// Returns [`Denial::Unauthenticated`] if the request satisfies no alternative. Otherwise returns the error of
    /// `verify`: [`Denial::Failed`] immediately, and [`Denial::Forbidden`] before [`Denial::Unauthenticated`].
    pub async fn authenticate<'r, C, F>(
        &'r self,
        request: &'r Request,
        verify: impl Fn(Vec<PresentedCredential<'r>>) -> F,
    ) -> Result<C, Denial>
    where
        F: Future<Output = Result<C, Denial>>,
    {
        let present = |schemes: &'r Vec<RequiredScheme>| -> Option<Vec<_>> {
            schemes.iter().map(|scheme| scheme.credential(request)).collect()
        };
        let named = self.alternatives.iter().filter(|schemes| !schemes.is_empty());
        let anonymous = self.is_public().then(Vec::new);
        let mut outcome = Denial::Unauthenticated;
        for credentials in named.filter_map(present).chain(anonymous) {
            match verify(credentials).await {
                Ok(caller) => return Ok(caller),
                Err(Denial::Unauthenticated) => {}
                Err(Denial::Forbidden) => outcome = Denial::Forbidden,
                Err(Denial::Failed(error)) => return Err(Denial::Failed(error)),
            }
        }
        Err(outcome)
    }
}

/// Reads one alternative.
fn required_schemes(document: &Value, alternative: &Value) -> anyhow::Result<Vec<RequiredScheme>> {
    let schemes = alternative.as_object().context("a security requirement is not an object")?;
    let required = schemes.iter().map(|(name, scopes)| {
        let scopes = scopes.as_array().and_then(|scopes| {
            scopes.iter().map(|scope| scope.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        });
        let scopes = scopes.with_context(|| format!("the scopes of `{name}` are not a list of strings"))?;
        let place = CredentialPlace::of(document, name)
            .with_context(|| format!("the security scheme `{name}` cannot be used"))?;
        Ok(RequiredScheme { name: name.clone(), scopes, place })
    });
    let required = required.collect::<anyhow::Result<Vec<_>>>()?;
    let in_authorization = required.iter().filter_map(|scheme| scheme.place.authorization_scheme());
    let distinct: BTreeSet<&str> = in_authorization.collect();
    ensure!(distinct.len() <= 1, "no request has several schemes in `Authorization`");
    Ok(required)
}

impl RequiredScheme {
    /// Returns the credential in a request. Returns `None` if it is missing, malformed, empty or sent more than once.
    pub fn credential<'r>(&'r self, request: &'r Request) -> Option<PresentedCredential<'r>> {
        let headers = request.headers();
        let value = match &self.place {
            CredentialPlace::Authorization(scheme) => Cow::from(authorization(headers, scheme)?),
            CredentialPlace::Basic => {
                let user_and_password = STANDARD.decode(authorization(headers, "basic")?).ok()?;
                Cow::from(String::from_utf8(user_and_password).ok()?)
            }
            CredentialPlace::Header(name) => {
                Cow::from(exactly_one(headers.get_all(name).iter())?.to_str().ok()?)
            }
            CredentialPlace::Cookie(name) => {
                Cow::from(exactly_one(header_values::cookies(headers, name).into_iter())?)
            }
            CredentialPlace::Query(name) => {
                let query = request.uri().query().unwrap_or_default();
                let parameters = query::parse(query, |_| true, &mut Violations::new());
                let values = parameters.into_iter().filter(|parameter| parameter.name == *name);
                Cow::from(exactly_one(values)?.value)
            }
        };
        (!value.is_empty()).then_some(PresentedCredential { scheme: self, value })
    }

    /// Returns the query parameter that contains the credential, if any.
    pub(crate) fn query_parameter(&self) -> Option<&str> {
        match &self.place {
            CredentialPlace::Query(name) => Some(name),
            _ => None,
        }
    }
}

impl CredentialPlace {
    /// Returns the scheme in `Authorization`, which can have only one.
    fn authorization_scheme(&self) -> Option<&str> {
        match self {
            Self::Authorization(scheme) => Some(scheme),
            Self::Basic => Some("basic"),
            Self::Header(_) | Self::Cookie(_) | Self::Query(_) => None,
        }
    }

    /// Returns the challenge for a response with status 401. Returns `None` for a scheme whose challenge the service must
    /// create, such as `Digest`.
    fn challenge(&self) -> Option<HeaderValue> {
        let credential = match self {
            Self::Authorization(scheme) if scheme == "bearer" => Credential::Bearer,
            Self::Authorization(_) => return None,
            Self::Basic => Credential::Basic,
            Self::Header(_) | Self::Cookie(_) | Self::Query(_) => Credential::None,
        };
        Some(credential.challenge())
    }

    /// Returns the place of a scheme in `components.securitySchemes`.
    fn of(document: &Value, name: &str) -> anyhow::Result<Self> {
        let pointer = format!("/components/securitySchemes/{}", json::escape(name));
        let declared = document.pointer(&pointer).context("it is not declared")?;
        let scheme = reference::resolve(document, declared).context("its reference does not resolve")?;
        let string = |key: &str| scheme.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let required =
            |key: &str| string(key).map(str::to_owned).with_context(|| format!("it has no `{key}`"));
        Ok(match &*required("type")? {
            "http" => match required("scheme")?.to_ascii_lowercase() {
                basic if basic == "basic" => Self::Basic,
                other => Self::Authorization(other),
            },
            "oauth2" | "openIdConnect" => Self::Authorization("bearer".to_owned()),
            "apiKey" => match &*required("in")? {
                "header" => Self::Header(required("name")?),
                "cookie" => Self::Cookie(required("name")?),
                "query" => Self::Query(required("name")?),
                other => bail!("API keys cannot be in `{other}`"),
            },
            other => bail!("the credential of the type `{other}` is not in the request"),
        })
    }
}

#[cfg(test)]
mod tests;
