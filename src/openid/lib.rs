//! Signing in with an OpenID Connect provider: discovery, the request to the provider, and the validation of its response.
//!
//! Implements the authorization code flow with PKCE (OpenID Connect Core 1.0, section 3.1, and RFC 7636). Knows no users and no
//! sessions.

mod http;
mod provider;
mod validation;

pub use provider::{Attempt, Provider, ProviderError, ProviderSettings};
pub use validation::{Identity, MAX_SKEW_MS};
