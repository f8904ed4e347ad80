//! Queues mail in the caller's transaction and sends it in the background.
//!
//! A worker leases a mail, sends it and records the outcome in separate steps, so no transaction is open while a mail is sent.
//! If a process stops during an attempt, another worker sends the mail after its lease expires.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use entity::mails::{self, MailLease, MailOutcome, MailState, Model};
use entity::rollups::DAY_MS;
use sea_orm::DbErr;
use tokio::time::MissedTickBehavior;

use super::message::{Message, RenderedMessage};
use super::transport::{SendFailure, TIMEOUT, Transport};
use foundation::clock::{Clock, from_ms};
use foundation::database::{DELETE_BATCH, Database, Write};
use foundation::id::{Ids, Mail, MailId, WorkspaceId};

/// How often [`run`] polls for due mail.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// Number of ticks of [`POLL_INTERVAL`] between two calls of [`prune`], which amounts to one hour.
const PRUNE_EVERY_TICKS: u32 = 720;
/// How long settled (sent or dead) mail is stored, in days.
const RETENTION_DAYS: i64 = 30;

/// Duration of a lease. It is longer than an attempt can take, including the time to record the outcome.
const LEASE: Duration = Duration::from_secs(120);
const _: () = assert!(LEASE.as_secs() >= TIMEOUT.as_secs() + 30);

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;

/// Delays between attempts to send a mail. If the attempt after the last delay fails, the mail is dead-lettered, about 27
/// hours after the first attempt.
const MAIL_RETRY_DELAYS_MS: &[i64] = &[
    MINUTE_MS,
    5 * MINUTE_MS,
    30 * MINUTE_MS,
    2 * HOUR_MS,
    6 * HOUR_MS,
    6 * HOUR_MS,
    6 * HOUR_MS,
    6 * HOUR_MS,
];

/// The resources that the queue uses.
#[derive(Debug, Clone, Copy)]
pub struct QueueContext<'a> {
    /// The database.
    pub db: &'a Database,
    /// The clock.
    pub clock: &'a Clock,
    /// The id generator.
    pub ids: &'a Ids,
}

/// Queues a message in the caller's transaction. It is sent a few seconds after the commit.
///
/// # Errors
/// Returns [`DbErr`] when the insert fails.
pub async fn enqueue(
    write: &mut Write,
    ids: &Ids,
    workspace: WorkspaceId,
    recipient: &str,
    message: &Message,
) -> Result<MailId, DbErr> {
    let now = write.now_ms();
    let id: MailId = ids.next(from_ms(now));
    let RenderedMessage { subject, text, html } = message.render();
    let mail = Model {
        id: id.uuid(),
        workspace_id: workspace.uuid(),
        kind: message.kind().to_owned(),
        recipient: recipient.to_owned(),
        subject,
        text_body: text,
        html_body: html,
        state: MailState::Pending,
        attempts: 0,
        due_at: Some(now),
        lease_token: None,
        created_at: now,
        sent_at: None,
        last_error: None,
    };
    mails::in_workspace(workspace.uuid()).insert(write.conn(), mail).await?;
    Ok(id)
}

/// Returns the number of mails that are to be sent, and when the earliest is due, in milliseconds since the epoch.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn status(db: &Database) -> Result<(i64, Option<i64>), DbErr> {
    mails::queue_status(db.read()).await
}

/// Attempts to send all mail that is due now, one after another and each mail once. Returns the number of mails sent.
///
/// # Errors
/// Returns [`DbErr`] when a query fails. If a mail was leased, it is due again after its lease expires.
pub async fn deliver_due(context: QueueContext<'_>, transport: &Transport) -> Result<u64, DbErr> {
    let due_by_ms = context.clock.now_ms();
    let mut count = 0;
    while let Some(sent) = deliver_next(context, transport, due_by_ms).await? {
        count += u64::from(sent);
    }
    Ok(count)
}

/// Sends mail when it becomes due, and deletes old mail, at intervals and when a client advances the clock. Does both only while
/// `leads` returns true. Returns when `stopped` has completed and the current attempt has ended. A caller that cannot wait for the
/// attempt can drop the future; the mail is then due again after its lease expires.
///
/// Database errors are logged, and the next poll tries again.
pub async fn run(
    context: QueueContext<'_>,
    transport: &Transport,
    leads: impl Fn() -> bool,
    stopped: impl Future<Output = ()>,
) {
    let mut stopped = pin!(stopped);
    let mut ticks = tokio::time::interval(POLL_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut moves = context.clock.moves();
    let mut tick: u32 = 0;
    loop {
        let was_moved = tokio::select! {
            biased;
            () = stopped.as_mut() => return,
            () = moves.next() => true,
            _ = ticks.tick() => false,
        };
        if !leads() {
            continue;
        }
        let due_by_ms = context.clock.now_ms();
        loop {
            match deliver_next(context, transport, due_by_ms).await {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(%error, "reading the mail queue failed");
                    break;
                }
            }
            tokio::select! {
                biased;
                () = stopped.as_mut() => return,
                () = std::future::ready(()) => {}
            }
        }
        if (was_moved || tick.is_multiple_of(PRUNE_EVERY_TICKS))
            && let Err(error) = prune(context).await
        {
            tracing::warn!(%error, "deleting old mail failed");
        }
        tick = tick.wrapping_add(1);
    }
}

/// Deletes settled mail that is older than 30 days, in small batches. Returns the number of mails deleted.
///
/// # Errors
/// Returns [`DbErr`] when a transaction fails.
pub async fn prune(context: QueueContext<'_>) -> Result<u64, DbErr> {
    let delete = context.db.delete_in_batches(context.clock, |write| {
        let before = write.now_ms() - RETENTION_DAYS * DAY_MS;
        Box::pin(mails::delete_settled(write.conn(), before, DELETE_BATCH))
    });
    delete.await
}

/// Leases one mail that is due at `due_by_ms`, sends it and records the outcome. Returns whether the transport accepted
/// it, or `None` when there is no due mail to lease.
async fn deliver_next(
    context: QueueContext<'_>,
    transport: &Transport,
    due_by_ms: i64,
) -> Result<Option<bool>, DbErr> {
    // Usually no mail is due. This query detects that without a write transaction.
    if !mails::any_due(context.db.read(), due_by_ms).await? {
        return Ok(None);
    }
    let Some((mail, token)) = claim_next(context, due_by_ms).await? else { return Ok(None) };
    let outcome = transport.send(&mail).await;
    let sent = outcome.is_ok();
    let write = context.db.begin_write(context.clock).await?;
    let outcome = mail_outcome(&mail, outcome, write.now_ms());
    let label = match outcome {
        MailOutcome::Sent(_) => "sent",
        MailOutcome::Retry { .. } => "retry",
        MailOutcome::Dead(_) => "dead",
    };
    metrics::counter!("mail_attempts_total", "outcome" => label).increment(1);
    if mails::record_outcome(write.conn(), mail.id, token, outcome).await? {
        write.commit().await?;
    } else {
        let id = MailId::from_uuid(mail.id);
        tracing::warn!(mail.id = %id, "the mail was canceled, or its lease expired and another worker claimed it");
    }
    Ok(Some(sent))
}

/// Leases the mail with the earliest due time. Returns it with the token of the lease, or `None` when no mail is due at
/// `due_by_ms`.
async fn claim_next(context: QueueContext<'_>, due_by_ms: i64) -> Result<Option<(Model, uuid::Uuid)>, DbErr> {
    let write = context.db.begin_write(context.clock).await?;
    let now = write.now_ms();
    let token = context.ids.next::<Mail>(from_ms(now)).uuid();
    let expires_at = now + i64::try_from(LEASE.as_millis()).unwrap_or(i64::MAX);
    let claimed = mails::claim(write.conn(), due_by_ms, MailLease { token, expires_at }, 1).await?;
    write.commit().await?;
    Ok(claimed.into_iter().next().map(|mail| (mail, token)))
}

/// Returns the outcome of an attempt and logs it. Logs only the class of a failure, because the error message of a mail server
/// can contain email addresses.
fn mail_outcome(mail: &Model, outcome: Result<(), SendFailure>, now: i64) -> MailOutcome {
    let id = MailId::from_uuid(mail.id);
    let kind = mail.kind.as_str();
    let Err(SendFailure { permanent, class, detail }) = outcome else {
        tracing::info!(mail.id = %id, mail.kind = kind, "mail sent");
        return MailOutcome::Sent(now);
    };
    let error = format!("{class}: {detail}");
    let delay_ms =
        usize::try_from(mail.attempts).ok().and_then(|attempts| MAIL_RETRY_DELAYS_MS.get(attempts));
    match delay_ms {
        Some(delay_ms) if !permanent => {
            tracing::warn!(mail.id = %id, mail.kind = kind, class, "sending the mail failed, it will be retried");
            MailOutcome::Retry { due_at: now + delay_ms, error }
        }
        _ => {
            tracing::error!(mail.id = %id, mail.kind = kind, class, "sending the mail failed, it will not be retried");
            MailOutcome::Dead(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runbook_states_how_long_mail_is_retried() {
        let hours = (MAIL_RETRY_DELAYS_MS.iter().sum::<i64>() + HOUR_MS / 2) / HOUR_MS;
        let statement = format!("Mail is retried for {hours} hours.");
        assert!(include_str!("../../xtask/dist/RUNBOOK.md").contains(&statement), "{statement}");
    }
}
