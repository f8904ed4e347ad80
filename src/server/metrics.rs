//! `/metrics`: what Prometheus asks for. The queue is looked at when it asks, once a second at most.

use std::time::{Duration, Instant};

use poem::Response;
use poem::http::header;
use tokio::sync::Mutex;

use super::page;
use domain::app::App;
use domain::webhooks::{self, Queue};
use foundation::telemetry::metrics as figures;

/// How long a look at the queue is good for: counting it costs as much as it is long.
const FRESH: Duration = Duration::from_secs(1);

/// The labels of the deliveries that are counted.
const STATES: [&str; 4] = ["pending", "in_flight", "held", "dead"];

/// The page, and when it last looked at the queue.
#[derive(Debug, Default)]
pub(super) struct Figures {
    looked: Mutex<Option<Instant>>,
}

impl Figures {
    /// The figures of this process, and of the queue as it is now or was a moment ago.
    pub(super) async fn response(&self, app: &App) -> Response {
        // Whoever asks meanwhile waits for this look instead of taking one more.
        let mut looked = self.looked.lock().await;
        if looked.is_none_or(|at| at.elapsed() >= FRESH) {
            match webhooks::queue(app).await {
                Ok(queue) => {
                    show(&queue, app.clock.now_ms());
                    *looked = Some(Instant::now());
                }
                Err(error) => {
                    // What was counted here is worth telling all the same; the queue of a moment ago is not that of now.
                    tracing::warn!(%error, "the queue of webhooks could not be looked at");
                    show_nothing();
                }
            }
        }
        drop(looked);
        let response = Response::builder()
            .content_type("text/plain; version=0.0.4; charset=utf-8")
            .header(header::CACHE_CONTROL, "no-store")
            .body(figures::render());
        page::guard(response, "default-src 'none'")
    }
}

fn show(queue: &Queue, now_ms: i64) {
    let Queue { pending, in_flight, held, dead, oldest_due_ms } = *queue;
    for (state, count) in STATES.into_iter().zip([pending, in_flight, held, dead]) {
        metrics::gauge!("webhook_deliveries", "state" => state).set(count as f64);
    }
    let seconds = oldest_due_ms.map_or(0, |due| (now_ms - due).max(0)) as f64 / 1000.0;
    metrics::gauge!("webhook_oldest_due_seconds").set(seconds);
}

/// Prometheus reads `NaN` as a value that is not known.
fn show_nothing() {
    for state in STATES {
        metrics::gauge!("webhook_deliveries", "state" => state).set(f64::NAN);
    }
    metrics::gauge!("webhook_oldest_due_seconds").set(f64::NAN);
}
