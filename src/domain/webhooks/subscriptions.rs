//! Subscriptions made, looked at, changed and deleted.

use entity::webhook_subscriptions::{self, ActiveModel, Model, State};
use entity::{Set, StringList, webhook_deliveries, webhook_topics, workspaces};
use secrecy::SecretString;

use sea_orm::ConnectionTrait;

use super::super::faults::Faults;
use super::super::find::{absent, fresh, id};
use super::super::{Changed, Error, Result};
use super::{NewSubscription, Subscription, SubscriptionChange, SubscriptionState, secrets, url};
use crate::app::App;
use crate::outbox::KINDS;
use foundation::clock::from_ms;
use foundation::config::nearest;
use foundation::database::Write;
use foundation::id::{
    Subscription as SubscriptionKind, SubscriptionId, Workspace as WorkspaceKind, WorkspaceId,
};
use foundation::secret::Seal;

/// Deliveries deleted in one transaction at most.
const ERASED: u32 = 500;

/// Makes a subscription, which hears what happens from the commit on. Its secret comes out here and at
/// [`rotate`](super::rotate), and nowhere else.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) for an absent workspace, [`Error::Invalid`](crate::Error::Invalid) for a URL that may not be called, for event types
/// that are none, doubled or unknown, and for a workspace that has as many subscriptions as it may have.
pub async fn create(
    app: &App,
    write: &mut Write,
    seal: &Seal,
    workspace: WorkspaceId,
    new: NewSubscription,
) -> Result<(Subscription, SecretString)> {
    let change = SubscriptionChange { url: Some(new.url), event_types: Some(new.event_types) };
    let Checked { url, event_types } = check(app, change)?;
    let (url, event_types) = (url.unwrap_or_default(), event_types.unwrap_or_default());
    check_room(app, write, workspace).await?;
    let row = Model {
        id: fresh::<SubscriptionKind>(app, write),
        workspace_id: workspace.uuid(),
        url,
        event_types: StringList(event_types.clone()),
        state: State::Enabled,
        failing_since: None,
        warned_at: None,
        disabled_at: None,
        deleted_at: None,
        created_at: write.now_ms(),
        updated_at: write.now_ms(),
    };
    webhook_subscriptions::in_workspace(workspace.uuid()).insert(write.conn(), row.clone()).await?;
    webhook_topics::insert(write.conn(), workspace.uuid(), row.id, &event_types).await?;
    let secret = secrets::add(app, write, seal, &row).await?;
    Ok((subscription(row), secret))
}

/// Refuses a workspace that has as many subscriptions as it may have. Whoever else makes one there waits until the write ends,
/// and then counts this one.
async fn check_room(app: &App, write: &Write, workspace: WorkspaceId) -> Result<()> {
    if workspaces::lock(write.conn(), workspace.uuid()).await?.is_none() {
        return Err(absent::<WorkspaceKind>(workspace));
    }
    let most = app.config.webhooks.max_subscriptions_per_workspace;
    let has = webhook_subscriptions::in_workspace(workspace.uuid()).count_kept(write.conn()).await?;
    if has < u64::from(most.get()) {
        return Ok(());
    }
    let message = format!(
        "are limited to {most} in a workspace, and this one has {has}; delete one, or ask the operator of this server to raise \
         --max-subscriptions-per-workspace"
    );
    Err(Error::invalid("subscriptions", message))
}

/// Changes where a subscription's events go, or which it hears from the commit on. What is still to be sent goes to the
/// new URL, which begins with a clean record of health. What is so already stays as it is.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) for an absent subscription, [`Error::Invalid`](crate::Error::Invalid) as for [`create`].
pub async fn edit(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    of: SubscriptionId,
    change: SubscriptionChange,
) -> Result<Changed<Subscription>> {
    let Checked { url, event_types } = check(app, change)?;
    let mut row = lock(write, workspace, of).await?;
    let (mut changes, before) = (ActiveModel::default(), row.clone());
    if let Some(url) = url.filter(|url| *url != row.url) {
        (row.url, row.failing_since, row.warned_at) = (url, None, None);
        (changes.url, changes.failing_since, changes.warned_at) =
            (Set(row.url.clone()), Set(None), Set(None));
    }
    if let Some(event_types) = event_types.filter(|wanted| *wanted != row.event_types.0) {
        webhook_topics::replace(write.conn(), workspace.uuid(), row.id, &event_types).await?;
        row.event_types = StringList(event_types);
        changes.event_types = Set(row.event_types.clone());
    }
    if row == before {
        return Ok(Changed::before(subscription(row)));
    }
    row.updated_at = write.now_ms();
    changes.updated_at = Set(row.updated_at);
    webhook_subscriptions::in_workspace(workspace.uuid()).update(write.conn(), row.id, changes).await?;
    Ok(Changed::now(subscription(row)))
}

/// The workspace's subscriptions, newest first.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn list(app: &App, workspace: WorkspaceId) -> Result<Vec<Subscription>> {
    let rows = webhook_subscriptions::in_workspace(workspace.uuid()).list(app.db.read()).await?;
    Ok(rows.into_iter().rev().map(subscription).collect())
}

/// One subscription.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) when there is none in the workspace.
pub async fn get(app: &App, workspace: WorkspaceId, of: SubscriptionId) -> Result<Subscription> {
    there(app.db.read(), workspace, of).await
}

/// [`get`], amid a change.
pub(super) async fn there(
    conn: &impl ConnectionTrait,
    workspace: WorkspaceId,
    of: SubscriptionId,
) -> Result<Subscription> {
    let row = webhook_subscriptions::in_workspace(workspace.uuid()).by_id(conn, of.uuid()).await?;
    row.filter(is_there).map(subscription).ok_or_else(|| absent::<SubscriptionKind>(of))
}

/// One subscription in whichever workspace, for the operator.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) when there is none.
pub async fn find(app: &App, of: SubscriptionId) -> Result<Subscription> {
    let row = webhook_subscriptions::by_id(app.db.read(), of.uuid()).await?;
    row.filter(is_there).map(subscription).ok_or_else(|| absent::<SubscriptionKind>(of))
}

/// Deletes a subscription with its secrets, its deliveries and their log. Nobody finds it from the commit on; many
/// deliveries go in batches, the first in the same transaction, the rest as the worker calls [`erase`].
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) when there is none in the workspace.
pub async fn delete(write: &mut Write, workspace: WorkspaceId, of: SubscriptionId) -> Result<()> {
    let row = lock(write, workspace, of).await?;
    // Nothing is made for it any more, and nothing is sent.
    webhook_topics::replace(write.conn(), row.workspace_id, row.id, &[]).await?;
    let now = write.now_ms();
    let changes = ActiveModel {
        state: Set(State::Paused),
        deleted_at: Set(Some(now)),
        updated_at: Set(now),
        ..Default::default()
    };
    webhook_subscriptions::in_workspace(row.workspace_id).update(write.conn(), row.id, changes).await?;
    erase_some(write, &row).await?;
    Ok(())
}

/// Goes on with deleting: a batch of each deleted subscription's deliveries, and the subscription once it has none. True
/// when there is more.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn erase(app: &App) -> Result<bool> {
    let mut more = false;
    // Mostly there are none, and the look costs no write.
    for row in webhook_subscriptions::deleted(app.db.read()).await? {
        let write = app.begin_write().await?;
        // One process after the other, and before the deliveries, as wherever both are changed.
        if webhook_subscriptions::lock_many(write.conn(), &[row.id]).await?.is_empty() {
            continue;
        }
        more |= erase_some(&write, &row).await?;
        write.commit().await?;
    }
    Ok(more)
}

/// Deletes a batch of a deleted subscription's deliveries, and what is left of it once it has none: with it would go all of
/// them at once. True when there is more. The subscription is locked.
async fn erase_some(write: &Write, row: &Model) -> Result<bool> {
    webhook_deliveries::erase(write.conn(), row.id, ERASED).await?;
    if webhook_deliveries::any_of(write.conn(), row.id).await? {
        return Ok(true);
    }
    webhook_subscriptions::in_workspace(row.workspace_id).delete(write.conn(), row.id).await?;
    Ok(false)
}

/// The subscription's row, held against other changes until the write ends.
pub(super) async fn lock(write: &Write, workspace: WorkspaceId, of: SubscriptionId) -> Result<Model> {
    let row = webhook_subscriptions::in_workspace(workspace.uuid()).lock(write.conn(), of.uuid()).await?;
    row.filter(is_there).ok_or_else(|| absent::<SubscriptionKind>(of))
}

/// One that is deleted is only there for what still has to go.
const fn is_there(row: &Model) -> bool {
    row.deleted_at.is_none()
}

/// What was given, as it is kept.
struct Checked {
    url: Option<String>,
    /// In the contract's order.
    event_types: Option<Vec<String>>,
}

fn check(app: &App, change: SubscriptionChange) -> Result<Checked> {
    let mut faults = Faults::default();
    let url = change.url.map(|text| {
        url::judge(&text, &app.config.webhooks.webhook_allow).unwrap_or_else(|message| {
            faults.add("url", message);
            String::new()
        })
    });
    if let Some(given) = &change.event_types {
        check_types(given, &mut faults);
    }
    faults.check()?;
    let event_types = change.event_types.map(|given| {
        let wanted = |kind: &&&str| given.iter().any(|wanted| wanted == *kind);
        KINDS.iter().filter(wanted).map(|&kind| kind.to_owned()).collect()
    });
    Ok(Checked { url, event_types })
}

fn check_types(given: &[String], faults: &mut Faults) {
    if given.is_empty() {
        faults.add("event_types", "must name at least one type of event");
    }
    for (place, kind) in given.iter().enumerate() {
        if let Some(message) = unknown(kind) {
            faults.add(format!("event_types/{place}"), message);
        } else if given[..place].contains(kind) {
            faults.add(format!("event_types/{place}"), "must not be given twice");
        }
    }
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
