//! Events and their deliveries.
//!
//! Every event has one delivery for each webhook that was subscribed to its type when it was committed: pending, held, delivered
//! or dead. A delivery is pruned 30 days after it settled, and dropped at the request of a user while the webhook is not enabled. So
//! the deliveries of an event are known to be complete if the event is younger than 30 days, and the webhook is enabled and has
//! not changed since the event.

use entity::integrity;
use foundation::id::{EventId, SubscriptionId, min_uuid_at};

use super::{Finding, Report};
use crate::Result;
use crate::app::App;

/// Deliveries are kept for 30 days; one day of tolerance.
const COMPLETE_MS: i64 = 29 * 24 * 60 * 60 * 1000;
/// How long a write may take that has read the subscriptions before a change of them was committed.
const MAX_WRITE_MS: i64 = 60_000;

/// Compares the events of the last 29 days with their deliveries.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when a query fails.
pub async fn events(app: &App) -> Result<Report> {
    let conn = app.db.read();
    let mut report = Report::default();
    let (mut events, mut states, mut missing) = (0, [0; 4], 0_u64);
    let mut after = min_uuid_at(app.clock.now_ms() - COMPLETE_MS);
    loop {
        let batch = integrity::next_batch(conn, "events", "id", after).await?;
        events += integrity::count(conn, "events", "id", batch).await?;
        for (total, count) in states.iter_mut().zip(integrity::events::states(conn, batch).await?) {
            *total += count;
        }
        for delivery in integrity::events::find(conn, batch).await? {
            if delivery.event < min_uuid_at(delivery.updated_at.saturating_add(MAX_WRITE_MS)) {
                continue;
            }
            missing += 1;
            let subscription = SubscriptionId::from_uuid(delivery.subscription);
            report.add(Finding {
                table: "events".to_owned(),
                id: EventId::from_uuid(delivery.event).to_string(),
                problem: format!(
                    "it has no delivery to the webhook {subscription}, which is subscribed to its type"
                ),
                remedy: "the receiver has not got this event; let it read the changed records from the API"
                    .to_owned(),
            });
        }
        if batch.is_last() {
            break;
        }
        after = batch.up_to;
    }
    let [pending, delivered, dead, held] = states;
    report.summary = format!(
        "{events} events of 29 days with {} deliveries = {delivered} delivered + {pending} pending + {held} held + {dead} dead \
         + {missing} missing",
        states.iter().sum::<u64>() + missing
    );
    Ok(report)
}
