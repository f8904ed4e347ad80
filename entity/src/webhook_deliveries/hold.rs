//! Deliveries follow their subscription: held while it is paused or disabled, sent or dropped when it is enabled.
//!
//! Each statement moves a limited number of rows, so that a long queue is moved in many short transactions. In between,
//! and when an event and a change of its subscription's state pass each other, some rows stand in the wrong place;
//! nothing is sent for that, and [`misplaced`] finds them.

use sea_orm::{ConnectionTrait, DbErr, Value};
use uuid::Uuid;

use super::claim::{FREE, WAITING};
use crate::statement;

/// Makes held deliveries of a subscription due at this moment: as many as the limit at most, the oldest first. Says how
/// many.
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
    run(conn, &to_pending(which), [now.into(), subscription.into(), i64::from(limit).into()]).await
}

/// Holds pending deliveries of a subscription that are not in flight: as many as the limit at most. Says how many.
///
/// # Errors
/// When the database does.
pub async fn hold<C: ConnectionTrait>(
    conn: &C,
    subscription: Uuid,
    now: i64,
    limit: u32,
) -> Result<u64, DbErr> {
    let which = format!(
        "SELECT id FROM webhook_deliveries WHERE state = 0 AND {FREE} AND subscription_id = $2 LIMIT $3"
    );
    run(conn, &to_held(&which), [now.into(), subscription.into(), i64::from(limit).into()]).await
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
        WHERE state = 3 AND subscription_id = $1 ORDER BY id LIMIT $2) AND state = 3";
    let gone = run(conn, held, [subscription.into(), i64::from(limit).into()]).await?;
    let rest = i64::from(limit).saturating_sub_unsigned(gone);
    let free = format!(
        "DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries
            WHERE state = 0 AND {FREE} AND subscription_id = $2 LIMIT $3) AND state = 0 AND {FREE}"
    );
    Ok(gone + run(conn, &free, [now.into(), subscription.into(), rest.into()]).await?)
}

/// Where deliveries stand that their subscription's state wants elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misplaced {
    /// Held, though their subscription is enabled: to be [released](release).
    Held(Uuid),
    /// Pending, though their subscription is not enabled: to be [held](hold), as far as no worker has them in hand.
    Pending(Uuid),
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

/// The subscriptions, of any workspaces, with deliveries that do not stand where the subscription's state wants them.
/// Its cost grows with the subscriptions that have something waiting, and not with what waits.
///
/// # Errors
/// When the database does.
pub async fn misplaced<C: ConnectionTrait>(conn: &C) -> Result<Vec<Misplaced>, DbErr> {
    let sql = format!(
        "{WAITING}{RESTING}
        SELECT s.id, 0 FROM waiting AS w CROSS JOIN webhook_subscriptions AS s
        WHERE s.id = w.subscription_id AND s.state <> 0
        UNION ALL
        SELECT s.id, 3 FROM resting AS r CROSS JOIN webhook_subscriptions AS s
        WHERE s.id = r.subscription_id AND s.state = 0"
    );
    let rows = conn.query_all_raw(statement::raw(conn, &sql, [])).await?;
    rows.iter()
        .map(|row| {
            let id = row.try_get_by_index(0)?;
            Ok(if row.try_get_by_index::<i32>(1)? == 0 {
                Misplaced::Pending(id)
            } else {
                Misplaced::Held(id)
            })
        })
        .collect()
}

/// Makes these held deliveries due at the moment $1.
///
/// The state is asked once more, since another may have moved a row between the choice and the change.
fn to_pending(which: &str) -> String {
    format!(
        "UPDATE webhook_deliveries SET state = 0, next_attempt_at = $1 WHERE id IN ({which}) AND state = 3"
    )
}

/// Holds these pending deliveries; $1 is the moment.
fn to_held(which: &str) -> String {
    format!(
        "UPDATE webhook_deliveries SET state = 3, next_attempt_at = NULL, lease_token = NULL, lease_until = NULL
         WHERE id IN ({which}) AND state = 0 AND {FREE}"
    )
}

async fn run<C: ConnectionTrait, const N: usize>(
    conn: &C,
    sql: &str,
    values: [Value; N],
) -> Result<u64, DbErr> {
    Ok(conn.execute_raw(statement::raw(conn, sql, values)).await?.rows_affected())
}
