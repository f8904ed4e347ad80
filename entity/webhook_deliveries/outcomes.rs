//! What came of a subscription's deliveries, counted for charts.
//!
//! Settled ones are many and counted by the indexes alone; those that wait are read, and few. Where too many wait for that,
//! the newest deliveries are read instead, whichever way they stand.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, DbErr, QueryResult, Value};
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

/// Those that wait, so many of a state at most, whenever they were made; then, unless they are too many, all deliveries of each
/// step, whose state is none, and the dead ones among them. In one statement, so that both are of one moment: what is made or
/// settled between two would be taken for delivered.
const STANDING: &str = "
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
        let limit = i64::from(limit);
        let values = || {
            let (of, ours): (Value, Value) = (subscription.into(), self.workspace().into());
            [of, ours, from.into(), until.into(), step_ms.into(), limit.into()]
        };
        let standing = conn.query_all_raw(statement::raw(conn, STANDING, values())).await?;
        let (made, standing): (Vec<&QueryResult>, Vec<&QueryResult>) =
            standing.iter().partition(|row| matches!(row.try_get_by_index(1), Ok(None::<State>)));
        let standing = standing.into_iter().map(outcomes).collect::<Result<Vec<Outcomes>, DbErr>>()?;
        let waiting = |one: &&Outcomes| one.state != State::Dead;
        if standing.iter().filter(waiting).map(|some| some.count).sum::<i64>() >= limit {
            let newest = conn.query_all_raw(statement::raw(conn, NEWEST, values())).await?;
            return Ok((newest.iter().map(outcomes).collect::<Result<_, _>>()?, true));
        }
        let made = made.into_iter().map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(3)?)));
        Ok((all(made.collect::<Result<_, DbErr>>()?, standing), false))
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

/// What was made, by step, and what of it waits or is dead, put together: the rest was delivered.
fn all(made: BTreeMap<i64, i64>, standing: Vec<Outcomes>) -> Vec<Outcomes> {
    let mut found: Vec<Outcomes> =
        standing.into_iter().filter(|some| made.contains_key(&some.starts_at)).collect();
    let mut delivered = made;
    for some in &found {
        *delivered.entry(some.starts_at).or_default() -= some.count;
    }
    let arrived =
        |(starts_at, count)| Outcomes { starts_at, state: State::Delivered, attempted: true, count };
    found.extend(delivered.into_iter().map(arrived));
    found.retain(|some| some.count > 0);
    found
}
