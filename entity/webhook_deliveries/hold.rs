//! Deliveries follow their subscription: held while it is paused or disabled, sent or dropped when it is enabled.
//!
//! Each statement moves a limited number of rows, so that a long queue is moved in many short transactions. In between,
//! and when an event and a change of its subscription's state pass each other, some rows stand in the wrong place;
//! nothing is sent for that, and [`misplaced`] finds them.
//!
//! Rows that are found by their ids are asked for their state once more, as `state + 0`: a form that no index serves. With
//! statistics from before a long queue the planner would otherwise read the whole queue for each of them.

use sea_orm::{ConnectionTrait, DbErr};
use uuid::Uuid;

use super::claim::{FREE, WAITING};
use crate::statement::{self, execute};
use crate::webhook_subscriptions::State;

/// Makes held deliveries of a subscription due, at this moment or when the wait between two attempts ends: as many as the
/// limit at most, the oldest first. Says how many.
///
/// # Errors
/// When the database does.
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

/// Holds pending deliveries of a subscription, which stands so, that are not in flight: as many as the limit at most. Says how
/// many.
///
/// While it is paused, the wait between two attempts goes on. That of a disabled one is over: once its owner has mended it,
/// nothing has to be waited for.
///
/// # Errors
/// When the database does.
pub async fn hold<C: ConnectionTrait>(
    conn: &C,
    subscription: Uuid,
    stands: State,
    now: i64,
    limit: u32,
) -> Result<u64, DbErr> {
    let which = format!(
        "SELECT id FROM webhook_deliveries WHERE state = 0 AND {FREE} AND subscription_id = $2
            ORDER BY next_attempt_at LIMIT $3"
    );
    let waits = stands == State::Paused;
    execute(conn, &to_held(&which), [now.into(), subscription.into(), i64::from(limit).into(), waits.into()])
        .await
}

/// Deletes what a subscription holds, with all attempts at it: what is held, and what is pending and not in flight. As
/// many as the limit at most; says how many.
///
/// # Errors
/// When the database does.
pub async fn discard<C: ConnectionTrait>(
    conn: &C,
    subscription: Uuid,
    now: i64,
    limit: u32,
) -> Result<u64, DbErr> {
    let held = "DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries
        WHERE state = 3 AND subscription_id = $1 ORDER BY id LIMIT $2) AND state + 0 = 3";
    let gone = execute(conn, held, [subscription.into(), i64::from(limit).into()]).await?;
    let rest = i64::from(limit).saturating_sub_unsigned(gone);
    let free = format!(
        "DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries
            WHERE state = 0 AND {FREE} AND subscription_id = $2 ORDER BY next_attempt_at LIMIT $3)
            AND state + 0 = 0 AND {FREE}"
    );
    Ok(gone + execute(conn, &free, [now.into(), subscription.into(), rest.into()]).await?)
}

/// Each subscription that has held deliveries.
const RESTING: &str = ",
resting (subscription_id) AS (
    SELECT (SELECT subscription_id FROM webhook_deliveries WHERE state = 3 ORDER BY subscription_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.subscription_id FROM webhook_deliveries AS d
            WHERE d.state = 3 AND d.subscription_id > r.subscription_id ORDER BY d.subscription_id LIMIT 1)
    FROM resting AS r WHERE r.subscription_id IS NOT NULL
)";

/// The subscriptions, of any workspaces, with deliveries that do not stand where the subscription's state wants them: held,
/// though it is enabled, or pending, though it is not, as those in flight may be.
/// Its cost grows with the subscriptions that have something waiting, and not with what waits.
///
/// # Errors
/// When the database does.
pub async fn misplaced<C: ConnectionTrait>(conn: &C) -> Result<Vec<Uuid>, DbErr> {
    let sql = format!(
        "{WAITING}{RESTING}
        SELECT s.id FROM waiting AS w CROSS JOIN webhook_subscriptions AS s
        WHERE s.id = w.subscription_id AND s.state <> 0
        UNION ALL
        SELECT s.id FROM resting AS r CROSS JOIN webhook_subscriptions AS s
        WHERE s.id = r.subscription_id AND s.state = 0"
    );
    let rows = conn.query_all_raw(statement::raw(conn, &sql, [])).await?;
    rows.iter().map(|row| row.try_get_by_index(0)).collect()
}

/// Makes these held deliveries due at the moment $1, or when they resume.
///
/// The state is asked once more, since another may have moved a row between the choice and the change.
fn to_pending(which: &str) -> String {
    format!(
        "UPDATE webhook_deliveries SET state = 0, resumes_at = NULL,
            next_attempt_at = CASE WHEN resumes_at > $1 THEN resumes_at ELSE $1 END
         WHERE id IN ({which}) AND state + 0 = 3"
    )
}

/// Holds these pending deliveries; $1 is the moment, and $4 whether their wait goes on.
fn to_held(which: &str) -> String {
    format!(
        "UPDATE webhook_deliveries SET state = 3, next_attempt_at = NULL, resumes_at = CASE WHEN $4 THEN next_attempt_at END,
            lease_token = NULL, lease_until = NULL
         WHERE id IN ({which}) AND state + 0 = 0 AND {FREE}"
    )
}
