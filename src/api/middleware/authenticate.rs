//! Authenticates requests by their API key.

use std::net::IpAddr;

use poem::Request;

use crate::error::ApiError;
use crate::state::ApiState;
use domain::keys::{self, Principal};
use rate_limit::KeyLookup;

/// Returns the principal of the request's API key. The principal is `None` if the key is missing or invalid, or if the
/// key is probably unknown and the client's IP address has used up its rate limit.
///
/// A key that is not cached is looked up in the database. Such a lookup counts against the client's IP address until
/// the returned [`KeyLookup`] is dropped. Drop it after the request itself has been counted. It is `None` if no lookup
/// was counted.
///
/// # Errors
/// Returns 500 if the database fails.
pub(super) async fn principal<'a>(
    state: &'a ApiState,
    request: &Request,
    client: IpAddr,
) -> Result<(Option<Principal>, Option<KeyLookup<'a>>), ApiError> {
    let Some(secret) = state.credential.find(request.headers()) else { return Ok((None, None)) };
    let mut pending_lookup = None;
    let admit = || {
        pending_lookup = state.limiter.admit_lookup(&state.app.clock, client, state.settings.address_limits);
        pending_lookup.is_some()
    };
    let principal = keys::authenticate_limited(&state.app, &secret, admit).await?;
    Ok((principal, pending_lookup))
}
