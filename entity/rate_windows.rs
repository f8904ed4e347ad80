//! Request counts that all processes on the same PostgreSQL database share, so that rate limits are exact. The table is
//! unlogged: it is empty after a crash of the database, and on a promoted standby.
//!
//! Each subject, such as an API key, has two windows: a short one, such as the clock minute, and the UTC day.

use std::time::Duration;

use sea_orm::entity::prelude::*;
use serde::Serialize;

use crate::{statement, table};

table::declare!(
    /// The windows of one subject. Times and lengths are in milliseconds.
    #[sea_orm(table_name = "rate_windows")]
    pub struct Model {
        /// What the requests count against, such as the id of an API key.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub subject: String,
        /// Maximum number of requests in the short window.
        pub short_limit: i64,
        /// The length of the short window.
        pub short_length: i64,
        /// The start of the short window.
        pub short_start: i64,
        /// The number of requests in the short window.
        pub short_used: i64,
        /// Maximum number of requests in the day.
        pub day_limit: i64,
        /// The start of the day.
        pub day_start: i64,
        /// The number of requests in the day.
        pub day_used: i64,
        /// The number of requests in the last call of [`admit`].
        pub requested: i64,
        /// How many of these requests were admitted.
        pub admitted: i64,
    }
);

/// The length of the long window, a day, in milliseconds.
const DAY_MS: i64 = 86_400_000;

/// The requests of one subject in a call of [`admit`]: as many of them are counted as the limits admit.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SubjectRequests {
    /// What the requests count against.
    pub subject: String,
    /// The number of requests.
    pub requested: u32,
    /// Maximum number of requests in the short window.
    pub short_limit: i64,
    /// The length of the short window in milliseconds.
    pub short_length: i64,
    /// A new short window starts at a multiple of this number of milliseconds; 1 means that it starts with its first
    /// request.
    pub short_alignment: i64,
    /// The start of the short window that `short_known` belongs to.
    pub short_known_start: i64,
    /// The number of requests in the short window that the caller knows of. Replaces the number in the table if that is
    /// lower.
    pub short_known: i64,
    /// Maximum number of requests in the day.
    pub day_limit: i64,
    /// The start of the day that `day_known` belongs to.
    pub day_known_start: i64,
    /// The number of requests on the day that the caller knows of. Replaces the number in the table if that is lower.
    pub day_known: i64,
}

/// The windows of one subject after a call of [`admit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectResult {
    /// What the requests count against.
    pub subject: String,
    /// How many of its requests were admitted and counted.
    pub admitted: i64,
    /// The start of the short window, in milliseconds since the epoch.
    pub short_start: i64,
    /// The number of requests in the short window, including the admitted ones.
    pub short_used: i64,
    /// The start of the day, in milliseconds since the epoch.
    pub day_start: i64,
    /// The number of requests on the day, including the admitted ones.
    pub day_used: i64,
    /// The time of the call, in milliseconds since the epoch.
    pub now: i64,
}

/// Admits and counts as many requests of each subject as both windows allow, in one statement. PostgreSQL only.
///
/// Each subject may occur once. `now` is the time in milliseconds since the epoch, or `None` for the clock of the
/// database. The statement fails when it waits for longer than `lock_timeout` for another one that counts requests of
/// the same subjects. Returns one result for each subject, in no particular order.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn admit<C: ConnectionTrait>(
    conn: &C,
    requests: &[SubjectRequests],
    now: Option<i64>,
    lock_timeout: Duration,
) -> Result<Vec<SubjectResult>, DbErr> {
    let json = serde_json::to_string(requests).map_err(|error| DbErr::Json(error.to_string()))?;
    let lock_timeout = lock_timeout.as_millis().max(1).to_string();
    let values = [json.into(), now.into(), lock_timeout.into()];
    let rows = conn.query_all_raw(statement::raw(conn, &admit_sql(), values)).await?;
    let result = |row: &QueryResult| {
        Ok(SubjectResult {
            subject: row.try_get_by_index(0)?,
            admitted: row.try_get_by_index(1)?,
            short_start: row.try_get_by_index(2)?,
            short_used: row.try_get_by_index(3)?,
            day_start: row.try_get_by_index(4)?,
            day_used: row.try_get_by_index(5)?,
            now: row.try_get_by_index(6)?,
        })
    };
    rows.iter().map(result).collect()
}

/// How far before its start a request can count in a window, in milliseconds: a statement that waited for another one
/// can find a window that starts after its own time.
const MAX_LAG_MS: i64 = 5_000;

/// Returns the statement of [`admit`].
///
/// If the clock was set back, the count of the short window continues in the earlier window, so that this allows no
/// additional requests; if it was set back by more than the window's length, the count is discarded. Rows are locked in
/// the order of the subjects, which prevents deadlocks between processes.
fn admit_sql() -> String {
    let now = "coalesce($2, floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint)";
    let in_window = |window: &str, length: &str| {
        format!(
            "({now} BETWEEN stored.{window}_start - {MAX_LAG_MS} AND stored.{window}_start + {length} - 1)"
        )
    };
    let (in_short, in_day) =
        (in_window("short", "excluded.short_length"), in_window("day", &DAY_MS.to_string()));
    let short_continues = format!("(abs({now} - stored.short_start) < excluded.short_length)");
    // The count of a window before this call. `excluded` contains the count that the caller knows, plus the requests
    // that were admitted.
    let used = |window: &str, in_stored: &str, continues: &str| {
        let known = format!("excluded.{window}_used - excluded.admitted");
        format!(
            "CASE WHEN NOT {continues} THEN {known}
             WHEN {in_stored} AND stored.{window}_start <> excluded.{window}_start THEN stored.{window}_used
             ELSE greatest(stored.{window}_used, {known}) END"
        )
    };
    let short_used = used("short", &in_short, &short_continues);
    let day_used = used("day", &in_day, &in_day);
    let admitted = format!(
        "greatest(0, least(excluded.requested, excluded.short_limit - ({short_used}), excluded.day_limit - ({day_used})))"
    );
    format!(
        "INSERT INTO rate_windows AS stored (subject, short_limit, short_length, short_start, short_used,
             day_limit, day_start, day_used, requested, admitted)
         SELECT subject, short_limit, short_length, short_start, short_known + admitted,
             day_limit, day_start, day_known + admitted, requested, admitted
         FROM (
             SELECT *, greatest(0, least(requested, short_limit - short_known, day_limit - day_known)) AS admitted
             FROM (
                 SELECT subject, requested, short_limit, short_length, short_start, day_limit, day_start,
                     CASE WHEN short_known_start = short_start THEN short_known ELSE 0 END AS short_known,
                     CASE WHEN day_known_start = day_start THEN day_known ELSE 0 END AS day_known
                 FROM (
                     SELECT batch.*, {now} - {now} % short_alignment AS short_start, {now} - {now} % {DAY_MS} AS day_start
                     FROM (SELECT set_config('lock_timeout', $3, true) OFFSET 0) AS settings
                     CROSS JOIN json_to_recordset($1::json) AS batch(subject text, requested bigint, short_limit bigint,
                         short_length bigint, short_alignment bigint, short_known_start bigint, short_known bigint,
                         day_limit bigint, day_known_start bigint, day_known bigint)
                 ) AS batches
             ) AS known
         ) AS new
         ORDER BY subject
         ON CONFLICT (subject) DO UPDATE SET
             short_limit = excluded.short_limit,
             short_length = excluded.short_length,
             short_start = CASE WHEN {in_short} THEN stored.short_start ELSE excluded.short_start END,
             short_used = {short_used} + {admitted},
             day_limit = excluded.day_limit,
             day_start = CASE WHEN {in_day} THEN stored.day_start ELSE excluded.day_start END,
             day_used = {day_used} + {admitted},
             requested = excluded.requested,
             admitted = {admitted}
         RETURNING subject, admitted, short_start, short_used, day_start, day_used, {now}"
    )
}

/// Requests of one subject that a process has admitted without asking the table, for [`add`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SubjectCounts {
    /// What the requests count against.
    pub subject: String,
    /// Maximum number of requests in the short window.
    pub short_limit: i64,
    /// The length of the short window in milliseconds.
    pub short_length: i64,
    /// The start of the short window.
    pub short_start: i64,
    /// The number of requests in the short window.
    pub short_count: i64,
    /// Maximum number of requests in the day.
    pub day_limit: i64,
    /// The start of the day.
    pub day_start: i64,
    /// The number of requests on the day.
    pub day_count: i64,
}

/// Adds requests that were already admitted, whatever the limits are, in one statement. PostgreSQL only.
///
/// Each subject may occur once. A count is added to the window of the table if both windows overlap. Otherwise the later one of
/// them stays. Waits at most `lock_timeout`, as in [`admit`].
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn add<C: ConnectionTrait>(
    conn: &C,
    counts: &[SubjectCounts],
    lock_timeout: Duration,
) -> Result<(), DbErr> {
    let json = serde_json::to_string(counts).map_err(|error| DbErr::Json(error.to_string()))?;
    let lock_timeout = lock_timeout.as_millis().max(1).to_string();
    statement::execute(conn, &add_sql(), [json.into(), lock_timeout.into()]).await.map(drop)
}

/// Returns the statement of [`add`].
fn add_sql() -> String {
    let window = |window: &str, length: &str| {
        format!(
            "{window}_used = CASE
                 WHEN abs(excluded.{window}_start - stored.{window}_start) < {length} THEN stored.{window}_used + excluded.{window}_used
                 WHEN excluded.{window}_start > stored.{window}_start THEN excluded.{window}_used
                 ELSE stored.{window}_used END,
             {window}_start = CASE
                 WHEN excluded.{window}_start - stored.{window}_start >= {length} THEN excluded.{window}_start
                 ELSE stored.{window}_start END"
        )
    };
    let (short, day) = (window("short", "excluded.short_length"), window("day", &DAY_MS.to_string()));
    format!(
        "INSERT INTO rate_windows AS stored (subject, short_limit, short_length, short_start, short_used,
             day_limit, day_start, day_used, requested, admitted)
         SELECT subject, short_limit, short_length, short_start, short_count, day_limit, day_start, day_count, 0, 0
         FROM (SELECT set_config('lock_timeout', $2, true) OFFSET 0) AS settings
         CROSS JOIN json_to_recordset($1::json) AS batch(subject text, short_limit bigint, short_length bigint,
             short_start bigint, short_count bigint, day_limit bigint, day_start bigint, day_count bigint)
         ORDER BY subject
         ON CONFLICT (subject) DO UPDATE SET {short}, {day}"
    )
}

/// Waits for the locks that [`admit`] needs, until the end of the transaction. PostgreSQL only.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails, for example after the lock timeout.
pub async fn lock<C: ConnectionTrait>(conn: &C) -> Result<(), DbErr> {
    conn.execute_unprepared("LOCK TABLE rate_windows IN ROW EXCLUSIVE MODE").await.map(drop)
}

/// Removes the counts of subjects. PostgreSQL only.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn reset<C: ConnectionTrait>(conn: &C, subjects: &[String]) -> Result<(), DbErr> {
    // Locks in the same order as `admit`.
    let sql = "DELETE FROM rate_windows WHERE subject IN (SELECT subject FROM rate_windows
            WHERE subject IN (SELECT json_array_elements_text($1::json)) ORDER BY subject FOR UPDATE)";
    let json = serde_json::Value::from(subjects).to_string();
    statement::execute(conn, sql, [json.into()]).await.map(drop)
}

/// A subject that has used less than a tenth of its daily limit is deleted this long after the end of its short window,
/// in milliseconds. This bounds the number of rows for client addresses and sign-in attempts.
const DELETE_AFTER_MS: i64 = 600_000;

/// Deletes up to `limit` subjects whose windows have ended, or that have used little of their daily limit, see
/// [`DELETE_AFTER_MS`]. Skips subjects whose requests are being counted. `now` is as in [`admit`]. Returns the number
/// of subjects deleted. PostgreSQL only.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete_ended<C: ConnectionTrait>(conn: &C, now: Option<i64>, limit: u64) -> Result<u64, DbErr> {
    let now_ms = "coalesce($1, floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint)";
    let ended = format!(
        "short_start + short_length + {DELETE_AFTER_MS} < {now_ms}
         AND (day_start + {DAY_MS} < {now_ms} OR day_used * 10 < day_limit)"
    );
    let sql = format!(
        "DELETE FROM rate_windows WHERE {ended} AND subject IN (
             SELECT subject FROM rate_windows WHERE {ended} LIMIT $2 FOR UPDATE SKIP LOCKED)"
    );
    statement::execute(conn, &sql, [now.into(), limit.into()]).await
}
