//! How a subscription's endpoint has been answering, and what follows when it fails for days.
//!
//! `failing_since` is set by the first failed attempt and cleared by any success. After 3 days the owner is warned; an
//! attempt that fails 7 days or more after it disables the subscription (seed 6). The mail is queued in the same
//! transaction.

use entity::webhook_subscriptions::{self as rows, Model, State};
use entity::workspaces;
use uuid::Uuid;

use super::outbound::Verdict;
use super::schedule::{DISABLE_AFTER_MS, WARN_AFTER_MS};
use super::settle::Attempted;
use domain::app::App;
use domain::webhooks;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{SubscriptionId, WorkspaceId};
use mail::Message;

/// What a batch of attempts says of one subscription.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Signs {
    /// One succeeded.
    succeeded: bool,
    /// When the first and the last of those failed that no success came after.
    failed: Option<(i64, i64)>,
}

impl Signs {
    /// Takes the attempts of one subscription in the order in which they ended.
    fn of(attempts: &[&Attempted]) -> Self {
        let mut signs = Self::default();
        for attempt in attempts {
            if attempt.outcome.verdict() == Verdict::Delivered {
                signs = Self { succeeded: true, failed: None };
            } else {
                let first = signs.failed.map_or(attempt.ended_ms(), |(first, _)| first);
                signs.failed = Some((first, attempt.ended_ms()));
            }
        }
        signs
    }
}

/// The subscriptions of these attempts, held until the transaction ends: what another worker records of them comes
/// before or after. In the order of their ids, so that no two workers wait for each other.
///
/// # Errors
/// When the database fails.
pub(super) async fn lock(write: &Write, attempts: &[&Attempted]) -> anyhow::Result<Vec<Model>> {
    let mut ids: Vec<Uuid> = attempts.iter().map(|attempt| attempt.task.claimed.subscription_id).collect();
    ids.sort_unstable();
    ids.dedup();
    Ok(rows::lock_many(write.conn(), &ids).await?)
}

/// Records what these attempts say of their subscriptions, which are [locked](lock).
///
/// # Errors
/// When the database fails.
pub(super) async fn record(
    app: &App,
    write: &mut Write,
    subscriptions: &[Model],
    attempts: &[&Attempted],
) -> anyhow::Result<()> {
    for row in subscriptions {
        // What an address says that is no longer the subscription's is not about its health.
        let of_it =
            |attempt: &&&Attempted| attempt.task.claimed.subscription_id == row.id && attempt.went_to(row);
        let mut attempts: Vec<&Attempted> = attempts.iter().filter(of_it).copied().collect();
        attempts.sort_by_key(|attempt| attempt.ended_ms());
        let signs = Signs::of(&attempts);
        if signs.succeeded && row.failing_since.is_some() {
            rows::clear_failing(write.conn(), row.id).await?;
        }
        let Some((first, last)) = signs.failed else { continue };
        let known = row.failing_since.filter(|_| !signs.succeeded);
        if known.is_none() {
            rows::set_failing(write.conn(), row.id, first).await?;
        }
        let error = attempts.last().map(|attempt| cause(attempt)).unwrap_or_default();
        judge(app, write, row, known.unwrap_or(first), last, error).await?;
    }
    Ok(())
}

/// Warns or disables when it is time: `last` is when the last attempt failed, `error` why.
async fn judge(
    app: &App,
    write: &mut Write,
    row: &Model,
    since: i64,
    last: i64,
    last_error: String,
) -> anyhow::Result<()> {
    let lasted = last - since;
    if row.state != State::Enabled || lasted < WARN_AFTER_MS {
        return Ok(());
    }
    let over = lasted >= DISABLE_AFTER_MS;
    let turned = if over {
        webhooks::disable(write, SubscriptionId::from_uuid(row.id)).await?
    } else {
        row.warned_at.is_none() && rows::set_warned(write.conn(), row.id, last).await?
    };
    let Some(owner) = workspaces::by_id(write.conn(), row.workspace_id).await?.filter(|_| turned) else {
        return Ok(());
    };
    let (subscription, url, since) = (SubscriptionId::from_uuid(row.id), row.url.clone(), from_ms(since));
    let message = if over {
        tracing::warn!(subscription.id = %subscription, "disabled: it failed for 7 days");
        let server = app.config.server.known_address();
        let page = server.map(|server| format!("{server}/dashboard/developer/webhooks/{subscription}"));
        let workspace = owner.name;
        Message::WebhookDisabled { workspace, subscription, url, page, failed_since: since, last_error }
    } else {
        let disables_at = from_ms(since.as_millisecond() + DISABLE_AFTER_MS);
        Message::WebhookFailing { workspace: owner.name, subscription, url, since, disables_at, last_error }
    };
    let workspace = WorkspaceId::from_uuid(row.workspace_id);
    mail::queue::enqueue(write, &app.ids, workspace, &owner.owner_email, &message).await?;
    Ok(())
}

/// What went wrong, for the owner.
fn cause(attempt: &Attempted) -> String {
    match &attempt.outcome.result {
        Ok(answer) => format!("HTTP {}", answer.status),
        Err(failure) => failure.to_string(),
    }
}
