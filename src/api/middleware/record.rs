//! What is kept of a request for the request log: of a known key's alone, with every secret masked before it is kept.
//!
//! Costs little when the log has no room: then nothing is put together, and the request is only counted.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;

use percent_encoding::percent_decode_str;
use poem::Request;
use poem::http::{HeaderMap, Uri};

use super::Seen;
use crate::front::Front;
use domain::keys::Principal;
use domain::requests;
use foundation::clock::from_ms;
use foundation::id::WorkspaceId;
use web::access::Access;

/// What stands for a secret.
const MASK: &str = "****";
/// Parts of the names of headers and parameters whose values are secrets.
const SECRET_NAMES: [&str; 15] = [
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
/// What our own secrets begin with, wherever they stand.
const SECRETS: [&str; 2] = ["svc_live_", "whsec_"];
/// Headers kept of a request at most.
const MOST_HEADERS: usize = 40;
/// Bytes kept of a header's value.
const MOST_VALUE: usize = 512;
/// Bytes kept of path and query.
const MOST_TARGET: usize = 2048;
/// Bytes kept of an error's envelope.
const MOST_ERROR: usize = 8 * 1024;

/// A request of a known key, while it is being answered.
pub(super) struct Record {
    workspace: WorkspaceId,
    received_ms: i64,
    /// What the log gets; `None` when it has no room or is switched off.
    entry: Option<Box<requests::Request>>,
}

impl Record {
    /// Keeps what is known before the operation takes the request.
    pub(super) fn begin(front: &Front, request: &Request, client: IpAddr, principal: &Principal) -> Self {
        let (workspace, received_ms) = (principal.workspace, front.app.clock.now_ms());
        let log = front.app.config.server.request_log;
        let room = log && front.app.requests().has_room(workspace, received_ms);
        if log && !room {
            front.app.requests().drop_one();
        }
        let entry = || requests::Request {
            workspace,
            key: principal.key,
            request_id: String::new(),
            operation: None,
            method: cut(request.method().as_str(), 32).to_owned(),
            target: target(request.uri()),
            status: 0,
            duration_us: 0,
            address: client,
            headers: headers(request.headers()),
            error: None,
            received_at: from_ms(received_ms),
        };
        Self { workspace, received_ms, entry: room.then(entry).map(Box::new) }
    }

    /// Counts the request, and hands it to the log.
    pub(super) fn end(self, front: &Front, access: &Access, seen: &Seen, status: u16) {
        let recorder = front.app.requests();
        recorder.count(self.workspace, self.received_ms, status);
        let Some(entry) = self.entry else { return };
        recorder.log(requests::Request {
            request_id: access.request_id.clone(),
            operation: seen.operation,
            status,
            duration_us: access.duration_us(),
            error: seen.error.as_ref().map(|body| body[..body.len().min(MOST_ERROR)].to_vec()),
            ..*entry
        });
    }
}

/// The headers by name, those of one name joined.
fn headers(headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut kept: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in headers.iter().take(MOST_HEADERS) {
        let text = String::from_utf8_lossy(value.as_bytes());
        let shown = if is_secret(name.as_str(), &text) { MASK } else { cut(&text, MOST_VALUE) };
        let line = kept.entry(name.as_str().to_owned()).or_default();
        if !line.is_empty() {
            line.push_str(", ");
        }
        line.push_str(shown);
    }
    kept
}

/// Path and query; what holds a secret is masked whole.
fn target(uri: &Uri) -> String {
    let segment = |text: &str| if holds_secret(text) { MASK.to_owned() } else { text.to_owned() };
    let mut kept = uri.path().split('/').map(segment).collect::<Vec<_>>().join("/");
    if let Some(given) = uri.query() {
        let pair = |pair: &str| match pair.split_once('=') {
            Some((name, value)) if is_secret(&decoded(name), value) => format!("{name}={MASK}"),
            _ if holds_secret(pair) => MASK.to_owned(),
            _ => pair.to_owned(),
        };
        kept.push('?');
        kept.push_str(&given.split('&').map(pair).collect::<Vec<_>>().join("&"));
    }
    cut(&kept, MOST_TARGET).to_owned()
}

/// Whether the value under this name is a secret, by the name or by itself. An idempotency key is none.
fn is_secret(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part)) || name == "key" || holds_secret(value)
}

/// Whether one of our secrets stands in the text, encoded for an address or not.
fn holds_secret(text: &str) -> bool {
    let text = decoded(text);
    SECRETS.iter().any(|secret| text.contains(secret))
}

/// The text without the encoding of addresses, as far as that is sound.
fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

/// The beginning of the text.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

#[cfg(test)]
mod tests {
    use poem::http::HeaderValue;

    use super::*;

    fn shown(uri: &str) -> String {
        target(&uri.parse().unwrap())
    }

    #[test]
    fn secrets_never_reach_the_log() {
        assert_eq!(shown("/api/v1/courses?limit=2&slug=a%20b"), "/api/v1/courses?limit=2&slug=a%20b");
        assert_eq!(
            shown("/api/v1/courses?api_key=1&Token=2&key=3"),
            "/api/v1/courses?api_key=****&Token=****&key=****"
        );
        assert_eq!(shown("/a?X-Amz-Signature=1&jwt=2&design=3"), "/a?X-Amz-Signature=****&jwt=****&design=3");
        assert_eq!(shown("/a?x=svc_live_abc&whsec_1"), "/a?x=****&****");
        assert_eq!(shown("/a?x=svc%5Flive_abc&%74oken=1"), "/a?x=****&%74oken=****");
        assert_eq!(shown("/api/v1/svc_live_abc/x?"), "/api/v1/****/x?");
    }

    #[test]
    fn headers_are_kept_but_for_secrets() {
        let mut map = HeaderMap::new();
        for (name, value) in [
            ("authorization", "Bearer svc_live_abc"),
            ("proxy-authorization", "Basic abc"),
            ("cookie", "a=b"),
            ("x-api-key", "abc"),
            ("x-note", "my key is svc_live_abc"),
            ("idempotency-key", "order-7"),
            ("accept", "application/json"),
        ] {
            map.append(name, HeaderValue::from_static(value));
        }
        map.append("accept", HeaderValue::from_static("text/plain"));
        let kept = headers(&map);
        for name in ["authorization", "proxy-authorization", "cookie", "x-api-key", "x-note"] {
            assert_eq!(kept[name], MASK, "{name}");
        }
        assert_eq!(kept["idempotency-key"], "order-7");
        assert_eq!(kept["accept"], "application/json, text/plain");
    }

    #[test]
    fn what_is_kept_has_an_end() {
        assert_eq!(shown(&format!("/{}", "ä".repeat(4000).replace('ä', "%C3"))).len(), MOST_TARGET);
        assert_eq!(cut("aä", 2), "a");
    }
}
