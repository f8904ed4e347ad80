//! Rate limits: the subject that a request counts against, the six response headers, and the 429 error.

use std::net::IpAddr;

use poem::http::{HeaderMap, HeaderName, HeaderValue};

use crate::error::ApiError;
use crate::state::ApiState;
use domain::keys::Principal;
use rate_limit::{Limits, RateLimitStatus, Subject, Window};

/// Returns what a request counts against, with its limits: the API key, or the client's IP address if there is no valid
/// key.
pub(super) fn subject(state: &ApiState, client: IpAddr, principal: Option<&Principal>) -> (Subject, Limits) {
    match principal {
        Some(principal) => {
            let limits = Limits { per_minute: principal.per_minute, per_day: principal.per_day };
            (Subject::Key(principal.key), limits)
        }
        None => (Subject::Address(client), state.settings.address_limits),
    }
}

/// Counts the rejection, and creates the 429 error, whose message names the exhausted window. `retry_after` is in seconds.
pub(super) fn rejection(status: RateLimitStatus, exhausted: Window, retry_after: i64) -> ApiError {
    let (limit, window, reason) = match exhausted {
        Window::Minute => (status.limits.per_minute, "minute", "minute_limit"),
        Window::Day => (status.limits.per_day, "day", "day_limit"),
    };
    super::count_rejection(reason);
    ApiError::rate_limited(
        format!("The rate limit of {limit} requests per {window} is exhausted."),
        retry_after,
    )
}

/// Sets the six rate limit headers.
pub(super) fn set_headers(headers: &mut HeaderMap, status: &RateLimitStatus) {
    const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
    const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
    const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
    const DAILY_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-daily-limit");
    const DAILY_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-daily-remaining");
    const DAILY_RESET: HeaderName = HeaderName::from_static("x-ratelimit-daily-reset");

    headers.insert(LIMIT, HeaderValue::from(status.limits.per_minute));
    headers.insert(REMAINING, HeaderValue::from(status.minute_left));
    headers.insert(RESET, HeaderValue::from(status.minute_reset));
    headers.insert(DAILY_LIMIT, HeaderValue::from(status.limits.per_day));
    headers.insert(DAILY_REMAINING, HeaderValue::from(status.day_left));
    headers.insert(DAILY_RESET, HeaderValue::from(status.day_reset));
}
