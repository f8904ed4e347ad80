//! The applied changes of the change feed, stored so that each change is applied only once. The platform, the system
//! that sells the courses, sends the changes.
//!
//! Times are milliseconds since the epoch.

use sea_orm::DbBackend;
use sea_orm::entity::prelude::*;

use crate::{statement, table};

table::declare!(
    /// One applied change. It refers to the workspace by key, since the change may be the one that creates the
    /// workspace.
    #[sea_orm(table_name = "applied_changes")]
    pub struct Model {
        /// The workspace's key.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub workspace_key: String,
        /// The change's id, assigned by the platform.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub change_id: String,
        /// When it was applied.
        pub applied_at: i64,
    }
);

/// Records changes of one workspace as applied. Returns the ids that were not applied before.
///
/// On PostgreSQL, waits for running transactions that apply one of the same changes. Pass the ids sorted, so that two
/// such transactions cannot deadlock.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn insert_new<C: ConnectionTrait>(
    conn: &C,
    workspace_key: &str,
    change_ids: &[&str],
    applied_at: i64,
) -> Result<Vec<String>, DbErr> {
    let sql = match conn.get_database_backend() {
        DbBackend::Postgres => {
            "INSERT INTO applied_changes (workspace_key, change_id, applied_at)
             SELECT $1, changes.id, $3 FROM json_array_elements_text($2::json) AS changes(id)
             ON CONFLICT (workspace_key, change_id) DO NOTHING RETURNING change_id"
        }
        // Without a condition, SQLite would read `ON CONFLICT` as the condition of a join.
        _ => {
            "INSERT INTO applied_changes (workspace_key, change_id, applied_at)
             SELECT $1, value, $3 FROM json_each($2) WHERE TRUE
             ON CONFLICT (workspace_key, change_id) DO NOTHING RETURNING change_id"
        }
    };
    let change_ids = serde_json::json!(change_ids).to_string();
    let values = [workspace_key.into(), change_ids.into(), applied_at.into()];
    let rows = conn.query_all_raw(statement::raw(conn, sql, values)).await?;
    rows.iter().map(|row| row.try_get_by_index(0)).collect()
}

/// Returns which of these changes were already applied, in no particular order. Used to skip a batch of applied changes
/// quickly.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn applied<C: ConnectionTrait>(
    conn: &C,
    workspace_key: &str,
    change_ids: &[&str],
) -> Result<Vec<String>, DbErr> {
    let sql = match conn.get_database_backend() {
        // Looks up each change in the index, as `InWorkspace::ids_with_texts` does.
        DbBackend::Postgres => {
            "SELECT found.change_id FROM json_array_elements_text($2::json) AS changes(id) CROSS JOIN LATERAL
             (SELECT change_id FROM applied_changes WHERE workspace_key = $1 AND change_id = changes.id LIMIT 1) AS found"
        }
        _ => {
            "SELECT change_id FROM applied_changes
             WHERE workspace_key = $1 AND change_id IN (SELECT value FROM json_each($2))"
        }
    };
    let values = [workspace_key.into(), serde_json::json!(change_ids).to_string().into()];
    let rows = conn.query_all_raw(statement::raw(conn, sql, values)).await?;
    rows.iter().map(|row| row.try_get_by_index(0)).collect()
}

/// Assigns the records of one workspace key to another.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn rename<C: ConnectionTrait>(conn: &C, from: &str, to: &str) -> Result<(), DbErr> {
    let sql = "UPDATE applied_changes SET workspace_key = $2 WHERE workspace_key = $1";
    statement::execute(conn, sql, [from.into(), to.into()]).await.map(drop)
}

/// Deletes up to `limit` records of the changes of one workspace key. Returns the number of rows deleted.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete_batch<C: ConnectionTrait>(
    conn: &C,
    workspace_key: &str,
    limit: u64,
) -> Result<u64, DbErr> {
    let delete = "DELETE FROM applied_changes WHERE (workspace_key, change_id) IN (
        SELECT workspace_key, change_id FROM applied_changes WHERE workspace_key = $1 LIMIT $2)";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    statement::execute(conn, delete, [workspace_key.into(), limit.into()]).await
}

/// Deletes up to `limit` records of changes applied before this time, oldest first, and returns the number of rows deleted.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn prune<C: ConnectionTrait>(conn: &C, before: i64, limit: u64) -> Result<u64, DbErr> {
    let delete = "DELETE FROM applied_changes WHERE (workspace_key, change_id) IN (
        SELECT workspace_key, change_id FROM applied_changes WHERE applied_at < $1 ORDER BY applied_at LIMIT $2)";
    statement::execute(conn, delete, [before.into(), i64::try_from(limit).unwrap_or(i64::MAX).into()]).await
}
