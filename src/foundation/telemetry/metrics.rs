//! The Prometheus metrics of this process.

use std::sync::OnceLock;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

/// Upper bounds of the buckets of all duration histograms, in seconds.
const BUCKET_BOUNDS_SECONDS: &[f64] = &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0];

/// The handle of the installed recorder, or `None` if it could not be installed because the process had another one.
static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// Installs the recorder. Further calls have no effect.
pub fn install() {
    HANDLE.get_or_init(|| {
        let builder = PrometheusBuilder::new().set_buckets(BUCKET_BOUNDS_SECONDS).ok()?;
        let handle = builder.install_recorder().ok()?;
        describe();
        Some(handle)
    });
}

/// Aggregates the samples recorded since the previous call. Call it periodically, since samples use memory until then.
pub fn aggregate() {
    if let Some(Some(handle)) = HANDLE.get() {
        handle.run_upkeep();
    }
}

/// Returns all metrics in the Prometheus text format, or an empty string if [`install`] has not installed
/// the recorder.
pub fn render() -> String {
    let Some(Some(handle)) = HANDLE.get() else { return String::new() };
    handle.run_upkeep();
    handle.render()
}

fn describe() {
    metrics::describe_counter!("webhook_attempts_total", "Delivery attempts, by outcome.");
    metrics::describe_histogram!(
        "webhook_attempt_seconds",
        metrics::Unit::Seconds,
        "Duration of delivery attempts."
    );
    metrics::describe_counter!(
        "request_log_dropped_total",
        "Requests not written to the request log because they exceeded its rate."
    );
    metrics::describe_gauge!(
        "rate_limit_store_available",
        "1 if requests are counted in the shared limit store, 0 if this process counts alone because the store is not available."
    );
    metrics::describe_counter!(
        "rate_limit_local_decisions_total",
        "Rate limit decisions of this process alone, because the shared limit store was not available."
    );
    metrics::describe_gauge!("webhook_deliveries", "Deliveries in the queue, by state.");
    metrics::describe_gauge!(
        "webhook_oldest_due_seconds",
        metrics::Unit::Seconds,
        "Time since the oldest due delivery became due."
    );
}
