//! Counts the outcomes of a subscription's deliveries for charts.
//!
//! There are many settled deliveries, which are counted in the indexes alone. Pending and held deliveries are few, and their
//! rows are read. When they are too many, only the newest deliveries are read and counted, in any state.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, DbErr, QueryResult, Value};
use uuid::Uuid;

use super::{Entity, StoredDeliveryState};
use crate::{InWorkspace, statement};

/// The number of deliveries that were created in one time step and are in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutcomeCounts {
    /// When the time step begins.
    pub starts_at: i64,
    /// The state of the deliveries.
    pub state: StoredDeliveryState,
    /// Whether at least one attempt was made.
    pub attempted: bool,
    /// The number of deliveries.
    pub count: i64,
}

/// Counts pending and held deliveries, at most $6 of each state, created at any time. Unless they are too many, also counts all
/// deliveries of each time step, with NULL as their state, and the dead ones. It is one statement, so that all counts are of
/// the same moment: a delivery created or settled between two statements would be counted as delivered.
const UNSETTLED_AND_TOTALS: &str = "
WITH RECURSIVE waiting (created_at, state, attempts) AS (
    SELECT * FROM (SELECT created_at, state, attempts FROM webhook_deliveries
        WHERE subscription_id = $1 AND (workspace_id = $2) IS TRUE AND state = 0 LIMIT $6) AS pending
    UNION ALL
    SELECT * FROM (SELECT created_at, state, attempts FROM webhook_deliveries
        WHERE subscription_id = $1 AND (workspace_id = $2) IS TRUE AND state = 3 LIMIT $6) AS held),
step (starts_at) AS (
    SELECT CAST($3 AS BIGINT)
    WHERE EXISTS (SELECT 1 FROM webhook_subscriptions WHERE id = $1 AND workspace_id = $2)
        AND (SELECT COUNT(*) FROM waiting) < $6
    UNION ALL SELECT starts_at + $5 FROM step WHERE starts_at + $5 < $4)
SELECT created_at - created_at % $5, state, CASE WHEN attempts > 0 THEN 1 ELSE 0 END, COUNT(*)
FROM waiting GROUP BY 1, 2, 3
UNION ALL
SELECT starts_at, CAST(NULL AS SMALLINT), 1, (SELECT COUNT(*) FROM webhook_deliveries
    WHERE subscription_id = $1 AND created_at >= starts_at AND created_at < starts_at + $5)
FROM step
UNION ALL
SELECT starts_at, CAST(2 AS SMALLINT), 1, (SELECT COUNT(*) FROM webhook_deliveries
    WHERE subscription_id = $1 AND state = 2 AND created_at >= starts_at AND created_at < starts_at + $5)
FROM step";

/// Counts only the newest deliveries, which it reads from the index by creation.
const NEWEST: &str = "
SELECT created_at - created_at % $5, state, CASE WHEN attempts > 0 THEN 1 ELSE 0 END, COUNT(*)
FROM (SELECT created_at, state, attempts FROM webhook_deliveries
      WHERE subscription_id = $1 AND (workspace_id = $2) IS TRUE AND created_at >= $3 AND created_at < $4
      ORDER BY created_at DESC, id DESC LIMIT $6) AS newest
GROUP BY 1, 2, 3";

impl InWorkspace<Entity> {
    /// Counts the deliveries of a subscription that were created from `from` until before `until`, by time step of `step_ms`
    /// and state, in no particular order. `from` must be the beginning of a step. The second value is true when only the newest
    /// `limit` deliveries were counted, because too many are pending or held.
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
    ) -> Result<(Vec<OutcomeCounts>, bool), DbErr> {
        let limit = i64::from(limit);
        let values = || {
            let (subscription, workspace): (Value, Value) = (subscription.into(), self.workspace().into());
            [subscription, workspace, from.into(), until.into(), step_ms.into(), limit.into()]
        };
        let rows = conn.query_all_raw(statement::raw(conn, UNSETTLED_AND_TOTALS, values())).await?;
        let (totals, counts): (Vec<&QueryResult>, Vec<&QueryResult>) =
            rows.iter().partition(|row| matches!(row.try_get_by_index(1), Ok(None::<StoredDeliveryState>)));
        let counts = counts.into_iter().map(outcomes).collect::<Result<Vec<OutcomeCounts>, DbErr>>()?;
        let is_unsettled = |counts: &&OutcomeCounts| counts.state != StoredDeliveryState::Dead;
        if counts.iter().filter(is_unsettled).map(|counts| counts.count).sum::<i64>() >= limit {
            let newest = conn.query_all_raw(statement::raw(conn, NEWEST, values())).await?;
            return Ok((newest.iter().map(outcomes).collect::<Result<_, _>>()?, true));
        }
        let totals = totals.into_iter().map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(3)?)));
        Ok((with_delivered(totals.collect::<Result<_, DbErr>>()?, counts), false))
    }
}

fn outcomes(row: &QueryResult) -> Result<OutcomeCounts, DbErr> {
    Ok(OutcomeCounts {
        starts_at: row.try_get_by_index(0)?,
        state: row.try_get_by_index(1)?,
        attempted: row.try_get_by_index::<i32>(2)? > 0,
        count: row.try_get_by_index(3)?,
    })
}

/// Adds the delivered ones: the total of each step without those that are pending, held or dead.
fn with_delivered(totals: BTreeMap<i64, i64>, counts: Vec<OutcomeCounts>) -> Vec<OutcomeCounts> {
    let mut all: Vec<OutcomeCounts> =
        counts.into_iter().filter(|counts| totals.contains_key(&counts.starts_at)).collect();
    let mut delivered = totals;
    for counts in &all {
        *delivered.entry(counts.starts_at).or_default() -= counts.count;
    }
    let outcome = |(starts_at, count)| OutcomeCounts {
        starts_at,
        state: StoredDeliveryState::Delivered,
        attempted: true,
        count,
    };
    all.extend(delivered.into_iter().map(outcome));
    all.retain(|counts| counts.count > 0);
    all
}
