//! The span of a request, with the names and attributes of the semantic conventions of OpenTelemetry.
//!
//! It contains neither the query nor headers. Parts of the path that could be secrets or addresses are masked.

use std::borrow::Cow;

use poem::Request;
use poem::http::{HeaderMap, Method, header};

use super::client;
use super::request_outcome::RequestOutcome;
use super::secrets::{MASK, contains_secret};
use foundation::config::Network;
use foundation::telemetry::traces::{self, Span, SpanContext, SpanKind};

/// Requests of monitoring systems, which are not part of a trace.
const MONITORING_PATHS: [&str; 3] = ["/healthz", "/readyz", "/metrics"];
/// The longest segment of a path that is not masked. Ids are shorter, secrets are longer.
const MAX_SEGMENT_BYTES: usize = 36;

/// Starts the span of a request. Continues the trace of a trusted proxy; other requests start a new trace. Returns
/// `None` if the trace is not recorded.
pub(crate) fn start(request: &Request, trusted_proxies: &[Network]) -> Option<Span> {
    if !traces::is_enabled() || MONITORING_PATHS.contains(&request.uri().path()) {
        return None;
    }
    let is_proxied = client::is_trusted_proxy(request, trusted_proxies);
    let parent = is_proxied.then(|| remote_parent(request.headers())).flatten();
    let method = method_name(request.method());
    let name = if method == "_OTHER" { "HTTP" } else { method };
    let mut span = Span::start_root(name, SpanKind::Server, parent.as_ref())?;
    span.set("http.request.method", method);
    span.set("url.path", masked_path(request.uri().path()));
    let is_secure = is_proxied && single(request.headers(), "x-forwarded-proto") == Some("https");
    span.set("url.scheme", if is_secure { "https" } else { "http" });
    if let Some(host) = single(request.headers(), header::HOST.as_str()).and_then(host_name) {
        span.set("server.address", host.to_owned());
    }
    Some(span)
}

/// Completes the span of a request.
pub(crate) fn end(mut span: Span, method: &str, route: Option<&Cow<'static, str>>, outcome: RequestOutcome) {
    if let Some(route) = route {
        span.rename(format!("{method} {route}"));
        span.set("http.route", route.clone().into_owned());
    }
    if let Some(status) = outcome.status() {
        span.set("http.response.status_code", i64::from(status.as_u16()));
    }
    match outcome {
        RequestOutcome::Complete(status) if status.is_server_error() => {
            span.fail(status.as_str().to_owned());
        }
        RequestOutcome::Complete(_) | RequestOutcome::Ended(_) => {}
        RequestOutcome::Canceled(_) => span.fail("canceled"),
        RequestOutcome::Failed(_) => span.fail("the response body failed"),
    }
}

/// Returns the name of the method in spans. Clients can send any other name.
pub(crate) fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "_OTHER",
    }
}

/// Returns the span that a proxy sent, if its headers are valid.
fn remote_parent(headers: &HeaderMap) -> Option<SpanContext> {
    traces::remote_parent(single(headers, "traceparent")?, single(headers, "tracestate"))
}

/// Returns the value of a header that is sent once.
fn single<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// Returns the name or address in a `Host` header, without the port.
fn host_name(host: &str) -> Option<&str> {
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    let host = host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')).map_or(host, |(name, _)| name);
    (!host.is_empty() && host.len() <= 255 && host.bytes().all(is_host) && !contains_secret(host))
        .then_some(host)
}

/// Returns a path in which only segments remain that look like words or ids.
fn masked_path(path: &str) -> String {
    let is_visible = |segment: &str| {
        segment.len() <= MAX_SEGMENT_BYTES
            && !contains_secret(segment)
            && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    let segments = path.split('/').take(32).map(|segment| if is_visible(segment) { segment } else { MASK });
    segments.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_and_ids_of_a_path_are_visible() {
        let student = "/api/v1/students/stu_01kdvdna00evqvqnxgeqgkd28a";
        assert_eq!(masked_path(student), student);
        assert_eq!(masked_path("/api/v1/students/ada@example.com/x"), "/api/v1/students/****/x");
        assert_eq!(masked_path("/api/v1/students/ada%40example.com"), "/api/v1/students/****");
        let key = format!("/api/v1/svc_live_{}", "a".repeat(43));
        assert_eq!(masked_path(&key), "/api/v1/****");
        assert_eq!(masked_path("/api/v1/svc_live_abc"), "/api/v1/****");
    }

    #[test]
    fn the_host_has_no_port() {
        assert_eq!(host_name("api.example.com"), Some("api.example.com"));
        assert_eq!(host_name("localhost:8080"), Some("localhost"));
        assert_eq!(host_name("[::1]:8080"), Some("[::1]"));
        assert_eq!(host_name("[::1]"), Some("[::1]"));
        assert_eq!(host_name("ada@example.com"), None);
        assert_eq!(host_name("svc_live_abc"), None);
    }
}
