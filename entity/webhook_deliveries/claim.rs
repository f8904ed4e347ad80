//! The statement that takes due deliveries, fair over the workspaces and over the subscriptions of each: one for each database.
//!
//! Both find what has something pending by stepping from one workspace to the next in an index, and from one subscription of a
//! workspace to the next, so that what it costs does not grow with what is pending. A workspace that may take nothing more costs
//! one step, however many subscriptions it has.

use sea_orm::{ConnectionTrait, DbBackend, DbErr, QueryResult};
use serde_json::json;
use uuid::Uuid;

use super::{Model, Origin};
use crate::statement;

/// What is taken, by whom, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim<'a> {
    /// The present moment.
    pub now: i64,
    /// When the lease ends, and others may take what is not settled by then.
    pub lease_until: i64,
    /// Names the lease; no other has this name.
    pub lease_token: Uuid,
    /// Deliveries of one subscription in flight at most, those that are in flight already included.
    pub cap_per_subscription: i64,
    /// Deliveries of one workspace taken at most, unless its share says otherwise.
    pub per_workspace: i64,
    /// The workspaces of which something else is known.
    pub shares: &'a [Share],
    /// Deliveries taken at most.
    pub batch: i64,
    /// The workspace that was last in the claim before; the next one begins.
    pub after: Option<Uuid>,
}

/// What a claim may take of one workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The workspace.
    pub workspace: Uuid,
    /// Deliveries taken at most. Where it is 0, the workspace is passed over.
    pub room: i64,
    /// The subscription that was last in the claim before; the next one of the workspace begins.
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
    /// Its place in what is taken of its workspace, from 1 on.
    place: i64,
}

/// Each subscription that has something pending, of all workspaces.
pub(super) const WAITING: &str = "
WITH RECURSIVE waiting (subscription_id) AS (
    SELECT (SELECT subscription_id FROM webhook_deliveries WHERE state = 0 ORDER BY subscription_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.subscription_id FROM webhook_deliveries AS d
            WHERE d.state = 0 AND d.subscription_id > w.subscription_id ORDER BY d.subscription_id LIMIT 1)
    FROM waiting AS w WHERE w.subscription_id IS NOT NULL
)";

/// Each subscription that has something pending, with its workspace, but for those of workspaces that may take nothing.
/// `shares` is the parameter that holds the [`Share`]s.
///
/// On PostgreSQL a step compares pairs, which only the index of both columns serves: with stale statistics the planner would take
/// the index by subscription for as good, and walk through the other workspaces in it. SQLite would use half of that comparison,
/// and gets the plain one. `attempts >= 0` always holds: that index is only for statements that spell it out.
pub(super) fn waiting(backend: DbBackend, shares: &str) -> String {
    let (known, nil, step) = match backend {
        DbBackend::Postgres => (
            format!(
                "SELECT (value->>0)::uuid, (value->>1)::bigint, (value->>2)::uuid FROM json_array_elements({shares}::json)"
            ),
            "'00000000-0000-0000-0000-000000000000'::uuid",
            "(d.workspace_id, d.subscription_id) > (w.workspace_id, w.subscription_id)",
        ),
        _ => (
            format!("SELECT unhex(value->>0), value->>1, unhex(value->>2) FROM json_each({shares})"),
            "zeroblob(16)",
            "d.workspace_id = w.workspace_id AND d.subscription_id > w.subscription_id",
        ),
    };
    format!(
        "
WITH RECURSIVE known (workspace_id, room, last) AS MATERIALIZED ({known}),
workspaces_waiting (id) AS (
    SELECT (SELECT workspace_id FROM webhook_deliveries
            WHERE state = 0 AND attempts >= 0 ORDER BY workspace_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.workspace_id FROM webhook_deliveries AS d
            WHERE d.state = 0 AND d.attempts >= 0 AND d.workspace_id > w.id ORDER BY d.workspace_id LIMIT 1)
    FROM workspaces_waiting AS w WHERE w.id IS NOT NULL
),
waiting (workspace_id, subscription_id) AS (
    SELECT w.id, {nil} FROM workspaces_waiting AS w
    WHERE w.id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM known WHERE known.workspace_id = w.id AND room <= 0)
    UNION ALL
    SELECT w.workspace_id,
        (SELECT CASE WHEN d.workspace_id = w.workspace_id THEN d.subscription_id END FROM webhook_deliveries AS d
         WHERE d.state = 0 AND d.attempts >= 0 AND {step}
         ORDER BY d.workspace_id, d.subscription_id LIMIT 1)
    FROM waiting AS w WHERE w.subscription_id IS NOT NULL
)"
    )
}

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
/// flight; and of these no more than the limit.
///
/// A lease stands in no index: to take a delivery and to give it back rewrites its row and nothing else. In return the heads
/// of the queue are read with their rows, which the cap keeps few.
fn head(limit: &str) -> String {
    format!(
        "SELECT id, next_attempt_at FROM (
            SELECT d.id, d.next_attempt_at, d.lease_until FROM webhook_deliveries AS d
            WHERE {DUE} AND d.subscription_id = s.id ORDER BY d.next_attempt_at, d.id LIMIT $2
        ) AS first
        WHERE {FREE} ORDER BY next_attempt_at, id LIMIT {limit}"
    )
}

/// The subscriptions that are enabled and have something due, and what the workspaces may take that have such.
///
/// A sub-select with an order and a limit is run for each subscription, as an index answers it; the planner would turn `EXISTS`
/// into a join that reads all that is due.
const READY: &str = "ready (workspace_id, id) AS MATERIALIZED (
    SELECT w.workspace_id, s.id FROM waiting AS w CROSS JOIN webhook_subscriptions AS s
    WHERE s.id = w.subscription_id AND s.state = 0
      AND (SELECT 1 FROM webhook_deliveries AS d WHERE d.state = 0 AND d.next_attempt_at <= $1 AND d.subscription_id = s.id
           ORDER BY d.next_attempt_at LIMIT 1) = 1
),
shares (workspace_id, room, last, each) AS MATERIALIZED (
    SELECT r.workspace_id, coalesce(k.room, $6), k.last,
        4 + $3 / (count(*) * (SELECT count(DISTINCT workspace_id) FROM ready))
    FROM ready AS r LEFT JOIN known AS k ON k.workspace_id = r.workspace_id
    GROUP BY r.workspace_id, k.room, k.last
)";

/// Of what is free, what is taken: each workspace's first, then each one's second, and so on. The first of a workspace is the
/// first of one of its subscriptions, the second that of the next.
const CHOSEN: &str = "turns (workspace_id, subscription_id, id, turn) AS (
    SELECT workspace_id, subscription_id, id,
        row_number() OVER (PARTITION BY subscription_id ORDER BY next_attempt_at, id) FROM free
),
places (workspace_id, id, room, place) AS (
    SELECT t.workspace_id, t.id, h.room,
        row_number() OVER (PARTITION BY t.workspace_id ORDER BY t.turn, (t.subscription_id > h.last) DESC, t.subscription_id)
    FROM turns AS t JOIN shares AS h ON h.workspace_id = t.workspace_id WHERE t.turn <= h.each
),
chosen (id, place) AS MATERIALIZED (
    SELECT id, place FROM places WHERE place <= room
    ORDER BY place, (workspace_id > $4) DESC, workspace_id LIMIT $3
)";

/// What a subscription may take at most where its workspace has many of them, so that the heads of many are read no further.
const FEW: &str = "8";

/// Takes and gives back in one statement.
///
/// `chosen` takes no lock, `locked` then passes over what others have: two workers that choose at the same moment choose
/// the same rows, and each row goes to one of them.
fn postgres() -> String {
    let waiting = waiting(DbBackend::Postgres, "$5");
    let free = |limit: &str, which: &str| {
        format!(
            "SELECT s.workspace_id, s.id AS subscription_id, head.id, head.next_attempt_at
            FROM ready AS s JOIN shares AS h ON h.workspace_id = s.workspace_id CROSS JOIN LATERAL ({head}) AS head
            WHERE h.each {which} {FEW}",
            head = head(limit)
        )
    };
    let (few, many) = (free(FEW, "<="), free("$3", ">"));
    format!(
        "{waiting},
{READY},
free AS ({few} UNION ALL {many}),
{CHOSEN},
locked AS MATERIALIZED (
    SELECT d.id, chosen.place FROM chosen CROSS JOIN webhook_deliveries AS d
    WHERE d.id = chosen.id AND {STILL_PENDING} AND d.next_attempt_at <= $1 AND {FREE} FOR UPDATE OF d SKIP LOCKED
)
UPDATE webhook_deliveries AS d SET lease_token = $7, lease_until = $8
FROM locked, webhook_subscriptions AS s, events AS e
WHERE d.id = locked.id AND s.id = d.subscription_id AND e.id = d.event_id
RETURNING d.id, d.workspace_id, d.subscription_id, d.event_id, d.event_type, e.body, s.url, d.attempts, d.origin,
    d.created_at, locked.place"
    )
}

/// Chooses; what is chosen is taken by the statement after it.
fn sqlite() -> String {
    let waiting = waiting(DbBackend::Sqlite, "$5");
    let free = |limit: &str, which: &str| {
        format!(
            "SELECT s.workspace_id, s.id AS subscription_id, d.id, d.next_attempt_at
            FROM ready AS s JOIN shares AS h ON h.workspace_id = s.workspace_id CROSS JOIN webhook_deliveries AS d
            WHERE d.id IN (SELECT id FROM ({head}) AS head) AND h.each {which} {FEW}",
            head = head(limit)
        )
    };
    let (few, many) = (free(FEW, "<="), free("$3", ">"));
    format!(
        "{waiting},
{READY},
free (workspace_id, subscription_id, id, next_attempt_at) AS ({few} UNION ALL {many}),
{CHOSEN}
SELECT d.id, d.workspace_id, d.subscription_id, d.event_id, d.event_type, e.body, s.url, d.attempts, d.origin,
    d.created_at, chosen.place
FROM chosen CROSS JOIN webhook_deliveries AS d CROSS JOIN webhook_subscriptions AS s CROSS JOIN events AS e
WHERE d.id = chosen.id AND s.id = d.subscription_id AND e.id = d.event_id"
    )
}

const SQLITE_TAKE: &str = "UPDATE webhook_deliveries SET lease_token = $1, lease_until = $2
WHERE id IN (SELECT unhex(value) FROM json_each($3))";

impl Claim<'_> {
    /// Takes due deliveries of enabled subscriptions: each workspace's first, then each one's second, and so on, up to the share
    /// of each and the batch of all. Within a workspace it takes each subscription's first, then each one's second, up to the
    /// cap of each; within a subscription in the order in which they are due.
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
        let shares = self.shares.iter().map(|one| {
            let last = one.after.unwrap_or(Uuid::nil());
            json!([statement::hex(one.workspace), one.room, statement::hex(last)])
        });
        let shares = serde_json::Value::from_iter(shares).to_string();
        let choice = [
            self.now.into(),
            self.cap_per_subscription.into(),
            self.batch.into(),
            after.into(),
            shares.into(),
            self.per_workspace.into(),
        ];
        let choice = choice.into_iter();
        let lease = [self.lease_token.into(), self.lease_until.into()];
        let rows = match conn.get_database_backend() {
            DbBackend::Postgres => {
                conn.query_all_raw(statement::raw(conn, &postgres(), choice.chain(lease))).await?
            }
            _ => conn.query_all_raw(statement::raw(conn, &sqlite(), choice)).await?,
        };
        let mut claimed = rows.iter().map(Claimed::from_row).collect::<Result<Vec<_>, _>>()?;
        claimed.sort_by_key(|one| (one.place, one.workspace_id <= after, one.workspace_id));
        if conn.get_database_backend() == DbBackend::Sqlite && !claimed.is_empty() {
            let ids = statement::json_ids(claimed.iter().map(|one| one.id));
            let [token, until] = [self.lease_token.into(), self.lease_until.into()];
            statement::execute(conn, SQLITE_TAKE, [token, until, ids.into()]).await?;
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
            place: 1,
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
            place: row.try_get_by_index(10)?,
        })
    }
}
