//! The requests that use what a contract marks as deprecated, per UTC day and API key. Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait as _, OnConflict};
use sea_orm::{IntoActiveModel as _, QueryOrder};

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

const KEY: [Column; 6] =
    [Column::Day, Column::KeyId, Column::Contract, Column::Operation, Column::Pointer, Column::Name];

/// Adds these requests to the stored ones. Each key of a row may occur only once.
///
/// # Errors
/// Returns [`DbErr`] when a statement fails.
pub async fn add<C: ConnectionTrait>(conn: &C, mut rows: Vec<Model>) -> Result<(), DbErr> {
    // A fixed order prevents deadlocks between two processes that write at the same time.
    let key = |row: &Model| {
        let Model { day, key_id, contract, operation, pointer, name, .. } = row.clone();
        (day, key_id, contract, operation, pointer, name)
    };
    rows.sort_by_cached_key(key);
    let requests = Expr::col((Entity, Column::Requests)).add(Expr::col(("excluded", Column::Requests)));
    let mut on_conflict = OnConflict::columns(KEY);
    on_conflict.value(Column::Requests, requests).update_columns([Column::LastAt, Column::RequestId]);
    for row in rows {
        statement::insert_on_conflict::<_, _, ActiveModel>(
            conn,
            row.into_active_model(),
            on_conflict.clone(),
        )
        .await?;
    }
    Ok(())
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
    let rows = Entity::update_many().col_expr(Column::RequestId, Expr::value(""));
    let rows = rows.filter(Column::LastAt.lt(last_at)).filter(Column::RequestId.ne(""));
    Ok(rows.exec(conn).await?.rows_affected)
}

/// Deletes the days before this one, in all workspaces.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete_before<C: ConnectionTrait>(conn: &C, day: i64) -> Result<u64, DbErr> {
    Ok(Entity::delete_many().filter(Column::Day.lt(day)).exec(conn).await?.rows_affected)
}
