//! The queries that choose due deliveries, one for each database. The one for PostgreSQL also leases them. They are
//! fair: they alternate between the workspaces, and between the subscriptions of a workspace.
//!
//! Both queries find pending deliveries by stepping through an index from one workspace to the next, and within a
//! workspace from one subscription to the next. Their cost therefore does not grow with the number of pending
//! deliveries. A workspace with a [`WorkspaceAllowance`] whose limit is 0 costs one step, regardless of the number of
//! its subscriptions.
//!
//! A subscription with a rate is claimed only as far as its [rate](crate::webhook_rates) allows, and claims are counted
//! when they are leased. A claim locks the rates and skips those that another claim has locked. It never waits for them,
//! and the other claim leases what the rate allows. Such a subscription has at most [`MAX_LEASED_WITH_RATE`] leased
//! deliveries, so that each is sent soon after it was counted, even to an endpoint that hangs.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, DbBackend, DbErr, QueryResult};
use serde_json::json;
use uuid::Uuid;

use super::{Model, StoredDeliveryOrigin};
use crate::webhook_subscriptions::{Endpoint, MODE};
use crate::{statement, webhook_rates};

/// Maximum number of leased deliveries of a subscription with a rate, over all workers. A worker must be able to send as
/// many at once. Those that wait for an endpoint that hangs would otherwise be sent at once when it recovers.
pub const MAX_LEASED_WITH_RATE: i64 = 64;

/// A claim of due deliveries: its limits, and the lease that the claimed deliveries get. Times are in milliseconds
/// since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimQuery<'a> {
    /// The current time.
    pub now: i64,
    /// When the lease expires. Other workers may then claim the deliveries that are not settled.
    pub lease_until: i64,
    /// A unique token that identifies the lease.
    pub lease_token: Uuid,
    /// Maximum number of deliveries of one subscription in flight, including those that are already in flight. At most
    /// [`MAX_LEASED_WITH_RATE`] for a subscription with a rate.
    pub max_in_flight_per_subscription: i64,
    /// Maximum number of deliveries claimed from each workspace that is not in `allowances`.
    pub per_workspace: i64,
    /// The workspaces with a limit of their own, which replaces `per_workspace`.
    pub allowances: &'a [WorkspaceAllowance],
    /// Maximum number of deliveries claimed in total.
    pub limit: i64,
    /// The last workspace of the previous claim. This claim begins with the workspace after it.
    pub last_workspace: Option<Uuid>,
}

/// The limit of a claim for one workspace, and the position of the workspace's round-robin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkspaceAllowance {
    /// The workspace.
    pub workspace: Uuid,
    /// Maximum number of deliveries claimed. A workspace with 0 is skipped.
    pub limit: i64,
    /// The last subscription of the previous claim in this workspace. This claim begins with the subscription after it.
    pub last_subscription: Option<Uuid>,
}

/// A claimed delivery, with the event's body and the subscription's endpoint. Without both if it is
/// [pre-leased](Self::pre_leased).
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
    /// The subscription's endpoint.
    pub endpoint: Option<Endpoint>,
    /// The subscription's rate, in deliveries per second.
    pub rate: Option<i32>,
    /// Attempts made so far.
    pub attempts: i32,
    /// Why the delivery was created.
    pub origin: StoredDeliveryOrigin,
    /// When it was created, in milliseconds since the epoch.
    pub created_at: i64,
    /// The event's [`traceparent`](crate::events::Model::traceparent).
    pub traceparent: Option<String>,
    /// The position among the claimed deliveries of the workspace, starting at 1.
    workspace_position: i64,
}

/// The common table expression `pending_subscriptions`: each subscription with pending deliveries, in all workspaces.
/// The last row is NULL.
pub(super) const PENDING_SUBSCRIPTIONS: &str = "
WITH RECURSIVE pending_subscriptions (subscription_id) AS (
    SELECT (SELECT subscription_id FROM webhook_deliveries WHERE state = 0 ORDER BY subscription_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.subscription_id FROM webhook_deliveries AS d
            WHERE d.state = 0 AND d.subscription_id > p.subscription_id ORDER BY d.subscription_id LIMIT 1)
    FROM pending_subscriptions AS p WHERE p.subscription_id IS NOT NULL
)";

/// Returns the common table expression `pending_subscriptions`: each subscription with pending deliveries and its
/// workspace, without the workspaces whose allowance has the limit 0. `parameter` is the parameter that contains the
/// [`WorkspaceAllowance`]s as JSON; the common table expression `allowances` contains them as rows. The first row of
/// each workspace has the nil UUID instead of a subscription, and the last one has NULL.
///
/// On PostgreSQL, a step compares pairs of workspace and subscription, for which only the index on both columns can be
/// used. With stale statistics, the planner would otherwise choose the index on the subscription and scan the other
/// workspaces in it. SQLite would use the index only for the first column of a pair, so there the columns are compared
/// separately.
///
/// `attempts >= 0` is always true. It is part of the condition of the partial index on both columns, which a statement
/// can use only if it contains that condition.
pub(super) fn pending_subscriptions_sql(backend: DbBackend, parameter: &str) -> String {
    let (allowances, nil, follows) = match backend {
        DbBackend::Postgres => (
            format!(
                "SELECT (value->>0)::uuid, (value->>1)::bigint, (value->>2)::uuid FROM json_array_elements({parameter}::json)"
            ),
            "'00000000-0000-0000-0000-000000000000'::uuid",
            "(d.workspace_id, d.subscription_id) > (p.workspace_id, p.subscription_id)",
        ),
        _ => (
            format!("SELECT unhex(value->>0), value->>1, unhex(value->>2) FROM json_each({parameter})"),
            "zeroblob(16)",
            "d.workspace_id = p.workspace_id AND d.subscription_id > p.subscription_id",
        ),
    };
    format!(
        "
WITH RECURSIVE allowances (workspace_id, claim_limit, last_subscription) AS MATERIALIZED ({allowances}),
pending_workspaces (id) AS (
    SELECT (SELECT workspace_id FROM webhook_deliveries
            WHERE state = 0 AND attempts >= 0 ORDER BY workspace_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.workspace_id FROM webhook_deliveries AS d
            WHERE d.state = 0 AND d.attempts >= 0 AND d.workspace_id > w.id ORDER BY d.workspace_id LIMIT 1)
    FROM pending_workspaces AS w WHERE w.id IS NOT NULL
),
pending_subscriptions (workspace_id, subscription_id) AS (
    SELECT w.id, {nil} FROM pending_workspaces AS w
    WHERE w.id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM allowances AS a WHERE a.workspace_id = w.id AND a.claim_limit <= 0)
    UNION ALL
    SELECT p.workspace_id,
        (SELECT CASE WHEN d.workspace_id = p.workspace_id THEN d.subscription_id END FROM webhook_deliveries AS d
         WHERE d.state = 0 AND d.attempts >= 0 AND {follows}
         ORDER BY d.workspace_id, d.subscription_id LIMIT 1)
    FROM pending_subscriptions AS p WHERE p.subscription_id IS NOT NULL
)"
    )
}

/// The condition for a delivery `d` that is due at the time $1.
const DUE: &str = "d.state = 0 AND d.next_attempt_at <= $1";

/// The condition for a pending delivery `d` that is found by id. No index can be used for it.
///
/// If the statistics of PostgreSQL are older than the pending deliveries, the planner assumes that the index of pending
/// deliveries is empty. It would then use this index instead of the primary key, and scan the whole index for each row.
const STILL_PENDING: &str = "d.state + 0 = 0";

/// The condition for a pending delivery without a valid lease at the time $1.
pub(super) const UNLEASED: &str = "(lease_until IS NULL OR lease_until <= $1)";

/// Returns the query for the deliveries of the subscription `s` that may be claimed. It reads the first due deliveries
/// of the subscription, as many as its in-flight limit, and selects up to `limit` of them that are not in flight. After the reset of
/// a sandbox, a subscription can have deliveries of two workspaces: those of the workspace of `s` are selected, with a condition that
/// no index can be used for.
///
/// No index contains the lease, so that claiming or releasing a delivery writes only its row. The query must therefore
/// read rows and not only index entries, but the in-flight limit bounds their number.
fn queue_head(in_flight_limit: &str, limit: &str) -> String {
    format!(
        "SELECT id, next_attempt_at FROM (
            SELECT d.id, d.next_attempt_at, d.lease_until FROM webhook_deliveries AS d
            WHERE {DUE} AND d.subscription_id = s.id AND (d.workspace_id = s.workspace_id) IS TRUE
            ORDER BY d.next_attempt_at, d.id LIMIT {in_flight_limit}
        ) AS first_due
        WHERE {UNLEASED} ORDER BY next_attempt_at, id LIMIT {limit}"
    )
}

/// Returns the common table expressions `due`, the enabled subscriptions with due deliveries; `rates`, the number of
/// deliveries that the rates of some of them allow now; `ready`, those that can be claimed, with this number; and
/// `workspace_limits`, the limits of their workspaces. `least` is the function that returns the smaller of two numbers,
/// and `lock` the clause that locks rates. A rate without a row in `webhook_rates` allows one delivery.
///
/// `per_subscription` is the maximum number of deliveries considered for one subscription. The limit $3 is divided
/// equally among the workspaces, and the part of a workspace equally among its subscriptions. 4 is added, so that a
/// claim is nearly full although some subscriptions have fewer deliveries.
///
/// To check that a subscription has a due delivery, a subquery with an order and a limit looks up one index entry. The
/// planner would turn `EXISTS` into a join that reads all due deliveries. The subquery takes the subscription from
/// `pending_subscriptions`: otherwise the planner would run it for each row of `webhook_subscriptions`.
fn ready(least: &str, lock: &str) -> String {
    let allowed = webhook_rates::allowed_sql(least);
    format!(
        "due (workspace_id, id, rate) AS MATERIALIZED (
    SELECT p.workspace_id, s.id, s.rate FROM pending_subscriptions AS p CROSS JOIN webhook_subscriptions AS s
    WHERE s.id = p.subscription_id AND s.state = 0
      AND (SELECT 1 FROM webhook_deliveries AS d
           WHERE d.state = 0 AND d.next_attempt_at <= $1 AND d.subscription_id = p.subscription_id
           ORDER BY d.next_attempt_at LIMIT 1) = 1
),
rates (subscription_id, allowed) AS MATERIALIZED (
    SELECT r.subscription_id, {allowed} FROM due CROSS JOIN webhook_rates AS r
    WHERE due.rate IS NOT NULL AND r.subscription_id = due.id AND {allowed} > 0 {lock}
),
ready (workspace_id, id, allowed) AS MATERIALIZED (
    SELECT due.workspace_id, due.id, CASE WHEN due.rate IS NOT NULL THEN coalesce(rates.allowed, 1) END
    FROM due LEFT JOIN rates ON rates.subscription_id = due.id
    WHERE due.rate IS NULL OR rates.allowed > 0
        OR (SELECT r.burst FROM webhook_rates AS r WHERE r.subscription_id = due.id) IS NULL
),
workspace_limits (workspace_id, claim_limit, last_subscription, per_subscription) AS MATERIALIZED (
    SELECT r.workspace_id, coalesce(a.claim_limit, $6), a.last_subscription,
        4 + $3 / (count(*) * (SELECT count(DISTINCT workspace_id) FROM ready))
    FROM ready AS r LEFT JOIN allowances AS a ON a.workspace_id = r.workspace_id
    GROUP BY r.workspace_id, a.claim_limit, a.last_subscription
)"
    )
}

/// The common table expression `chosen`: the deliveries to lease. It chooses among the `claimable` deliveries the first
/// of each workspace, then the second of each workspace, and so on. Within a workspace, it orders the first delivery of
/// each subscription before the second of each subscription, and so on.
const CHOSEN: &str = "by_subscription (workspace_id, subscription_id, allowed, id, subscription_position) AS (
    SELECT workspace_id, subscription_id, allowed, id,
        row_number() OVER (PARTITION BY subscription_id ORDER BY next_attempt_at, id) FROM claimable
),
by_workspace (workspace_id, id, claim_limit, workspace_position) AS (
    SELECT b.workspace_id, b.id, l.claim_limit,
        row_number() OVER (PARTITION BY b.workspace_id
            ORDER BY b.subscription_position, (b.subscription_id > l.last_subscription) DESC, b.subscription_id)
    FROM by_subscription AS b JOIN workspace_limits AS l ON l.workspace_id = b.workspace_id
    WHERE b.subscription_position <= l.per_subscription
        AND (b.allowed IS NULL OR b.subscription_position <= b.allowed)
),
chosen (id, workspace_position) AS MATERIALIZED (
    SELECT id, workspace_position FROM by_workspace WHERE workspace_position <= claim_limit
    ORDER BY workspace_position, (workspace_id > $4) DESC, workspace_id LIMIT $3
)";

/// The limit of [`queue_head`] for workspaces whose `per_subscription` is at most this number, as when there are many
/// workspaces or subscriptions. For other workspaces, the limit is $3. A limit cannot refer to a column of the query.
const SHORT_HEAD: &str = "8";

/// Returns the query for the claimable deliveries: the union of the queries that `select` returns for a [`queue_head`]
/// and a condition on the subscription `s` and the limits `l` of its workspace. A subscription meets one condition.
fn queue_heads(least: &str, select: impl Fn(&str, &str) -> String) -> String {
    let with_rate = format!("{least}($2, {MAX_LEASED_WITH_RATE})");
    let mut queries = Vec::new();
    for (rate, in_flight_limit) in [("s.allowed IS NULL", "$2"), ("s.allowed IS NOT NULL", &*with_rate)] {
        for (comparison, limit) in [("<=", SHORT_HEAD), (">", "$3")] {
            let condition = format!("{rate} AND l.per_subscription {comparison} {SHORT_HEAD}");
            queries.push(select(&queue_head(in_flight_limit, limit), &condition));
        }
    }
    queries.join(" UNION ALL ")
}

/// Returns the statement that chooses and leases deliveries.
///
/// `chosen` takes no locks, and `locked` skips rows that other workers have locked. Two workers that claim at the same
/// time choose the same rows, but each row is leased by only one of them.
fn postgres_query() -> String {
    let pending_subscriptions = pending_subscriptions_sql(DbBackend::Postgres, "$5");
    let claimable = queue_heads("least", |queue_head, condition| {
        format!(
            "SELECT s.workspace_id, s.id AS subscription_id, s.allowed, head.id, head.next_attempt_at
            FROM ready AS s JOIN workspace_limits AS l ON l.workspace_id = s.workspace_id
                CROSS JOIN LATERAL ({queue_head}) AS head
            WHERE {condition}"
        )
    });
    let ready = ready("least", "FOR UPDATE OF r SKIP LOCKED");
    format!(
        "{pending_subscriptions},
{ready},
claimable AS ({claimable}),
{CHOSEN},
locked AS MATERIALIZED (
    SELECT d.id, chosen.workspace_position FROM chosen CROSS JOIN webhook_deliveries AS d
    WHERE d.id = chosen.id AND {STILL_PENDING} AND d.next_attempt_at <= $1 AND {UNLEASED} FOR UPDATE OF d SKIP LOCKED
)
UPDATE webhook_deliveries AS d SET lease_token = $7, lease_until = $8
FROM locked, webhook_subscriptions AS s, events AS e
WHERE d.id = locked.id AND s.id = d.subscription_id AND e.id = d.event_id
RETURNING d.id, d.workspace_id, d.subscription_id, d.event_id, d.event_type, e.body, s.url, d.attempts, d.origin,
    d.created_at, e.traceparent, locked.workspace_position, s.headers, s.ed25519, s.rate, s.workspace_id, {MODE}"
    )
}

/// Returns the statement that chooses deliveries; [`SQLITE_LEASE`] then leases them.
fn sqlite_query() -> String {
    let pending_subscriptions = pending_subscriptions_sql(DbBackend::Sqlite, "$5");
    let claimable = queue_heads("min", |queue_head, condition| {
        format!(
            "SELECT s.workspace_id, s.id AS subscription_id, s.allowed, d.id, d.next_attempt_at
            FROM ready AS s JOIN workspace_limits AS l ON l.workspace_id = s.workspace_id
                CROSS JOIN webhook_deliveries AS d
            WHERE d.id IN (SELECT id FROM ({queue_head}) AS head) AND {condition}"
        )
    });
    let ready = ready("min", "");
    format!(
        "{pending_subscriptions},
{ready},
claimable (workspace_id, subscription_id, allowed, id, next_attempt_at) AS ({claimable}),
{CHOSEN}
SELECT d.id, d.workspace_id, d.subscription_id, d.event_id, d.event_type, e.body, s.url, d.attempts, d.origin,
    d.created_at, e.traceparent, chosen.workspace_position, s.headers, s.ed25519, s.rate, s.workspace_id, {MODE}
FROM chosen CROSS JOIN webhook_deliveries AS d CROSS JOIN webhook_subscriptions AS s CROSS JOIN events AS e
WHERE d.id = chosen.id AND s.id = d.subscription_id AND e.id = d.event_id"
    )
}

/// Leases the deliveries whose ids are in the JSON parameter $3.
const SQLITE_LEASE: &str = "UPDATE webhook_deliveries SET lease_token = $1, lease_until = $2
WHERE id IN (SELECT unhex(value) FROM json_each($3))";

impl ClaimQuery<'_> {
    /// Claims due deliveries of enabled subscriptions: the first of each workspace, then the second of each workspace,
    /// and so on, up to the limits per workspace and in total. Within a workspace, claims the first of each
    /// subscription, then the second of each subscription, and so on, up to its in-flight limit. Within a
    /// subscription, claims those with the earliest due times.
    ///
    /// On SQLite, it must run in a write transaction, of which there is one at a time. On PostgreSQL, several workers
    /// may claim concurrently. Each row is claimed by one of them, and because all of them choose among the same first
    /// rows of a subscription, their claims together stay within the in-flight limit. The limit can be exceeded in two
    /// cases: by a delivery that is committed late and sorts before claimed deliveries, and by pre-leased deliveries at
    /// the end of a long queue.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a statement fails.
    pub async fn run<C: ConnectionTrait>(&self, conn: &C) -> Result<Vec<ClaimedDelivery>, DbErr> {
        let last_workspace = self.last_workspace.unwrap_or_default();
        let allowances = self.allowances.iter().map(|allowance| {
            let last_subscription = allowance.last_subscription.unwrap_or_default();
            json!([statement::hex(allowance.workspace), allowance.limit, statement::hex(last_subscription)])
        });
        let allowances = serde_json::Value::from_iter(allowances).to_string();
        let values = [
            self.now.into(),
            self.max_in_flight_per_subscription.into(),
            self.limit.into(),
            last_workspace.into(),
            allowances.into(),
            self.per_workspace.into(),
        ];
        // The parameters $1 to $6. On PostgreSQL, the lease follows as $7 and $8.
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
            (delivery.workspace_position, delivery.workspace_id <= last_workspace, delivery.workspace_id)
        });
        if conn.get_database_backend() == DbBackend::Sqlite && !claimed.is_empty() {
            let ids = statement::json_ids(claimed.iter().map(|delivery| delivery.id));
            let [token, until] = [self.lease_token.into(), self.lease_until.into()];
            statement::execute(conn, SQLITE_LEASE, [token, until, ids.into()]).await?;
        }
        let mut with_rate = BTreeMap::new();
        for delivery in &claimed {
            let Some(rate) = delivery.rate else { continue };
            with_rate.entry(delivery.subscription_id).or_insert((i64::from(rate), 0)).1 += 1;
        }
        webhook_rates::advance(conn, self.now, &with_rate).await?;
        Ok(claimed)
    }
}

impl ClaimedDelivery {
    /// Returns whether the delivery belongs to another workspace than its subscription, as those of a sandbox do after a reset. Such
    /// a delivery must not be sent.
    pub fn is_left_behind(&self) -> bool {
        self.endpoint.as_ref().is_some_and(|endpoint| endpoint.workspace_id != self.workspace_id)
    }

    /// Converts a pre-leased delivery, which was committed under the lease of a worker and needs no claim. The body is
    /// passed separately, and the endpoint is read later. `traceparent` is that of the event.
    pub fn pre_leased(delivery: Model, traceparent: Option<String>) -> Self {
        Self {
            id: delivery.id,
            workspace_id: delivery.workspace_id,
            subscription_id: delivery.subscription_id,
            event_id: delivery.event_id,
            event_type: delivery.event_type,
            body: Vec::new(),
            endpoint: None,
            rate: None,
            attempts: delivery.attempts,
            origin: delivery.origin,
            created_at: delivery.created_at,
            traceparent,
            workspace_position: 1,
        }
    }

    fn from_row(row: &QueryResult) -> Result<Self, DbErr> {
        let (workspace_id, subscription_id) = (row.try_get_by_index(1)?, row.try_get_by_index(2)?);
        let endpoint = Endpoint {
            id: subscription_id,
            workspace_id: row.try_get_by_index(15)?,
            url: row.try_get_by_index(6)?,
            headers: row.try_get_by_index(12)?,
            ed25519: row.try_get_by_index(13)?,
            mode: row.try_get_by_index(16)?,
        };
        Ok(Self {
            id: row.try_get_by_index(0)?,
            workspace_id,
            subscription_id,
            event_id: row.try_get_by_index(3)?,
            event_type: row.try_get_by_index(4)?,
            body: row.try_get_by_index(5)?,
            endpoint: Some(endpoint),
            rate: row.try_get_by_index(14)?,
            attempts: row.try_get_by_index(7)?,
            origin: row.try_get_by_index(8)?,
            created_at: row.try_get_by_index(9)?,
            traceparent: row.try_get_by_index(10)?,
            workspace_position: row.try_get_by_index(11)?,
        })
    }
}
