//! One attempt at a leased delivery: signs it, sends it, and measures its duration.
//!
//! Records nothing; see [`settle`](super::settle).

use tracing::Instrument as _;

use super::claim::LeasedDelivery;
use super::outbound::{self, ATTEMPT_TIMEOUT, AttemptFailure, AttemptOutcome, WebhookClient, WebhookRequest};
use super::schedule::MIN_LEASE_LEFT;
use super::settle::CompletedAttempt;
use domain::app::App;
use foundation::id::{DeliveryId, EventId};

/// Makes one attempt. Returns the delivery unsent as an error when its lease could expire before the attempt is
/// recorded, since another worker could then send it, too.
pub(super) async fn attempt(
    app: &App,
    client: &WebhookClient,
    leased: LeasedDelivery,
) -> Result<CompletedAttempt, LeasedDelivery> {
    let started_ms = app.clock.now_ms();
    let lease_left_ms = leased.lease.ends_ms - started_ms;
    if lease_left_ms < i64::try_from(MIN_LEASE_LEFT.as_millis()).unwrap_or(i64::MAX) {
        return Err(leased);
    }
    let outcome = send(client, &leased, started_ms).await;
    let local_ended_ms = app.clock.now_ms();
    Ok(CompletedAttempt { outcome, local_started_ms: started_ms, local_ended_ms, clock_offset_ms: 0, leased })
}

async fn send(client: &WebhookClient, leased: &LeasedDelivery, now_ms: i64) -> AttemptOutcome {
    let (delivery, target) = (&leased.delivery, &leased.target);
    // Without a key, the request could not be signed.
    if target.keys.is_empty() {
        return unsent(AttemptFailure::NoSecret);
    }
    let Some(url) = &target.url else { return unsent(AttemptFailure::BadUrl) };
    let delivery_id = DeliveryId::from_uuid(delivery.id);
    let span = tracing::info_span!("webhook", delivery.id = %delivery_id, attempt = delivery.attempts + 1);
    let request = WebhookRequest {
        workspace: delivery.workspace_id,
        url,
        event_id: &EventId::from_uuid(delivery.event_id).to_string(),
        event_type: &delivery.event_type,
        delivery_id: &delivery_id.to_string(),
        body: leased.body.clone(),
        keys: &target.keys,
        now: now_ms.div_euclid(1000),
        timeout: ATTEMPT_TIMEOUT,
    };
    outbound::send(client, request).instrument(span).await
}

/// Returns the outcome of an attempt that failed before anything was sent.
fn unsent(failure: AttemptFailure) -> AttemptOutcome {
    AttemptOutcome { request_headers: Default::default(), result: Err(failure) }
}
