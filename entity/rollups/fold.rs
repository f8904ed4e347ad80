//! Brings the shards of days that are over into one, with those of their quarter-hours, so that a busy year is as few rows as a
//! quiet one.

use sea_orm::{ConnectionTrait, DbBackend, DbErr, IdenStatic};

use super::Grain;
use crate::statement;

/// Moves rows of buckets of a grain that began before this moment into the first shard, as many as the limit at most, the
/// oldest first, and returns how many. Each grain and table needs a transaction of its own, since writers lock their rows in
/// another order. Readers see the same sums before and after. What another transaction is about to change stays for the next time.
///
/// SQLite has one shard, where nothing is to be moved.
///
/// # Errors
/// When the database does.
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

/// The statement that takes rows away and adds what they held to the first shard, in the order in which writers add to it, so that
/// none waits for the other crosswise.
fn merging(table: &str, bucket: &[&str], sums: &[&str], grain: Grain) -> String {
    // Spelled out and not bound, since each grain has an index of its own.
    let grain = grain.as_str();
    let bucket = bucket.join(", ");
    let each = |what: &dyn Fn(&&str) -> String| sums.iter().map(what).collect::<Vec<_>>().join(", ");
    let (held, total) = (sums.join(", "), each(&|sum| format!("sum({sum})::bigint")));
    let added = each(&|sum| format!("{sum} = {table}.{sum} + excluded.{sum}"));
    format!(
        "WITH stale AS MATERIALIZED (
            SELECT {bucket}, shard FROM {table} WHERE grain = '{grain}' AND shard > 0 AND starts_at < $1
            ORDER BY starts_at LIMIT $2 FOR UPDATE SKIP LOCKED
        ),
        gone AS (DELETE FROM {table} WHERE ({bucket}, shard) IN (SELECT {bucket}, shard FROM stale) RETURNING *),
        merged AS (
            INSERT INTO {table} ({bucket}, shard, {held})
            SELECT {bucket}, 0, {total} FROM gone GROUP BY {bucket} ORDER BY {bucket}
            ON CONFLICT ({bucket}, shard) DO UPDATE SET {added}
        )
        SELECT count(*) FROM gone"
    )
}

fn names(columns: &[impl IdenStatic]) -> Vec<&'static str> {
    columns.iter().map(IdenStatic::as_str).collect()
}
