//! The queue of deliveries across all workspaces: the statements with which workers claim deliveries, settle them
//! (write the results of attempts) and release them, and read the state of the queue. Times are in milliseconds since
//! the epoch.
//!
//! In the SQL statements, a delivery in state 0 is pending, 2 is dead and 3 is held (see [`StoredDeliveryState`]). A
//! subscription in state 0 is enabled.

use sea_orm::{ActiveEnum, ConnectionTrait, DbBackend, DbErr};
use serde_json::json;
use uuid::Uuid;

use super::StoredDeliveryState;
use super::claim::{UNLEASED, pending_subscriptions_sql};
use crate::statement;
use crate::webhook_rates::IS_TOO_FAR_AHEAD;

pub use super::claim::{ClaimQuery, ClaimedDelivery, MAX_LEASED_WITH_RATE, WorkspaceAllowance};

/// The next state of a delivery after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryTransition {
    /// It is delivered.
    Delivered,
    /// It is retried at this time.
    Retry(i64),
    /// It is held until its subscription is enabled. It is then due at once, or at this time if that is later.
    Hold(Option<i64>),
    /// It failed permanently.
    Dead,
}

/// The result of an attempt at a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// The delivery.
    pub id: Uuid,
    /// The lease under which it was sent.
    pub lease_token: Uuid,
    /// Its next state.
    pub transition: DeliveryTransition,
    /// When the attempt ended.
    pub ended_at: i64,
    /// The status of the response; `None` without a response.
    pub status: Option<i32>,
    /// The code of the failure when there was no response.
    pub error: Option<String>,
}

/// Returns the common table expression `settlement`, which reads settlements from the JSON parameter.
fn settlement_rows(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => {
            "WITH settlement AS MATERIALIZED (SELECT (value->>0)::uuid AS id, (value->>1)::uuid AS token,
                (value->>2)::smallint AS state, (value->>3)::bigint AS next_at, (value->>4)::bigint AS resumes_at,
                (value->>5)::bigint AS settled_at, (value->>6)::integer AS status, value->>7 AS error FROM json_array_elements($1::json))"
        }
        _ => {
            "WITH settlement AS MATERIALIZED (SELECT unhex(value->>0) AS id, unhex(value->>1) AS token,
                value->>2 AS state, value->>3 AS next_at, value->>4 AS resumes_at,
                value->>5 AS settled_at, value->>6 AS status, value->>7 AS error FROM json_each($1))"
        }
    }
}

const SETTLE: &str = "
UPDATE webhook_deliveries SET
    state = settlement.state, attempts = attempts + 1, next_attempt_at = settlement.next_at,
    resumes_at = settlement.resumes_at, lease_token = NULL, lease_until = NULL, settled_at = settlement.settled_at,
    last_status = settlement.status, last_error = settlement.error
FROM settlement
WHERE webhook_deliveries.id = settlement.id AND webhook_deliveries.lease_token = settlement.token
RETURNING webhook_deliveries.id";

/// Writes the results of attempts in one statement. Returns the deliveries that still had the specified lease. The
/// others were claimed by another worker or are settled, so the caller must not record their attempts.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn settle<C: ConnectionTrait>(conn: &C, settlements: &[Settlement]) -> Result<Vec<Uuid>, DbErr> {
    if settlements.is_empty() {
        return Ok(Vec::new());
    }
    let row = |settlement: &Settlement| {
        let ended_at = Some(settlement.ended_at);
        let (state, next_at, resumes_at, settled_at) = match settlement.transition {
            DeliveryTransition::Delivered => (StoredDeliveryState::Delivered, None, None, ended_at),
            DeliveryTransition::Retry(at) => (StoredDeliveryState::Pending, Some(at), None, None),
            DeliveryTransition::Hold(at) => (StoredDeliveryState::Held, None, at, None),
            DeliveryTransition::Dead => (StoredDeliveryState::Dead, None, None, ended_at),
        };
        let (id, token) = (statement::hex(settlement.id), statement::hex(settlement.lease_token));
        let (status, error) = (settlement.status, &settlement.error);
        json!([id, token, state.to_value(), next_at, resumes_at, settled_at, status, error])
    };
    let rows = serde_json::Value::from_iter(settlements.iter().map(row)).to_string();
    let backend = conn.get_database_backend();
    let sql = format!("{}{SETTLE}", settlement_rows(backend));
    let rows = conn.query_all_raw(statement::raw(conn, &sql, [rows.into()])).await?;
    rows.iter().map(|row| row.try_get_by_index(0)).collect()
}

/// Releases all pending deliveries with this lease, as if they had never been claimed. Returns the number of rows
/// updated. Reads all pending deliveries, so use it only when a worker stops.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn release_lease<C: ConnectionTrait>(conn: &C, lease_token: Uuid) -> Result<u64, DbErr> {
    let sql = "UPDATE webhook_deliveries SET lease_token = NULL, lease_until = NULL
        WHERE state = 0 AND lease_token = $1";
    statement::execute(conn, sql, [lease_token.into()]).await
}

/// Deletes deliveries. Their attempts are deleted with them; on PostgreSQL, with the day of the attempt.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete<C: ConnectionTrait>(conn: &C, ids: &[Uuid]) -> Result<(), DbErr> {
    if ids.is_empty() {
        return Ok(());
    }
    let ids_sql = match conn.get_database_backend() {
        DbBackend::Postgres => "SELECT value::uuid FROM json_array_elements_text($1::json) AS ids(value)",
        _ => "SELECT unhex(value) FROM json_each($1)",
    };
    let sql = format!("DELETE FROM webhook_deliveries WHERE id IN ({ids_sql})");
    statement::execute(conn, &sql, [statement::json_ids(ids.iter().copied()).into()]).await.map(drop)
}

/// Returns the common table expression `lease`, which reads deliveries and lease tokens from the JSON parameter.
fn lease_rows(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => {
            "WITH lease AS MATERIALIZED (SELECT (value->>0)::uuid AS id, (value->>1)::uuid AS token
                FROM json_array_elements($1::json))"
        }
        _ => {
            "WITH lease AS MATERIALIZED (SELECT unhex(value->>0) AS id, unhex(value->>1) AS token
                FROM json_each($1))"
        }
    }
}

/// Releases these deliveries, each a pair of delivery and lease token, as if they had never been claimed. Skips
/// deliveries that have another lease. Returns the number of rows updated.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn release_deliveries<C: ConnectionTrait>(conn: &C, leased: &[(Uuid, Uuid)]) -> Result<u64, DbErr> {
    if leased.is_empty() {
        return Ok(0);
    }
    let row = |(id, token): &(Uuid, Uuid)| json!([statement::hex(*id), statement::hex(*token)]);
    let rows = serde_json::Value::from_iter(leased.iter().map(row)).to_string();
    let sql = format!(
        "{}
        UPDATE webhook_deliveries SET lease_token = NULL, lease_until = NULL
        FROM lease WHERE webhook_deliveries.id = lease.id AND webhook_deliveries.lease_token = lease.token",
        lease_rows(conn.get_database_backend())
    );
    statement::execute(conn, &sql, [rows.into()]).await
}

/// Extends the leases of all pending deliveries by this time, because the clock is about to be advanced by it.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn extend_leases<C: ConnectionTrait>(conn: &C, by_ms: i64) -> Result<u64, DbErr> {
    let sql = "UPDATE webhook_deliveries SET lease_until = lease_until + $1 WHERE state = 0 AND lease_until IS NOT NULL";
    statement::execute(conn, sql, [by_ms.into()]).await
}

/// Returns the earliest time at which a pending delivery of an enabled subscription can be sent; `None` if there are
/// none. A time in the past shows how far the queue is behind. Ignores deliveries with a valid lease and deliveries of
/// the excluded workspaces.
///
/// That is when a delivery is due or, for a subscription with a rate, when the rate allows half of its burst if that is
/// later. Workers would otherwise poll for every single delivery of a high rate.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn earliest_due_at<C: ConnectionTrait>(
    conn: &C,
    now: i64,
    excluded_workspaces: &[Uuid],
) -> Result<Option<i64>, DbErr> {
    let pending_subscriptions = pending_subscriptions_sql(conn.get_database_backend(), "$2");
    // Each excluded workspace is a `WorkspaceAllowance` with limit 0 and no last subscription. `UNLEASED` uses $1.
    let excluded = excluded_workspaces.iter().map(|&workspace| json!([statement::hex(workspace), 0, null]));
    let excluded = serde_json::Value::from_iter(excluded).to_string();
    let sql = format!(
        "{pending_subscriptions}
        SELECT min(CASE WHEN allowed_at > due_at THEN allowed_at ELSE due_at END) FROM (
            SELECT (SELECT d.next_attempt_at FROM webhook_deliveries AS d
                    WHERE d.state = 0 AND d.subscription_id = s.id AND {UNLEASED} ORDER BY d.next_attempt_at LIMIT 1) AS due_at,
                CASE WHEN s.rate IS NOT NULL THEN
                    (SELECT (r.next_at_us - r.burst / 2 * r.interval_us + 999) / 1000
                     FROM webhook_rates AS r WHERE r.subscription_id = s.id AND NOT ({IS_TOO_FAR_AHEAD}))
                END AS allowed_at
            FROM pending_subscriptions AS p CROSS JOIN webhook_subscriptions AS s
            WHERE s.id = p.subscription_id AND s.state = 0
        ) AS first_due"
    );
    let row = conn.query_one_raw(statement::raw(conn, &sql, [now.into(), excluded.into()])).await?;
    row.map_or(Ok(None), |row| row.try_get_by_index(0))
}

/// The number of pending, held and dead deliveries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Pending, including those in flight.
    pub pending: i64,
    /// Pending with a valid lease.
    pub in_flight: i64,
    /// Held until their subscription is enabled.
    pub held: i64,
    /// Dead and not pruned yet.
    pub dead: i64,
}

/// Counts the pending, held and dead deliveries. Reads the table rows of pending deliveries, but only the index entries
/// of held and dead ones.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn counts<C: ConnectionTrait>(conn: &C, now: i64) -> Result<QueueCounts, DbErr> {
    let sql = "SELECT count(*), count(CASE WHEN lease_until > $1 THEN 1 END),
        (SELECT count(*) FROM webhook_deliveries WHERE state = 3),
        (SELECT count(*) FROM webhook_deliveries WHERE state = 2)
        FROM webhook_deliveries WHERE state = 0";
    let Some(row) = conn.query_one_raw(statement::raw(conn, sql, [now.into()])).await? else {
        return Ok(QueueCounts::default());
    };
    Ok(QueueCounts {
        pending: row.try_get_by_index(0)?,
        in_flight: row.try_get_by_index(1)?,
        held: row.try_get_by_index(2)?,
        dead: row.try_get_by_index(3)?,
    })
}
