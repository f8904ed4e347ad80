//! What came of a subscription's deliveries, counted for charts.
//!
//! Settled ones are many and counted by the indexes alone; those that wait are read, and few. Where too many wait for that,
//! the newest deliveries are read instead, whichever way they stand.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, DbErr, QueryResult};
use uuid::Uuid;

use super::{Entity, State};
use crate::{InWorkspace, statement};

/// Deliveries that were made in one step of time and stand alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcomes {
    /// When the step begins.
    pub starts_at: i64,
    /// Where they stand.
    pub state: State,
    /// Whether an attempt was made.
    pub attempted: bool,
    /// How many there are.
    pub count: i64,
}

/// All deliveries of each step, and the dead ones among them.
const MADE: &str = "
WITH RECURSIVE step (starts_at) AS (
    SELECT CAST($3 AS BIGINT)
    WHERE EXISTS (SELECT 1 FROM webhook_subscriptions WHERE id = $1 AND workspace_id = $2)
    UNION ALL SELECT starts_at + $5 FROM step WHERE starts_at + $5 < $4)
SELECT starts_at,
    (SELECT COUNT(*) FROM webhook_deliveries WHERE subscription_id = $1
        AND created_at >= starts_at AND created_at < starts_at + $5),
    (SELECT COUNT(*) FROM webhook_deliveries WHERE subscription_id = $1 AND state = 2
        AND created_at >= starts_at AND created_at < starts_at + $5)
FROM step";

/// Those that wait, so many of a state at most, whenever they were made.
const WAITING: &str = "
SELECT created_at - created_at % $3, state, CASE WHEN attempts > 0 THEN 1 ELSE 0 END, COUNT(*)
FROM (SELECT * FROM (SELECT created_at, state, attempts FROM webhook_deliveries
          WHERE subscription_id = $1 AND (workspace_id = $2) IS TRUE AND state = 0 LIMIT $4) AS pending
      UNION ALL
      SELECT * FROM (SELECT created_at, state, attempts FROM webhook_deliveries
          WHERE subscription_id = $1 AND (workspace_id = $2) IS TRUE AND state = 3 LIMIT $4) AS held) AS waiting
GROUP BY 1, 2, 3";

/// The newest deliveries alone, as they stand in the index by their making.
const NEWEST: &str = "
SELECT created_at - created_at % $5, state, CASE WHEN attempts > 0 THEN 1 ELSE 0 END, COUNT(*)
FROM (SELECT created_at, state, attempts FROM webhook_deliveries
      WHERE subscription_id = $1 AND (workspace_id = $2) IS TRUE AND created_at >= $3 AND created_at < $4
      ORDER BY created_at DESC, id DESC LIMIT $6) AS newest
GROUP BY 1, 2, 3";

impl InWorkspace<Entity> {
    /// The deliveries of a subscription that were made from the first moment up to the second, in steps of `step_ms`, of
    /// which the first moment begins one. Counted by where they stand, in no particular order; true when only the newest
    /// were, `limit` of them, because so many wait.
    ///
    /// # Errors
    /// When the database does.
    pub async fn outcomes<C: ConnectionTrait>(
        self,
        conn: &C,
        subscription: Uuid,
        (from, until): (i64, i64),
        step_ms: i64,
        limit: u32,
    ) -> Result<(Vec<Outcomes>, bool), DbErr> {
        let (of, ours, limit) = (subscription.into(), self.workspace().into(), i64::from(limit));
        let values = [of, ours, step_ms.into(), limit.into()];
        let waiting = conn.query_all_raw(statement::raw(conn, WAITING, values)).await?;
        let waiting = waiting.iter().map(outcomes).collect::<Result<Vec<Outcomes>, DbErr>>()?;
        let (of, ours) = (subscription.into(), self.workspace().into());
        if waiting.iter().map(|some| some.count).sum::<i64>() >= limit {
            let values = [of, ours, from.into(), until.into(), step_ms.into(), limit.into()];
            let newest = conn.query_all_raw(statement::raw(conn, NEWEST, values)).await?;
            return Ok((newest.iter().map(outcomes).collect::<Result<_, _>>()?, true));
        }
        let values = [of, ours, from.into(), until.into(), step_ms.into()];
        let made = conn.query_all_raw(statement::raw(conn, MADE, values)).await?;
        let made = made
            .iter()
            .map(|row| Ok((row.try_get_by_index(0)?, (row.try_get_by_index(1)?, row.try_get_by_index(2)?))));
        Ok((all(made.collect::<Result<_, DbErr>>()?, waiting), false))
    }
}

fn outcomes(row: &QueryResult) -> Result<Outcomes, DbErr> {
    Ok(Outcomes {
        starts_at: row.try_get_by_index(0)?,
        state: row.try_get_by_index(1)?,
        attempted: row.try_get_by_index::<i32>(2)? > 0,
        count: row.try_get_by_index(3)?,
    })
}

/// What was made and is dead, by step, and what waits, put together: the rest was delivered.
fn all(made: BTreeMap<i64, (i64, i64)>, waiting: Vec<Outcomes>) -> Vec<Outcomes> {
    let mut delivered: BTreeMap<i64, i64> =
        made.iter().map(|(step, (all, dead))| (*step, all - dead)).collect();
    let mut found: Vec<Outcomes> =
        waiting.into_iter().filter(|some| made.contains_key(&some.starts_at)).collect();
    for some in &found {
        *delivered.entry(some.starts_at).or_default() -= some.count;
    }
    let settled = |state| move |(starts_at, count)| Outcomes { starts_at, state, attempted: true, count };
    found.extend(delivered.into_iter().map(settled(State::Delivered)));
    found.extend(made.into_iter().map(|(step, (_, dead))| (step, dead)).map(settled(State::Dead)));
    // What was made or settled between the statements may be missing in one of them.
    found.retain(|some| some.count > 0);
    found
}
