//! The one line that each request leaves in the log: id, operation, key, status, duration. Never a secret, an
//! email address or a body. A caller who hangs up before the answer leaves one too, without a status.

use std::any::Any;
use std::time::Instant;

use poem::Request;
use poem::http::StatusCode;

use foundation::id::KeyId;

/// A request's line, while it is being gathered.
pub(super) struct Entry {
    request_id: String,
    started: Instant,
    head: bool,
    /// Whether a line is written.
    is_logged: bool,
    /// The answer's status; `None` until there is one.
    status: Option<StatusCode>,
    /// The operation, once it is known.
    pub(super) operation: Option<&'static str>,
    /// The key, once it is known.
    pub(super) key: Option<KeyId>,
}

impl Entry {
    /// Starts the watch.
    pub(super) fn begin(request: &Request, request_id: String) -> Self {
        let head = request.method() == poem::http::Method::HEAD;
        Self {
            request_id,
            started: Instant::now(),
            head,
            is_logged: true,
            status: None,
            operation: None,
            key: None,
        }
    }

    /// The request's id.
    pub(super) fn request_id(&self) -> &str {
        &self.request_id
    }

    /// Microseconds since the watch was started.
    pub(super) fn duration_us(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Writes no line: what happened is logged elsewhere.
    pub(super) fn silence(&mut self) {
        self.is_logged = false;
    }

    /// The answer is ready: the line is written when the entry is dropped.
    pub(super) fn end(&mut self, status: StatusCode) {
        self.status = Some(status);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if !self.is_logged {
            return;
        }
        let duration_us = self.duration_us();
        tracing::info!(
            request.id = self.request_id,
            operation = self.operation.unwrap_or("-"),
            head = self.head.then_some(true),
            key.id = self.key.as_ref().map(tracing::field::display),
            status = self.status.map(|status| status.as_u16()),
            gone = self.status.is_none().then_some(true),
            duration_us,
            "request"
        );
    }
}

/// What a panic said.
pub(super) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}
