//! Authenticates requests by their API key.

use std::net::IpAddr;

use poem::Request;

use crate::error::ApiError;
use crate::state::ApiState;
use domain::keys::{self, Principal};
use rate_limit::KeyLookup;

/// Returns the principal of the request's API key, or `None` if the key is missing or invalid. A pending lookup of a key
/// counts against the client's IP address until the request itself is counted.
///
/// # Errors
/// Returns 500 if the database fails.
pub(super) async fn principal<'f>(
    state: &'f ApiState,
    request: &Request,
    client: IpAddr,
) -> Result<(Option<Principal>, Option<KeyLookup<'f>>), ApiError> {
    let Some(secret) = state.credential.find(request.headers()) else { return Ok((None, None)) };
    let mut pending_lookup = None;
    let admit = || {
        pending_lookup = state.limiter.admit_lookup(&state.app.clock, client, state.settings.address_limits);
        pending_lookup.is_some()
    };
    let principal = keys::authenticate_limited(&state.app, &secret, admit).await?;
    Ok((principal, pending_lookup))
}
