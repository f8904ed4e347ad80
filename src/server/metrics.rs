//! `/metrics` for Prometheus. The delivery queue is counted on request, and a count is reused for one second.

use std::time::{Duration, Instant};

use poem::Response;
use poem::http::header;
use tokio::sync::Mutex;

use super::page;
use domain::app::App;
use domain::webhooks::{self, QueueStatus};
use foundation::telemetry::metrics as recorder;

/// How long a count of the queue is reused. The cost of counting grows with the length of the queue.
const QUEUE_MAX_AGE: Duration = Duration::from_secs(1);

/// The states of counted deliveries, as label values, in the order of the counts in [`set_queue`].
const STATES: [&str; 4] = ["pending", "in_flight", "held", "dead"];

/// The page `/metrics`.
#[derive(Debug, Default)]
pub(super) struct MetricsPage {
    /// When the queue was last counted successfully. `None` before the first count.
    queue_counted_at: Mutex<Option<Instant>>,
}

impl MetricsPage {
    /// Returns the metrics of this process and of the delivery queue.
    pub(super) async fn response(&self, app: &App) -> Response {
        // Concurrent requests wait for this count instead of starting another one.
        let mut counted_at = self.queue_counted_at.lock().await;
        if counted_at.is_none_or(|at| at.elapsed() >= QUEUE_MAX_AGE) {
            match webhooks::queue_status(app).await {
                Ok(queue) => {
                    set_queue(&queue, app.clock.now_ms());
                    *counted_at = Some(Instant::now());
                }
                Err(error) => {
                    // The metrics of this process are still valid, but the previous count of the queue is outdated.
                    tracing::warn!(%error, "the webhook delivery queue could not be counted");
                    set_queue_unknown();
                }
            }
        }
        drop(counted_at);
        let response = Response::builder()
            .content_type("text/plain; version=0.0.4; charset=utf-8")
            .header(header::CACHE_CONTROL, "no-store")
            .body(recorder::render());
        page::with_security_headers(response, "default-src 'none'")
    }
}

/// Sets the gauges of the queue. The age of the oldest due delivery is 0 if none is due.
fn set_queue(queue: &QueueStatus, now_ms: i64) {
    let QueueStatus { pending, in_flight, held, dead, earliest_due_ms } = *queue;
    for (state, count) in STATES.into_iter().zip([pending, in_flight, held, dead]) {
        metrics::gauge!("webhook_deliveries", "state" => state).set(count as f64);
    }
    let seconds = earliest_due_ms.map_or(0, |due| (now_ms - due).max(0)) as f64 / 1000.0;
    metrics::gauge!("webhook_oldest_due_seconds").set(seconds);
}

/// Sets the gauges of the queue to `NaN`: their values are unknown.
fn set_queue_unknown() {
    for state in STATES {
        metrics::gauge!("webhook_deliveries", "state" => state).set(f64::NAN);
    }
    metrics::gauge!("webhook_oldest_due_seconds").set(f64::NAN);
}
