//! Creates, reads, changes and deletes subscriptions.

use entity::webhook_subscriptions::{self, ActiveModel, Model, StoredSubscriptionState};
use entity::{Set, StringList, webhook_deliveries, webhook_topics, workspaces};
use secrecy::SecretString;

use super::super::field_errors::FieldErrors;
use super::super::page::{Page, PageRequest};
use super::super::records::{new_uuid, not_found};
use super::super::{Error, Result, WriteOutcome};
use super::controls::retain_event_types;
use super::row::{is_undeleted, lock, subscription};
use super::{NewSubscription, Subscription, SubscriptionChange, secrets, url};
use crate::app::App;
use crate::outbox::EVENT_TYPES;
use foundation::config::suggestion;
use foundation::database::Write;
use foundation::id::{
    Subscription as SubscriptionIdKind, SubscriptionId, Workspace as WorkspaceIdKind, WorkspaceId,
};
use foundation::secret::Seal;

/// Maximum length of a description in characters. The contract of the Developer API has the same.
const MAX_DESCRIPTION: usize = 200;
/// Maximum number of deliveries that one transaction deletes.
const DELETE_BATCH: u32 = 500;

/// Creates a subscription, which receives events as soon as the write commits. Only this function and [`rotate`](super::rotate)
/// return a secret.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) for a missing workspace, and [`Error::Invalid`](crate::Error::Invalid)
/// for a URL that may not be called, for missing, repeated or unknown event types, and for a workspace that has reached the
/// maximum number of subscriptions.
pub async fn create(
    app: &App,
    write: &mut Write,
    seal: &Seal,
    workspace: WorkspaceId,
    new: NewSubscription,
) -> Result<(Subscription, SecretString)> {
    let NewSubscription { url, event_types, description } = new;
    let change = SubscriptionChange { url: Some(url), event_types: Some(event_types), description };
    let ValidatedChange { url, event_types, description } = validate(app, change)?;
    let (url, event_types) = (url.unwrap_or_default(), event_types.unwrap_or_default());
    check_limit(app, write, workspace).await?;
    let row = Model {
        id: new_uuid::<SubscriptionIdKind>(app, write),
        workspace_id: workspace.uuid(),
        url,
        event_types: StringList(event_types.clone()),
        state: StoredSubscriptionState::Enabled,
        failing_since: None,
        warned_at: None,
        disabled_at: None,
        deleted_at: None,
        created_at: write.now_ms(),
        updated_at: write.recorded_ms(),
        filters: None,
        headers: None,
        rate: None,
        ed25519: false,
        outage_since: None,
        recovered_at: None,
        offered_from: None,
        description: description.flatten(),
    };
    webhook_subscriptions::in_workspace(workspace.uuid()).insert(write.conn(), row.clone()).await?;
    webhook_topics::insert(write.conn(), workspace.uuid(), row.id, &event_types).await?;
    let secret = secrets::add(app, write, seal, &row).await?;
    Ok((subscription(row), secret))
}

/// Rejects a workspace that has reached the maximum number of subscriptions. Locks the workspace until the write ends, so that
/// concurrent calls wait and then count the subscription of this write.
async fn check_limit(app: &App, write: &Write, workspace: WorkspaceId) -> Result<()> {
    if workspaces::lock(write.conn(), workspace.uuid()).await?.is_none() {
        return Err(not_found::<WorkspaceIdKind>(workspace));
    }
    let max = app.config.webhooks.max_subscriptions_per_workspace;
    let count = webhook_subscriptions::in_workspace(workspace.uuid()).count_undeleted(write.conn()).await?;
    if count < u64::from(max.get()) {
        return Ok(());
    }
    let message = format!(
        "are limited to {max} in a workspace, and this one has {count}; delete one, or ask the operator of this server to raise \
         --max-subscriptions-per-workspace"
    );
    Err(Error::invalid("subscriptions", message))
}

/// Changes a subscription's URL, event types or description when the write commits. A new URL also receives the
/// unsettled deliveries, and clears `failing_since`. Without an event type, the subscription also loses the conditions of its
/// filter on this type. Does nothing if the subscription already has the requested values.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) for a missing subscription, and
/// [`Error::Invalid`](crate::Error::Invalid) for a URL that may not be called, for an empty list of event types or one with
/// repeated or unknown types, and for a description that is too long or has several lines.
pub async fn edit(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
    change: SubscriptionChange,
) -> Result<WriteOutcome<Subscription>> {
    let ValidatedChange { url, event_types, description } = validate(app, change)?;
    let mut row = lock(write, workspace, subscription_id).await?;
    let (mut changes, before) = (ActiveModel::default(), row.clone());
    if let Some(url) = url.filter(|url| *url != row.url) {
        (row.url, row.failing_since, row.warned_at) = (url, None, None);
        (changes.url, changes.failing_since, changes.warned_at) =
            (Set(row.url.clone()), Set(None), Set(None));
    }
    if let Some(event_types) = event_types.filter(|types| *types != row.event_types.0) {
        webhook_topics::replace(write.conn(), workspace.uuid(), row.id, &event_types).await?;
        row.event_types = StringList(event_types);
        changes.event_types = Set(row.event_types.clone());
        // A later change of the filter would be refused because of conditions on other event types.
        let filter = row.filters.as_deref().map(|filter| retain_event_types(filter, &row.event_types.0));
        if row.filters != filter {
            row.filters = filter.filter(|filter| !filter.is_empty());
            changes.filters = Set(row.filters.clone());
        }
    }
    if let Some(description) = description.filter(|description| *description != row.description) {
        row.description = description;
        changes.description = Set(row.description.clone());
    }
    if row == before {
        return Ok(WriteOutcome::unchanged(subscription(row)));
    }
    row.updated_at = write.recorded_ms();
    changes.updated_at = Set(row.updated_at);
    webhook_subscriptions::in_workspace(workspace.uuid()).update(write.conn(), row.id, changes).await?;
    Ok(WriteOutcome::changed(subscription(row)))
}

/// Returns the workspace's subscriptions, newest first.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn list(app: &App, workspace: WorkspaceId) -> Result<Vec<Subscription>> {
    let rows = webhook_subscriptions::in_workspace(workspace.uuid()).list(app.db.read()).await?;
    Ok(rows.into_iter().rev().map(subscription).collect())
}

/// Returns a subscription.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the workspace has no such subscription.
pub async fn get(app: &App, workspace: WorkspaceId, subscription_id: SubscriptionId) -> Result<Subscription> {
    get_in(app.db.read(), workspace, subscription_id).await
}

/// Returns a page of the workspace's subscriptions, newest first.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn list_page(app: &App, workspace: WorkspaceId, page: PageRequest) -> Result<Page<Subscription>> {
    let rows = webhook_subscriptions::in_workspace(workspace.uuid()).list(app.db.read()).await?;
    let position = |row: &Model| (row.created_at, row.id);
    let after = page.after.map(|after| (after.at.as_millisecond(), after.id));
    let follows = |row: &Model| after.is_none_or(|after| position(row) < after);
    let (rows, next) =
        page.trim_to_page(rows.into_iter().rev().filter(follows).collect(), |row, _| position(row));
    Ok(Page { items: rows.into_iter().map(subscription).collect(), next })
}

/// Returns a subscription, locked until the write ends.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the workspace has no such subscription.
pub async fn get_locked(
    write: &Write,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
) -> Result<Subscription> {
    lock(write, workspace, subscription_id).await.map(subscription)
}

/// Returns a subscription as [`get`] does, read on this connection.
pub(super) async fn get_in(
    conn: &impl entity::Connection,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
) -> Result<Subscription> {
    let row =
        webhook_subscriptions::in_workspace(workspace.uuid()).by_id(conn, subscription_id.uuid()).await?;
    row.filter(is_undeleted).map(subscription).ok_or_else(|| not_found::<SubscriptionIdKind>(subscription_id))
}

/// Returns a subscription of any workspace, for the operator's commands.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when it does not exist.
pub async fn find(app: &App, subscription_id: SubscriptionId) -> Result<Subscription> {
    let row = webhook_subscriptions::by_id(app.db.read(), subscription_id.uuid()).await?;
    row.filter(is_undeleted).map(subscription).ok_or_else(|| not_found::<SubscriptionIdKind>(subscription_id))
}

/// Deletes a subscription with its secrets, its deliveries and their attempts. It is invisible as soon as the write
/// commits. Deliveries are deleted in batches: the first in the same transaction, the others when the worker calls
/// [`purge_deleted`].
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the workspace has no such subscription.
pub async fn delete(
    write: &mut Write,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
) -> Result<()> {
    let row = lock(write, workspace, subscription_id).await?;
    // Without event types (`webhook_topics`), the subscription gets no new deliveries; while it is paused, none is sent
    // to it.
    webhook_topics::replace(write.conn(), row.workspace_id, row.id, &[]).await?;
    let changes = ActiveModel {
        state: Set(StoredSubscriptionState::Paused),
        deleted_at: Set(Some(write.now_ms())),
        updated_at: Set(write.recorded_ms()),
        ..Default::default()
    };
    webhook_subscriptions::in_workspace(row.workspace_id).update(write.conn(), row.id, changes).await?;
    purge_batch(write, &row).await?;
    Ok(())
}

/// Deletes a batch of deliveries of each deleted subscription, and the row of a subscription once it has none. Returns
/// true when more deliveries remain.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn purge_deleted(app: &App) -> Result<bool> {
    let mut has_more = false;
    // Usually there is no such subscription, and this check needs no write.
    for row in webhook_subscriptions::deleted(app.db.read()).await? {
        let write = app.begin_write().await?;
        // Serializes concurrent processes. Lock order: subscriptions before deliveries, as in every transaction that changes
        // both.
        if webhook_subscriptions::lock_many(write.conn(), &[row.id]).await?.is_empty() {
            continue;
        }
        has_more |= purge_batch(&write, &row).await?;
        write.commit().await?;
    }
    Ok(has_more)
}

/// Deletes a batch of a deleted subscription's deliveries, and the subscription's row once it has none: deleting the
/// row first would delete all deliveries in one statement. Returns true when deliveries remain. The caller has locked
/// the subscription.
async fn purge_batch(write: &Write, row: &Model) -> Result<bool> {
    webhook_deliveries::delete_batch(write.conn(), row.id, DELETE_BATCH).await?;
    if webhook_deliveries::exist_for(write.conn(), row.id).await? {
        return Ok(true);
    }
    webhook_subscriptions::in_workspace(row.workspace_id).delete(write.conn(), row.id).await?;
    Ok(false)
}

/// A validated change, in the form in which it is stored.
struct ValidatedChange {
    url: Option<String>,
    /// In the contract's order.
    event_types: Option<Vec<String>>,
    description: Option<Option<String>>,
}

fn validate(app: &App, change: SubscriptionChange) -> Result<ValidatedChange> {
    let mut errors = FieldErrors::default();
    let url = change.url.map(|text| {
        url::validate(&text, &app.config.webhooks.webhook_allow).unwrap_or_else(|message| {
            errors.add("url", message);
            String::new()
        })
    });
    if let Some(types) = &change.event_types {
        check_event_types(types, &mut errors);
    }
    let description =
        change.description.map(|text| Some(text.trim().to_owned()).filter(|text| !text.is_empty()));
    errors.check_optional_single_line(
        "description",
        description.as_ref().and_then(Option::as_ref),
        MAX_DESCRIPTION,
    );
    errors.into_result()?;
    let event_types = change.event_types.map(|types| {
        let is_requested = |event_type: &&&str| types.iter().any(|requested| requested == *event_type);
        EVENT_TYPES.iter().filter(is_requested).map(|&event_type| event_type.to_owned()).collect()
    });
    Ok(ValidatedChange { url, event_types, description })
}

fn check_event_types(types: &[String], errors: &mut FieldErrors) {
    if types.is_empty() {
        errors.add("event_types", "must include at least one event type");
    }
    for (index, event_type) in types.iter().enumerate() {
        if let Some(message) = unknown_event_type(event_type) {
            errors.add(format!("event_types/{index}"), message);
        } else if types[..index].contains(event_type) {
            errors.add(format!("event_types/{index}"), "must not be repeated");
        }
    }
}

/// Returns an error message when the text is not an event type, and `None` when it is one.
pub(super) fn unknown_event_type(text: &str) -> Option<String> {
    let hint = || suggestion(text, EVENT_TYPES.iter().map(|&event_type| event_type.to_owned()));
    let shown = || text.chars().take(64).collect::<String>();
    (!EVENT_TYPES.contains(&text)).then(|| format!("`{}` is not an event type{}", shown(), hint()))
}
