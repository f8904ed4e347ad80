//! Changes the state of deliveries to match the state of their subscription: held while it is paused or disabled, and
//! sent or deleted when it is enabled.
//!
//! In the SQL, the delivery state 0 is pending and 3 is held, and the subscription state 0 is enabled. Times are
//! milliseconds since the epoch.
//!
//! Each statement changes a limited number of rows, so that a long queue is changed in many short transactions.
//! Meanwhile, and when an event is written concurrently with a change of the subscription's state, some rows have the
//! wrong state. They are not sent, and [`mismatched_subscriptions`] finds them.
//!
//! For rows that are found by id, the statements check the state again with `state + 0`, which prevents the use of an
//! index. If the statistics of PostgreSQL are older than a long queue, it would otherwise read the whole queue for each
//! row.

use sea_orm::{ConnectionTrait, DbErr};
use uuid::Uuid;

use super::claim::{PENDING_SUBSCRIPTIONS, UNLEASED};
use crate::statement::{self, execute};
use crate::webhook_subscriptions::StoredSubscriptionState;

/// Makes up to `limit` held deliveries of a subscription pending, oldest first. They are due now, or at the end of the
/// delay between two attempts if that is later. Returns the number of rows updated.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn release<C: ConnectionTrait>(
    conn: &C,
    subscription: Uuid,
    now: i64,
    limit: u32,
) -> Result<u64, DbErr> {
    let selected =
        "SELECT id FROM webhook_deliveries WHERE state = 3 AND subscription_id = $2 ORDER BY id LIMIT $3";
    execute(conn, &release_sql(selected), [now.into(), subscription.into(), i64::from(limit).into()]).await
}

/// Holds up to `limit` pending deliveries of a subscription that are not in flight. `state` is the subscription's
/// state. Returns the number of rows updated.
///
/// If the subscription is paused, the delay between two attempts still applies when it is enabled again. If it is
/// disabled, the delay is discarded: the owner enables it after fixing the endpoint, and its deliveries are then due at
/// once.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn hold<C: ConnectionTrait>(
    conn: &C,
    subscription: Uuid,
    state: StoredSubscriptionState,
    now: i64,
    limit: u32,
) -> Result<u64, DbErr> {
    let selected = format!(
        "SELECT id FROM webhook_deliveries WHERE state = 0 AND {UNLEASED} AND subscription_id = $2
            ORDER BY next_attempt_at LIMIT $3"
    );
    let keeps_delay = state == StoredSubscriptionState::Paused;
    let values = [now.into(), subscription.into(), i64::from(limit).into(), keeps_delay.into()];
    execute(conn, &hold_sql(&selected), values).await
}

/// Deletes up to `limit` deliveries of a subscription: held deliveries first, then pending deliveries that are not in flight.
/// Returns the number of deliveries deleted. Their attempts are deleted with them; on PostgreSQL, with the day of the attempt.
///
/// # Errors
/// Returns [`DbErr`] when a statement fails.
pub async fn discard<C: ConnectionTrait>(
    conn: &C,
    subscription: Uuid,
    now: i64,
    limit: u32,
) -> Result<u64, DbErr> {
    let held = "DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries
        WHERE state = 3 AND subscription_id = $1 ORDER BY id LIMIT $2) AND state + 0 = 3";
    let deleted = execute(conn, held, [subscription.into(), i64::from(limit).into()]).await?;
    let remaining = i64::from(limit).saturating_sub_unsigned(deleted);
    let pending = format!(
        "DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries
            WHERE state = 0 AND {UNLEASED} AND subscription_id = $2 ORDER BY next_attempt_at LIMIT $3)
            AND state + 0 = 0 AND {UNLEASED}"
    );
    Ok(deleted + execute(conn, &pending, [now.into(), subscription.into(), remaining.into()]).await?)
}

/// The common table expression with each subscription that has held deliveries. The last row is NULL. Must follow
/// [`PENDING_SUBSCRIPTIONS`], which begins the `WITH` clause.
const HELD_SUBSCRIPTIONS: &str = ",
held_subscriptions (subscription_id) AS (
    SELECT (SELECT subscription_id FROM webhook_deliveries WHERE state = 3 ORDER BY subscription_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.subscription_id FROM webhook_deliveries AS d
            WHERE d.state = 3 AND d.subscription_id > h.subscription_id ORDER BY d.subscription_id LIMIT 1)
    FROM held_subscriptions AS h WHERE h.subscription_id IS NOT NULL
)";

/// Returns the subscriptions of all workspaces with deliveries in the wrong state: held although the subscription is
/// enabled, or pending (including in flight) although it is not. The cost grows with the number of subscriptions that
/// have pending or held deliveries, not with the number of these deliveries.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn mismatched_subscriptions<C: ConnectionTrait>(conn: &C) -> Result<Vec<Uuid>, DbErr> {
    // In SQLite, CROSS JOIN fixes the join order: the subscriptions with deliveries come first.
    let sql = format!(
        "{PENDING_SUBSCRIPTIONS}{HELD_SUBSCRIPTIONS}
        SELECT s.id FROM pending_subscriptions AS p CROSS JOIN webhook_subscriptions AS s
        WHERE s.id = p.subscription_id AND s.state <> 0
        UNION ALL
        SELECT s.id FROM held_subscriptions AS h CROSS JOIN webhook_subscriptions AS s
        WHERE s.id = h.subscription_id AND s.state = 0"
    );
    let rows = conn.query_all_raw(statement::raw(conn, &sql, [])).await?;
    rows.iter().map(|row| row.try_get_by_index(0)).collect()
}

/// Returns the statement that makes the selected held deliveries pending: due at the time $1, or at `resumes_at` if
/// that is later.
///
/// It checks the state again, because another transaction may have changed a row since it was selected.
fn release_sql(selected: &str) -> String {
    format!(
        "UPDATE webhook_deliveries SET state = 0, resumes_at = NULL,
            next_attempt_at = CASE WHEN resumes_at > $1 THEN resumes_at ELSE $1 END
         WHERE id IN ({selected}) AND state + 0 = 3"
    )
}

/// Returns the statement that holds the selected pending deliveries. $1 is the current time, and $4 is whether they
/// keep the delay between two attempts.
fn hold_sql(selected: &str) -> String {
    format!(
        "UPDATE webhook_deliveries SET state = 3, next_attempt_at = NULL, resumes_at = CASE WHEN $4 THEN next_attempt_at END,
            lease_token = NULL, lease_until = NULL
         WHERE id IN ({selected}) AND state + 0 = 0 AND {UNLEASED}"
    )
}
