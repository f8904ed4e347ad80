//! Pages for people, and the headers that keep them from being misused.

use poem::http::{HeaderValue, Method, StatusCode, header};
use poem::{Body, Response};

/// No script and no inline style; nothing from elsewhere.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

/// Adds the headers that every page has, with its own policy of what it may load.
pub(super) fn guard(mut response: Response, policy: &'static str) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    response
}

/// A page.
pub(super) fn html(text: String) -> Response {
    let page = Response::builder()
        .content_type("text/html; charset=utf-8")
        .header(header::CACHE_CONTROL, "public, max-age=300")
        .body(text);
    guard(page, PAGE_POLICY)
}

/// A file for programs.
pub(super) fn json(text: &'static str) -> Response {
    let file = Response::builder()
        .content_type("application/json")
        .header(header::CACHE_CONTROL, "public, max-age=300")
        .body(text);
    guard(file, PAGE_POLICY)
}

/// The style sheet of the pages.
pub(super) fn style() -> Response {
    let style = Response::builder()
        .content_type("text/css; charset=utf-8")
        .header(header::CACHE_CONTROL, "public, max-age=300")
        .body(include_str!("page.css"));
    guard(style, PAGE_POLICY)
}

/// Nothing here.
pub(super) fn not_found() -> Response {
    plain(
        StatusCode::NOT_FOUND,
        "There is nothing here. The API is under /api/v1/, its documents under /docs/.\n",
    )
}

/// Nothing here, of a worker.
pub(super) fn nothing_of_a_worker() -> Response {
    plain(StatusCode::NOT_FOUND, "There is nothing here. A worker shows /metrics, /healthz and /readyz.\n")
}

/// Whether a method only reads.
pub(super) fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Pages are only read.
pub(super) fn wrong_method() -> Response {
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "This path takes GET and HEAD.\n");
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    response
}

/// A line of text.
pub(super) fn plain(status: StatusCode, text: &'static str) -> Response {
    let response = Response::builder()
        .status(status)
        .content_type("text/plain; charset=utf-8")
        .header(header::CACHE_CONTROL, "no-store")
        .body(Body::from(text));
    guard(response, PAGE_POLICY)
}
