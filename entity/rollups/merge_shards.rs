//! Merges the shards of past days and quarter-hours into one, so that the number of rows does not depend on how many
//! processes wrote them concurrently.

use sea_orm::{ConnectionTrait, DbBackend, DbErr, IdenStatic};

use super::Grain;
use crate::statement;

/// Moves up to `limit` rows of one grain into shard 0, oldest first, and returns the number of rows moved. Only
/// buckets that begin before `before` (milliseconds since the epoch) are affected. The totals do not change.
///
/// Use a separate transaction for each grain and table, since other writers lock rows in another order. Skips rows
/// locked by other transactions. Does nothing on SQLite, which has only one shard.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub(crate) async fn merge_shards<C: ConnectionTrait>(
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
    let sql = merge_statement(table, &names(bucket), &names(sums), grain);
    let values = [before.into(), i64::from(limit).into()];
    let row = conn.query_one_raw(statement::raw(conn, &sql, values)).await?;
    let moved: i64 = row.map_or(Ok(0), |row| row.try_get_by_index(0))?;
    Ok(moved.unsigned_abs())
}

/// Returns the statement that deletes up to $2 rows of buckets that begin before $1, and adds their sums to shard 0. It
/// adds them in the same order as other writers, so they cannot deadlock.
fn merge_statement(table: &str, bucket: &[&str], sums: &[&str], grain: Grain) -> String {
    // A literal and not a parameter, since the partial index of the grain requires it.
    let grain = grain.as_str();
    let bucket = bucket.join(", ");
    let for_each_sum =
        |expression: &dyn Fn(&&str) -> String| sums.iter().map(expression).collect::<Vec<_>>().join(", ");
    let (columns, totals) = (sums.join(", "), for_each_sum(&|sum| format!("sum({sum})::bigint")));
    let additions = for_each_sum(&|sum| format!("{sum} = {table}.{sum} + excluded.{sum}"));
    format!(
        "WITH stale AS MATERIALIZED (
            SELECT {bucket}, shard FROM {table} WHERE grain = '{grain}' AND shard > 0 AND starts_at < $1
            ORDER BY starts_at LIMIT $2 FOR UPDATE SKIP LOCKED
        ),
        deleted AS (DELETE FROM {table} WHERE ({bucket}, shard) IN (SELECT {bucket}, shard FROM stale) RETURNING *),
        merged AS (
            INSERT INTO {table} ({bucket}, shard, {columns})
            SELECT {bucket}, 0, {totals} FROM deleted GROUP BY {bucket} ORDER BY {bucket}
            ON CONFLICT ({bucket}, shard) DO UPDATE SET {additions}
        )
        SELECT count(*) FROM deleted"
    )
}

fn names(columns: &[impl IdenStatic]) -> Vec<&'static str> {
    columns.iter().map(IdenStatic::as_str).collect()
}
