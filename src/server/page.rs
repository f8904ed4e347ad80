//! The responses of public pages, with their security headers.

use poem::http::{HeaderValue, Method, StatusCode, header};
use poem::{Body, Response};

/// The content security policy of pages: no scripts, no inline styles, no external resources.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

/// Adds the security headers of a page, with this content security policy.
pub(super) fn with_security_headers(mut response: Response, policy: &'static str) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    response
}

/// Returns an HTML page.
pub(super) fn html(text: String) -> Response {
    let page = Response::builder()
        .content_type("text/html; charset=utf-8")
        .header(header::CACHE_CONTROL, "public, max-age=300")
        .body(text);
    with_security_headers(page, PAGE_POLICY)
}

/// Returns a JSON file.
pub(super) fn json(text: &'static str) -> Response {
    let file = Response::builder()
        .content_type("application/json")
        .header(header::CACHE_CONTROL, "public, max-age=300")
        .body(text);
    with_security_headers(file, PAGE_POLICY)
}

/// Returns the style sheet of the pages.
pub(super) fn style() -> Response {
    let style = Response::builder()
        .content_type("text/css; charset=utf-8")
        .header(header::CACHE_CONTROL, "public, max-age=300")
        .body(include_str!("page.css"));
    with_security_headers(style, PAGE_POLICY)
}

/// Returns the 404 response of the server.
pub(super) fn not_found() -> Response {
    plain(StatusCode::NOT_FOUND, "Not found. The API is at /api/v1/, its documentation at /docs/.\n")
}

/// Returns the 404 response of a worker.
pub(super) fn worker_not_found() -> Response {
    plain(StatusCode::NOT_FOUND, "Not found. A worker serves /metrics, /healthz and /readyz.\n")
}

/// Returns whether a method is `GET` or `HEAD`.
pub(super) fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Returns the 405 response to a method other than `GET` and `HEAD`.
pub(super) fn method_not_allowed() -> Response {
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "This path supports GET and HEAD only.\n");
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    response
}

/// Returns a plain-text response.
pub(super) fn plain(status: StatusCode, text: &'static str) -> Response {
    let response = Response::builder()
        .status(status)
        .content_type("text/plain; charset=utf-8")
        .header(header::CACHE_CONTROL, "no-store")
        .body(Body::from(text));
    with_security_headers(response, PAGE_POLICY)
}
