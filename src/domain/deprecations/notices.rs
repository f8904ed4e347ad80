//! Mails to owners about what their workspaces use and a contract marks as deprecated.

use std::collections::{BTreeMap, BTreeSet};

use entity::deprecation_notices::{self, Model};
use foundation::clock::from_ms;
use foundation::id::WorkspaceId;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use mail::message::{DeprecatedItem, Message};
use mail::{is_recipient, queue};

use super::Announcement;
use super::read::{UsedDeprecation, recent};
use crate::app::App;
use crate::{Result, email, workspaces};

/// The numbers of days before a sunset at which owners are reminded.
const REMINDERS: [i32; 3] = [30, 7, 1];
/// The stage of the first mail.
const FIRST: &str = "first";

/// Queues mails to the owners of workspaces that used something deprecated in the last 30 days: one when it begins, and reminders 30,
/// 7 and 1 days before the sunset. A mail is about everything that is due in its workspace. A failure in one workspace does not
/// prevent the mails of the others.
///
/// # Errors
/// Returns the first error: [`Error::Internal`](crate::Error::Internal) when a statement fails. The next call queues the remaining
/// mails.
pub async fn notify(app: &App) -> Result<()> {
    let mut concerned: BTreeMap<WorkspaceId, Vec<UsedDeprecation>> = BTreeMap::new();
    for used in recent(app, None).await? {
        for workspace in used.keys.iter().map(|uses| uses.workspace).collect::<BTreeSet<_>>() {
            let keys = used.keys.iter().filter(|uses| uses.workspace == workspace).cloned().collect();
            concerned.entry(workspace).or_default().push(UsedDeprecation { keys, ..used.clone() });
        }
    }
    let mut notified = Ok(());
    for (workspace, used) in concerned {
        notified = notified.and(notify_workspace(app, workspace, &used).await);
    }
    notified
}

async fn notify_workspace(app: &App, id: WorkspaceId, used: &[UsedDeprecation]) -> Result<()> {
    let workspace = workspaces::get(app, id).await?;
    let sent = deprecation_notices::of_workspace(app.db.read(), id.uuid()).await?;
    if !is_recipient(&workspace.owner_email) || Due::new(id, used, sent, app.clock.now_ms()).items.is_empty()
    {
        return Ok(());
    }
    let mut write = app.begin_write().await?;
    // Another server may have queued the mail in the meantime.
    let sent = deprecation_notices::of_workspace(write.conn(), id.uuid()).await?;
    let Due { items, notices, days_left } = Due::new(id, used, sent, write.now_ms());
    if items.is_empty() {
        return Ok(());
    }
    let server = app.config.server.url_for_links();
    let page = server.map(|server| format!("{server}/docs/changelog"));
    let message = Message::Deprecated { workspace: workspace.name, items, days_left, page };
    queue::enqueue(&mut write, &app.ids, id, &email::mailbox(&workspace.owner_email), &message).await?;
    deprecation_notices::insert(write.conn(), notices).await?;
    Ok(write.commit().await?)
}

/// What a mail to a workspace is about.
struct Due {
    items: Vec<DeprecatedItem>,
    notices: Vec<Model>,
    /// The number of days until the first sunset, if the mail is a reminder.
    days_left: Option<i32>,
}

impl Due {
    /// Returns what is due at a time, except what these mails were about.
    fn new(id: WorkspaceId, used: &[UsedDeprecation], sent: Vec<Model>, now_ms: i64) -> Self {
        let today = from_ms(now_ms).to_zoned(TimeZone::UTC).date();
        let mut sent: BTreeSet<[String; 4]> = sent
            .into_iter()
            .map(|notice| [notice.contract, notice.operation, notice.name, notice.stage])
            .collect();
        let mut due = Self { items: Vec::new(), notices: Vec::new(), days_left: None };
        for UsedDeprecation { part, announcement, keys } in used {
            let key = |stage: &String| {
                [part.contract.clone(), part.operation.clone(), part.name.clone(), stage.clone()]
            };
            let mut stages = due_stages(announcement, today);
            stages.retain(|stage| sent.insert(key(stage)));
            if stages.is_empty() {
                continue;
            }
            if !stages.iter().any(|stage| stage == FIRST) {
                let left = announcement.sunset.map(|sunset| days_until(today, sunset));
                due.days_left = due.days_left.into_iter().chain(left).min();
            }
            let names: Vec<&str> = keys.iter().map(|uses| &*uses.key_name).collect();
            due.items.push(DeprecatedItem {
                text: format!("{} {}", part.describe(), announcement.describe(today)),
                keys: names.join(", "),
                last_used: keys.iter().map(|uses| uses.last_at).max().unwrap_or_default(),
            });
            due.notices.extend(stages.into_iter().map(|stage| Model {
                workspace_id: id.uuid(),
                contract: part.contract.clone(),
                operation: part.operation.clone(),
                name: part.name.clone(),
                stage,
                sent_at: now_ms,
            }));
        }
        due
    }
}

fn days_until(today: Date, sunset: Date) -> i32 {
    today.until(sunset).map_or(0, |span| span.get_days())
}

/// Returns the stages that a mail on this day covers. After the sunset, there are none.
fn due_stages(announcement: &Announcement, today: Date) -> Vec<String> {
    let mut stages = vec![FIRST.to_owned()];
    let Some(sunset) = announcement.sunset else { return stages };
    let days_left = days_until(today, sunset);
    if days_left <= 0 {
        return Vec::new();
    }
    let due = REMINDERS.iter().filter(|reminder| days_left <= **reminder);
    stages.extend(due.map(|reminder| format!("{sunset} {reminder}")));
    stages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_covers_the_reminders_that_are_due() {
        let stages = |sunset: Option<&str>| {
            let sunset = sunset.map(|date| date.parse().unwrap());
            due_stages(
                &Announcement { since: None, sunset, replacement: None, is_removed: false },
                "2026-03-01".parse().unwrap(),
            )
        };
        assert_eq!(stages(None), ["first"]);
        assert_eq!(stages(Some("2026-04-01")), ["first"]);
        assert_eq!(stages(Some("2026-03-31")), ["first", "2026-03-31 30"]);
        assert_eq!(stages(Some("2026-03-02")), ["first", "2026-03-02 30", "2026-03-02 7", "2026-03-02 1"]);
        assert!(stages(Some("2026-03-01")).is_empty());
        assert!(stages(Some("2025-03-01")).is_empty());
    }
}
