//! The statements that claim due deliveries, one for each database, in fair order across workspaces and the subscriptions of
//! each.
//!
//! Both find pending deliveries by stepping through an index from one workspace to the next, and within a workspace from one
//! subscription to the next, so that their cost does not grow with the number of pending deliveries. A workspace whose
//! allowance is 0 costs one step, regardless of the number of its subscriptions.

use sea_orm::{ConnectionTrait, DbBackend, DbErr, QueryResult};
use serde_json::json;
use uuid::Uuid;

use super::{Model, StoredDeliveryOrigin};
use crate::statement;

/// A claim: which due deliveries to lease, to which lease, and until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimQuery<'a> {
    /// The current time.
    pub now: i64,
    /// When the lease expires. Then other workers may claim the deliveries that are not settled.
    pub lease_until: i64,
    /// Identifies the lease; unique.
    pub lease_token: Uuid,
    /// Deliveries of one subscription in flight, at most, including those already in flight.
    pub cap_per_subscription: i64,
    /// Deliveries claimed of one workspace, at most, unless it has an allowance.
    pub per_workspace: i64,
    /// The allowances of single workspaces.
    pub allowances: &'a [WorkspaceAllowance],
    /// Deliveries claimed, at most.
    pub limit: i64,
    /// The last workspace of the previous claim. The claim begins with the next one.
    pub last_workspace: Option<Uuid>,
}

/// How many deliveries a claim may take of one workspace, and its round-robin position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkspaceAllowance {
    /// The workspace.
    pub workspace: Uuid,
    /// Deliveries claimed, at most. A workspace with 0 is skipped.
    pub limit: i64,
    /// The last subscription of the previous claim. The claim begins with the next one of the workspace.
    pub last_subscription: Option<Uuid>,
}

/// A claimed delivery, with everything that is needed to send it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedDelivery {
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
    /// The exact bytes of the event's body.
    pub body: Vec<u8>,
    /// The subscription's URL.
    pub url: String,
    /// Attempts made so far.
    pub attempts: i32,
    /// Why the delivery was created.
    pub origin: StoredDeliveryOrigin,
    /// When it was created.
    pub created_at: i64,
    /// Its position among the deliveries claimed of its workspace, from 1 on.
    position: i64,
}

/// Selects each subscription with pending deliveries, in all workspaces.
pub(super) const PENDING_SUBSCRIPTIONS: &str = "
WITH RECURSIVE waiting (subscription_id) AS (
    SELECT (SELECT subscription_id FROM webhook_deliveries WHERE state = 0 ORDER BY subscription_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.subscription_id FROM webhook_deliveries AS d
            WHERE d.state = 0 AND d.subscription_id > w.subscription_id ORDER BY d.subscription_id LIMIT 1)
    FROM waiting AS w WHERE w.subscription_id IS NOT NULL
)";

/// Selects each subscription with pending deliveries, and its workspace, without the workspaces whose allowance is 0.
/// `allowances` is the parameter that contains the [`WorkspaceAllowance`]s.
///
/// On PostgreSQL a step compares pairs, which only the index of both columns supports. With stale statistics the planner would
/// otherwise choose the index by subscription and scan the other workspaces in it. SQLite would use only half of such a
/// comparison, so it gets the plain one. `attempts >= 0` is always true: it is the condition of the partial index, which only
/// statements that repeat the condition can use.
pub(super) fn pending_subscriptions(backend: DbBackend, allowances: &str) -> String {
    let (known, nil, step) = match backend {
        DbBackend::Postgres => (
            format!(
                "SELECT (value->>0)::uuid, (value->>1)::bigint, (value->>2)::uuid FROM json_array_elements({allowances}::json)"
            ),
            "'00000000-0000-0000-0000-000000000000'::uuid",
            "(d.workspace_id, d.subscription_id) > (w.workspace_id, w.subscription_id)",
        ),
        _ => (
            format!("SELECT unhex(value->>0), value->>1, unhex(value->>2) FROM json_each({allowances})"),
            "zeroblob(16)",
            "d.workspace_id = w.workspace_id AND d.subscription_id > w.subscription_id",
        ),
    };
    format!(
        "
WITH RECURSIVE known (workspace_id, capacity, last) AS MATERIALIZED ({known}),
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
    WHERE w.id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM known WHERE known.workspace_id = w.id AND capacity <= 0)
    UNION ALL
    SELECT w.workspace_id,
        (SELECT CASE WHEN d.workspace_id = w.workspace_id THEN d.subscription_id END FROM webhook_deliveries AS d
         WHERE d.state = 0 AND d.attempts >= 0 AND {step}
         ORDER BY d.workspace_id, d.subscription_id LIMIT 1)
    FROM waiting AS w WHERE w.subscription_id IS NOT NULL
)"
    )
}

/// True for a delivery `d` that is due at the time $1.
const DUE: &str = "d.state = 0 AND d.next_attempt_at <= $1";

/// True for a pending delivery `d`, in a form that no index supports: for rows that are found by id.
///
/// Otherwise the planner could choose the index of pending deliveries for a match by id, because it assumes that this index is
/// empty while its statistics are older than the pending rows. It would then scan that index once per row.
const STILL_PENDING: &str = "d.state + 0 = 0";

/// True for a pending delivery without a valid lease at the time $1.
pub(super) const UNLEASED: &str = "(lease_until IS NULL OR lease_until <= $1)";

/// Selects the deliveries of the subscription `s` that may be claimed: among its first due deliveries, up to the cap $2, those
/// that are not in flight, up to the limit.
///
/// No index includes the lease, so that claiming or releasing a delivery rewrites only its row. In return, the head of each
/// queue is read with its rows, whose number the cap limits.
fn head(limit: &str) -> String {
    format!(
        "SELECT id, next_attempt_at FROM (
            SELECT d.id, d.next_attempt_at, d.lease_until FROM webhook_deliveries AS d
            WHERE {DUE} AND d.subscription_id = s.id ORDER BY d.next_attempt_at, d.id LIMIT $2
        ) AS first
        WHERE {UNLEASED} ORDER BY next_attempt_at, id LIMIT {limit}"
    )
}

/// Selects the enabled subscriptions with due deliveries, and the allowances of their workspaces.
///
/// A subselect with an order and a limit runs once per subscription as an index lookup. The planner would turn `EXISTS` into a
/// join that reads all due deliveries.
const READY: &str = "ready (workspace_id, id) AS MATERIALIZED (
    SELECT w.workspace_id, s.id FROM waiting AS w CROSS JOIN webhook_subscriptions AS s
    WHERE s.id = w.subscription_id AND s.state = 0
      AND (SELECT 1 FROM webhook_deliveries AS d WHERE d.state = 0 AND d.next_attempt_at <= $1 AND d.subscription_id = s.id
           ORDER BY d.next_attempt_at LIMIT 1) = 1
),
shares (workspace_id, capacity, last, each) AS MATERIALIZED (
    SELECT r.workspace_id, coalesce(k.capacity, $6), k.last,
        4 + $3 / (count(*) * (SELECT count(DISTINCT workspace_id) FROM ready))
    FROM ready AS r LEFT JOIN known AS k ON k.workspace_id = r.workspace_id
    GROUP BY r.workspace_id, k.capacity, k.last
)";

/// Chooses among the unleased deliveries: the first of each workspace, then the second of each, and so on. The first of a
/// workspace is the first of one of its subscriptions, the second is that of the next subscription.
const CHOSEN: &str = "turns (workspace_id, subscription_id, id, turn) AS (
    SELECT workspace_id, subscription_id, id,
        row_number() OVER (PARTITION BY subscription_id ORDER BY next_attempt_at, id) FROM free
),
places (workspace_id, id, capacity, place) AS (
    SELECT t.workspace_id, t.id, h.capacity,
        row_number() OVER (PARTITION BY t.workspace_id ORDER BY t.turn, (t.subscription_id > h.last) DESC, t.subscription_id)
    FROM turns AS t JOIN shares AS h ON h.workspace_id = t.workspace_id WHERE t.turn <= h.each
),
chosen (id, place) AS MATERIALIZED (
    SELECT id, place FROM places WHERE place <= capacity
    ORDER BY place, (workspace_id > $4) DESC, workspace_id LIMIT $3
)";

/// Deliveries claimed of one subscription, at most, when its workspace has many subscriptions. Limits how far their queues are
/// read.
const SHORT_HEAD: &str = "8";

/// Chooses and leases deliveries in one statement.
///
/// `chosen` takes no lock, and `locked` skips rows that other workers have locked: two workers that claim at the same time
/// choose the same rows, and each row goes to one of them.
fn postgres_query() -> String {
    let waiting = pending_subscriptions(DbBackend::Postgres, "$5");
    let free = |limit: &str, which: &str| {
        format!(
            "SELECT s.workspace_id, s.id AS subscription_id, head.id, head.next_attempt_at
            FROM ready AS s JOIN shares AS h ON h.workspace_id = s.workspace_id CROSS JOIN LATERAL ({head}) AS head
            WHERE h.each {which} {SHORT_HEAD}",
            head = head(limit)
        )
    };
    let (few, many) = (free(SHORT_HEAD, "<="), free("$3", ">"));
    format!(
        "{waiting},
{READY},
free AS ({few} UNION ALL {many}),
{CHOSEN},
locked AS MATERIALIZED (
    SELECT d.id, chosen.place FROM chosen CROSS JOIN webhook_deliveries AS d
    WHERE d.id = chosen.id AND {STILL_PENDING} AND d.next_attempt_at <= $1 AND {UNLEASED} FOR UPDATE OF d SKIP LOCKED
)
UPDATE webhook_deliveries AS d SET lease_token = $7, lease_until = $8
FROM locked, webhook_subscriptions AS s, events AS e
WHERE d.id = locked.id AND s.id = d.subscription_id AND e.id = d.event_id
RETURNING d.id, d.workspace_id, d.subscription_id, d.event_id, d.event_type, e.body, s.url, d.attempts, d.origin,
    d.created_at, locked.place"
    )
}

/// Chooses deliveries; [`SQLITE_LEASE`] then leases them.
fn sqlite_query() -> String {
    let waiting = pending_subscriptions(DbBackend::Sqlite, "$5");
    let free = |limit: &str, which: &str| {
        format!(
            "SELECT s.workspace_id, s.id AS subscription_id, d.id, d.next_attempt_at
            FROM ready AS s JOIN shares AS h ON h.workspace_id = s.workspace_id CROSS JOIN webhook_deliveries AS d
            WHERE d.id IN (SELECT id FROM ({head}) AS head) AND h.each {which} {SHORT_HEAD}",
            head = head(limit)
        )
    };
    let (few, many) = (free(SHORT_HEAD, "<="), free("$3", ">"));
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

const SQLITE_LEASE: &str = "UPDATE webhook_deliveries SET lease_token = $1, lease_until = $2
WHERE id IN (SELECT unhex(value) FROM json_each($3))";

impl ClaimQuery<'_> {
    /// Claims due deliveries of enabled subscriptions: the first of each workspace, then the second of each, and so on, up to
    /// the limits of each workspace and in total. Within a workspace it claims the first of each subscription, then the second
    /// of each, up to the cap per subscription; within a subscription in the order of their due times.
    ///
    /// On SQLite it must run in a write transaction, of which there is one at a time. On PostgreSQL several workers may claim
    /// concurrently: each row goes to one of them, and because all of them choose among the same first rows of a subscription,
    /// their claims together stay within the cap. Two kinds of deliveries can exceed the cap: those that were committed late
    /// and sort before claimed ones, and pre-leased ones at the end of a long queue.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a statement fails.
    pub async fn run<C: ConnectionTrait>(&self, conn: &C) -> Result<Vec<ClaimedDelivery>, DbErr> {
        let last_workspace = self.last_workspace.unwrap_or(Uuid::nil());
        let allowances = self.allowances.iter().map(|allowance| {
            let last_subscription = allowance.last_subscription.unwrap_or(Uuid::nil());
            json!([statement::hex(allowance.workspace), allowance.limit, statement::hex(last_subscription)])
        });
        let allowances = serde_json::Value::from_iter(allowances).to_string();
        let values = [
            self.now.into(),
            self.cap_per_subscription.into(),
            self.limit.into(),
            last_workspace.into(),
            allowances.into(),
            self.per_workspace.into(),
        ];
        let values = values.into_iter();
        let lease = [self.lease_token.into(), self.lease_until.into()];
        let rows = match conn.get_database_backend() {
            DbBackend::Postgres => {
                conn.query_all_raw(statement::raw(conn, &postgres_query(), values.chain(lease))).await?
            }
            _ => conn.query_all_raw(statement::raw(conn, &sqlite_query(), values)).await?,
        };
        let mut claimed = rows.iter().map(ClaimedDelivery::from_row).collect::<Result<Vec<_>, _>>()?;
        claimed.sort_by_key(|delivery| {
            (delivery.position, delivery.workspace_id <= last_workspace, delivery.workspace_id)
        });
        if conn.get_database_backend() == DbBackend::Sqlite && !claimed.is_empty() {
            let ids = statement::json_ids(claimed.iter().map(|delivery| delivery.id));
            let [token, until] = [self.lease_token.into(), self.lease_until.into()];
            statement::execute(conn, SQLITE_LEASE, [token, until, ids.into()]).await?;
        }
        Ok(claimed)
    }
}

impl ClaimedDelivery {
    /// Converts a pre-leased delivery. Its body is passed separately, and its URL is not known yet.
    pub fn pre_leased(delivery: Model) -> Self {
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
            position: 1,
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
            position: row.try_get_by_index(10)?,
        })
    }
}
