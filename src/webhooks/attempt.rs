//! One attempt at a delivery in hand: signed, sent, timed.
//!
//! Never records anything; what came of it is [`settle`](super::settle)'s.

use tracing::Instrument as _;

use super::claim::Task;
use super::outbound::{self, Client, DEADLINE, Failure, Outcome, Request};
use super::schedule::LEFT_AT_LEAST;
use super::settle::Attempted;
use domain::app::App;
use foundation::id::{DeliveryId, EventId};

/// Makes one attempt; gives the delivery back when its lease may end before the attempt is recorded, since it may then be
/// another's.
pub(super) async fn attempt(app: &App, client: &Client, task: Task) -> Result<Attempted, Task> {
    let started_at = app.clock.now_ms();
    let left = task.lease.ends_ms - started_at;
    if left < i64::try_from(LEFT_AT_LEAST.as_millis()).unwrap_or(i64::MAX) {
        return Err(task);
    }
    let outcome = send(client, &task, started_at).await;
    Ok(Attempted { outcome, started_at, ended_at: app.clock.now_ms(), ahead_ms: 0, task })
}

async fn send(client: &Client, task: &Task, started_at: i64) -> Outcome {
    let (claimed, route) = (&task.claimed, &task.route);
    // What nobody could verify is not sent.
    if route.keys.is_empty() {
        return unsent(Failure::NoSecret);
    }
    let Some(url) = &route.url else { return unsent(Failure::BadUrl) };
    let delivery = DeliveryId::from_uuid(claimed.id);
    let span = tracing::info_span!("webhook", delivery.id = %delivery, attempt = claimed.attempts + 1);
    let request = Request {
        workspace: claimed.workspace_id,
        url,
        event_id: &EventId::from_uuid(claimed.event_id).to_string(),
        event_type: &claimed.event_type,
        delivery_id: &delivery.to_string(),
        body: task.body.clone(),
        keys: &route.keys,
        now: started_at.div_euclid(1000),
        deadline: DEADLINE,
    };
    outbound::send(client, request).instrument(span).await
}

fn unsent(failure: Failure) -> Outcome {
    Outcome { request_headers: Default::default(), result: Err(failure) }
}
