//! Counts the outcomes of a subscription's deliveries for charts.
//!
//! Dead deliveries, and the deliveries in any state, are counted from index entries alone, because there can be many.
//! Pending and held deliveries are usually few, so their rows are read. The other deliveries are delivered. If too many
//! are pending or held, only the newest deliveries are counted, by reading their rows.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, DbErr, QueryResult, Value};
use uuid::Uuid;

use super::{Entity, StoredDeliveryState};
use crate::{InWorkspace, statement};

/// The number of deliveries that were created in one time step and are in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutcomeCount {
    /// The start of the time step, in milliseconds since the epoch.
    pub starts_at: i64,
    /// The state of the deliveries.
    pub state: StoredDeliveryState,
    /// Whether at least one attempt was made, which is always the case for delivered and dead deliveries.
    pub attempted: bool,
    /// The number of deliveries.
    pub count: i64,
}

/// Counts pending and held deliveries of the subscription $1 in the workspace $2, at most $6 of each state, created at
/// any time. If these are fewer than $6 together, also counts all deliveries (with NULL as the state) and the dead
/// deliveries of each time step of $5 milliseconds, from the time $3 until before $4. State 0 is pending, 2 dead and 3
/// held. The third column is 1 if at least one attempt was made.
///
/// A single statement counts all of them at the same moment. With two statements, a delivery that is created or settled
/// between them would be counted as delivered.
const UNSETTLED_AND_TOTALS: &str = "
WITH RECURSIVE unsettled (created_at, state, attempts) AS (
    SELECT * FROM (SELECT created_at, state, attempts FROM webhook_deliveries
        WHERE subscription_id = $1 AND (workspace_id = $2) IS TRUE AND state = 0 LIMIT $6) AS pending
    UNION ALL
    SELECT * FROM (SELECT created_at, state, attempts FROM webhook_deliveries
        WHERE subscription_id = $1 AND (workspace_id = $2) IS TRUE AND state = 3 LIMIT $6) AS held),
step (starts_at) AS (
    SELECT CAST($3 AS BIGINT)
    WHERE EXISTS (SELECT 1 FROM webhook_subscriptions WHERE id = $1 AND workspace_id = $2)
        AND (SELECT COUNT(*) FROM unsettled) < $6
    UNION ALL SELECT starts_at + $5 FROM step WHERE starts_at + $5 < $4)
SELECT created_at - created_at % $5, state, CASE WHEN attempts > 0 THEN 1 ELSE 0 END, COUNT(*)
FROM unsettled GROUP BY 1, 2, 3
UNION ALL
SELECT starts_at, CAST(NULL AS SMALLINT), 1, (SELECT COUNT(*) FROM webhook_deliveries
    WHERE subscription_id = $1 AND created_at >= starts_at AND created_at < starts_at + $5)
FROM step
UNION ALL
SELECT starts_at, CAST(2 AS SMALLINT), 1, (SELECT COUNT(*) FROM webhook_deliveries
    WHERE subscription_id = $1 AND state = 2 AND created_at >= starts_at AND created_at < starts_at + $5)
FROM step";

/// Counts only the newest $6 deliveries of the time span, in any state. Finds them with the index on the creation time.
/// The parameters and columns are those of [`UNSETTLED_AND_TOTALS`].
const NEWEST: &str = "
SELECT created_at - created_at % $5, state, CASE WHEN attempts > 0 THEN 1 ELSE 0 END, COUNT(*)
FROM (SELECT created_at, state, attempts FROM webhook_deliveries
      WHERE subscription_id = $1 AND (workspace_id = $2) IS TRUE AND created_at >= $3 AND created_at < $4
      ORDER BY created_at DESC, id DESC LIMIT $6) AS newest
GROUP BY 1, 2, 3";

impl InWorkspace<Entity> {
    /// Counts the deliveries of a subscription that were created at or after `from` and before `until`, by time step of
    /// `step_ms` and state, in no particular order. `from` must be the start of a step. The second value is true when
    /// only the newest `limit` deliveries were counted, because `limit` or more are pending or held.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a query fails.
    pub async fn outcomes<C: ConnectionTrait>(
        self,
        conn: &C,
        subscription: Uuid,
        (from, until): (i64, i64),
        step_ms: i64,
        limit: u32,
    ) -> Result<(Vec<OutcomeCount>, bool), DbErr> {
        let limit = i64::from(limit);
        let values = || {
            let (subscription, workspace): (Value, Value) = (subscription.into(), self.workspace().into());
            [subscription, workspace, from.into(), until.into(), step_ms.into(), limit.into()]
        };
        let rows = conn.query_all_raw(statement::raw(conn, UNSETTLED_AND_TOTALS, values())).await?;
        let (totals, counts): (Vec<&QueryResult>, Vec<&QueryResult>) =
            rows.iter().partition(|row| matches!(row.try_get_by_index(1), Ok(None::<StoredDeliveryState>)));
        let counts = counts.into_iter().map(decode_count).collect::<Result<Vec<OutcomeCount>, DbErr>>()?;
        let is_unsettled = |count: &&OutcomeCount| count.state != StoredDeliveryState::Dead;
        if counts.iter().filter(is_unsettled).map(|count| count.count).sum::<i64>() >= limit {
            let newest = conn.query_all_raw(statement::raw(conn, NEWEST, values())).await?;
            return Ok((newest.iter().map(decode_count).collect::<Result<_, _>>()?, true));
        }
        let totals = totals.into_iter().map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(3)?)));
        Ok((with_delivered(totals.collect::<Result<_, DbErr>>()?, counts), false))
    }
}

fn decode_count(row: &QueryResult) -> Result<OutcomeCount, DbErr> {
    Ok(OutcomeCount {
        starts_at: row.try_get_by_index(0)?,
        state: row.try_get_by_index(1)?,
        attempted: row.try_get_by_index::<i32>(2)? > 0,
        count: row.try_get_by_index(3)?,
    })
}

/// Adds the counts of delivered deliveries: the total of each time step minus the counts of the other states. Removes
/// time steps without a total, which are outside of the time span.
fn with_delivered(totals: BTreeMap<i64, i64>, counts: Vec<OutcomeCount>) -> Vec<OutcomeCount> {
    let mut all: Vec<OutcomeCount> =
        counts.into_iter().filter(|count| totals.contains_key(&count.starts_at)).collect();
    let mut delivered = totals;
    for count in &all {
        *delivered.entry(count.starts_at).or_default() -= count.count;
    }
    let delivered_count = |(starts_at, count)| OutcomeCount {
        starts_at,
        state: StoredDeliveryState::Delivered,
        attempted: true,
        count,
    };
    all.extend(delivered.into_iter().map(delivered_count));
    all.retain(|count| count.count > 0);
    all
}
