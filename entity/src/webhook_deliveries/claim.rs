//! The statement that takes due deliveries, fair over their subscriptions: one for each database.
//!
//! Both find the subscriptions that have something pending by stepping from one to the next in the index, so that
//! what it costs does not grow with what is pending.

use sea_orm::{ConnectionTrait, DbBackend, DbErr, QueryResult};
use uuid::Uuid;

use super::{Model, Origin};
use crate::statement;

/// What is taken, by whom, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The present moment.
    pub now: i64,
    /// When the lease ends, and others may take what is not settled by then.
    pub lease_until: i64,
    /// Names the lease; no other has this name.
    pub lease_token: Uuid,
    /// Deliveries of one subscription in flight at most, those that are in flight already included.
    pub cap_per_subscription: i64,
    /// Deliveries taken at most.
    pub batch: i64,
    /// The subscription whose turn it was last; the next one begins.
    pub after: Option<Uuid>,
}

/// A delivery taken, with what is needed to send it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The delivery.
    pub id: Uuid,
    /// The workspace.
    pub workspace_id: Uuid,
    /// The subscription.
    pub subscription_id: Uuid,
    /// The event.
    pub event_id: Uuid,
    /// The event's type.
    pub event_type: String,
    /// The event's body, to the byte.
    pub body: Vec<u8>,
    /// Where it is to be sent.
    pub url: String,
    /// Attempts made so far.
    pub attempts: i32,
    /// Why there is this delivery.
    pub origin: Origin,
    /// When it was made.
    pub created_at: i64,
    /// Its place in its subscription's turn, from 1 on.
    turn: i64,
}

/// Each subscription that has something pending.
pub(super) const WAITING: &str = "
WITH RECURSIVE waiting (subscription_id) AS (
    SELECT (SELECT subscription_id FROM webhook_deliveries WHERE state = 0 ORDER BY subscription_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.subscription_id FROM webhook_deliveries AS d
            WHERE d.state = 0 AND d.subscription_id > w.subscription_id ORDER BY d.subscription_id LIMIT 1)
    FROM waiting AS w WHERE w.subscription_id IS NOT NULL
)";

/// True for a delivery that is due at the moment $1.
const DUE: &str = "d.state = 0 AND d.next_attempt_at <= $1";

/// True for a pending delivery `d`, in a form that no index serves: for rows that are found by their ids.
///
/// The planner would take the index of what is pending for a match by id as well, and believe it to be empty as long as the
/// statistics are older than what is pending. It would then read that index once for each row.
const STILL_PENDING: &str = "d.state + 0 = 0";

/// True for a pending delivery that no worker has in hand at the moment $1.
pub(super) const FREE: &str = "(lease_until IS NULL OR lease_until <= $1)";

/// What may be taken of the subscription `s`: of its first due deliveries, as many as the cap $2, those that are not in
/// flight; and of these no more than a fair part of the batch $3.
///
/// A lease stands in no index: to take a delivery and to give it back rewrites its row and nothing else. In return the heads
/// of the queue are read with their rows, which the cap keeps few.
fn head() -> String {
    format!(
        "SELECT id, next_attempt_at FROM (
            SELECT d.id, d.next_attempt_at, d.lease_until FROM webhook_deliveries AS d
            WHERE {DUE} AND d.subscription_id = s.id ORDER BY d.next_attempt_at, d.id LIMIT $2
        ) AS first
        WHERE {FREE} ORDER BY next_attempt_at, id LIMIT 4 + $3 / (SELECT count(*) FROM ready)"
    )
}

/// The subscriptions that are enabled and have something due.
///
/// A sub-select with an order and a limit is run for each subscription, as an index answers it; the planner would turn `EXISTS`
/// into a join that reads all that is due.
fn ready() -> String {
    format!(
        "ready (id) AS MATERIALIZED (
    SELECT s.id FROM waiting AS w CROSS JOIN webhook_subscriptions AS s
    WHERE s.id = w.subscription_id AND s.state = 0
      AND (SELECT 1 FROM webhook_deliveries AS d WHERE {DUE} AND d.subscription_id = s.id
           ORDER BY d.next_attempt_at LIMIT 1) = 1
)"
    )
}

/// Takes and gives back in one statement.
///
/// `chosen` takes no lock, `locked` then passes over what others have: two workers that choose at the same moment choose
/// the same rows, and each row goes to one of them.
fn postgres() -> String {
    let (ready, head) = (ready(), head());
    format!(
        "{WAITING},
{ready},
free AS (
    SELECT s.id AS subscription_id, head.id,
        row_number() OVER (PARTITION BY s.id ORDER BY head.next_attempt_at, head.id) AS turn
    FROM ready AS s CROSS JOIN LATERAL ({head}) AS head
),
chosen AS (
    SELECT id, turn FROM free ORDER BY turn, (subscription_id > $4) DESC, subscription_id LIMIT $3
),
locked AS MATERIALIZED (
    SELECT d.id, chosen.turn FROM chosen CROSS JOIN webhook_deliveries AS d
    WHERE d.id = chosen.id AND {STILL_PENDING} AND d.next_attempt_at <= $1 AND {FREE} FOR UPDATE OF d SKIP LOCKED
)
UPDATE webhook_deliveries AS d SET lease_token = $5, lease_until = $6
FROM locked, webhook_subscriptions AS s, events AS e
WHERE d.id = locked.id AND s.id = d.subscription_id AND e.id = d.event_id
RETURNING d.id, d.workspace_id, d.subscription_id, d.event_id, d.event_type, e.body, s.url, d.attempts, d.origin,
    d.created_at, locked.turn"
    )
}

/// Chooses; what is chosen is taken by the statement after it.
fn sqlite() -> String {
    let (ready, head) = (ready(), head());
    format!(
        "{WAITING},
{ready},
free (id, subscription_id, turn) AS (
    SELECT d.id, s.id, row_number() OVER (PARTITION BY s.id ORDER BY d.next_attempt_at, d.id)
    FROM ready AS s CROSS JOIN webhook_deliveries AS d
    WHERE d.id IN (SELECT id FROM ({head}) AS head)
),
chosen (id, turn) AS MATERIALIZED (
    SELECT id, turn FROM free ORDER BY turn, (subscription_id > $4) DESC, subscription_id LIMIT $3
)
SELECT d.id, d.workspace_id, d.subscription_id, d.event_id, d.event_type, e.body, s.url, d.attempts, d.origin,
    d.created_at, chosen.turn
FROM chosen CROSS JOIN webhook_deliveries AS d CROSS JOIN webhook_subscriptions AS s CROSS JOIN events AS e
WHERE d.id = chosen.id AND s.id = d.subscription_id AND e.id = d.event_id"
    )
}

const SQLITE_TAKE: &str = "UPDATE webhook_deliveries SET lease_token = $1, lease_until = $2
WHERE id IN (SELECT unhex(value) FROM json_each($3))";

impl Claim {
    /// Takes due deliveries of enabled subscriptions: each subscription's first, then each one's second, and so on, up
    /// to the cap of each and the batch of all; within a subscription in the order in which they are due.
    ///
    /// On SQLite it must run in a transaction that writes, and is alone there. On PostgreSQL several workers may claim
    /// at once: each row goes to one of them, and since each takes of the same first rows of a subscription, what they
    /// take together stays within the cap. It is passed only by as many rows as come to stand before those taken, since they
    /// were committed late, and by what was born in a worker's hand at the end of a long queue.
    ///
    /// # Errors
    /// When the database does.
    pub async fn take<C: ConnectionTrait>(&self, conn: &C) -> Result<Vec<Claimed>, DbErr> {
        let after = self.after.unwrap_or(Uuid::nil());
        let choice =
            [self.now.into(), self.cap_per_subscription.into(), self.batch.into(), after.into()].into_iter();
        let lease = [self.lease_token.into(), self.lease_until.into()];
        let rows = match conn.get_database_backend() {
            DbBackend::Postgres => {
                conn.query_all_raw(statement::raw(conn, &postgres(), choice.chain(lease))).await?
            }
            _ => conn.query_all_raw(statement::raw(conn, &sqlite(), choice)).await?,
        };
        let mut claimed = rows.iter().map(Claimed::from_row).collect::<Result<Vec<_>, _>>()?;
        claimed.sort_by_key(|one| (one.turn, one.subscription_id <= after, one.subscription_id));
        if conn.get_database_backend() == DbBackend::Sqlite && !claimed.is_empty() {
            let ids = statement::json_ids(claimed.iter().map(|one| one.id));
            let [token, until] = [self.lease_token.into(), self.lease_until.into()];
            conn.execute_raw(statement::raw(conn, SQLITE_TAKE, [token, until, ids.into()])).await?;
        }
        Ok(claimed)
    }
}

impl Claimed {
    /// A delivery that was written under its lease; its body is where it was made, and its URL is not looked up yet.
    pub fn born(delivery: Model) -> Self {
        Self {
            id: delivery.id,
            workspace_id: delivery.workspace_id,
            subscription_id: delivery.subscription_id,
            event_id: delivery.event_id,
            event_type: delivery.event_type,
            body: Vec::new(),
            url: String::new(),
            attempts: delivery.attempts,
            origin: delivery.origin,
            created_at: delivery.created_at,
            turn: 1,
        }
    }

    fn from_row(row: &QueryResult) -> Result<Self, DbErr> {
        Ok(Self {
            id: row.try_get_by_index(0)?,
            workspace_id: row.try_get_by_index(1)?,
            subscription_id: row.try_get_by_index(2)?,
            event_id: row.try_get_by_index(3)?,
            event_type: row.try_get_by_index(4)?,
            body: row.try_get_by_index(5)?,
            url: row.try_get_by_index(6)?,
            attempts: row.try_get_by_index(7)?,
            origin: row.try_get_by_index(8)?,
            created_at: row.try_get_by_index(9)?,
            turn: row.try_get_by_index(10)?,
        })
    }
}
