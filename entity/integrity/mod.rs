//! Queries that find rows which contradict each other. They read all workspaces, and change nothing.
//!
//! Each query reads one batch of a table, and compares rows within one statement, which sees one snapshot. So changes of running
//! servers do not appear as contradictions, and no transaction is long.

pub mod events;
pub mod money;
pub mod orphans;
pub mod revenue;

use sea_orm::entity::prelude::*;
use sea_orm::{ConnectionTrait, DbErr};

use crate::statement;

/// Number of rows of a batch.
const BATCH: u32 = 2_000;
/// Maximum number of contradictions that a query returns for one batch.
const MAX_FOUND: u32 = 100;

/// A range of ids: those greater than `after`, up to `up_to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The last id before the range.
    pub after: Uuid,
    /// The last id of the range.
    pub up_to: Uuid,
}

impl Batch {
    /// Returns whether no batch follows.
    pub fn is_last(&self) -> bool {
        self.up_to.is_max()
    }
}

/// Returns the next batch of about [`BATCH`] rows of a table, in the order of `column`, which has an index. All rows with the same
/// value are in one batch.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn next_batch<C: ConnectionTrait>(
    conn: &C,
    table: &str,
    column: &str,
    after: Uuid,
) -> Result<Batch, DbErr> {
    let sql =
        format!("SELECT {column} FROM {table} WHERE {column} > $1 ORDER BY {column} LIMIT 1 OFFSET {BATCH}");
    let row = conn.query_one_raw(statement::raw(conn, &sql, [after.into()])).await?;
    let up_to = row.map(|row| row.try_get_by_index(0)).transpose()?;
    Ok(Batch { after, up_to: up_to.unwrap_or(Uuid::max()) })
}

/// The tables whose lists can be sorted by `updated_at`, so that clients read their changes.
pub const DELTA_TABLES: [&str; 3] = ["courses", "students", "orders"];

/// Returns the latest `updated_at` of a table; `None` if it is empty.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn last_update<C: ConnectionTrait>(conn: &C, table: &str) -> Result<Option<i64>, DbErr> {
    let sql = format!("SELECT max(updated_at) FROM {table}");
    let row = conn.query_one_raw(statement::raw(conn, &sql, [])).await?;
    row.map_or(Ok(None), |row| row.try_get_by_index(0))
}

/// Returns the number of rows of a batch.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn count<C: ConnectionTrait>(
    conn: &C,
    table: &str,
    column: &str,
    batch: Batch,
) -> Result<u64, DbErr> {
    let sql = format!("SELECT count(*) FROM {table} WHERE {column} > $1 AND {column} <= $2");
    let row =
        conn.query_one_raw(statement::raw(conn, &sql, [batch.after.into(), batch.up_to.into()])).await?;
    Ok(row.map_or(Ok(0_i64), |row| row.try_get_by_index(0))?.unsigned_abs())
}
