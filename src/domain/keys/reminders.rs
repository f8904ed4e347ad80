//! Mails to owners about API keys that expire soon or are not used.

use std::collections::BTreeMap;

use entity::api_keys::{self, Model};
use entity::key_notices;
use entity::rollups::DAY_MS;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::WorkspaceId;
use jiff::Timestamp;
use mail::message::{KeyItem, Message};
use mail::{is_recipient, queue};

use super::super::records::id;
use super::masked;
use crate::app::App;
use crate::{Result, email, workspaces};

/// The numbers of days before the expiry at which owners are reminded.
const REMINDERS: [i64; 3] = [30, 7, 1];
/// After how many days without a request a key counts as unused.
const UNUSED_DAYS: i64 = 60;
/// How many days pass until the next mail about unused keys of a workspace.
const REPEAT_DAYS: i64 = 7;
/// The stage of mails about unused keys.
const UNUSED: &str = "unused";

/// Queues mails to the owners of workspaces whose keys expire in 30, 7 and 1 days, and once a week about keys that were not used for
/// 60 days. A mail is about all keys that are due in its workspace. A reminder whose time was before the key was created is not sent.
/// A failure in one workspace does not prevent the mails of the others.
///
/// # Errors
/// Returns the first error: [`Error::Internal`](crate::Error::Internal) when a statement fails. The next call queues the remaining
/// mails.
pub async fn remind(app: &App) -> Result<()> {
    let now = app.clock.now_ms();
    let (expires_until, unused_since) = (now + REMINDERS[0] * DAY_MS, now - UNUSED_DAYS * DAY_MS);
    let mut concerned: BTreeMap<WorkspaceId, Vec<Model>> = BTreeMap::new();
    for key in api_keys::expiring_or_unused(app.db.read(), now, expires_until, unused_since).await? {
        concerned.entry(id(key.workspace_id)).or_default().push(key);
    }
    let mut reminded = Ok(());
    for (workspace, keys) in concerned {
        reminded = reminded.and(remind_workspace(app, workspace, &keys).await);
    }
    reminded
}

async fn remind_workspace(app: &App, workspace: WorkspaceId, keys: &[Model]) -> Result<()> {
    let workspace = workspaces::get(app, workspace).await?;
    let sent = key_notices::of_workspace(app.db.read(), workspace.id.uuid()).await?;
    let is_due = !Due::new(keys, &sent, app.clock.now_ms()).notices.is_empty();
    if !is_due || !is_recipient(&workspace.owner_email) {
        return Ok(());
    }
    let mut write = app.begin_write().await?;
    // Another server may have queued the mails in the meantime.
    let sent = key_notices::of_workspace(write.conn(), workspace.id.uuid()).await?;
    let Due { expiring, unused, notices } = Due::new(keys, &sent, write.now_ms());
    let page = app.config.server.url_for_links().map(|server| format!("{server}/dashboard/developer"));
    let name = &workspace.name;
    let messages = [
        (!expiring.is_empty()).then(|| Message::KeysExpire {
            workspace: name.clone(),
            keys: expiring,
            page: page.clone(),
        }),
        (!unused.is_empty()).then(|| Message::KeysUnused {
            workspace: name.clone(),
            keys: unused,
            page: page.clone(),
        }),
    ];
    let recipient = email::mailbox(&workspace.owner_email);
    for message in messages.iter().flatten() {
        queue::enqueue(&mut write, &app.ids, workspace.id, &recipient, message).await?;
    }
    key_notices::replace(write.conn(), notices).await?;
    Ok(write.commit().await?)
}

/// What mails to a workspace are about.
struct Due {
    expiring: Vec<KeyItem>,
    unused: Vec<KeyItem>,
    notices: Vec<key_notices::Model>,
}

impl Due {
    /// Returns what is due at a time, except what mails were about already.
    fn new(keys: &[Model], sent: &[key_notices::Model], now_ms: i64) -> Self {
        let mut due = Self { expiring: Vec::new(), unused: Vec::new(), notices: Vec::new() };
        let notice =
            |key: &Model, stage: String| key_notices::Model { key_id: key.id, stage, sent_at: now_ms };
        for key in keys {
            let stages: Vec<String> = due_reminders(key, now_ms).map(|days| days.to_string()).collect();
            let is_new =
                |stage: &&String| sent.iter().all(|sent| sent.key_id != key.id || sent.stage != **stage);
            let new: Vec<_> = stages.iter().filter(is_new).cloned().collect();
            if !new.is_empty() {
                due.expiring.push(item(key, key.expires_at.map(from_ms)));
                due.notices.extend(new.into_iter().map(|stage| notice(key, stage)));
            }
        }
        let repeated_from = now_ms - REPEAT_DAYS * DAY_MS;
        if sent.iter().all(|sent| sent.stage != UNUSED || sent.sent_at <= repeated_from) {
            let unused_since = now_ms - UNUSED_DAYS * DAY_MS;
            for key in keys.iter().filter(|key| key.last_used_at.unwrap_or(key.created_at) < unused_since) {
                due.unused.push(item(key, key.last_used_at.map(from_ms)));
                due.notices.push(notice(key, UNUSED.to_owned()));
            }
        }
        due
    }
}

/// Returns the reminders of a key whose times have come, but not those before its creation.
fn due_reminders(key: &Model, now_ms: i64) -> impl Iterator<Item = i64> {
    let (created_at, expires_at) = (key.created_at, key.expires_at);
    let is_due = move |at: i64| created_at < at && at <= now_ms;
    REMINDERS.into_iter().filter(move |days| expires_at.is_some_and(|end| is_due(end - days * DAY_MS)))
}

/// Starts the reminders of a key again after its expiry was changed. Reminders that are already due are not sent, because the member
/// who changes the expiry knows it.
pub(super) async fn restart(write: &Write, key: &Model) -> Result<()> {
    key_notices::delete_except(write.conn(), key.id, UNUSED).await?;
    let now = write.now_ms();
    let notice = |days: i64| key_notices::Model { key_id: key.id, stage: days.to_string(), sent_at: now };
    Ok(key_notices::replace(write.conn(), due_reminders(key, now).map(notice).collect()).await?)
}

fn item(key: &Model, at: Option<Timestamp>) -> KeyItem {
    KeyItem { name: key.name.clone(), secret: masked(&key.prefix, &key.last4), at }
}
