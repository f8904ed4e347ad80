//! What the contract requires of the callers of an operation (`security`), read from the contract's JSON.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use poem::Request;
use serde_json::Value;

use super::{authorization, exactly_one};
use crate::contract::Operation;
use crate::json;
use crate::validate::{Violations, header_values, query};

/// The alternatives of `security`. A caller needs the credentials of all schemes of one alternative.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequiredSchemes {
    /// The alternatives. An empty alternative allows anonymous callers. There is none if the operation is public.
    pub alternatives: Vec<Vec<RequiredScheme>>,
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

/// Where requests contain the credential of a scheme.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CredentialPlace {
    /// `Authorization: Bearer`.
    Bearer,
    /// `Authorization: Basic`.
    Basic,
    /// A header with this name.
    Header(String),
    /// A cookie with this name.
    Cookie(String),
    /// A query parameter with this name.
    Query(String),
    /// The scheme sends no credential in the request, or one that this library does not read.
    Other,
}

impl RequiredSchemes {
    /// Reads the requirements of an operation from the contract's JSON.
    pub(crate) fn of(document: &Value, operation: &Operation) -> Self {
        let method = operation.method.to_ascii_lowercase();
        let declared =
            document.pointer(&format!("/paths/{}/{method}/security", json::escape(operation.path)));
        let list = declared.or_else(|| document.get("security")).and_then(Value::as_array);
        let scheme = |(name, scopes): (&String, &Value)| RequiredScheme {
            name: name.clone(),
            scopes: scopes
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            place: CredentialPlace::of(document, name),
        };
        let alternatives = list.into_iter().flatten().filter_map(Value::as_object);
        Self { alternatives: alternatives.map(|schemes| schemes.iter().map(scheme).collect()).collect() }
    }

    /// Returns whether callers without credentials can call the operation.
    pub fn is_public(&self) -> bool {
        self.alternatives.is_empty() || self.alternatives.iter().any(Vec::is_empty)
    }
}

impl RequiredScheme {
    /// Returns the credential in a request: the key or token, or `user:password` of `Authorization: Basic`. Returns
    /// `None` if it is missing, malformed, empty or sent more than once.
    pub fn credential<'r>(&self, request: &'r Request) -> Option<Cow<'r, str>> {
        let headers = request.headers();
        let credential = match &self.place {
            CredentialPlace::Bearer => Cow::from(authorization(headers, "bearer")?),
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
            CredentialPlace::Other => return None,
        };
        (!credential.is_empty()).then_some(credential)
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
    /// Returns the place of a scheme in `components.securitySchemes`.
    fn of(document: &Value, scheme: &str) -> Self {
        let scheme = document.pointer(&format!("/components/securitySchemes/{}", json::escape(scheme)));
        let string = |key| scheme.and_then(|scheme| scheme.get(key)?.as_str()).unwrap_or_default();
        let name = || string("name").to_owned();
        match (string("type"), &*string("scheme").to_ascii_lowercase(), string("in")) {
            ("http", "bearer", _) | ("oauth2" | "openIdConnect", ..) => Self::Bearer,
            ("http", "basic", _) => Self::Basic,
            ("apiKey", _, "header") => Self::Header(name()),
            ("apiKey", _, "cookie") => Self::Cookie(name()),
            ("apiKey", _, "query") => Self::Query(name()),
            _ => Self::Other,
        }
    }
}
