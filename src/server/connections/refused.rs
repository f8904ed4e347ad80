//! A refused request on its way to the endpoint that answers it.
//!
//! The HTTP library gets a well-formed substitute for the refused head, so that it keeps the order of pipelined
//! responses and closes the connection after this one. The service then turns the substitute into the request that the
//! endpoint refuses.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use poem::http::uri::Uri;
use poem::http::{HeaderName, HeaderValue};
use tokio::sync::OwnedSemaphorePermit;

use web::rejection::Rejection;

/// Headers that the answer depends on, where the refused head has them.
const KEPT: [&str; 2] = ["x-request-id", "x-forwarded-for"];
/// Bytes of a refused path that are kept: enough to tell which part of the server it belongs to.
const MAX_PATH_BYTES: usize = 256;
/// The path of a request whose target names none. The API answers it, since most clients are its clients.
const NO_PATH: &str = "/api/";

/// What the two sides of a connection share: the one that reads bytes and the one that answers requests.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    refused: OnceLock<Refused>,
    requests: AtomicU64,
    was_polled: AtomicBool,
    is_queued: AtomicBool,
    is_answering: AtomicBool,
    permit: Mutex<Option<OwnedSemaphorePermit>>,
}

/// A refused request, which is the last one of its connection.
#[derive(Debug)]
pub(super) struct Refused {
    /// Its place among the requests of the connection, from 1 on.
    number: u64,
    rejection: Rejection,
    target: Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Exchange {
    /// Refuses the request that is the `number`th of the connection and begins with `head`. Returns the substitute.
    pub(super) fn refuse(&self, number: u64, rejection: Rejection, head: &[u8]) -> &'static [u8] {
        let head = head.trim_ascii_start();
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end();
        let _ = self.refused.set(Refused { number, rejection, target: target(line), headers: kept(head) });
        match (line.starts_with(b"HEAD "), line.ends_with(b" HTTP/1.0")) {
            (false, false) => b"GET / HTTP/1.1\r\nhost: -\r\nconnection: close\r\n\r\n",
            (false, true) => b"GET / HTTP/1.0\r\n\r\n",
            (true, false) => b"HEAD / HTTP/1.1\r\nhost: -\r\nconnection: close\r\n\r\n",
            (true, true) => b"HEAD / HTTP/1.0\r\n\r\n",
        }
    }

    /// Whether a request of this connection was refused.
    pub(super) fn has_refused(&self) -> bool {
        self.refused.get().is_some()
    }

    /// Counts a request that the library hands over; returns what was refused when it is a substitute.
    pub(super) fn next(&self) -> Option<&Refused> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        self.refused.get().filter(|refused| refused.number == number)
    }

    /// Marks the time in which the endpoint answers a request.
    pub(super) fn set_answering(&self, is_answering: bool) {
        self.is_answering.store(is_answering, Ordering::Relaxed);
    }

    /// The task of the connection has tried to read from the socket.
    pub(super) fn set_polled(&self) {
        self.was_polled.store(true, Ordering::Relaxed);
    }

    /// Whether the connection was read from and no request is being answered.
    pub(super) fn is_idle(&self) -> bool {
        self.was_polled.load(Ordering::Relaxed) && !self.is_answering.load(Ordering::Relaxed)
    }

    /// Marks the time in which the first request waits for its permit.
    pub(super) fn set_queued(&self, is_queued: bool) {
        self.is_queued.store(is_queued, Ordering::Relaxed);
    }

    /// Whether the first request waits for its permit.
    pub(super) fn is_queued(&self) -> bool {
        self.is_queued.load(Ordering::Relaxed)
    }

    /// Keeps this permit; the one before is returned.
    pub(super) fn hold_permit(&self, permit: Option<OwnedSemaphorePermit>) {
        *self.permit.lock().unwrap_or_else(PoisonError::into_inner) = permit;
    }
}

impl Refused {
    /// Turns the substitute into the refused request, as far as that could be read.
    pub(super) fn restore<B>(&self, request: &mut hyper::Request<B>) {
        *request.uri_mut() = self.target.clone();
        for (name, value) in &self.headers {
            request.headers_mut().append(name, value.clone());
        }
        request.extensions_mut().insert(self.rejection);
    }
}

/// The path that a request line names.
fn target(line: &[u8]) -> Uri {
    let mut words = line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty());
    let target = words.nth(1).unwrap_or_default();
    let path = match target.iter().position(|byte| *byte == b':') {
        Some(at) if target[at..].starts_with(b"://") && !target.starts_with(b"/") => {
            let rest = &target[at + 3..];
            rest.iter().position(|byte| *byte == b'/').map_or(&b"/"[..], |start| &rest[start..])
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

/// The kept headers, from those lines of a head that hold one.
fn kept(head: &[u8]) -> Vec<(HeaderName, HeaderValue)> {
    let mut kept = Vec::new();
    for line in head.split(|byte| *byte == b'\n').skip(1).take_while(|line| !matches!(line, [] | [b'\r'])) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        let known = KEPT.iter().find(|known| name.eq_ignore_ascii_case(known.as_bytes()));
        if let (Some(name), Ok(value)) = (known, HeaderValue::from_bytes(value)) {
            kept.push((HeaderName::from_static(name), value));
        }
    }
    kept
}
