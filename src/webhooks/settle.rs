//! Records what came of attempts: the attempt, the delivery's next state and time, and the subscription's health, in one
//! transaction.
//!
//! Attempts that end together share a transaction. What is recorded of a delivery is fenced with its lease: whoever
//! lost the lease records nothing of it.

use std::collections::{HashMap, HashSet};

use entity::webhook_deliveries::queue::{self, Next, Settlement};
use entity::webhook_subscriptions::{Model as Subscription, State};
use entity::{StringMap, webhook_attempts};
use uuid::Uuid;

use super::claim::Task;
use super::health;
use super::outbound::{Failure, Outcome, Verdict};
use super::schedule::{ATTEMPTS, again_at};
use domain::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{Attempt, DeliveryId};

/// An attempt that has ended.
#[derive(Debug)]
pub(super) struct Attempted {
    /// The delivery.
    pub(super) task: Task,
    /// What came of it.
    pub(super) outcome: Outcome,
    /// When it began, in milliseconds since the epoch, by the clock of this process.
    pub(super) started_at: i64,
    /// When it ended.
    pub(super) ended_at: i64,
    /// How far the clock that records writes is ahead of this process's: what is written of the attempt, and when it
    /// is made again, goes by that one, as does what is due.
    pub(super) ahead_ms: i64,
}

impl Attempted {
    /// The delivery's first attempt is 1.
    pub(super) fn number(&self) -> i32 {
        self.task.claimed.attempts + 1
    }

    /// When it ended, by the clock that records writes.
    pub(super) fn ended_ms(&self) -> i64 {
        self.ended_at + self.ahead_ms
    }

    fn status(&self) -> Option<i32> {
        self.outcome.result.as_ref().ok().map(|answer| i32::from(answer.status))
    }

    /// The class of what went wrong, when there was no answer.
    fn error(&self) -> Option<String> {
        self.outcome.result.as_ref().err().map(|failure| failure.as_str().to_owned())
    }

    /// What becomes of the delivery.
    fn next(&self) -> Next {
        let asked = self.outcome.result.as_ref().ok().and_then(|answer| answer.retry_after);
        match self.outcome.verdict() {
            Verdict::Delivered => Next::Delivered,
            Verdict::Dead => Next::Dead,
            Verdict::Retry => again_at(self.number(), self.ended_ms(), asked).map_or(Next::Dead, Next::Retry),
        }
    }

    /// Whether it was none, since this machine had nothing left to make a connection with.
    pub(super) fn is_exhausted(&self) -> bool {
        matches!(self.outcome.result, Err(Failure::Exhausted))
    }

    /// Whether it was made where the subscription wants its deliveries by now.
    pub(super) fn went_to(&self, subscription: &Subscription) -> bool {
        self.task.route.leads_to(subscription)
    }

    /// What is written of the delivery. One whose subscription would not take it is not tried again, but held; one that went to
    /// an address which is no longer the subscription's goes to the new one at once.
    fn settlement(&self, subscriptions: &[Subscription]) -> Settlement {
        let own = subscriptions.iter().find(|row| row.id == self.task.claimed.subscription_id);
        let moved = self.number() < ATTEMPTS && own.is_some_and(|row| !self.went_to(row));
        let next = match self.next() {
            Next::Retry(_) | Next::Dead if moved => Next::Retry(self.ended_ms()),
            next => next,
        };
        let next = match (next, own.map(|row| row.state)) {
            (Next::Retry(at), Some(State::Paused)) => Next::Hold((!moved).then_some(at)),
            (Next::Retry(_), Some(State::Disabled) | None) => Next::Hold(None),
            (next, _) => next,
        };
        Settlement {
            id: self.task.claimed.id,
            lease_token: self.task.lease.token,
            next,
            at: self.ended_ms(),
            status: self.status(),
            error: self.error(),
        }
    }

    /// The row of the delivery log.
    fn row(&self, app: &App) -> webhook_attempts::Model {
        let (response_headers, response_body) = match &self.outcome.result {
            Ok(answer) => (Some(StringMap(answer.headers.clone())), Some(answer.body.clone())),
            Err(_) => (None, None),
        };
        webhook_attempts::Model {
            id: app.ids.next::<Attempt>(from_ms(self.ended_ms())).uuid(),
            workspace_id: self.task.claimed.workspace_id,
            delivery_id: self.task.claimed.id,
            number: self.number(),
            started_at: self.started_at + self.ahead_ms,
            ended_at: self.ended_ms(),
            status: self.status(),
            error: self.error(),
            request_headers: StringMap(self.outcome.request_headers.clone()),
            response_headers,
            response_body,
        }
    }
}

/// What became of deliveries whose leases still held.
pub(super) type Settled = HashMap<Uuid, Next>;

/// Records these attempts, all or none of them, in a write that the caller commits; says what became of the deliveries whose
/// leases still held.
///
/// # Errors
/// When the database fails: nothing is recorded then, and it can be tried again.
pub(super) async fn settle(app: &App, write: &mut Write, attempts: &[&Attempted]) -> anyhow::Result<Settled> {
    if attempts.is_empty() {
        return Ok(Settled::new());
    }
    // Subscriptions come before deliveries, as wherever both are changed.
    let subscriptions = health::lock(write, attempts).await?;
    let settlements: Vec<Settlement> =
        attempts.iter().map(|attempt| attempt.settlement(&subscriptions)).collect();
    let held: HashSet<Uuid> = queue::settle(write.conn(), &settlements).await?.into_iter().collect();
    let recorded = |attempt: &&&Attempted| held.contains(&attempt.task.claimed.id);
    let kept: Vec<&Attempted> = attempts.iter().filter(recorded).copied().collect();
    let rows = kept.iter().map(|attempt| attempt.row(app)).collect();
    webhook_attempts::insert_many(write.conn(), rows).await?;
    health::record(app, write, &subscriptions, &kept).await?;
    let written = settlements.iter().filter(|one| held.contains(&one.id));
    Ok(written.map(|one| (one.id, one.next)).collect())
}

/// Logs and counts an attempt whose record is committed, among these.
pub(super) fn tell(attempt: &Attempted, settled: &Settled) {
    let outcome = match settled.get(&attempt.task.claimed.id) {
        None => "lost",
        Some(Next::Delivered) => "delivered",
        // One that is held is to be tried again all the same.
        Some(Next::Retry(_) | Next::Hold(_)) => "retry",
        Some(Next::Dead) => "dead",
    };
    metrics::counter!("webhook_attempts_total", "outcome" => outcome).increment(1);
    let duration_ms = attempt.ended_at - attempt.started_at;
    metrics::histogram!("webhook_attempt_seconds").record(duration_ms as f64 / 1000.0);
    let claimed = &attempt.task.claimed;
    tracing::info!(
        delivery.id = %DeliveryId::from_uuid(claimed.id),
        attempt = attempt.number(),
        event.kind = claimed.event_type,
        outcome,
        status = attempt.status(),
        error = attempt.error(),
        duration_ms,
        "webhook"
    );
}
