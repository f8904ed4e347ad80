//! Mails to owners about what their workspaces use and a contract marks as deprecated.

use std::collections::{BTreeMap, BTreeSet};

use entity::deprecation_notices::{self, Model};
use foundation::id::WorkspaceId;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use mail::message::{DeprecatedItem, Message};
use mail::{is_recipient, queue};

use super::read::{UsedDeprecation, recent};
use super::{Announcement, DeprecatedPart};
use crate::app::App;
use crate::{Result, email, workspaces};

/// The numbers of days before a sunset at which owners are reminded.
const REMINDERS: [i32; 3] = [30, 7, 1];
/// The stage of the first mail.
const FIRST: &str = "first";

/// Queues mails to the owners of workspaces that used something deprecated in the last 30 days: one when it begins, and reminders 30,
/// 7 and 1 days before the sunset. A mail is about everything that is due in its workspace.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a statement fails. The next call queues the remaining mails.
pub async fn notify(app: &App) -> Result<()> {
    let mut concerned: BTreeMap<WorkspaceId, Vec<UsedDeprecation>> = BTreeMap::new();
    for used in recent(app, None).await? {
        for workspace in used.keys.iter().map(|uses| uses.workspace).collect::<BTreeSet<_>>() {
            let keys = used.keys.iter().filter(|uses| uses.workspace == workspace).cloned().collect();
            concerned.entry(workspace).or_default().push(UsedDeprecation { keys, ..used.clone() });
        }
    }
    for (workspace, used) in concerned {
        notify_workspace(app, workspace, used).await?;
    }
    Ok(())
}

async fn notify_workspace(app: &App, id: WorkspaceId, used: Vec<UsedDeprecation>) -> Result<()> {
    let workspace = workspaces::get(app, id).await?;
    if !is_recipient(&workspace.owner_email) {
        return Ok(());
    }
    let mut write = app.begin_write().await?;
    let today = jiff::Timestamp::from_millisecond(write.now_ms())
        .map_err(anyhow::Error::from)?
        .to_zoned(TimeZone::UTC)
        .date();
    let sent = deprecation_notices::of_workspace(write.conn(), id.uuid()).await?;
    let mut sent: BTreeSet<[String; 3]> =
        sent.into_iter().map(|notice| [notice.contract, notice.pointer, notice.stage]).collect();
    let (mut items, mut notices) = (Vec::new(), Vec::new());
    for UsedDeprecation { part, announcement, keys } in used {
        let stages = due_stages(&announcement, today);
        let new: Vec<String> = stages.into_iter().filter(|stage| sent.insert(key(&part, stage))).collect();
        if new.is_empty() {
            continue;
        }
        let names: Vec<&str> = keys.iter().map(|uses| &*uses.key_name).collect();
        items.push(DeprecatedItem {
            text: format!("{} {}", part.describe(), announcement.describe()),
            keys: names.join(", "),
            last_used: keys.iter().map(|uses| uses.last_at).max().unwrap_or_default(),
        });
        notices.extend(new.into_iter().map(|stage| Model {
            workspace_id: id.uuid(),
            contract: part.contract.clone(),
            pointer: part.pointer.clone(),
            stage,
            sent_at: write.now_ms(),
        }));
    }
    if items.is_empty() {
        return Ok(());
    }
    let server = app.config.server.url_for_links();
    let page = server.map(|server| format!("{server}/docs/changelog"));
    let message = Message::Deprecated { workspace: workspace.name, items, page };
    queue::enqueue(&mut write, &app.ids, id, &email::mailbox(&workspace.owner_email), &message).await?;
    deprecation_notices::insert(write.conn(), notices).await?;
    Ok(write.commit().await?)
}

fn key(part: &DeprecatedPart, stage: &str) -> [String; 3] {
    [part.contract.clone(), part.pointer.clone(), stage.to_owned()]
}

/// Returns the stages that a mail on this day covers. After the sunset, there are none.
fn due_stages(announcement: &Announcement, today: Date) -> Vec<String> {
    let mut stages = vec![FIRST.to_owned()];
    let Some(sunset) = announcement.sunset else { return stages };
    let days_left = today.until(sunset).map_or(0, |span| span.get_days());
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
                &Announcement { since: None, sunset, replacement: None },
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
