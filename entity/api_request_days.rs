//! API requests per workspace and quarter-hour, counted by outcome. In every time zone, days begin at the start of a
//! quarter-hour, so the counts of its days are sums of these. Times are milliseconds since the epoch.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;

use crate::{SpanMs, rollups, statement, table};

table::declare!(
    /// The requests of one workspace in one quarter-hour.
    #[sea_orm(table_name = "api_request_days")]
    pub struct Model {
        /// The workspace.
        #[sea_orm(primary_key, auto_increment = false)]
        pub workspace_id: Uuid,
        /// The start of the quarter-hour. The column is named `day`.
        #[sea_orm(primary_key, auto_increment = false, column_name = "day")]
        pub starts_at: i64,
        /// Requests with a status below 400.
        pub succeeded: i64,
        /// Requests with a status from 400 to 499, except 429. The column is named `refused`.
        #[sea_orm(column_name = "refused")]
        pub rejected: i64,
        /// Requests with status 429. The column is named `limited`.
        #[sea_orm(column_name = "limited")]
        pub rate_limited: i64,
        /// Requests with a status of 500 or above.
        pub failed: i64,
    }
);

/// Adds these requests to the stored counts. The rows can be of several workspaces, but each workspace and
/// quarter-hour may occur only once.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn add<C: ConnectionTrait>(conn: &C, mut requests: Vec<Model>) -> Result<(), DbErr> {
    // A fixed order prevents deadlocks between two processes that write at the same time.
    requests.sort_unstable_by_key(|row| (row.workspace_id, row.starts_at));
    let counts = [Column::Succeeded, Column::Rejected, Column::RateLimited, Column::Failed];
    rollups::add::<_, Entity>(conn, requests, [Column::WorkspaceId, Column::StartsAt], counts).await
}

/// Returns the workspace's quarter-hours that start in a time span, oldest first. Those without requests are omitted.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn of_workspace<C: ConnectionTrait>(
    conn: &C,
    workspace: Uuid,
    quarter_hours: SpanMs,
) -> Result<Vec<Model>, DbErr> {
    let rows = Entity::find()
        .filter(Column::WorkspaceId.eq(workspace))
        .filter(quarter_hours.contains(Column::StartsAt));
    statement::all(conn, rows.order_by_asc(Column::StartsAt)).await
}

/// Deletes the quarter-hours that start before `until`, in all workspaces, and returns the number of rows deleted.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete_before<C: ConnectionTrait>(conn: &C, until: i64) -> Result<u64, DbErr> {
    Ok(Entity::delete_many().filter(Column::StartsAt.lt(until)).exec(conn).await?.rows_affected)
}
