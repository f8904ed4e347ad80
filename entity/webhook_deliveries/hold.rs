//! Moves deliveries to match the state of their subscription: held while it is paused or disabled, sent or dropped when it is
//! enabled.
//!
//! Each statement moves a limited number of rows, so that a long queue is moved in many short transactions. Meanwhile, and when
//! an event is written concurrently with a change of the subscription's state, some rows have the wrong state. They are not
//! sent, and [`misaligned`] finds them.
//!
//! Statements check the state of rows that are found by id once more, as `state + 0`, which no index supports. With statistics
//! from before a long queue, the planner would otherwise read the whole queue for each row.

use sea_orm::{ConnectionTrait, DbErr};
use uuid::Uuid;

use super::claim::{PENDING_SUBSCRIPTIONS, UNLEASED};
use crate::statement::{self, execute};
use crate::webhook_subscriptions::StoredSubscriptionState;

/// Makes held deliveries of a subscription due, now or when their delay between two attempts ends, oldest first and up to the
/// limit. Returns the number of rows updated.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn release<C: ConnectionTrait>(
    conn: &C,
    subscription: Uuid,
    now: i64,
    limit: u32,
) -> Result<u64, DbErr> {
    let which =
        "SELECT id FROM webhook_deliveries WHERE state = 3 AND subscription_id = $2 ORDER BY id LIMIT $3";
    execute(conn, &to_pending(which), [now.into(), subscription.into(), i64::from(limit).into()]).await
}

/// Holds pending deliveries of a subscription that are not in flight, up to the limit. `state` is the subscription's state.
/// Returns the number of rows updated.
///
/// While a subscription is paused, the delay between two attempts continues. It does not for a disabled one: once its owner has
/// fixed the endpoint and enabled it, its deliveries are due at once.
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
    let which = format!(
        "SELECT id FROM webhook_deliveries WHERE state = 0 AND {UNLEASED} AND subscription_id = $2
            ORDER BY next_attempt_at LIMIT $3"
    );
    let delays = state == StoredSubscriptionState::Paused;
    execute(conn, &to_held(&which), [now.into(), subscription.into(), i64::from(limit).into(), delays.into()])
        .await
}

/// Deletes the held deliveries of a subscription, and those that are pending and not in flight, with their attempts, up to the
/// limit. Returns the number of deliveries deleted.
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

/// Selects each subscription that has held deliveries. Continues [`PENDING_SUBSCRIPTIONS`].
const HELD_SUBSCRIPTIONS: &str = ",
resting (subscription_id) AS (
    SELECT (SELECT subscription_id FROM webhook_deliveries WHERE state = 3 ORDER BY subscription_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.subscription_id FROM webhook_deliveries AS d
            WHERE d.state = 3 AND d.subscription_id > r.subscription_id ORDER BY d.subscription_id LIMIT 1)
    FROM resting AS r WHERE r.subscription_id IS NOT NULL
)";

/// Returns the subscriptions of all workspaces with deliveries that contradict their state: held although the subscription is
/// enabled, or pending although it is not. The latter includes deliveries in flight. The cost grows with the number of
/// subscriptions with pending or held deliveries, not with the number of these deliveries.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn misaligned<C: ConnectionTrait>(conn: &C) -> Result<Vec<Uuid>, DbErr> {
    let sql = format!(
        "{PENDING_SUBSCRIPTIONS}{HELD_SUBSCRIPTIONS}
        SELECT s.id FROM waiting AS w CROSS JOIN webhook_subscriptions AS s
        WHERE s.id = w.subscription_id AND s.state <> 0
        UNION ALL
        SELECT s.id FROM resting AS r CROSS JOIN webhook_subscriptions AS s
        WHERE s.id = r.subscription_id AND s.state = 0"
    );
    let rows = conn.query_all_raw(statement::raw(conn, &sql, [])).await?;
    rows.iter().map(|row| row.try_get_by_index(0)).collect()
}

/// Makes these held deliveries due at the time $1, or at the time when they resume if that is later.
///
/// Checks the state again, because another transaction may have changed a row since it was selected.
fn to_pending(which: &str) -> String {
    format!(
        "UPDATE webhook_deliveries SET state = 0, resumes_at = NULL,
            next_attempt_at = CASE WHEN resumes_at > $1 THEN resumes_at ELSE $1 END
         WHERE id IN ({which}) AND state + 0 = 3"
    )
}

/// Holds these pending deliveries; $1 is the current time, and $4 whether their delay continues.
fn to_held(which: &str) -> String {
    format!(
        "UPDATE webhook_deliveries SET state = 3, next_attempt_at = NULL, resumes_at = CASE WHEN $4 THEN next_attempt_at END,
            lease_token = NULL, lease_until = NULL
         WHERE id IN ({which}) AND state + 0 = 0 AND {UNLEASED}"
    )
}
