//! Compares accepted requests and their responses with a candidate contract, off the request path.
//!
//! A selected request is copied before its operation is called, and queued once the response is ready. One thread of the operating
//! system validates the queued requests. A request that does not fit into the queue is counted as dropped. Bodies and values are
//! never stored.

mod contract;
mod validation;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use anyhow::Context;
use bytes::Bytes;
use poem::Request;
use poem::http::{HeaderMap, StatusCode, header};

use contract_runtime::call::PathParameters;
use contract_runtime::contract::{Contract, Operation};
use domain::app::App;
use domain::candidate::{Caller, Sampled};
use domain::keys::Principal;

/// The maximum number of queued requests.
const MAX_QUEUED: usize = 1_024;
/// The maximum size of all queued requests and responses together.
const MAX_QUEUED_BYTES: usize = 8 * 1024 * 1024;
/// The estimated size of a queued request without its parts.
const REQUEST_BYTES: usize = 1024;
/// The stack of the thread. Validators call themselves once or more for each level of a body, which has at most 64.
const STACK_BYTES: usize = 16 * 1024 * 1024;

/// A candidate contract and the queue of requests to compare with it.
pub struct Candidate {
    app: App,
    /// The indices of the operations by id.
    operations: HashMap<&'static str, usize>,
    queue: SyncSender<QueuedRequest>,
    queued_bytes: Arc<AtomicUsize>,
}

/// A request that is compared with the candidate if the server accepts it.
pub(crate) struct Observation {
    candidate: Arc<Candidate>,
    caller: Caller,
    received_ms: i64,
    /// The weight and the parts of the request; `None` if it was not selected.
    selected: Option<(u32, RequestParts)>,
}

/// The parts of a request that a contract describes.
struct RequestParts {
    path: Vec<String>,
    query: String,
    headers: HeaderMap,
    body: Bytes,
}

/// A request that waits for its validation.
struct QueuedRequest {
    sampled: Sampled,
    parts: RequestParts,
    status: StatusCode,
    response: Bytes,
}

impl QueuedRequest {
    fn bytes(&self) -> usize {
        let RequestParts { path, query, headers, body } = &self.parts;
        let headers: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        let path: usize = path.iter().map(String::len).sum();
        REQUEST_BYTES + path + query.len() + headers + body.len() + self.response.len()
    }
}

impl Candidate {
    /// Reads the candidate of the contract that a server serves, and starts the thread that validates.
    ///
    /// # Errors
    /// Returns an error with a remedy when the file cannot be read or is too large, or when its contract is invalid, nested too deep,
    /// or of another API.
    pub fn open(app: &App, base: &Contract, path: &Path) -> anyhow::Result<Arc<Self>> {
        let operations = contract::read(base, path)?;
        app.candidate().observe(operations.iter().map(|operation| operation.observed.clone()).collect());
        let indices =
            operations.iter().enumerate().map(|(index, operation)| (operation.observed.id, index)).collect();
        let (queue, queued) = sync_channel(MAX_QUEUED);
        let queued_bytes = Arc::new(AtomicUsize::new(0));
        let (thread_app, thread_bytes) = (app.clone(), Arc::clone(&queued_bytes));
        let thread = std::thread::Builder::new().name("candidate".to_owned()).stack_size(STACK_BYTES);
        let run = move || validation::run(&thread_app, &operations, &queued, &thread_bytes);
        thread.spawn(run).context("the thread that validates requests cannot be started")?;
        Ok(Arc::new(Self { app: app.clone(), operations: indices, queue, queued_bytes }))
    }

    /// Copies a request if it is selected. Returns `None` if the operation is not compared.
    pub(crate) fn observe(
        self: &Arc<Self>,
        principal: &Principal,
        operation: &Operation,
        request: &Request,
        path: &PathParameters,
        body: Option<&Bytes>,
    ) -> Option<Box<Observation>> {
        let operation = *self.operations.get(operation.id)?;
        let caller = Caller { key: principal.key, workspace: principal.workspace, operation };
        let received_ms = self.app.clock.now_ms();
        let selected = self.app.candidate().select(caller, received_ms).map(|weight| {
            let mut headers = request.headers().clone();
            headers.remove(header::AUTHORIZATION);
            let parts = RequestParts {
                path: path.iter().map(|(_, value)| value.clone()).collect(),
                query: request.uri().query().unwrap_or_default().to_owned(),
                headers,
                body: body.cloned().unwrap_or_default(),
            };
            (weight, parts)
        });
        Some(Box::new(Observation { candidate: Arc::clone(self), caller, received_ms, selected }))
    }
}

impl Observation {
    /// Counts the request if the server accepted it, and queues it if it was selected. Never waits.
    pub(crate) fn finish(self, request_id: &str, status: StatusCode, response: &Bytes) {
        if status.is_client_error() || status.is_server_error() {
            return;
        }
        let Self { candidate, caller, received_ms, selected } = self;
        let usage = candidate.app.candidate();
        let Some((weight, parts)) = selected else { return usage.count_unselected(caller, received_ms) };
        let sampled = Sampled { caller, weight, received_ms, request_id: request_id.to_owned() };
        usage.count_pending(&sampled);
        let request = QueuedRequest { sampled, parts, status, response: response.clone() };
        let bytes = request.bytes();
        let queued = candidate.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        let rejected = match queued + bytes > MAX_QUEUED_BYTES {
            true => Some(request),
            false => candidate.queue.try_send(request).err().map(|error| match error {
                std::sync::mpsc::TrySendError::Full(request)
                | std::sync::mpsc::TrySendError::Disconnected(request) => request,
            }),
        };
        if let Some(request) = rejected {
            candidate.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
            usage.count_dropped(&request.sampled);
            validation::count("dropped");
        }
    }
}
