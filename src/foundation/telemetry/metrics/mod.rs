//! The Prometheus metrics of this process.

mod reference;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use metrics::Label;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

pub use reference::{METRICS, Metric, MetricKind};

/// Upper bounds of the buckets of all duration histograms, in seconds.
const BUCKET_BOUNDS_SECONDS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0];

/// The handle of the installed recorder, or `None` if it could not be installed because the process had another one.
static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// The kind of a process that records metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessKind {
    /// A server, which can also run a worker.
    Server,
    /// A worker without a server.
    Worker,
}

/// Installs the recorder, and sets the counters of this kind of process to 0, so that their first increment is visible as an
/// increase. Further calls do not install another recorder.
pub fn install(process: ProcessKind) {
    let handle = HANDLE.get_or_init(|| {
        let builder = PrometheusBuilder::new().set_buckets(BUCKET_BOUNDS_SECONDS).ok()?;
        builder.install_recorder().ok()
    });
    if handle.is_some() {
        for metric in METRICS.iter().filter(|metric| metric.is_in(process)) {
            describe(metric);
            start_at_zero(metric);
        }
    }
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
    metrics_process::Collector::default().collect();
    metrics::counter!("log_lines_dropped_total").absolute(super::dropped_lines());
    handle.run_upkeep();
    handle.render()
}

fn describe(metric: &Metric) {
    match metric.kind {
        MetricKind::Counter => metrics::describe_counter!(metric.name, metric.description),
        MetricKind::Gauge => metrics::describe_gauge!(metric.name, metric.description),
        MetricKind::Histogram => metrics::describe_histogram!(metric.name, metric.description),
    }
}

/// Sets a counter to 0 for all values of its label, unless these are not listed.
fn start_at_zero(metric: &Metric) {
    if metric.kind != MetricKind::Counter {
        return;
    }
    match metric.labels {
        [] => metrics::counter!(metric.name).increment(0),
        [(label, values)] => {
            for value in *values {
                metrics::counter!(metric.name, vec![Label::new(*label, *value)]).increment(0);
            }
        }
        _ => {}
    }
}
