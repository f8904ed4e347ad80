//! The event types of each subscription, one row per type, used to find the subscriptions to an event.

use sea_orm::entity::prelude::*;

use crate::{statement, table};

table::declare!(
    /// One event type of one subscription.
    #[sea_orm(table_name = "webhook_topics")]
    pub struct Model {
        /// The workspace.
        #[sea_orm(primary_key, auto_increment = false)]
        pub workspace_id: Uuid,
        /// The event type, such as `order.paid`.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub event_type: String,
        /// The subscription.
        #[sea_orm(primary_key, auto_increment = false)]
        pub subscription_id: Uuid,
    }
);

/// Inserts the event types of a new subscription. They must not contain duplicates.
///
/// # Errors
/// Returns [`DbErr`] when a statement fails.
pub async fn insert<C: ConnectionTrait>(
    conn: &C,
    workspace_id: Uuid,
    subscription_id: Uuid,
    event_types: &[String],
) -> Result<(), DbErr> {
    let row = |event_type: &String| Model { workspace_id, event_type: event_type.clone(), subscription_id };
    statement::insert_many::<_, Model, ActiveModel>(conn, event_types.iter().map(row).collect()).await
}

/// Replaces the event types of a subscription. The new ones must not contain duplicates.
///
/// # Errors
/// Returns [`DbErr`] when a statement fails.
pub async fn replace<C: ConnectionTrait>(
    conn: &C,
    workspace_id: Uuid,
    subscription_id: Uuid,
    event_types: &[String],
) -> Result<(), DbErr> {
    Entity::delete_many().filter(Column::SubscriptionId.eq(subscription_id)).exec(conn).await?;
    insert(conn, workspace_id, subscription_id, event_types).await
}
