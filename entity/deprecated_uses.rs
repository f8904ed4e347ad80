//! The requests that use what a contract marks as deprecated, per UTC day and API key. Times are milliseconds since the epoch.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;

use crate::daily_uses::DailyUses;
use crate::{statement, table};

table::declare!(
    /// The requests of one key on one day to one operation that use one thing.
    #[sea_orm(table_name = "deprecated_uses")]
    pub struct Model {
        /// The start of the day.
        #[sea_orm(primary_key, auto_increment = false)]
        pub day: i64,
        /// The API key.
        #[sea_orm(primary_key, auto_increment = false)]
        pub key_id: Uuid,
        /// The name of the contract.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub contract: String,
        /// The operation id.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub operation: String,
        /// Where the contract marks it, as a JSON pointer.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub pointer: String,
        /// The parameter, field or value. Empty for the operation.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub name: String,
        /// The workspace of the key.
        pub workspace_id: Uuid,
        /// The number of requests.
        pub requests: i64,
        /// The first request.
        pub first_at: i64,
        /// The last request.
        pub last_at: i64,
        /// The request id of the last request.
        #[sea_orm(column_type = "Text")]
        pub request_id: String,
    }
);

const USES: DailyUses<Column> = DailyUses {
    key: &[Column::Day, Column::KeyId, Column::Contract, Column::Operation, Column::Pointer, Column::Name],
    counts: &[Column::Requests],
    first_at: Column::FirstAt,
    last_at: Column::LastAt,
    request_id: Column::RequestId,
};

/// Adds these requests to the stored ones. Each key of a row may occur only once.
///
/// # Errors
/// Returns [`DbErr`] when a statement fails.
pub async fn add<C: ConnectionTrait>(conn: &C, mut rows: Vec<Model>) -> Result<(), DbErr> {
    let key = |row: &Model| {
        let Model { day, key_id, contract, operation, pointer, name, .. } = row.clone();
        (day, key_id, contract, operation, pointer, name)
    };
    rows.sort_by_cached_key(key);
    USES.add::<_, _, ActiveModel>(conn, rows).await
}

/// Returns the uses from this day on, oldest first: those of one workspace, or of all.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn since<C: ConnectionTrait>(
    conn: &C,
    day: i64,
    workspace_id: Option<Uuid>,
) -> Result<Vec<Model>, DbErr> {
    let mut rows = Entity::find().filter(Column::Day.gte(day));
    if let Some(workspace_id) = workspace_id {
        rows = rows.filter(Column::WorkspaceId.eq(workspace_id));
    }
    statement::all(conn, rows.order_by_asc(Column::Day).order_by_asc(Column::LastAt)).await
}

/// Removes the request ids of uses whose last request was before this time, in all workspaces.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn forget_requests<C: ConnectionTrait>(conn: &C, last_at: i64) -> Result<u64, DbErr> {
    USES.forget_requests::<Entity>(conn, last_at).await
}

/// Deletes the days before this one, in all workspaces.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete_before<C: ConnectionTrait>(conn: &C, day: i64) -> Result<u64, DbErr> {
    Ok(Entity::delete_many().filter(Column::Day.lt(day)).exec(conn).await?.rows_affected)
}
