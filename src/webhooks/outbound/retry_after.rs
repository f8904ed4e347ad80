//! Reads the delay that a receiver requests with `Retry-After`.

use std::time::{Duration, UNIX_EPOCH};

use hyper::header::{HeaderMap, RETRY_AFTER};

/// The longest delay that a receiver can request.
const MAX_DELAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the delay of the `Retry-After` header, a number of seconds or a date (RFC 9110, section 10.2.3), at most 24
/// hours. Returns `None` without a header or when its value is invalid.
pub(super) fn of(headers: &HeaderMap, now_unix_seconds: i64) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let delay = if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that exceeds `u64` is still a valid number of seconds.
        Duration::from_secs(text.parse().unwrap_or(u64::MAX))
    } else {
        let now = UNIX_EPOCH + Duration::from_secs(u64::try_from(now_unix_seconds).ok()?);
        httpdate::parse_http_date(text).ok()?.duration_since(now).unwrap_or_default()
    };
    Some(delay.min(MAX_DELAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_parsed_and_limited() {
        // 1994-11-06T08:49:37Z
        let delay = |text: &str| {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]);
            of(&headers, 784_111_777).map(|delay| delay.as_secs())
        };
        for (text, seconds) in [
            ("0", 0),
            ("120", 120),
            (" 7 ", 7),
            ("86401", 86_400),
            ("99999999999999999999999", 86_400),
            ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
            ("Sunday, 06-Nov-94 08:50:37 GMT", 60),
            ("Sun Nov  6 08:50:37 1994", 60),
            ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
            ("Sat, 06 Nov 2094 08:49:37 GMT", 86_400),
        ] {
            assert_eq!(delay(text), Some(seconds), "{text}");
        }
        for text in ["", "-1", "1.5", "soon", "1994-11-06T08:50:37Z", "Sun, 06 Nov 1994"] {
            assert_eq!(delay(text), None, "{text}");
        }
        assert_eq!(of(&HeaderMap::new(), 0), None);
    }
}
