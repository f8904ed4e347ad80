//! The mails that owners got about what their workspaces use and a contract marks as deprecated.

use sea_orm::entity::prelude::*;

use crate::{statement, table};

table::declare!(
    /// One mail about one thing.
    #[sea_orm(table_name = "deprecation_notices")]
    pub struct Model {
        /// The workspace.
        #[sea_orm(primary_key, auto_increment = false)]
        pub workspace_id: Uuid,
        /// The name of the contract.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub contract: String,
        /// The operation id.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub operation: String,
        /// The parameter, field or value. Empty for the operation.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub name: String,
        /// Why the mail was sent: `first`, or the sunset and the number of days before it.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub stage: String,
        /// When it was queued, in milliseconds since the epoch.
        pub sent_at: i64,
    }
);

/// Stores notices. They must not contain duplicates.
///
/// # Errors
/// Returns [`DbErr`] when a statement fails.
pub async fn insert<C: ConnectionTrait>(conn: &C, rows: Vec<Model>) -> Result<(), DbErr> {
    statement::insert_many::<_, Model, ActiveModel>(conn, rows).await
}

/// Returns the notices of a workspace.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn of_workspace<C: ConnectionTrait>(conn: &C, workspace_id: Uuid) -> Result<Vec<Model>, DbErr> {
    statement::all(conn, Entity::find().filter(Column::WorkspaceId.eq(workspace_id))).await
}
