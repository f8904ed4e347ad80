//! Sends pre-leased deliveries: those that were committed under this worker's lease and need no claim.
//!
//! The targets (URL and signing keys) of deliveries that arrive together are read together. A delivery that cannot be
//! sent is released.

use std::sync::Arc;

use entity::webhook_deliveries::queue::ClaimedDelivery;
use tokio::sync::mpsc::UnboundedReceiver;
use uuid::Uuid;

use super::claim::{Lease, LeasedDelivery};
use super::in_flight::InFlight;
use super::target::{Target, Targets, read_targets};
use domain::app::App;
use domain::outbox::PreLeasedDelivery;
use foundation::secret::Seal;

/// Maximum number of deliveries whose targets are read together.
const MAX_BATCH: usize = 128;

/// Sends the deliveries that the fast path passes to this worker, until all senders are dropped.
pub(super) async fn run(
    app: App,
    seal: Arc<Seal>,
    in_flight: InFlight,
    mut receiver: UnboundedReceiver<PreLeasedDelivery>,
) {
    let mut batch = Vec::with_capacity(MAX_BATCH);
    while receiver.recv_many(&mut batch, MAX_BATCH).await > 0 {
        let targets = match read_targets(&app, &seal, subscription_ids(&batch)).await {
            Ok(targets) => targets,
            Err(error) => {
                let error = format!("{error:#}");
                tracing::warn!(
                    error,
                    "reading the targets of new webhooks failed; their deliveries stay queued"
                );
                Targets::new()
            }
        };
        for PreLeasedDelivery { delivery, body, traceparent, lease_ends_ms, permit } in batch.drain(..) {
            let lease = Arc::new(Lease { token: permit.lease_token, ends_ms: lease_ends_ms });
            let target = targets.get(&delivery.subscription_id).cloned();
            let is_enabled = target.is_some();
            let target = target.unwrap_or_else(Target::empty);
            let delivery = ClaimedDelivery::pre_leased(delivery, traceparent);
            let leased = LeasedDelivery { delivery, body, lease, target };
            if is_enabled {
                in_flight.start(leased, Some(permit));
            } else {
                // The subscription was paused or deleted after the commit, or the query failed.
                in_flight.return_unsent(leased, Some(permit));
            }
        }
    }
}

fn subscription_ids(batch: &[PreLeasedDelivery]) -> Vec<Uuid> {
    batch.iter().map(|pre_leased| pre_leased.delivery.subscription_id).collect()
}
