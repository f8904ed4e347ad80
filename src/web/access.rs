//! What is known about a request while it is answered, and the line that it leaves in the log.
//!
//! A line never contains a secret, an email address or a body. A client that disconnects before the response leaves a
//! line too, without a status.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use poem::Request;
use poem::http::{Method, StatusCode};

use foundation::id::KeyId;

use super::compress::Compressible;

/// A request while it is answered. [`of`] finds it.
#[derive(Debug)]
pub struct Access {
    /// The request's id, as the response carries it.
    pub request_id: String,
    /// The client's address.
    pub client: IpAddr,
    started: Instant,
    is_head: bool,
    subject: Mutex<LogSubject>,
    compressible: OnceLock<Compressible>,
}

/// What a request is about, for the log.
#[derive(Debug, Clone, Default)]
pub enum LogSubject {
    /// Something that leaves no line.
    #[default]
    Silent,
    /// A call of the API.
    Call {
        /// The operation, once it is known.
        operation: Option<&'static str>,
        /// The key, once it is known.
        key: Option<KeyId>,
    },
    /// A request outside of the API that its connection refused.
    Refused {
        /// Why.
        reason: &'static str,
    },
    /// A page of the dashboard.
    Page {
        /// The method.
        method: Method,
        /// The path, without the query.
        path: String,
    },
}

impl Access {
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

    /// Sets what the request is about.
    pub fn set(&self, subject: LogSubject) {
        *self.subject.lock().unwrap_or_else(PoisonError::into_inner) = subject;
    }

    /// Has the response compressed when the client accepts that. The first call decides.
    pub fn allow_compression(&self, compressible: Compressible) {
        self.compressible.get_or_init(|| compressible);
    }

    pub(crate) fn compressible(&self) -> Option<&Compressible> {
        self.compressible.get()
    }

    /// Microseconds from the arrival of the request until now.
    pub fn duration_us(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Writes the line; without a status, the client disconnected before the response.
    pub(crate) fn log(&self, status: Option<StatusCode>) {
        let duration_us = self.duration_us();
        let subject = std::mem::take(&mut *self.subject.lock().unwrap_or_else(PoisonError::into_inner));
        match (subject, status.map(|status| status.as_u16())) {
            (LogSubject::Silent, _) | (LogSubject::Page { .. } | LogSubject::Refused { .. }, None) => {}
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
            (LogSubject::Refused { reason }, Some(status)) => {
                tracing::info!(request.id = self.request_id, status, reason, "request");
            }
        }
    }
}

/// What is known about a request.
///
/// # Panics
/// When the request did not come through [`Layer`](crate::layer::Layer): a mistake in the composition of the server.
pub fn of(request: &Request) -> Arc<Access> {
    Arc::clone(request.extensions().get().expect("every request comes through the layer"))
}
