//! What came of a subscription's deliveries, counted for charts.

use sea_orm::{ConnectionTrait, DbErr};
use uuid::Uuid;

use super::{Entity, State};
use crate::{InWorkspace, Span, statement};

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

/// The newest deliveries alone, as they stand in the index by their making.
const OUTCOMES: &str = "
SELECT created_at / $5 * $5, state, CASE WHEN attempts > 0 THEN 1 ELSE 0 END, COUNT(*)
FROM (SELECT created_at, state, attempts FROM webhook_deliveries
      WHERE subscription_id = $1 AND (workspace_id = $2) IS TRUE AND created_at >= $3 AND created_at < $4
      ORDER BY created_at DESC, id DESC LIMIT $6) AS newest
GROUP BY 1, 2, 3";

impl InWorkspace<Entity> {
    /// The deliveries of a subscription that were made in the span, in steps of `step_ms`, counted by where they stand;
    /// the newest ones alone, so many at most. In no particular order.
    ///
    /// # Errors
    /// When the database does.
    pub async fn outcomes<C: ConnectionTrait>(
        self,
        conn: &C,
        subscription: Uuid,
        made: Span,
        step_ms: i64,
        limit: u32,
    ) -> Result<Vec<Outcomes>, DbErr> {
        let (from, until) = (made.from.unwrap_or(i64::MIN), made.until.unwrap_or(i64::MAX));
        let values = [
            subscription.into(),
            self.workspace().into(),
            from.into(),
            until.into(),
            step_ms.into(),
            i64::from(limit).into(),
        ];
        let rows = conn.query_all_raw(statement::raw(conn, OUTCOMES, values)).await?;
        rows.iter()
            .map(|row| {
                Ok(Outcomes {
                    starts_at: row.try_get_by_index(0)?,
                    state: row.try_get_by_index(1)?,
                    attempted: row.try_get_by_index::<i32>(2)? > 0,
                    count: row.try_get_by_index(3)?,
                })
            })
            .collect()
    }
}
