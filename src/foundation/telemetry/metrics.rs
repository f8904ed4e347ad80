//! Figures of this process for Prometheus: installed once, counted wherever something happens, rendered on demand.

use std::sync::OnceLock;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

/// Upper bounds of the buckets of all durations, in seconds.
const SECONDS: &[f64] = &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0];

/// `None` when another recorder was there first.
static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// Begins to count; a second call changes nothing.
pub fn install() {
    HANDLE.get_or_init(|| {
        let builder = PrometheusBuilder::new().set_buckets(SECONDS).ok()?;
        let handle = builder.install_recorder().ok()?;
        describe();
        Some(handle)
    });
}

/// Gathers what was counted since the last time; to be called now and then, since it takes up memory until then.
pub fn gather() {
    if let Some(Some(handle)) = HANDLE.get() {
        handle.run_upkeep();
    }
}

/// All figures in Prometheus's text format; empty before [`install`].
pub fn render() -> String {
    let Some(Some(handle)) = HANDLE.get() else { return String::new() };
    handle.run_upkeep();
    handle.render()
}

fn describe() {
    metrics::describe_counter!("webhook_attempts_total", "Attempts to deliver, by what came of them.");
    metrics::describe_histogram!(
        "webhook_attempt_seconds",
        metrics::Unit::Seconds,
        "How long attempts took, from the first step to the last."
    );
    metrics::describe_counter!(
        "request_log_dropped_total",
        "Requests missing in the request log, since they came faster than it is written."
    );
    metrics::describe_gauge!("webhook_deliveries", "Deliveries in the queue, by where they stand.");
    metrics::describe_gauge!(
        "webhook_oldest_due_seconds",
        metrics::Unit::Seconds,
        "For how long the oldest due delivery has been due."
    );
}
