//! Which subscription wants which type of event: what an event looks up to find its deliveries.

use sea_orm::entity::prelude::*;

use crate::{statement, table};

table::declare!(
    /// One type of event that one subscription wants.
    #[sea_orm(table_name = "webhook_topics")]
    pub struct Model {
        /// The workspace.
        #[sea_orm(primary_key, auto_increment = false)]
        pub workspace_id: Uuid,
        /// The type of event, such as `order.paid`.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub event_type: String,
        /// The subscription.
        #[sea_orm(primary_key, auto_increment = false)]
        pub subscription_id: Uuid,
    }
);

/// Writes what a new subscription wants; there must be no doubles among the types.
///
/// # Errors
/// When the database does.
pub async fn insert<C: ConnectionTrait>(
    conn: &C,
    workspace_id: Uuid,
    subscription_id: Uuid,
    event_types: &[String],
) -> Result<(), DbErr> {
    let row = |event_type: &String| Model { workspace_id, event_type: event_type.clone(), subscription_id };
    statement::insert_many::<_, Model, ActiveModel>(conn, event_types.iter().map(row).collect()).await
}

/// Writes what a subscription wants in place of what it wanted before; there must be no doubles among the types.
///
/// # Errors
/// When the database does.
pub async fn replace<C: ConnectionTrait>(
    conn: &C,
    workspace_id: Uuid,
    subscription_id: Uuid,
    event_types: &[String],
) -> Result<(), DbErr> {
    Entity::delete_many().filter(Column::SubscriptionId.eq(subscription_id)).exec(conn).await?;
    insert(conn, workspace_id, subscription_id, event_types).await
}
