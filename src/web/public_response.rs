//! The security headers of public pages, and plain-text responses.

use poem::http::{HeaderValue, Method, StatusCode, header};
use poem::{Body, Response};

/// The content security policy of files that are not pages: nothing is loaded.
pub const FILE_POLICY: &str =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Adds the security headers of a page, with this content security policy.
pub fn with_security_headers(mut response: Response, policy: &'static str) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    response
}

/// Returns the 404 response of the server.
pub fn not_found() -> Response {
    plain(StatusCode::NOT_FOUND, "Not found. The API is at /api/v1/, its documentation at /docs.\n")
}

/// Returns the 404 response of a worker.
pub fn worker_not_found() -> Response {
    plain(StatusCode::NOT_FOUND, "Not found. A worker serves /metrics, /healthz and /readyz.\n")
}

/// Returns whether a method is `GET` or `HEAD`.
pub fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Returns the 405 response to a method other than `GET` and `HEAD`.
pub fn method_not_allowed() -> Response {
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "This path supports GET and HEAD only.\n");
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    response
}

/// Returns a plain-text response.
pub fn plain(status: StatusCode, text: &'static str) -> Response {
    let response = Response::builder()
        .status(status)
        .content_type("text/plain; charset=utf-8")
        .header(header::CACHE_CONTROL, "no-store")
        .body(Body::from(text));
    with_security_headers(response, FILE_POLICY)
}
