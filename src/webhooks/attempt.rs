//! One attempt at a delivery in hand: signed, sent, timed.
//!
//! Never records anything; what came of it is [`settle`](super::settle)'s.

use tracing::Instrument as _;
use url::Url;

use super::claim::Task;
use super::outbound::{self, Client, DEADLINE, Failure, Outcome, Request};
use super::settle::Attempted;
use crate::app::App;
use crate::id::{DeliveryId, EventId};

/// Makes one attempt; gives the delivery back when its lease may end before the attempt does, since it may then be
/// another's.
pub(super) async fn attempt(app: &App, client: &Client, task: Task) -> Result<Attempted, Task> {
    let left = task.lease.ends_ms - app.clock.now_ms();
    if left < i64::try_from(DEADLINE.as_millis()).unwrap_or(i64::MAX) {
        return Err(task);
    }
    let claimed = &task.claimed;
    let delivery = DeliveryId::from_uuid(claimed.id);
    let span = tracing::info_span!("webhook", delivery.id = %delivery, attempt = claimed.attempts + 1);
    let started_at = app.clock.now_ms();
    let outcome = match Url::parse(&claimed.url) {
        // What nobody could verify is not sent.
        _ if task.keys.is_empty() => unsent(Failure::NoSecret),
        Ok(url) => {
            let request = Request {
                url: &url,
                event_id: &EventId::from_uuid(claimed.event_id).to_string(),
                event_type: &claimed.event_type,
                delivery_id: &delivery.to_string(),
                body: task.body.clone(),
                keys: &task.keys,
                now: started_at.div_euclid(1000),
                deadline: DEADLINE,
            };
            outbound::send(client, request).instrument(span).await
        }
        Err(_) => unsent(Failure::BadUrl),
    };
    Ok(Attempted { outcome, started_at, ended_at: app.clock.now_ms(), ahead_ms: 0, task })
}

fn unsent(failure: Failure) -> Outcome {
    Outcome { request_headers: Default::default(), result: Err(failure) }
}
