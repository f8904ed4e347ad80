//! The one line that each request leaves in the log: id, operation, key, status, duration. Never a secret, an
//! email address or a body.

use std::any::Any;
use std::time::Instant;

use poem::Request;
use poem::http::StatusCode;

use crate::id::KeyId;

/// A request's line, while it is being gathered.
pub(super) struct Entry {
    started: Instant,
    head: bool,
    /// The operation, once it is known.
    pub(super) operation: Option<&'static str>,
    /// The key, once it is known.
    pub(super) key: Option<KeyId>,
}

impl Entry {
    /// Starts the watch.
    pub(super) fn begin(request: &Request) -> Self {
        let head = request.method() == poem::http::Method::HEAD;
        Self { started: Instant::now(), head, operation: None, key: None }
    }

    /// Writes the line.
    pub(super) fn end(&self, request_id: &str, status: StatusCode) {
        let duration_us = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        tracing::info!(
            request.id = request_id,
            operation = self.operation.unwrap_or("-"),
            head = self.head.then_some(true),
            key.id = self.key.as_ref().map(tracing::field::display),
            status = status.as_u16(),
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
