//! Events that were not delivered to a subscription, not even held or dead-lettered.

use sea_orm::entity::prelude::*;
use sea_orm::{ConnectionTrait, DbErr};

use super::{Batch, MAX_FOUND};
use crate::statement;

/// An event without a delivery to a subscription to its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingDelivery {
    /// The event.
    pub event: Uuid,
    /// The subscription, which is enabled.
    pub subscription: Uuid,
    /// When the subscription was last changed, in milliseconds since the epoch. It may have had another state or other event
    /// types before.
    pub updated_at: i64,
}

/// Returns the missing deliveries of the events of a batch. Tests of one subscription, and events whose deliveries are still being
/// written, have none.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn find<C: ConnectionTrait>(conn: &C, batch: Batch) -> Result<Vec<MissingDelivery>, DbErr> {
    // State 0 is enabled, and origin 3 is a test. The subscription existed before the event: ids are ordered by time.
    let sql = format!(
        "SELECT e.id, s.id, s.updated_at FROM events AS e
         JOIN webhook_topics AS t ON t.workspace_id = e.workspace_id AND t.event_type = e.type
         JOIN webhook_subscriptions AS s ON s.id = t.subscription_id AND s.state = 0 AND s.deleted_at IS NULL AND s.id < e.id
         WHERE e.id > $1 AND e.id <= $2
             AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS d
                 WHERE d.event_id = e.id AND (d.subscription_id = s.id OR d.origin = 3))
             AND NOT EXISTS (SELECT 1 FROM webhook_fanouts AS f WHERE f.event_id = e.id)
         ORDER BY e.id DESC LIMIT {limit}",
        limit = 50 * MAX_FOUND
    );
    let rows =
        conn.query_all_raw(statement::raw(conn, &sql, [batch.after.into(), batch.up_to.into()])).await?;
    let missing = |row: &sea_orm::QueryResult| {
        Ok(MissingDelivery {
            event: row.try_get_by_index(0)?,
            subscription: row.try_get_by_index(1)?,
            updated_at: row.try_get_by_index(2)?,
        })
    };
    rows.iter().map(missing).collect()
}

/// Returns the number of deliveries of the events of a batch in each state: pending, delivered, dead, held. Deliveries that users
/// requested are not counted.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn states<C: ConnectionTrait>(conn: &C, batch: Batch) -> Result<[u64; 4], DbErr> {
    let sql = "SELECT state, count(*) FROM webhook_deliveries
        WHERE event_id > $1 AND event_id <= $2 AND origin = 0 GROUP BY state";
    let mut counts = [0; 4];
    for row in conn.query_all_raw(statement::raw(conn, sql, [batch.after.into(), batch.up_to.into()])).await?
    {
        let (state, count): (i16, i64) = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
        if let Some(counted) = usize::try_from(state).ok().and_then(|state| counts.get_mut(state)) {
            *counted = count.unsigned_abs();
        }
    }
    Ok(counts)
}
