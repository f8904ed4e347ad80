//! Deliveries that were committed under this worker's lease: sent without a claim.
//!
//! Looks up once for all that came together where they go and what signs them. What cannot be sent is given back.

use std::collections::HashMap;
use std::sync::Arc;

use entity::webhook_deliveries::queue::Claimed;
use entity::webhook_subscriptions;
use tokio::sync::mpsc::UnboundedReceiver;
use uuid::Uuid;

use super::claim::{Lease, Task, keys};
use super::flight::Flight;
use super::sign::SigningKey;
use crate::app::App;
use crate::events::Born;
use crate::secret::Seal;

/// Deliveries looked up at once.
const TOGETHER: usize = 128;

/// Where deliveries go, and what signs them, by subscription.
type Routes = HashMap<Uuid, (String, Arc<[SigningKey]>)>;

/// Sends what is handed over, until nobody can hand over any more.
pub(super) async fn run(app: App, seal: Arc<Seal>, flight: Flight, mut handed: UnboundedReceiver<Born>) {
    let mut together = Vec::with_capacity(TOGETHER);
    while handed.recv_many(&mut together, TOGETHER).await > 0 {
        let routes = match routes(&app, &seal, &together).await {
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
            let route = routes.get(&delivery.subscription_id);
            let (url, keys) = route.cloned().unwrap_or_else(|| (String::new(), Arc::new([])));
            let task = Task { claimed: Claimed::born(delivery, url), body, lease, keys };
            match route {
                Some(_) => flight.start(task, Some(place)),
                // Paused or gone since, or the database failed.
                None => flight.refuse(task, Some(place)),
            }
        }
    }
}

async fn routes(app: &App, seal: &Seal, born: &[Born]) -> anyhow::Result<Routes> {
    let mut subscriptions: Vec<Uuid> = born.iter().map(|born| born.delivery.subscription_id).collect();
    subscriptions.sort_unstable();
    subscriptions.dedup();
    let urls = webhook_subscriptions::routes(app.db.read(), &subscriptions).await?;
    let mut keys = keys(app.db.read(), seal, subscriptions, app.clock.now_ms()).await?;
    let route = |(id, url): (Uuid, String)| (id, (url, keys.remove(&id).unwrap_or_else(|| Arc::new([]))));
    Ok(urls.into_iter().map(route).collect())
}
