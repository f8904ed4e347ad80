//! The context of a request while it is processed, and its line in the access log.
//!
//! The line never contains secrets, email addresses or bodies. If the client disconnects before the response, the line
//! of an API call has no status, and other requests have no line. The line of a streamed response is written at its end.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use poem::Request;
use poem::http::Method;

use foundation::id::{KeyId, PlatformTokenId};
use foundation::telemetry::traces::Span;

use super::compress::Compressible;
use super::request_metrics::RequestMetrics;
use super::request_outcome::RequestOutcome;
use super::request_span;
use super::secrets::mask_secrets;

/// The context of a request. Use [`of`] to get it.
#[derive(Debug)]
pub struct RequestContext {
    /// The request id. The response contains it as `X-Request-Id`.
    pub request_id: String,
    /// The client's IP address.
    pub client: IpAddr,
    started: Instant,
    is_head: bool,
    /// The name of the method in spans.
    method: &'static str,
    subject: Mutex<LogSubject>,
    compressible: OnceLock<Compressible>,
    route: OnceLock<Cow<'static, str>>,
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
        /// Who calls, once the request is authenticated.
        caller: Option<CallerId>,
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

/// The credential of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallerId {
    /// An API key of a workspace.
    Key(KeyId),
    /// A token of the platform.
    PlatformToken(PlatformTokenId),
}

impl CallerId {
    fn key(self) -> Option<KeyId> {
        match self {
            Self::Key(key) => Some(key),
            Self::PlatformToken(_) => None,
        }
    }

    fn platform_token(self) -> Option<PlatformTokenId> {
        match self {
            Self::PlatformToken(token) => Some(token),
            Self::Key(_) => None,
        }
    }

    /// Returns the name of the span attribute.
    fn attribute(self) -> &'static str {
        match self {
            Self::Key(_) => "key.id",
            Self::PlatformToken(_) => "platform_token.id",
        }
    }
}

impl Display for CallerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => key.fmt(f),
            Self::PlatformToken(token) => token.fmt(f),
        }
    }
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

impl RequestContext {
    pub(crate) fn new(request: &Request, request_id: String, client: IpAddr) -> Self {
        let is_head = request.method() == Method::HEAD;
        Self {
            request_id,
            client,
            started: Instant::now(),
            is_head,
            method: request_span::method_name(request.method()),
            subject: Mutex::default(),
            compressible: OnceLock::new(),
            route: OnceLock::new(),
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

    /// Sets the template of the path that the request was routed by, for the span. Only the first call has an effect.
    pub fn set_route(&self, route: impl Into<Cow<'static, str>>) {
        self.route.get_or_init(|| route.into());
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

    /// Records the metrics of the request, writes its access log line, and ends its span.
    pub(crate) fn end(&self, metrics: &RequestMetrics, outcome: RequestOutcome, mut span: Option<Span>) {
        let duration_us = self.duration_us();
        let subject = std::mem::take(&mut *self.subject.lock().unwrap_or_else(PoisonError::into_inner));
        metrics.record(subject.operation(), outcome.label(), duration_us as f64 / 1e6);
        let trace_id = span.as_ref().map(|span| tracing::field::display(span.context().trace_id()));
        if let Some(span) = &mut span {
            span.set("request.id", self.request_id.clone());
            if let LogSubject::Call { caller: Some(caller), .. } = &subject {
                span.set(caller.attribute(), caller.to_string());
            }
        }
        match (subject, outcome.status().map(|status| status.as_u16())) {
            (LogSubject::Silent, _) | (LogSubject::Page { .. } | LogSubject::Rejected { .. }, None) => {}
            (LogSubject::Call { operation, caller }, status) => tracing::info!(
                request.id = self.request_id,
                trace_id,
                operation = operation.unwrap_or("-"),
                head = self.is_head.then_some(true),
                key.id = caller.and_then(CallerId::key).map(tracing::field::display),
                platform_token.id = caller.and_then(CallerId::platform_token).map(tracing::field::display),
                status,
                gone = matches!(outcome, RequestOutcome::Canceled(_)).then_some(true),
                ended = matches!(outcome, RequestOutcome::Ended(_)).then_some(true),
                failed = matches!(outcome, RequestOutcome::Failed(_)).then_some(true),
                duration_us,
                "request"
            ),
            (LogSubject::Page { method, path }, Some(status)) => {
                let request_id = self.request_id.as_str();
                let (method, path) = (request_span::method_name(&method), &*mask_secrets(&path));
                tracing::info!(request.id = request_id, trace_id, method, path, status, duration_us, "page");
            }
            (LogSubject::Rejected { reason }, Some(status)) => {
                tracing::info!(request.id = self.request_id, trace_id, status, reason, "request");
            }
        }
        if let Some(span) = span {
            request_span::end(span, self.method, self.route.get(), outcome);
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
