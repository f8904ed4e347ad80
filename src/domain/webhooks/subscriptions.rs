//! Subscriptions made, looked at and deleted.

use entity::webhook_subscriptions::{self, Model, State};
use entity::{StringList, webhook_topics, workspaces};
use secrecy::SecretString;

use super::super::Result;
use super::super::faults::Faults;
use super::super::find::{absent, fresh, id};
use super::{NewSubscription, Subscription, SubscriptionState, secrets, url};
use crate::app::App;
use crate::clock::from_ms;
use crate::config::nearest;
use crate::database::Write;
use crate::events::KINDS;
use crate::id::{Subscription as SubscriptionKind, SubscriptionId, Workspace as WorkspaceKind, WorkspaceId};
use crate::secret::Seal;

/// Makes a subscription, which hears what happens from the commit on. Its secret comes out here and at
/// [`rotate`](super::rotate), and nowhere else.
///
/// # Errors
/// [`Error::NotFound`](crate::domain::Error::NotFound) for an absent workspace, [`Error::Invalid`](crate::domain::Error::Invalid) for a URL that may not be called and for event types
/// that are none, doubled or unknown.
pub async fn create(
    app: &App,
    write: &mut Write,
    seal: &Seal,
    workspace: WorkspaceId,
    new: NewSubscription,
) -> Result<(Subscription, SecretString)> {
    let url = check(app, &new)?;
    if workspaces::by_id(write.conn(), workspace.uuid()).await?.is_none() {
        return Err(absent::<WorkspaceKind>(workspace));
    }
    let wanted = |kind: &&&str| new.event_types.iter().any(|wanted| wanted == *kind);
    let event_types: Vec<String> = KINDS.iter().filter(wanted).map(|&kind| kind.to_owned()).collect();
    let row = Model {
        id: fresh::<SubscriptionKind>(app, write),
        workspace_id: workspace.uuid(),
        url,
        event_types: StringList(event_types.clone()),
        state: State::Enabled,
        failing_since: None,
        warned_at: None,
        disabled_at: None,
        created_at: write.now_ms(),
        updated_at: write.now_ms(),
    };
    webhook_subscriptions::in_workspace(workspace.uuid()).insert(write.conn(), row.clone()).await?;
    webhook_topics::insert(write.conn(), workspace.uuid(), row.id, &event_types).await?;
    let secret = secrets::add(app, write, seal, &row).await?;
    Ok((subscription(row), secret))
}

/// The workspace's subscriptions, newest first.
///
/// # Errors
/// [`Error::Internal`](crate::domain::Error::Internal) when the database fails.
pub async fn list(app: &App, workspace: WorkspaceId) -> Result<Vec<Subscription>> {
    let rows = webhook_subscriptions::in_workspace(workspace.uuid()).list(app.db.read()).await?;
    Ok(rows.into_iter().rev().map(subscription).collect())
}

/// One subscription.
///
/// # Errors
/// [`Error::NotFound`](crate::domain::Error::NotFound) when there is none in the workspace.
pub async fn get(app: &App, workspace: WorkspaceId, of: SubscriptionId) -> Result<Subscription> {
    let row = webhook_subscriptions::in_workspace(workspace.uuid()).by_id(app.db.read(), of.uuid()).await?;
    row.map(subscription).ok_or_else(|| absent::<SubscriptionKind>(of))
}

/// One subscription in whichever workspace, for the operator.
///
/// # Errors
/// [`Error::NotFound`](crate::domain::Error::NotFound) when there is none.
pub async fn find(app: &App, of: SubscriptionId) -> Result<Subscription> {
    let row = webhook_subscriptions::by_id(app.db.read(), of.uuid()).await?;
    row.map(subscription).ok_or_else(|| absent::<SubscriptionKind>(of))
}

/// Deletes a subscription with its secrets, its deliveries and their log.
///
/// # Errors
/// [`Error::NotFound`](crate::domain::Error::NotFound) when there is none in the workspace.
pub async fn delete(write: &mut Write, workspace: WorkspaceId, of: SubscriptionId) -> Result<()> {
    if webhook_subscriptions::in_workspace(workspace.uuid()).delete(write.conn(), of.uuid()).await? {
        Ok(())
    } else {
        Err(absent::<SubscriptionKind>(of))
    }
}

/// The subscription's row, held against other changes until the write ends.
pub(super) async fn lock(write: &Write, workspace: WorkspaceId, of: SubscriptionId) -> Result<Model> {
    let row = webhook_subscriptions::in_workspace(workspace.uuid()).lock(write.conn(), of.uuid()).await?;
    row.ok_or_else(|| absent::<SubscriptionKind>(of))
}

/// The URL as it is kept, when all is well.
fn check(app: &App, new: &NewSubscription) -> Result<String> {
    let mut faults = Faults::default();
    let url = url::judge(&new.url, &app.config.webhooks.webhook_allow).unwrap_or_else(|message| {
        faults.add("url", message);
        String::new()
    });
    if new.event_types.is_empty() {
        faults.add("event_types", "must name at least one type of event");
    }
    for (place, kind) in new.event_types.iter().enumerate() {
        if let Some(message) = unknown(kind) {
            faults.add(format!("event_types/{place}"), message);
        } else if new.event_types[..place].contains(kind) {
            faults.add(format!("event_types/{place}"), "must not be given twice");
        }
    }
    faults.check()?;
    Ok(url)
}

/// What is wrong with a type of event that there is not.
pub(super) fn unknown(kind: &str) -> Option<String> {
    let hint = || nearest(kind, KINDS.iter().map(|&known| known.to_owned()));
    let shown = || kind.chars().take(64).collect::<String>();
    (!KINDS.contains(&kind)).then(|| format!("`{}` is no type of event{}", shown(), hint()))
}

/// The record.
pub(super) fn subscription(row: Model) -> Subscription {
    Subscription {
        id: id(row.id),
        workspace: id(row.workspace_id),
        url: row.url,
        event_types: row.event_types.0,
        state: match row.state {
            State::Enabled => SubscriptionState::Enabled,
            State::Paused => SubscriptionState::Paused,
            State::Disabled => SubscriptionState::Disabled,
        },
        failing_since: row.failing_since.map(from_ms),
        disabled_at: row.disabled_at.map(from_ms),
        created_at: from_ms(row.created_at),
        updated_at: from_ms(row.updated_at),
    }
}
