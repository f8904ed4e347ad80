//! The state shared by the reading and the responding side of a connection, and the request that was rejected on it.
//!
//! The HTTP library receives a well-formed substitute for the rejected head, so that it keeps the order of pipelined
//! responses and closes the connection after the response to the substitute. The service converts the substitute into
//! the request that the endpoint rejects.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use poem::http::uri::Uri;
use poem::http::{HeaderName, HeaderValue};
use tokio::sync::OwnedSemaphorePermit;

use web::rejection::Rejection;

/// Headers that the response depends on, copied from the rejected head.
const COPIED_HEADERS: [&str; 2] = ["x-request-id", "x-forwarded-for"];
/// The maximum size of the path copied from a rejected request: enough to route it.
const MAX_PATH_BYTES: usize = 256;
/// The path of a request whose target has none. The API responds, since most clients are API clients.
const NO_PATH: &str = "/api/";

/// The state shared by the side of a connection that reads bytes and the side that responds to requests.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    rejected: OnceLock<RejectedRequest>,
    /// The number of requests that the library has passed to the service.
    requests: AtomicU64,
    /// Whether the connection has tried to read from the socket.
    was_polled: AtomicBool,
    /// Whether the first request is waiting for its permit.
    is_queued: AtomicBool,
    /// Whether the endpoint is processing a request.
    is_responding: AtomicBool,
    /// The permit to begin processing the first request, while the connection has it.
    permit: Mutex<Option<OwnedSemaphorePermit>>,
}

/// A rejected request, which is the last one of its connection.
#[derive(Debug)]
pub(super) struct RejectedRequest {
    /// Its position among the requests of the connection, starting at 1.
    number: u64,
    rejection: Rejection,
    target: Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Exchange {
    /// Rejects the `number`th request of the connection, which starts with `head`. Returns the substitute.
    pub(super) fn reject(&self, number: u64, rejection: Rejection, head: &[u8]) -> &'static [u8] {
        let head = head.trim_ascii_start();
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end();
        let _ = self.rejected.set(RejectedRequest {
            number,
            rejection,
            target: target(line),
            headers: copied_headers(head),
        });
        match (line.starts_with(b"HEAD "), line.ends_with(b" HTTP/1.0")) {
            (false, false) => b"GET / HTTP/1.1\r\nhost: -\r\nconnection: close\r\n\r\n",
            (false, true) => b"GET / HTTP/1.0\r\n\r\n",
            (true, false) => b"HEAD / HTTP/1.1\r\nhost: -\r\nconnection: close\r\n\r\n",
            (true, true) => b"HEAD / HTTP/1.0\r\n\r\n",
        }
    }

    /// Returns whether a request of this connection was rejected.
    pub(super) fn has_rejected(&self) -> bool {
        self.rejected.get().is_some()
    }

    /// Counts a request from the library. Returns the rejected request if this is its substitute.
    pub(super) fn next_request(&self) -> Option<&RejectedRequest> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        self.rejected.get().filter(|rejected| rejected.number == number)
    }

    /// Sets whether the endpoint is processing a request.
    pub(super) fn set_responding(&self, is_responding: bool) {
        self.is_responding.store(is_responding, Ordering::Relaxed);
    }

    /// Records that the connection has tried to read from the socket.
    pub(super) fn set_polled(&self) {
        self.was_polled.store(true, Ordering::Relaxed);
    }

    /// Returns whether the connection was read from and no request is being processed.
    pub(super) fn is_idle(&self) -> bool {
        self.was_polled.load(Ordering::Relaxed) && !self.is_responding.load(Ordering::Relaxed)
    }

    /// Sets whether the first request is waiting for its permit.
    pub(super) fn set_queued(&self, is_queued: bool) {
        self.is_queued.store(is_queued, Ordering::Relaxed);
    }

    /// Returns whether the first request is waiting for its permit.
    pub(super) fn is_queued(&self) -> bool {
        self.is_queued.load(Ordering::Relaxed)
    }

    /// Releases the current permit, if any, and stores the new one. `None` only releases.
    pub(super) fn set_permit(&self, permit: Option<OwnedSemaphorePermit>) {
        *self.permit.lock().unwrap_or_else(PoisonError::into_inner) = permit;
    }
}

impl RejectedRequest {
    /// Converts the substitute into the rejected request, with the parts of its path and its [`COPIED_HEADERS`] that
    /// could be read.
    pub(super) fn restore<B>(&self, request: &mut hyper::Request<B>) {
        *request.uri_mut() = self.target.clone();
        for (name, value) in &self.headers {
            request.headers_mut().append(name, value.clone());
        }
        request.extensions_mut().insert(self.rejection);
    }
}

/// Returns the path of a request line up to the first unexpected byte, or [`NO_PATH`] if there is none.
fn target(line: &[u8]) -> Uri {
    let mut words = line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty());
    let target = words.nth(1).unwrap_or_default();
    let path = match target.iter().position(|byte| *byte == b':') {
        Some(colon) if target[colon..].starts_with(b"://") && !target.starts_with(b"/") => {
            let after_scheme = &target[colon + b"://".len()..];
            let start = after_scheme.iter().position(|byte| *byte == b'/');
            start.map_or(&b"/"[..], |start| &after_scheme[start..])
        }
        _ => target,
    };
    let path = path.split(|byte| matches!(byte, b'?' | b'#')).next().unwrap_or_default();
    if !path.starts_with(b"/") {
        return Uri::from_static(NO_PATH);
    }
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-._~%".contains(byte);
    let length = path.iter().position(|byte| !is_plain(byte)).unwrap_or(path.len()).min(MAX_PATH_BYTES);
    Uri::try_from(&path[..length]).unwrap_or_else(|_| Uri::from_static(NO_PATH))
}

/// Returns the [`COPIED_HEADERS`] of a head.
fn copied_headers(head: &[u8]) -> Vec<(HeaderName, HeaderValue)> {
    let mut headers = Vec::new();
    for line in head.split(|byte| *byte == b'\n').skip(1).take_while(|line| !matches!(line, [] | [b'\r'])) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        let copied = COPIED_HEADERS.iter().find(|copied| name.eq_ignore_ascii_case(copied.as_bytes()));
        if let (Some(name), Ok(value)) = (copied, HeaderValue::from_bytes(value)) {
            headers.push((HeaderName::from_static(name), value));
        }
    }
    headers
}
