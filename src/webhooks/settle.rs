//! Settles completed attempts: records the attempt, the delivery's next state, and the subscription's health, in one
//! transaction.
//!
//! Attempts that complete together share a transaction. Nothing is recorded for an attempt whose lease was lost: its
//! lease token no longer matches that of the delivery.

use std::collections::{HashMap, HashSet};

use entity::webhook_deliveries::queue::{self, DeliveryTransition, Settlement};
use entity::webhook_subscriptions::{Model as Subscription, StoredSubscriptionState};
use entity::{StringMap, webhook_attempts};
use uuid::Uuid;

use super::attempt::CompletedAttempt;
use super::health;
use super::outbound::DeliveryVerdict;
use super::schedule::{MAX_ATTEMPTS, retry_at};
use domain::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{Attempt, DeliveryId};

impl CompletedAttempt {
    fn status(&self) -> Option<i32> {
        self.outcome.result.as_ref().ok().map(|response| i32::from(response.status))
    }

    /// Returns the code of the failure; `None` if there was a response.
    fn error(&self) -> Option<String> {
        self.outcome.result.as_ref().err().map(|failure| failure.as_str().to_owned())
    }

    /// Returns why the attempt failed, as a label of metrics; `None` if the status of the response was 2xx.
    fn failure_reason(&self) -> Option<&'static str> {
        match &self.outcome.result {
            Err(failure) => Some(failure.as_str()),
            Ok(_) if self.outcome.verdict() == DeliveryVerdict::Delivered => None,
            Ok(_) => Some("status"),
        }
    }

    /// Returns the delivery's next state according to this attempt alone.
    fn transition(&self) -> DeliveryTransition {
        let retry_after = self.outcome.result.as_ref().ok().and_then(|response| response.retry_after);
        match self.outcome.verdict() {
            DeliveryVerdict::Delivered => DeliveryTransition::Delivered,
            DeliveryVerdict::Dead => DeliveryTransition::Dead,
            DeliveryVerdict::Retry => retry_at(self.number(), self.ended_ms(), retry_after)
                .map_or(DeliveryTransition::Dead, DeliveryTransition::Retry),
        }
    }

    /// Returns the changes to the delivery's row. If the attempt failed at a URL that was replaced in the meantime, the
    /// delivery is retried at the new URL immediately, unless this was the last attempt. A retry is held when the
    /// subscription is not enabled or was deleted.
    fn settlement(&self, subscriptions: &[Subscription]) -> Settlement {
        let subscription = subscriptions.iter().find(|row| row.id == self.leased.delivery.subscription_id);
        let url_changed =
            self.number() < MAX_ATTEMPTS && subscription.is_some_and(|row| !self.went_to_url_of(row));
        let transition = match self.transition() {
            DeliveryTransition::Retry(_) | DeliveryTransition::Dead if url_changed => {
                DeliveryTransition::Retry(self.ended_ms())
            }
            transition => transition,
        };
        let transition = match (transition, subscription.map(|row| row.state)) {
            (DeliveryTransition::Retry(at), Some(StoredSubscriptionState::Paused)) => {
                DeliveryTransition::Hold((!url_changed).then_some(at))
            }
            (DeliveryTransition::Retry(_), Some(StoredSubscriptionState::Disabled) | None) => {
                DeliveryTransition::Hold(None)
            }
            (transition, _) => transition,
        };
        Settlement {
            id: self.leased.delivery.id,
            lease_token: self.leased.lease.token,
            transition,
            ended_at: self.ended_ms(),
            status: self.status(),
            error: self.error(),
        }
    }

    /// Returns the attempt's row in the delivery log.
    fn row(&self, app: &App) -> webhook_attempts::Model {
        let (response_headers, response_body) = match &self.outcome.result {
            Ok(response) => (Some(StringMap(response.headers.clone())), Some(response.body.clone())),
            Err(_) => (None, None),
        };
        webhook_attempts::Model {
            id: app.ids.next::<Attempt>(from_ms(self.ended_ms())).uuid(),
            workspace_id: self.leased.delivery.workspace_id,
            delivery_id: self.leased.delivery.id,
            number: self.number(),
            started_at: self.local_started_ms + self.clock_offset_ms,
            ended_at: self.ended_ms(),
            status: self.status(),
            error: self.error(),
            request_headers: StringMap(self.outcome.request_headers.clone()),
            response_headers,
            response_body,
        }
    }
}

/// Deliveries whose leases were still valid, by id, with their next states.
pub(super) type SettledDeliveries = HashMap<Uuid, DeliveryTransition>;

/// Creates the partitions of the delivery log that [`settle`] needs to record attempts that ended at these times.
///
/// # Errors
/// Returns an error when a query fails.
pub(super) async fn ensure_partitions(app: &App, ended_ms: Vec<i64>) -> anyhow::Result<()> {
    Ok(app.db.ensure_partitions(webhook_attempts::TABLE, &ended_ms).await?)
}

/// Records these attempts, all or none of them, in a write that the caller commits. Returns the deliveries whose leases
/// were still valid, with their next states.
///
/// # Errors
/// Returns an error when a query fails. Then nothing is recorded, and the call can be retried.
pub(super) async fn settle(
    app: &App,
    write: &mut Write,
    attempts: &[&CompletedAttempt],
) -> anyhow::Result<SettledDeliveries> {
    if attempts.is_empty() {
        return Ok(SettledDeliveries::new());
    }
    // Lock order: subscriptions before deliveries, as in every transaction that changes both.
    let subscriptions = health::lock(write, attempts).await?;
    let settlements: Vec<Settlement> =
        attempts.iter().map(|attempt| attempt.settlement(&subscriptions)).collect();
    let settled: HashSet<Uuid> = queue::settle(write.conn(), &settlements).await?.into_iter().collect();
    let is_settled = |attempt: &&&CompletedAttempt| settled.contains(&attempt.leased.delivery.id);
    let recorded: Vec<&CompletedAttempt> = attempts.iter().filter(is_settled).copied().collect();
    let rows = recorded.iter().map(|attempt| attempt.row(app)).collect();
    webhook_attempts::insert_many(write.conn(), rows).await?;
    health::record(app, write, &subscriptions, &recorded).await?;
    let valid = settlements.iter().filter(|settlement| settled.contains(&settlement.id));
    Ok(valid.map(|settlement| (settlement.id, settlement.transition)).collect())
}

/// Logs and counts an attempt. `settled` is what the committed transaction recorded. An attempt that it does not
/// contain is lost: its lease was no longer valid.
pub(super) fn report(attempt: &CompletedAttempt, settled: &SettledDeliveries) {
    let outcome = match settled.get(&attempt.leased.delivery.id) {
        None => "lost",
        Some(DeliveryTransition::Delivered) => "delivered",
        // A held delivery is also retried, once its subscription is enabled.
        Some(DeliveryTransition::Retry(_) | DeliveryTransition::Hold(_)) => "retry",
        Some(DeliveryTransition::Dead) => "dead",
    };
    metrics::counter!("webhook_attempts_total", "outcome" => outcome).increment(1);
    if let Some(reason) = attempt.failure_reason() {
        metrics::counter!("webhook_failed_attempts_total", "reason" => reason).increment(1);
    }
    let duration_ms = attempt.local_ended_ms - attempt.local_started_ms;
    metrics::histogram!("webhook_attempt_seconds").record(duration_ms as f64 / 1000.0);
    let delivery = &attempt.leased.delivery;
    tracing::debug!(
        delivery.id = %DeliveryId::from_uuid(delivery.id),
        attempt = attempt.number(),
        event.kind = delivery.event_type,
        outcome,
        status = attempt.status(),
        error = attempt.error(),
        duration_ms,
        "webhook attempt"
    );
    if outcome == "dead" {
        tracing::warn!(
            delivery.id = %DeliveryId::from_uuid(delivery.id),
            attempts = attempt.number(),
            status = attempt.status(),
            error = attempt.error(),
            "a webhook failed and is not retried"
        );
    }
}
