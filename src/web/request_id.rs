//! Reads and writes the request id (`X-Request-Id`), which clients can choose.

use poem::http::{HeaderName, HeaderValue};
use poem::{Request, Response};

use super::secrets::contains_secret;

/// The header that contains the id, in requests and responses.
const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Returns the id that the client sent, if it sent exactly one and it is valid.
pub(crate) fn from_request(request: &Request) -> Option<String> {
    let mut values = request.headers().get_all(HEADER).iter();
    match (values.next().and_then(|value| value.to_str().ok()), values.next()) {
        (Some(id), None) if is_valid(id) => Some(id.to_owned()),
        _ => None,
    }
}

/// Sets the header `X-Request-Id` of a response.
pub(crate) fn set_header(response: &mut Response, id: &str) {
    if let Ok(id) = HeaderValue::from_str(id) {
        response.headers_mut().insert(HEADER, id);
    }
}

/// Returns whether an id has 1 to 128 characters of `[A-Za-z0-9._-]` and contains no secret, so that it is safe in logs.
fn is_valid(id: &str) -> bool {
    (1..=128).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
        && !contains_secret(id)
}

#[cfg(test)]
mod tests {
    use super::is_valid;

    #[test]
    fn an_id_with_unsafe_characters_is_rejected() {
        assert!(is_valid("a") && is_valid("AZ09._-") && is_valid(&"x".repeat(128)));
        for invalid in ["", "a b", "a\"b", "é", "a/b", "svc_live_a", &"x".repeat(129)] {
            assert!(!is_valid(invalid), "{invalid}");
        }
    }
}
