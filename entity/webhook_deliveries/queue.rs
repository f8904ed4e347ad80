//! What workers do with deliveries, across all workspaces: take, settle, give back, and look at the queue.

use sea_orm::{ActiveEnum, ConnectionTrait, DbBackend, DbErr};
use serde_json::json;
use uuid::Uuid;

use super::State;
use super::claim::{FREE, waiting};
use crate::statement;

pub use super::claim::{Claim, Claimed, Share};

/// What becomes of a delivery after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It arrived.
    Delivered,
    /// It is tried again at this moment.
    Retry(i64),
    /// It waits for its subscription to be enabled, and is then tried again at this moment at the earliest, if there is one.
    Hold(Option<i64>),
    /// It is given up.
    Dead,
}

/// What came of an attempt at a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// The delivery.
    pub id: Uuid,
    /// The lease under which it was sent.
    pub lease_token: Uuid,
    /// What becomes of it.
    pub next: Next,
    /// When the attempt ended.
    pub at: i64,
    /// The status of the answer, when there was one.
    pub status: Option<i32>,
    /// The class of what went wrong, when there was none.
    pub error: Option<String>,
}

/// What each database makes of the one parameter: a row for each settlement.
fn settled(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => {
            "WITH v AS MATERIALIZED (SELECT (value->>0)::uuid AS id, (value->>1)::uuid AS token,
                (value->>2)::smallint AS state, (value->>3)::bigint AS next_at, (value->>4)::bigint AS resumes_at,
                (value->>5)::bigint AS settled_at, (value->>6)::integer AS status, value->>7 AS error FROM json_array_elements($1::json))"
        }
        _ => {
            "WITH v AS MATERIALIZED (SELECT unhex(value->>0) AS id, unhex(value->>1) AS token,
                value->>2 AS state, value->>3 AS next_at, value->>4 AS resumes_at,
                value->>5 AS settled_at, value->>6 AS status, value->>7 AS error FROM json_each($1))"
        }
    }
}

const SETTLE: &str = "
UPDATE webhook_deliveries SET
    state = v.state, attempts = attempts + 1, next_attempt_at = v.next_at, resumes_at = v.resumes_at,
    lease_token = NULL, lease_until = NULL, settled_at = v.settled_at, last_status = v.status, last_error = v.error
FROM v
WHERE webhook_deliveries.id = v.id AND webhook_deliveries.lease_token = v.token
RETURNING webhook_deliveries.id";

/// Writes what came of attempts, in one statement, and gives the deliveries whose lease still held. The others are
/// somebody else's by now: nothing of what came of them may be written.
///
/// # Errors
/// When the database does.
pub async fn settle<C: ConnectionTrait>(conn: &C, settlements: &[Settlement]) -> Result<Vec<Uuid>, DbErr> {
    if settlements.is_empty() {
        return Ok(Vec::new());
    }
    let row = |one: &Settlement| {
        let (state, next_at, resumes_at, settled_at) = match one.next {
            Next::Delivered => (State::Delivered, None, None, Some(one.at)),
            Next::Retry(at) => (State::Pending, Some(at), None, None),
            Next::Hold(at) => (State::Held, None, at, None),
            Next::Dead => (State::Dead, None, None, Some(one.at)),
        };
        let (id, token) = (statement::hex(one.id), statement::hex(one.lease_token));
        json!([id, token, state.to_value(), next_at, resumes_at, settled_at, one.status, one.error])
    };
    let rows = serde_json::Value::from_iter(settlements.iter().map(row)).to_string();
    let backend = conn.get_database_backend();
    let sql = format!("{}{SETTLE}", settled(backend));
    let rows = conn.query_all_raw(statement::raw(conn, &sql, [rows.into()])).await?;
    rows.iter().map(|row| row.try_get_by_index(0)).collect()
}

/// Gives back what was taken under this lease and is not settled, as if it had never been taken. Says how much it was.
/// Reads all that is pending: for a worker's end.
///
/// # Errors
/// When the database does.
pub async fn give_back<C: ConnectionTrait>(conn: &C, lease_token: Uuid) -> Result<u64, DbErr> {
    let sql = "UPDATE webhook_deliveries SET lease_token = NULL, lease_until = NULL
        WHERE state = 0 AND lease_token = $1";
    statement::execute(conn, sql, [lease_token.into()]).await
}

/// What each database makes of the one parameter: a row for each lease and delivery.
fn leased(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => {
            "WITH v AS MATERIALIZED (SELECT (value->>0)::uuid AS id, (value->>1)::uuid AS token
                FROM json_array_elements($1::json))"
        }
        _ => {
            "WITH v AS MATERIALIZED (SELECT unhex(value->>0) AS id, unhex(value->>1) AS token FROM json_each($1))"
        }
    }
}

/// Gives back these deliveries that were taken under these leases, `(delivery, lease)`, as if they had never been taken.
///
/// # Errors
/// When the database does.
pub async fn give_back_some<C: ConnectionTrait>(conn: &C, taken: &[(Uuid, Uuid)]) -> Result<u64, DbErr> {
    if taken.is_empty() {
        return Ok(0);
    }
    let row = |(id, token): &(Uuid, Uuid)| json!([statement::hex(*id), statement::hex(*token)]);
    let rows = serde_json::Value::from_iter(taken.iter().map(row)).to_string();
    let sql = format!(
        "{}
        UPDATE webhook_deliveries SET lease_token = NULL, lease_until = NULL
        FROM v WHERE webhook_deliveries.id = v.id AND webhook_deliveries.lease_token = v.token",
        leased(conn.get_database_backend())
    );
    statement::execute(conn, &sql, [rows.into()]).await
}

/// The earliest moment at which a delivery of an enabled subscription is due, or was: what lies in the past is how far
/// the queue is behind. What is in flight at this moment does not count, nor do these workspaces.
///
/// # Errors
/// When the database does.
pub async fn oldest_due<C: ConnectionTrait>(
    conn: &C,
    now: i64,
    without: &[Uuid],
) -> Result<Option<i64>, DbErr> {
    let waiting = waiting(conn.get_database_backend(), "$2");
    let without = without.iter().map(|&workspace| json!([statement::hex(workspace), 0, null]));
    let without = serde_json::Value::from_iter(without).to_string();
    let sql = format!(
        "{waiting}
        SELECT min((SELECT d.next_attempt_at FROM webhook_deliveries AS d
                    WHERE d.state = 0 AND d.subscription_id = s.id AND {FREE} ORDER BY d.next_attempt_at LIMIT 1))
        FROM waiting AS w CROSS JOIN webhook_subscriptions AS s WHERE s.id = w.subscription_id AND s.state = 0"
    );
    let row = conn.query_one_raw(statement::raw(conn, &sql, [now.into(), without.into()])).await?;
    row.map_or(Ok(None), |row| row.try_get_by_index(0))
}

/// How many deliveries stand where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// To be sent, or being sent.
    pub pending: i64,
    /// Of these: in a worker's hand.
    pub in_flight: i64,
    /// Waiting for their subscription to be enabled.
    pub held: i64,
    /// Given up, and not pruned yet.
    pub dead: i64,
}

/// How many deliveries stand where at this moment. Reads the rows of what is pending, and of the rest entries of indexes.
///
/// # Errors
/// When the database does.
pub async fn counts<C: ConnectionTrait>(conn: &C, now: i64) -> Result<Counts, DbErr> {
    let sql = "SELECT count(*), count(CASE WHEN lease_until > $1 THEN 1 END),
        (SELECT count(*) FROM webhook_deliveries WHERE state = 3),
        (SELECT count(*) FROM webhook_deliveries WHERE state = 2)
        FROM webhook_deliveries WHERE state = 0";
    let Some(row) = conn.query_one_raw(statement::raw(conn, sql, [now.into()])).await? else {
        return Ok(Counts::default());
    };
    Ok(Counts {
        pending: row.try_get_by_index(0)?,
        in_flight: row.try_get_by_index(1)?,
        held: row.try_get_by_index(2)?,
        dead: row.try_get_by_index(3)?,
    })
}
