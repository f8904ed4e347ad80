//! The thread that compares queued requests with the candidate.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;

use poem::http::StatusCode;

use super::QueuedRequest;
use super::contract::{CandidateOperation, Replacement};
use contract_runtime::validate::conformance::{Fault, ReceivedRequest};
use domain::app::App;
use domain::candidate::Finding;

/// Validates requests until the candidate is dropped.
pub(super) fn run(
    app: &App,
    operations: &[CandidateOperation],
    queued: &Receiver<QueuedRequest>,
    queued_bytes: &AtomicUsize,
) {
    run_with(app, queued, queued_bytes, |request| {
        check(&operations[request.sampled.caller.operation], request)
    });
}

/// Calls `check` for each queued request. A panic affects only the request for which it is called.
fn run_with(
    app: &App,
    queued: &Receiver<QueuedRequest>,
    queued_bytes: &AtomicUsize,
    check: impl Fn(&QueuedRequest) -> Vec<Finding>,
) {
    while let Ok(request) = queued.recv() {
        match catch_unwind(AssertUnwindSafe(|| check(&request))) {
            Ok(findings) => {
                count(if findings.is_empty() { "conforming" } else { "rejected" });
                app.candidate().count_checked(&request.sampled, findings);
            }
            // The message of a panic can contain a part of the request.
            Err(_) => {
                tracing::warn!(
                    request.id = request.sampled.request_id,
                    "the comparison of a request with the candidate contract failed"
                );
                count("failed");
                app.candidate().count_dropped(&request.sampled);
            }
        }
        queued_bytes.fetch_sub(request.bytes(), Ordering::Relaxed);
    }
}

/// Counts a request that was compared with the candidate.
pub(super) fn count(result: &'static str) {
    metrics::counter!("candidate_requests_total", "result" => result).increment(1);
}

fn check(operation: &CandidateOperation, request: &QueuedRequest) -> Vec<Finding> {
    let conformance = match &operation.replacement {
        Replacement::Removed { pointer } => {
            return vec![Finding {
                code: "request-operation-removed".to_owned(),
                pointer: pointer.clone(),
                name: String::new(),
                reason: "the candidate has no such operation".to_owned(),
            }];
        }
        Replacement::Described(conformance) => conformance,
    };
    let parts = &request.parts;
    let received = ReceivedRequest {
        path: &parts.path,
        query: &parts.query,
        headers: &parts.headers,
        body: &parts.body,
    };
    let mut faults = conformance.check_request(&received);
    if request.status.is_success() && request.status != StatusCode::NO_CONTENT {
        faults.extend(conformance.check_response(request.status.as_u16(), &request.response));
    }
    // Several items of a list can fail for the same reason.
    let mut findings: Vec<Finding> = Vec::new();
    for Fault { code, pointer, name, reason } in faults {
        let is_known = findings
            .iter()
            .any(|known| (&known.code, &known.pointer, &known.name) == (&code, &pointer, &name));
        if !is_known {
            findings.push(Finding { code, pointer, name, reason });
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use bytes::Bytes;
    use foundation::clock::Clock;
    use foundation::id::{KeyId, WorkspaceId};
    use jiff::Timestamp;
    use poem::http::HeaderMap;
    use uuid::Uuid;

    use super::*;
    use crate::candidate::RequestParts;
    use crate::middleware::tests::app;
    use domain::candidate::{Caller, ObservedOperation, Sampled};

    #[tokio::test]
    async fn a_panic_affects_only_the_request_that_caused_it() {
        let folder = tempfile::tempdir().unwrap();
        let app = app(&folder, Clock::simulated(Timestamp::UNIX_EPOCH)).await;
        app.candidate().observe(vec![ObservedOperation {
            id: "a",
            base: String::new(),
            candidate: String::new(),
        }]);
        let (sender, receiver) = sync_channel(3);
        let queued_bytes = AtomicUsize::new(0);
        for status in [200, 500, 200] {
            let (key, workspace) = (KeyId::from_uuid(Uuid::nil()), WorkspaceId::from_uuid(Uuid::nil()));
            let caller = Caller { operation: 0, key, workspace };
            let sampled = Sampled { caller, weight: 1, received_ms: 0, request_id: String::new() };
            let (headers, body) = (HeaderMap::new(), Bytes::new());
            let parts = RequestParts { path: Vec::new(), query: String::new(), headers, body };
            app.candidate().count_pending(&sampled);
            let status = StatusCode::from_u16(status).unwrap();
            let request = QueuedRequest { sampled, parts, status, response: Bytes::new() };
            queued_bytes.fetch_add(request.bytes(), Ordering::Relaxed);
            sender.send(request).unwrap();
        }
        drop(sender);
        let mut checked = std::sync::Mutex::new(0);
        run_with(&app, &receiver, &queued_bytes, |request| {
            assert!(request.status.is_success(), "a panic of the validator");
            *checked.lock().unwrap() += 1;
            Vec::new()
        });
        assert_eq!(*checked.get_mut().unwrap(), 2);
        assert_eq!((app.candidate().has_pending(), queued_bytes.load(Ordering::Relaxed)), (false, 0));
    }
}
