//! How many API requests a workspace made on each UTC day, by what came of them.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;

use crate::{Span, rollups, statement, table};

table::declare!(
    /// The requests of one workspace on one day.
    #[sea_orm(table_name = "api_request_days")]
    pub struct Model {
        /// The workspace.
        #[sea_orm(primary_key, auto_increment = false)]
        pub workspace_id: Uuid,
        /// The start of the UTC day.
        #[sea_orm(primary_key, auto_increment = false)]
        pub day: i64,
        /// Answered below 400.
        pub succeeded: i64,
        /// Answered from 400 to 499, without those of the next column.
        pub refused: i64,
        /// Answered with 429.
        pub limited: i64,
        /// Answered from 500 on.
        pub failed: i64,
    }
);

/// Adds requests to the sums, of many workspaces at once; no workspace may have a day twice.
///
/// # Errors
/// When the database does.
pub async fn add<C: ConnectionTrait>(conn: &C, mut sums: Vec<Model>) -> Result<(), DbErr> {
    // In one order, so that two processes saving at once wait for each other instead of locking crosswise.
    sums.sort_unstable_by_key(|row| (row.workspace_id, row.day));
    let counts = [Column::Succeeded, Column::Refused, Column::Limited, Column::Failed];
    rollups::add::<_, Entity>(conn, sums, [Column::WorkspaceId, Column::Day], counts).await
}

/// The workspace's days in a span, oldest first; days without a request are left out.
///
/// # Errors
/// When the database does.
pub async fn of_workspace<C: ConnectionTrait>(
    conn: &C,
    workspace: Uuid,
    days: Span,
) -> Result<Vec<Model>, DbErr> {
    let rows = Entity::find().filter(Column::WorkspaceId.eq(workspace)).filter(days.holds(Column::Day));
    statement::all(conn, rows.order_by_asc(Column::Day)).await
}

/// Forgets the days before this one.
///
/// # Errors
/// When the database does.
pub async fn delete_before<C: ConnectionTrait>(conn: &C, day: i64) -> Result<u64, DbErr> {
    Ok(Entity::delete_many().filter(Column::Day.lt(day)).exec(conn).await?.rows_affected)
}
