//! Reads and converts rows of subscriptions.

use entity::webhook_subscriptions::{self, Model, StoredSubscriptionState};
use entity::{Connection, webhook_deliveries};

use super::super::Result;
use super::super::records::{id, not_found};
use super::{Subscription, SubscriptionState, recovery};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{
    Delivery as DeliveryIdKind, DeliveryId, Subscription as SubscriptionIdKind, SubscriptionId, WorkspaceId,
};

/// Returns the row of a subscription that is not deleted, locked until the write ends.
pub(super) async fn lock(
    write: &Write,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
) -> Result<Model> {
    let row = webhook_subscriptions::in_workspace(workspace.uuid())
        .lock(write.conn(), subscription_id.uuid())
        .await?;
    row.filter(is_undeleted).ok_or_else(|| not_found::<SubscriptionIdKind>(subscription_id))
}

/// Returns whether the subscription is not deleted. The row of a deleted one exists until its deliveries are deleted.
pub(super) const fn is_undeleted(row: &Model) -> bool {
    row.deleted_at.is_none()
}

/// Returns the row of a delivery whose subscription is not deleted.
pub(super) async fn find_delivery(
    conn: &impl Connection,
    workspace: WorkspaceId,
    delivery_id: DeliveryId,
) -> Result<webhook_deliveries::Model> {
    let rows = webhook_deliveries::in_workspace(workspace.uuid());
    let subscriptions = webhook_subscriptions::in_workspace(workspace.uuid());
    if let Some(row) = rows.by_id(conn, delivery_id.uuid()).await?
        && subscriptions.by_id(conn, row.subscription_id).await?.as_ref().is_some_and(is_undeleted)
    {
        return Ok(row);
    }
    Err(not_found::<DeliveryIdKind>(delivery_id))
}

/// Converts a row to a subscription.
pub(super) fn subscription(row: Model) -> Subscription {
    let offer = recovery::offer(&row);
    Subscription {
        id: id(row.id),
        workspace: id(row.workspace_id),
        url: row.url,
        description: row.description,
        event_types: row.event_types.0,
        state: match row.state {
            StoredSubscriptionState::Enabled => SubscriptionState::Enabled,
            StoredSubscriptionState::Paused => SubscriptionState::Paused,
            StoredSubscriptionState::Disabled => SubscriptionState::Disabled,
        },
        failing_since: row.failing_since.map(from_ms),
        disabled_at: row.disabled_at.map(from_ms),
        created_at: from_ms(row.created_at),
        updated_at: from_ms(row.updated_at),
        offer,
        filter: row.filters.unwrap_or_default(),
        header_names: row.headers.map(|headers| headers.0.into_keys().collect()).unwrap_or_default(),
        rate: row.rate,
        ed25519: row.ed25519,
    }
}
