//! The queue between a change and its mail: written in the change's transaction, sent by whoever is there.
//!
//! A mail is leased, sent, settled, each step for itself: no transaction is open while a server is talked to. Whoever
//! dies amid an attempt gives the mail back when its lease ends. Nothing here runs inside a request.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use entity::mails::{self, Lease, Model, Settled, State};
use sea_orm::DbErr;
use tokio::time::MissedTickBehavior;

use super::message::{Message, Rendered};
use super::transport::{Failure, TIMEOUT, Transport};
use foundation::clock::{Clock, from_ms};
use foundation::database::{Database, Write};
use foundation::id::{Ids, Mail, MailId, WorkspaceId};

/// How often [`run`] looks for due mail.
const POLL: Duration = Duration::from_secs(5);
/// Every how many looks it deletes old mail: once an hour.
const PRUNE_EVERY: u32 = 720;
/// How long a settled mail is kept.
const KEPT_DAYS: i64 = 30;
/// Mails deleted by one statement of [`prune`].
const BATCH: u64 = 500;

/// How long a worker has a mail for itself: longer than an attempt can take, with time to record it.
const LEASE: Duration = Duration::from_secs(120);
const _: () = assert!(LEASE.as_secs() >= TIMEOUT.as_secs() + 30);

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// The waits between one attempt and the next; after the last of them a mail is given up, about a day after the first
/// attempt.
const WAITS_MS: &[i64] = &[
    MINUTE_MS,
    5 * MINUTE_MS,
    30 * MINUTE_MS,
    2 * HOUR_MS,
    6 * HOUR_MS,
    6 * HOUR_MS,
    6 * HOUR_MS,
    6 * HOUR_MS,
];

/// What the queue needs of its process.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// The database.
    pub db: &'a Database,
    /// Wall time.
    pub clock: &'a Clock,
    /// New ids.
    pub ids: &'a Ids,
}

/// Queues a message inside the caller's transaction, reading nothing. It is sent some seconds after the commit.
///
/// # Errors
/// When the database does.
pub async fn enqueue(
    write: &mut Write,
    ids: &Ids,
    workspace: WorkspaceId,
    recipient: &str,
    message: &Message,
) -> Result<MailId, DbErr> {
    let now = write.now_ms();
    let id: MailId = ids.next(from_ms(now));
    let Rendered { subject, text, html } = message.render();
    let mail = Model {
        id: id.uuid(),
        workspace_id: workspace.uuid(),
        kind: message.kind().to_owned(),
        recipient: recipient.to_owned(),
        subject,
        text_body: text,
        html_body: html,
        state: State::Pending,
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

/// Sends what is due now, one mail after the other, and says how many were sent. A mail that fails is not tried twice
/// in one pass.
///
/// # Errors
/// When the database does; what was taken is due again when its lease ends.
pub async fn deliver_due(parts: Parts<'_>, transport: &Transport) -> Result<u64, DbErr> {
    let by = parts.clock.now_ms();
    let mut count = 0;
    while let Some(sent) = deliver_next(parts, transport, by).await? {
        count += u64::from(sent);
    }
    Ok(count)
}

/// Sends mail as it becomes due and deletes the old, until `stopped`. A mail under way is brought to its end first; a
/// caller that cannot wait for that drops the future, and the mail is due again when its lease ends.
///
/// A database that fails is logged and asked again.
pub async fn run(parts: Parts<'_>, transport: &Transport, stopped: impl Future<Output = ()>) {
    let mut stopped = pin!(stopped);
    let mut ticks = tokio::time::interval(POLL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut turn: u32 = 0;
    loop {
        tokio::select! {
            biased;
            () = stopped.as_mut() => return,
            _ = ticks.tick() => {}
        }
        let by = parts.clock.now_ms();
        loop {
            match deliver_next(parts, transport, by).await {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(%error, "the queue of mail does not answer");
                    break;
                }
            }
            tokio::select! {
                biased;
                () = stopped.as_mut() => return,
                () = std::future::ready(()) => {}
            }
        }
        if turn.is_multiple_of(PRUNE_EVERY)
            && let Err(error) = prune(parts).await
        {
            tracing::warn!(%error, "old mail could not be deleted");
        }
        turn = turn.wrapping_add(1);
    }
}

/// Deletes mail that was settled and is older than 30 days, in small batches; returns how many.
///
/// # Errors
/// When the database does.
pub async fn prune(parts: Parts<'_>) -> Result<u64, DbErr> {
    let mut pruned = 0;
    loop {
        let write = parts.db.begin_write(parts.clock).await?;
        let before = write.now_ms() - KEPT_DAYS * DAY_MS;
        let batch = mails::delete_settled(write.conn(), before, BATCH).await?;
        write.commit().await?;
        pruned += batch;
        if batch < BATCH {
            return Ok(pruned);
        }
    }
}

/// Takes one mail that was due by then, tries it and records what came of it; whether it was sent. Nothing when no
/// mail is due.
async fn deliver_next(parts: Parts<'_>, transport: &Transport, by: i64) -> Result<Option<bool>, DbErr> {
    // The look costs no write, and mostly there is nothing.
    if !mails::any_due(parts.db.read(), by).await? {
        return Ok(None);
    }
    let Some((mail, token)) = take(parts, by).await? else { return Ok(None) };
    let outcome = transport.send(&mail).await;
    let sent = outcome.is_ok();
    let write = parts.db.begin_write(parts.clock).await?;
    let settled = settled(&mail, outcome, write.now_ms());
    if mails::settle(write.conn(), mail.id, token, settled).await? {
        write.commit().await?;
    } else {
        tracing::warn!(mail.id = %MailId::from_uuid(mail.id), "a mail was withdrawn, or its lease ran out and another worker took it");
    }
    Ok(Some(sent))
}

/// Leases the mail that is due for the longest.
async fn take(parts: Parts<'_>, by: i64) -> Result<Option<(Model, uuid::Uuid)>, DbErr> {
    let write = parts.db.begin_write(parts.clock).await?;
    let now = write.now_ms();
    let token = parts.ids.next::<Mail>(from_ms(now)).uuid();
    let until = now + i64::try_from(LEASE.as_millis()).unwrap_or(i64::MAX);
    let taken = mails::claim(write.conn(), by, Lease { token, until }, 1).await?;
    write.commit().await?;
    Ok(taken.into_iter().next().map(|mail| (mail, token)))
}

/// What an attempt that ended now comes to. The log names the mail and the class of the failure alone: what a server
/// says may name addresses.
fn settled(mail: &Model, outcome: Result<(), Failure>, now: i64) -> Settled {
    let id = MailId::from_uuid(mail.id);
    let kind = mail.kind.as_str();
    let Err(Failure { permanent, class, text }) = outcome else {
        tracing::info!(mail.id = %id, mail.kind = kind, "mail sent");
        return Settled::Sent(now);
    };
    let error = format!("{class}: {text}");
    let wait = usize::try_from(mail.attempts).ok().and_then(|made| WAITS_MS.get(made));
    match wait {
        Some(wait) if !permanent => {
            tracing::warn!(mail.id = %id, mail.kind = kind, class, "mail not sent, it is tried again");
            Settled::Again { due_at: now + wait, error }
        }
        _ => {
            tracing::error!(mail.id = %id, mail.kind = kind, class, "mail given up");
            Settled::Dead(error)
        }
    }
}
