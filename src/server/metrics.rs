//! `/metrics`: what Prometheus asks for. The queue is looked at when it asks.

use poem::Response;
use poem::http::header;

use super::page;
use crate::app::App;
use crate::domain::webhooks;
use crate::telemetry::metrics as figures;

/// The figures of this process, and of the queue as it is now.
pub(super) async fn response(app: &App) -> Response {
    match webhooks::queue(app).await {
        Ok(queue) => {
            for (state, count) in [
                ("pending", queue.pending),
                ("in_flight", queue.in_flight),
                ("held", queue.held),
                ("dead", queue.dead),
            ] {
                metrics::gauge!("webhook_deliveries", "state" => state).set(count as f64);
            }
            let seconds =
                queue.oldest_due_ms.map_or(0, |due| (app.clock.now_ms() - due).max(0)) as f64 / 1000.0;
            metrics::gauge!("webhook_oldest_due_seconds").set(seconds);
        }
        // What was counted here is worth telling all the same.
        Err(error) => tracing::warn!(%error, "the queue of webhooks could not be looked at"),
    }
    let response = Response::builder()
        .content_type("text/plain; version=0.0.4; charset=utf-8")
        .header(header::CACHE_CONTROL, "no-store")
        .body(figures::render());
    page::guard(response, "default-src 'none'")
}
