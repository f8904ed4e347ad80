//! Merges the shards of past days and quarter-hours into one, so that a busy year takes no more rows than a quiet one.

use sea_orm::{ConnectionTrait, DbBackend, DbErr, IdenStatic};

use super::Grain;
use crate::statement;

/// Moves up to `limit` rows of buckets of one grain that begin before `before` into the first shard, oldest first, and returns
/// the number of rows moved. Use a separate transaction for each grain and table, since writers lock rows in a different order.
/// Readers see the same sums before and after. Skips rows locked by other transactions. Does nothing on SQLite, which has only
/// one shard.
///
/// SQLite has one shard, where nothing is to be moved.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub(crate) async fn fold<C: ConnectionTrait>(
    conn: &C,
    table: &str,
    bucket: &[impl IdenStatic],
    sums: &[impl IdenStatic],
    grain: Grain,
    before: i64,
    limit: u32,
) -> Result<u64, DbErr> {
    if conn.get_database_backend() != DbBackend::Postgres {
        return Ok(0);
    }
    let sql = merging(table, &names(bucket), &names(sums), grain);
    let values = [before.into(), i64::from(limit).into()];
    let row = conn.query_one_raw(statement::raw(conn, &sql, values)).await?;
    let moved: i64 = row.map_or(Ok(0), |row| row.try_get_by_index(0))?;
    Ok(moved.unsigned_abs())
}

/// Returns the statement that deletes rows and adds their sums to the first shard, in the order in which writers add to it, so
/// that they cannot deadlock.
fn merging(table: &str, bucket: &[&str], sums: &[&str], grain: Grain) -> String {
    // A literal and not a parameter, since each grain has a partial index.
    let grain = grain.as_str();
    let bucket = bucket.join(", ");
    let each =
        |expression: &dyn Fn(&&str) -> String| sums.iter().map(expression).collect::<Vec<_>>().join(", ");
    let (columns, totals) = (sums.join(", "), each(&|sum| format!("sum({sum})::bigint")));
    let added = each(&|sum| format!("{sum} = {table}.{sum} + excluded.{sum}"));
    format!(
        "WITH stale AS MATERIALIZED (
            SELECT {bucket}, shard FROM {table} WHERE grain = '{grain}' AND shard > 0 AND starts_at < $1
            ORDER BY starts_at LIMIT $2 FOR UPDATE SKIP LOCKED
        ),
        deleted AS (DELETE FROM {table} WHERE ({bucket}, shard) IN (SELECT {bucket}, shard FROM stale) RETURNING *),
        merged AS (
            INSERT INTO {table} ({bucket}, shard, {columns})
            SELECT {bucket}, 0, {totals} FROM deleted GROUP BY {bucket} ORDER BY {bucket}
            ON CONFLICT ({bucket}, shard) DO UPDATE SET {added}
        )
        SELECT count(*) FROM deleted"
    )
}

fn names(columns: &[impl IdenStatic]) -> Vec<&'static str> {
    columns.iter().map(IdenStatic::as_str).collect()
}
