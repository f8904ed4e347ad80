//! The id of a request: the client's own when it is fit, otherwise a new one.

use poem::http::{HeaderName, HeaderValue};
use poem::{Request, Response};

/// The header, in both directions.
const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The id that the client gave its request, when it is fit for a log.
pub(crate) fn of(request: &Request) -> Option<String> {
    let mut given = request.headers().get_all(HEADER).iter();
    match (given.next().and_then(|value| value.to_str().ok()), given.next()) {
        (Some(own), None) if is_fit(own) => Some(own.to_owned()),
        _ => None,
    }
}

/// Names the request in its response.
pub(crate) fn stamp(response: &mut Response, id: &str) {
    if let Ok(id) = HeaderValue::from_str(id) {
        response.headers_mut().insert(HEADER, id);
    }
}

/// 1 to 128 characters of `[A-Za-z0-9._-]`.
fn is_fit(id: &str) -> bool {
    (1..=128).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::is_fit;

    #[test]
    fn an_id_that_could_upset_a_log_is_not_taken() {
        assert!(is_fit("a") && is_fit("AZ09._-") && is_fit(&"x".repeat(128)));
        for unfit in ["", "a b", "a\"b", "é", "a/b", &"x".repeat(129)] {
            assert!(!is_fit(unfit), "{unfit}");
        }
    }
}
