//! Who calls, by the key of the request.

use std::net::IpAddr;

use poem::Request;

use crate::error::ApiError;
use crate::front::Front;
use domain::keys::{self, Principal};
use rate_limit::LookUp;

/// The holder of the request's key; `None` when there is no valid one, whatever is wrong with it. A look-up counts for the client
/// address until the request itself does.
///
/// # Errors
/// 500 when the database fails.
pub(super) async fn principal<'f>(
    front: &'f Front,
    request: &Request,
    client: IpAddr,
) -> Result<(Option<Principal>, Option<LookUp<'f>>), ApiError> {
    let Some(secret) = front.credential.find(request.headers()) else { return Ok((None, None)) };
    let mut look_up = None;
    let admit = || {
        look_up = front.limiter.admit_look_up(&front.app.clock, client, front.settings.address_caps);
        look_up.is_some()
    };
    let principal = keys::authenticate_limited(&front.app, &secret, admit).await?;
    Ok((principal, look_up))
}
