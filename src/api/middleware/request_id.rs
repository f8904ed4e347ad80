//! The id of a request: the caller's own when it is fit, otherwise one of ours.

use poem::http::{HeaderName, HeaderValue};
use poem::{Request, Response};

use domain::app::App;
use foundation::id::RequestId;

/// The header, in both directions.
pub(super) const HEADER: &str = "x-request-id";

/// The request's id.
pub fn of(request: &Request, app: &App) -> String {
    let mut given = request.headers().get_all(HEADER).iter();
    match (given.next().and_then(|value| value.to_str().ok()), given.next()) {
        (Some(own), None) if is_fit(own) => own.to_owned(),
        _ => {
            let id: RequestId = app.ids.next(app.clock.now());
            id.to_string()
        }
    }
}

/// Names the request in its response.
pub fn stamp(response: &mut Response, id: &str) {
    if let Ok(id) = HeaderValue::from_str(id) {
        response.headers_mut().insert(HeaderName::from_static(HEADER), id);
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
