//! The metrics of all requests.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use metrics::{Gauge, Histogram};

/// The metrics of all requests. Looking one up by its labels for each request would cost several percent of the throughput.
pub(crate) struct RequestMetrics {
    /// The number of requests that are being processed.
    pub(crate) active: Gauge,
    /// By operation and class of the status.
    durations: RwLock<HashMap<(&'static str, &'static str), Histogram>>,
}

impl RequestMetrics {
    /// Registers the metrics with the recorder of the process, which must be installed before.
    pub(crate) fn new() -> Self {
        Self { active: metrics::gauge!("http_server_active_requests"), durations: RwLock::default() }
    }

    /// Records the duration of a request in seconds.
    pub(crate) fn record(&self, operation: &'static str, status: &'static str, seconds: f64) {
        let labels = (operation, status);
        if let Some(histogram) = self.durations.read().unwrap_or_else(PoisonError::into_inner).get(&labels) {
            histogram.record(seconds);
            return;
        }
        let histogram = metrics::histogram!(
            "http_server_request_duration_seconds",
            "operation" => operation,
            "status" => status,
        );
        histogram.record(seconds);
        self.durations.write().unwrap_or_else(PoisonError::into_inner).insert(labels, histogram);
    }
}
