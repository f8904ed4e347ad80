//! Deliveries that were committed under this worker's lease: sent without a claim.
//!
//! Looks up once for all that came together where they go and what signs them. What cannot be sent is given back.

use std::sync::Arc;

use entity::webhook_deliveries::queue::Claimed;
use tokio::sync::mpsc::UnboundedReceiver;
use uuid::Uuid;

use super::claim::{Lease, Task};
use super::flight::Flight;
use super::route::{Route, Routes, look_up};
use domain::app::App;
use domain::outbox::Born;
use foundation::secret::Seal;

/// Deliveries looked up at once.
const TOGETHER: usize = 128;

/// Sends what is handed over, until nobody can hand over any more.
pub(super) async fn run(app: App, seal: Arc<Seal>, flight: Flight, mut handed: UnboundedReceiver<Born>) {
    let mut together = Vec::with_capacity(TOGETHER);
    while handed.recv_many(&mut together, TOGETHER).await > 0 {
        let routes = match look_up(&app, &seal, subscriptions(&together)).await {
            Ok(routes) => routes,
            Err(error) => {
                let error = format!("{error:#}");
                tracing::warn!(
                    error,
                    "webhooks just committed could not be looked up; they wait in the queue"
                );
                Routes::new()
            }
        };
        for Born { delivery, body, lease_ends_ms, place } in together.drain(..) {
            let lease = Arc::new(Lease { token: place.lease_token, ends_ms: lease_ends_ms });
            let route = routes.get(&delivery.subscription_id).cloned();
            let is_open = route.is_some();
            let route = route.unwrap_or_else(Route::nowhere);
            let task = Task { claimed: Claimed::born(delivery), body, lease, route };
            if is_open {
                flight.start(task, Some(place));
            } else {
                // Paused or gone since, or the database failed.
                flight.refuse(task, Some(place));
            }
        }
    }
}

fn subscriptions(born: &[Born]) -> Vec<Uuid> {
    born.iter().map(|born| born.delivery.subscription_id).collect()
}
