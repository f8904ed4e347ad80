//! The context of a request while it is processed, and its line in the access log.
//!
//! The line never contains secrets, email addresses or bodies. If the client disconnects before the response, the line
//! of an API call has no status, and other requests have no line.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use poem::Request;
use poem::http::{Method, StatusCode};

use foundation::id::KeyId;

use super::compress::Compressible;
use super::request_metrics::RequestMetrics;

/// The context of a request. Use [`of`] to get it.
#[derive(Debug)]
pub struct RequestContext {
    /// The request id. The response contains it as `X-Request-Id`.
    pub request_id: String,
    /// The client's IP address.
    pub client: IpAddr,
    started: Instant,
    is_head: bool,
    subject: Mutex<LogSubject>,
    compressible: OnceLock<Compressible>,
}

/// What the access log says about a request. By default, the request is not logged.
#[derive(Debug, Clone, Default)]
pub enum LogSubject {
    /// The request is not logged.
    #[default]
    Silent,
    /// A call of the API.
    Call {
        /// The operation, once the request is routed.
        operation: Option<&'static str>,
        /// The key, once the request is authenticated.
        key: Option<KeyId>,
    },
    /// A request outside of the API that was rejected by its connection.
    Rejected {
        /// The reason.
        reason: &'static str,
    },
    /// A request of the dashboard, except for static files.
    Page {
        /// The method.
        method: Method,
        /// The path, without the query.
        path: String,
    },
}

impl LogSubject {
    /// Returns the value of the label `operation`.
    fn operation(&self) -> &'static str {
        match self {
            Self::Call { operation: Some(operation), .. } => operation,
            Self::Page { .. } => "dashboard",
            Self::Call { operation: None, .. } | Self::Silent | Self::Rejected { .. } => "other",
        }
    }
}

/// Returns the value of the label `status`.
fn status_class(status: Option<StatusCode>) -> &'static str {
    match status.map(|status| status.as_u16() / 100) {
        None => "canceled",
        Some(1) => "1xx",
        Some(2) => "2xx",
        Some(3) => "3xx",
        Some(4) => "4xx",
        Some(_) => "5xx",
    }
}

impl RequestContext {
    pub(crate) fn new(request: &Request, request_id: String, client: IpAddr) -> Self {
        let is_head = request.method() == Method::HEAD;
        Self {
            request_id,
            client,
            started: Instant::now(),
            is_head,
            subject: Mutex::default(),
            compressible: OnceLock::new(),
        }
    }

    /// Returns whether the method is `HEAD`. Handlers see such a request as `GET`.
    pub fn is_head(&self) -> bool {
        self.is_head
    }

    /// Sets what the access log says about the request.
    pub fn set_log_subject(&self, subject: LogSubject) {
        *self.subject.lock().unwrap_or_else(PoisonError::into_inner) = subject;
    }

    /// Allows compression of the response if the client accepts it. Only the first call has an effect.
    pub fn allow_compression(&self, compressible: Compressible) {
        self.compressible.get_or_init(|| compressible);
    }

    pub(crate) fn compressible(&self) -> Option<&Compressible> {
        self.compressible.get()
    }

    /// Returns the time since the request was received, in microseconds.
    pub fn duration_us(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Records the metrics of the request, and writes its access log line. `status` is `None` if the client disconnected before
    /// the response.
    pub(crate) fn end(&self, metrics: &RequestMetrics, status: Option<StatusCode>) {
        let duration_us = self.duration_us();
        let subject = std::mem::take(&mut *self.subject.lock().unwrap_or_else(PoisonError::into_inner));
        metrics.record(subject.operation(), status_class(status), duration_us as f64 / 1e6);
        match (subject, status.map(|status| status.as_u16())) {
            (LogSubject::Silent, _) | (LogSubject::Page { .. } | LogSubject::Rejected { .. }, None) => {}
            (LogSubject::Call { operation, key }, status) => tracing::info!(
                request.id = self.request_id,
                operation = operation.unwrap_or("-"),
                head = self.is_head.then_some(true),
                key.id = key.as_ref().map(tracing::field::display),
                status,
                gone = status.is_none().then_some(true),
                duration_us,
                "request"
            ),
            (LogSubject::Page { method, path }, Some(status)) => {
                tracing::info!(%method, path, status, duration_us, "page");
            }
            (LogSubject::Rejected { reason }, Some(status)) => {
                tracing::info!(request.id = self.request_id, status, reason, "request");
            }
        }
    }
}

/// Returns the context of a request.
///
/// # Panics
/// Panics when the request did not pass through [`RequestLayer`](crate::layer::RequestLayer), which is a bug in the
/// composition of the server.
pub fn of(request: &Request) -> Arc<RequestContext> {
    Arc::clone(request.extensions().get().expect("every request passes through `RequestLayer`"))
}
