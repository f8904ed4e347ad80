//! The rate limit as HTTP shows it: whose bucket, the six headers, the refusal.

use std::net::IpAddr;

use poem::http::{HeaderMap, HeaderName, HeaderValue};

use crate::error::ApiError;
use crate::front::Front;
use domain::keys::Principal;
use rate_limit::{Caps, Standing, Subject, Window};

/// The bucket that a request draws on: its key's, or without a valid key that of its client's address.
pub(super) fn bucket(front: &Front, client: IpAddr, principal: Option<&Principal>) -> (Subject, Caps) {
    match principal {
        Some(principal) => {
            let caps = Caps { per_minute: principal.per_minute, per_day: principal.per_day };
            (Subject::Key(principal.key), caps)
        }
        None => (Subject::Address(client), front.settings.address_caps),
    }
}

/// 429, saying which window is exhausted.
pub(super) fn refuse(standing: Standing, exhausted: Window, retry_after: i64) -> ApiError {
    let (cap, window) = match exhausted {
        Window::Minute => (standing.caps.per_minute, "minute"),
        Window::Day => (standing.caps.per_day, "day"),
    };
    ApiError::rate_limited(format!("The limit of {cap} requests a {window} is exhausted."), retry_after)
}

/// Sets the six headers of the seed.
pub(super) fn stamp(headers: &mut HeaderMap, standing: &Standing) {
    const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
    const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
    const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
    const DAILY_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-daily-limit");
    const DAILY_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-daily-remaining");
    const DAILY_RESET: HeaderName = HeaderName::from_static("x-ratelimit-daily-reset");

    headers.insert(LIMIT, HeaderValue::from(standing.caps.per_minute));
    headers.insert(REMAINING, HeaderValue::from(standing.minute_left));
    headers.insert(RESET, HeaderValue::from(standing.minute_reset));
    headers.insert(DAILY_LIMIT, HeaderValue::from(standing.caps.per_day));
    headers.insert(DAILY_REMAINING, HeaderValue::from(standing.day_left));
    headers.insert(DAILY_RESET, HeaderValue::from(standing.day_reset));
}
