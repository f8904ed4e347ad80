//! The health of a subscription's endpoint: warns the owner and disables the subscription when it fails for days.
//!
//! The first failed attempt sets `failing_since`, and any success clears it. The first attempt that fails 3 days or
//! more after `failing_since` causes a warning to the owner. An attempt that fails 7 days or more after
//! `failing_since` disables the subscription. The first success after an outage in which deliveries died offers the owner
//! to replay them. The mail is queued in the same transaction.

use entity::webhook_subscriptions::{self as rows, Model, StoredSubscriptionState};
use entity::workspaces;
use jiff::Timestamp;
use uuid::Uuid;

use super::attempt::CompletedAttempt;
use super::outbound::DeliveryVerdict;
use super::schedule::{DISABLE_AFTER_MS, WARN_AFTER_MS};
use domain::app::App;
use domain::webhooks::recovery;
use domain::{email, webhooks};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{SubscriptionId, WorkspaceId};
use mail::Message;

/// What a batch of attempts shows about one subscription.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct HealthSignals {
    /// When the last successful attempt ended, in milliseconds since the epoch. `None` if none succeeded.
    succeeded_ms: Option<i64>,
    /// When the first and the last failed attempt after the most recent success ended, in milliseconds since the epoch.
    /// `None` if no attempt failed after it.
    failures: Option<(i64, i64)>,
}

impl HealthSignals {
    /// Evaluates the attempts of one subscription, in the order in which they ended.
    fn of(attempts: &[&CompletedAttempt]) -> Self {
        let mut signals = Self::default();
        for attempt in attempts {
            if attempt.outcome.verdict() == DeliveryVerdict::Delivered {
                signals = Self { succeeded_ms: Some(attempt.ended_ms()), failures: None };
            } else {
                let first = signals.failures.map_or(attempt.ended_ms(), |(first, _)| first);
                signals.failures = Some((first, attempt.ended_ms()));
            }
        }
        signals
    }
}

/// Locks the subscriptions of these attempts until the transaction ends, and returns those that still exist. Other
/// workers that record attempts of these subscriptions wait. The locks are acquired in the order of the ids, so that
/// two workers cannot deadlock.
///
/// # Errors
/// Returns an error when the query fails.
pub(super) async fn lock(write: &Write, attempts: &[&CompletedAttempt]) -> anyhow::Result<Vec<Model>> {
    let mut ids: Vec<Uuid> = attempts.iter().map(|attempt| attempt.leased.delivery.subscription_id).collect();
    ids.sort_unstable();
    ids.dedup();
    Ok(rows::lock_many(write.conn(), &ids).await?)
}

/// Records the effect of these attempts on the health of their subscriptions, which are [locked](lock).
///
/// # Errors
/// Returns an error when a query fails.
pub(super) async fn record(
    app: &App,
    write: &mut Write,
    subscriptions: &[Model],
    attempts: &[&CompletedAttempt],
) -> anyhow::Result<()> {
    for subscription in subscriptions {
        // An attempt at a URL that the subscription no longer has does not count, nor one from before the reset of a sandbox.
        let is_counted = |attempt: &&&CompletedAttempt| {
            let delivery = &attempt.leased.delivery;
            delivery.subscription_id == subscription.id
                && delivery.workspace_id == subscription.workspace_id
                && attempt.went_to_url_of(subscription)
        };
        let mut attempts: Vec<&CompletedAttempt> = attempts.iter().filter(is_counted).copied().collect();
        attempts.sort_by_key(|attempt| attempt.ended_ms());
        let signals = HealthSignals::of(&attempts);
        if let Some(ended_ms) = signals.succeeded_ms
            && (subscription.failing_since.is_some() || subscription.outage_since.is_some())
            && let Some(since) = recovery::end_outage(write, subscription, ended_ms).await?
        {
            notify_of_recovery(app, write, subscription, since).await?;
        }
        let Some((first_failure, last_failure)) = signals.failures else { continue };
        let recorded_since = subscription.failing_since.filter(|_| signals.succeeded_ms.is_none());
        if recorded_since.is_none() {
            rows::set_failing(write.conn(), subscription.id, first_failure).await?;
        }
        let failing_since = recorded_since.unwrap_or(first_failure);
        let last_error = attempts.last().map(|attempt| describe_error(attempt)).unwrap_or_default();
        warn_or_disable(app, write, subscription, failing_since, last_failure, last_error).await?;
    }
    Ok(())
}

/// Warns the owner or disables the subscription when it has failed for long enough. `failing_since` and `last_failure`
/// are when the first and the last failed attempt ended, in milliseconds since the epoch.
async fn warn_or_disable(
    app: &App,
    write: &mut Write,
    row: &Model,
    failing_since: i64,
    last_failure: i64,
    last_error: String,
) -> anyhow::Result<()> {
    let failing_ms = last_failure - failing_since;
    if row.state != StoredSubscriptionState::Enabled || failing_ms < WARN_AFTER_MS {
        return Ok(());
    }
    let disables = failing_ms >= DISABLE_AFTER_MS;
    let changed = if disables {
        webhooks::disable(write, SubscriptionId::from_uuid(row.id)).await?
    } else {
        row.warned_at.is_none() && rows::set_warned(write.conn(), row.id, last_failure).await?
    };
    let Some(workspace) = workspaces::by_id(write.conn(), row.workspace_id).await?.filter(|_| changed) else {
        return Ok(());
    };
    let (subscription, url, since) =
        (SubscriptionId::from_uuid(row.id), row.url.clone(), from_ms(failing_since));
    let name = workspace.name;
    let message = if disables {
        tracing::warn!(subscription.id = %subscription, "webhook subscription disabled after failing for 7 days");
        Message::WebhookDisabled {
            workspace: name,
            subscription,
            url,
            page: page(app, subscription),
            failing_since: since,
            last_error,
        }
    } else {
        let disables_at = from_ms(since.as_millisecond() + DISABLE_AFTER_MS);
        Message::WebhookFailing {
            workspace: name,
            subscription,
            url,
            failing_since: since,
            disables_at,
            last_error,
        }
    };
    let workspace_id = WorkspaceId::from_uuid(row.workspace_id);
    let recipient = email::mailbox(&workspace.owner_email);
    mail::queue::enqueue(write, &app.ids, workspace_id, &recipient, &message).await?;
    Ok(())
}

/// Queues the mail to the owner about an endpoint that succeeds again after an outage since this time, in which deliveries died.
async fn notify_of_recovery(
    app: &App,
    write: &mut Write,
    row: &Model,
    since: Timestamp,
) -> anyhow::Result<()> {
    let Some(workspace) = workspaces::by_id(write.conn(), row.workspace_id).await? else { return Ok(()) };
    let subscription = SubscriptionId::from_uuid(row.id);
    let (url, page) = (row.url.clone(), page(app, subscription));
    let message = Message::WebhookRecovered {
        workspace: workspace.name,
        subscription,
        url,
        page,
        failing_since: since,
    };
    let workspace_id = WorkspaceId::from_uuid(row.workspace_id);
    mail::queue::enqueue(write, &app.ids, workspace_id, &email::mailbox(&workspace.owner_email), &message)
        .await?;
    Ok(())
}

/// Returns the dashboard page of a subscription, if the server's URL is known.
fn page(app: &App, subscription: SubscriptionId) -> Option<String> {
    let server = app.config.server.url_for_links();
    server.map(|server| format!("{server}/dashboard/developer/webhooks/{subscription}"))
}

/// Describes an attempt's error for the owner: the HTTP status, or the code of the failure.
fn describe_error(attempt: &CompletedAttempt) -> String {
    match &attempt.outcome.result {
        Ok(response) => format!("HTTP {}", response.status),
        Err(failure) => failure.to_string(),
    }
}
