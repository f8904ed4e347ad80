//! Creates request log entries. Only requests with a valid API key are logged. Secrets in the method,
//! the target, the headers and the error response are masked first.
//!
//! If the log is full or disabled, the request is counted without an entry.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use percent_encoding::percent_decode_str;
use poem::Request;
use poem::http::{HeaderMap, Uri};

use super::CallContext;
use crate::state::ApiState;
use domain::keys::Principal;
use domain::requests;
use foundation::clock::from_ms;
use foundation::id::WorkspaceId;
use web::request_context::RequestContext;
use web::secrets::{MASK, contains_secret, mask_secrets};

/// Finds [`SECRET_NAME_PARTS`] in a name, ignoring case.
static SECRET_NAMES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let mut builder = AhoCorasick::builder();
    builder.ascii_case_insensitive(true).build(SECRET_NAME_PARTS).expect("the parts are short")
});
/// A header or parameter whose name contains one of these strings is a secret.
const SECRET_NAME_PARTS: [&str; 15] = [
    "authorization",
    "authentication",
    "x-auth",
    "cookie",
    "token",
    "secret",
    "password",
    "api-key",
    "api_key",
    "apikey",
    "access-key",
    "access_key",
    "credential",
    "signature",
    "jwt",
];
/// Maximum logged length of the method.
const MAX_METHOD_BYTES: usize = 32;
/// Maximum number of logged headers.
const MAX_HEADERS: usize = 40;
/// Maximum logged length of a header value.
const MAX_VALUE_BYTES: usize = 512;
/// Maximum logged length of path and query together.
const MAX_TARGET_BYTES: usize = 2048;
/// Maximum logged length of an error response.
const MAX_ERROR_BYTES: usize = 8 * 1024;

/// The request log entry of a request that is being processed and has a valid key.
pub(super) struct RequestLogEntry {
    workspace: WorkspaceId,
    /// When the request was authenticated, in milliseconds since the epoch.
    received_ms: i64,
    /// The content of the entry; `None` if the log is full or disabled.
    content: Option<Box<requests::CompletedRequest>>,
}

impl RequestLogEntry {
    /// Creates the entry before the request reaches the operation.
    pub(super) fn begin(state: &ApiState, request: &Request, client: IpAddr, principal: &Principal) -> Self {
        let (workspace, received_ms) = (principal.workspace, state.app.clock.now_ms());
        let is_enabled = state.app.config.server.request_log;
        let has_capacity = is_enabled && state.app.requests().has_capacity(workspace, received_ms);
        if is_enabled && !has_capacity {
            state.app.requests().count_dropped();
        }
        // The fields that are not known yet are set by `end`.
        let content = || requests::CompletedRequest {
            workspace,
            key: principal.key,
            request_id: String::new(),
            operation: None,
            method: truncate(&mask_secrets(request.method().as_str()), MAX_METHOD_BYTES).to_owned(),
            target: masked_target(request.uri()),
            status: 0,
            duration_us: 0,
            address: client,
            headers: masked_headers(request.headers()),
            error: None,
            received_at: from_ms(received_ms),
        };
        Self { workspace, received_ms, content: has_capacity.then(content).map(Box::new) }
    }

    /// Counts the request and adds its entry to the log.
    pub(super) fn end(
        self,
        state: &ApiState,
        request_context: &RequestContext,
        call_context: &CallContext,
        status: u16,
    ) {
        let recorder = state.app.requests();
        recorder.count(self.workspace, self.received_ms, status);
        let Some(content) = self.content else { return };
        recorder.log(requests::CompletedRequest {
            request_id: request_context.request_id.clone(),
            operation: call_context.operation,
            status,
            duration_us: request_context.duration_us(),
            error: call_context.error_body.as_deref().map(masked_error),
            ..*content
        });
    }
}

/// Returns the logged headers by name, with secrets masked, also in names. The values of a repeated header are joined by commas.
fn masked_headers(headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut logged: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in headers.iter().take(MAX_HEADERS) {
        let text = String::from_utf8_lossy(value.as_bytes());
        let value = if is_secret(name.as_str(), &text) { MASK } else { truncate(&text, MAX_VALUE_BYTES) };
        let values = logged.entry(masked(name.as_str()).to_owned()).or_default();
        if !values.is_empty() {
            values.push_str(", ");
        }
        values.push_str(value);
    }
    logged
}

/// Returns the logged path and query. A segment, name or value that contains a secret is masked entirely.
fn masked_target(uri: &Uri) -> String {
    let mut target = uri.path().split('/').map(masked).collect::<Vec<_>>().join("/");
    if let Some(query) = uri.query() {
        let mask_pair = |pair: &str| match pair.split_once('=') {
            Some((name, value)) if is_secret(&percent_decoded(name), value) => {
                format!("{}={MASK}", masked(name))
            }
            _ => masked(pair).to_owned(),
        };
        target.push('?');
        target.push_str(&query.split('&').map(mask_pair).collect::<Vec<_>>().join("&"));
    }
    truncate(&target, MAX_TARGET_BYTES).to_owned()
}

/// Returns the text, or the mask if it contains a secret.
fn masked(text: &str) -> &str {
    if contains_secret(text) { MASK } else { text }
}

/// Returns the logged part of an error response, which can repeat what the client sent.
fn masked_error(body: &[u8]) -> Vec<u8> {
    truncate(&mask_secrets(&String::from_utf8_lossy(body)), MAX_ERROR_BYTES).as_bytes().to_vec()
}

/// Returns whether a header or parameter is a secret, by its name or its value. The name `key` is a secret, but not a
/// longer name that contains it, such as `Idempotency-Key`.
fn is_secret(name: &str, value: &str) -> bool {
    SECRET_NAMES.is_match(name) || name.eq_ignore_ascii_case("key") || contains_secret(value)
}

/// Decodes percent-encoding; invalid UTF-8 is replaced.
fn percent_decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

/// Truncates a string to a maximum length, at a character boundary.
fn truncate(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

#[cfg(test)]
mod tests {
    use poem::http::HeaderValue;

    use super::*;

    fn logged_target(uri: &str) -> String {
        masked_target(&uri.parse().unwrap())
    }

    #[test]
    fn secrets_never_reach_the_log() {
        assert_eq!(logged_target("/api/v1/courses?limit=2&slug=a%20b"), "/api/v1/courses?limit=2&slug=a%20b");
        assert_eq!(
            logged_target("/api/v1/courses?api_key=1&Token=2&key=3"),
            "/api/v1/courses?api_key=****&Token=****&key=****"
        );
        assert_eq!(
            logged_target("/a?X-Amz-Signature=1&jwt=2&design=3"),
            "/a?X-Amz-Signature=****&jwt=****&design=3"
        );
        assert_eq!(logged_target("/a?x=svc_live_abc&whsec_1"), "/a?x=****&****");
        assert_eq!(logged_target("/a?x=svc%5Flive_abc&%74oken=1"), "/a?x=****&%74oken=****");
        assert_eq!(
            logged_target("/a?svc_live_a=svc_live_a&api_key:svc_live_a=1&svc_live_a=1"),
            "/a?****=****&****=****&****"
        );
        assert_eq!(logged_target("/api/v1/svc_live_abc/x?"), "/api/v1/****/x?");
    }

    #[test]
    fn headers_are_logged_except_for_secrets() {
        let mut map = HeaderMap::new();
        for (name, value) in [
            ("authorization", "Bearer svc_live_abc"),
            ("proxy-authorization", "Basic abc"),
            ("cookie", "a=b"),
            ("x-api-key", "abc"),
            ("x-note", "my key is svc_live_abc"),
            ("svc_live_abc", "1"),
            ("idempotency-key", "order-7"),
            ("accept", "application/json"),
        ] {
            map.append(name, HeaderValue::from_static(value));
        }
        map.append("accept", HeaderValue::from_static("text/plain"));
        let logged = masked_headers(&map);
        for name in ["authorization", "proxy-authorization", "cookie", "x-api-key", "x-note"] {
            assert_eq!(logged[name], MASK, "{name}");
        }
        assert_eq!(logged[MASK], "1");
        assert_eq!(logged["idempotency-key"], "order-7");
        assert_eq!(logged["accept"], "application/json, text/plain");
    }

    #[test]
    fn logged_values_are_truncated() {
        assert_eq!(
            logged_target(&format!("/{}", "ä".repeat(4000).replace('ä', "%C3"))).len(),
            MAX_TARGET_BYTES
        );
        assert_eq!(truncate("aä", 2), "a");
    }
}
