//! Events, with the exact bytes of their webhook body. Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::{QueryOrder, QuerySelect};

use crate::{InWorkspace, scope, statement, table};

table::declare!(
    /// One event.
    #[sea_orm(table_name = "events")]
    pub struct Model {
        /// The event's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The event type, such as `order.paid`. The column is named `type`.
        #[sea_orm(column_name = "type", column_type = "Text")]
        pub event_type: String,
        /// When the event happened.
        pub created_at: i64,
        /// The exact body to sign and send.
        pub body: Vec<u8>,
        /// The context of the span that appended the event, as the header `traceparent`. `None` if its trace is not recorded.
        #[sea_orm(column_type = "Text", nullable)]
        pub traceparent: Option<String>,
        /// Whether it tests a webhook. Such an event reports no change.
        pub is_test: bool,
    }
);
scope::workspace_table!();

impl InWorkspace<Entity> {
    /// Returns up to `limit` events with ids from `from` on and below `before`, newest first, including test events.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn newest<C: ConnectionTrait>(
        self,
        conn: &C,
        (from, before): (Uuid, Uuid),
        limit: u64,
    ) -> Result<Vec<Model>, DbErr> {
        let page = self.select().filter(Column::Id.gte(from)).filter(Column::Id.lt(before));
        statement::all(conn, page.order_by_desc(Column::Id).limit(limit)).await
    }
}

/// Returns the highest id of an event below `before`. `None` if there are no such events.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn last_id<C: ConnectionTrait>(conn: &C, before: Uuid) -> Result<Option<Uuid>, DbErr> {
    let select = Entity::find().select_only().column(Column::Id).filter(Column::Id.lt(before));
    select.order_by_desc(Column::Id).into_tuple().one(conn).await
}

/// Checks up to `limit` events with ids above `after` and below `before`, ordered by id. Deletes those that have
/// neither a delivery nor a [fan-out](crate::webhook_fanouts) with deliveries to write. Returns the number of rows
/// deleted, and the last id checked, which the next call must pass as `after`. The id is `None` when there were no
/// events to check.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn prune<C: ConnectionTrait>(
    conn: &C,
    before: Uuid,
    after: Option<Uuid>,
    limit: u32,
) -> Result<(u64, Option<Uuid>), DbErr> {
    let after = after.unwrap_or_default();
    let last_id =
        "SELECT id FROM (SELECT id FROM events WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3) AS batch
        ORDER BY id DESC LIMIT 1";
    let last_id = statement::raw(conn, last_id, [after.into(), before.into(), i64::from(limit).into()]);
    let Some(last_row) = conn.query_one_raw(last_id).await? else { return Ok((0, None)) };
    let last_id: Uuid = last_row.try_get_by_index(0)?;
    let delete = "DELETE FROM events WHERE id > $1 AND id <= $2
        AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS d WHERE d.event_id = events.id)
        AND NOT EXISTS (SELECT 1 FROM webhook_fanouts AS f WHERE f.event_id = events.id)";
    let deleted = statement::execute(conn, delete, [after.into(), last_id.into()]).await?;
    Ok((deleted, Some(last_id)))
}
