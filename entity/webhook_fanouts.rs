//! Fan-outs: events for which not all deliveries are written yet. The transaction of an event writes deliveries to a
//! limited number of subscriptions; if there are more, a background job writes the other deliveries.
//!
//! A row lists the subscriptions without a delivery, ordered by id. It includes only those that existed when the event
//! was written.
//!
//! Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Expr, LockBehavior, LockType};
use sea_orm::{DbBackend, QueryOrder, QuerySelect};

use crate::{statement, table};

/// The length of a subscription id in [`Model::subscriptions`], in bytes.
const ID_BYTES: usize = 16;

table::declare!(
    /// The fan-out of one event.
    #[sea_orm(table_name = "webhook_fanouts")]
    pub struct Model {
        /// The event.
        #[sea_orm(primary_key, auto_increment = false)]
        pub event_id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// When the deliveries are due, which is when the event was written.
        pub due_at: i64,
        /// The ids of the remaining subscriptions, concatenated, 16 bytes each.
        pub subscriptions: Vec<u8>,
    }
);

/// The fan-out of an event that is about to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingFanout {
    /// The event.
    pub event_id: Uuid,
    /// The workspace.
    pub workspace_id: Uuid,
    /// The event's type.
    pub event_type: String,
    /// The last subscription that the event's transaction writes a delivery for. The fan-out contains those with higher
    /// ids.
    pub after: Uuid,
    /// When the deliveries are due.
    pub due_at: i64,
}

impl Model {
    /// Returns the first remaining subscriptions, up to `limit`.
    pub fn first_subscriptions(&self, limit: usize) -> Vec<Uuid> {
        let ids = self.subscriptions.chunks_exact(ID_BYTES).take(limit);
        ids.filter_map(|id| Uuid::from_slice(id).ok()).collect()
    }
}

/// Inserts the row of an event with its remaining subscriptions. Inserts nothing when none remain.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn insert<C: ConnectionTrait>(conn: &C, fanout: PendingFanout) -> Result<(), DbErr> {
    let ids = match conn.get_database_backend() {
        DbBackend::Postgres => "string_agg(uuid_send(subscription_id), ''::bytea ORDER BY subscription_id)",
        _ => "unhex(group_concat(hex(subscription_id), '' ORDER BY subscription_id))",
    };
    let sql = format!(
        "INSERT INTO webhook_fanouts (event_id, workspace_id, due_at, subscriptions)
        SELECT $1, $2, $3, {ids} FROM webhook_topics
        WHERE workspace_id = $2 AND event_type = $4 AND subscription_id > $5 HAVING count(*) > 0"
    );
    let PendingFanout { event_id, workspace_id, event_type, after, due_at } = fanout;
    let values = [event_id.into(), workspace_id.into(), due_at.into(), event_type.into(), after.into()];
    statement::execute(conn, &sql, values).await.map(drop)
}

/// Returns the first workspace with an id above `after` that has a fan-out, and the oldest event among its fan-outs.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn next_workspace<C: ConnectionTrait>(
    conn: &C,
    after: Uuid,
) -> Result<Option<(Uuid, Uuid)>, DbErr> {
    let sql = "SELECT workspace_id, event_id FROM webhook_fanouts WHERE workspace_id > $1
        ORDER BY workspace_id, event_id LIMIT 1";
    let row = conn.query_one_raw(statement::raw(conn, sql, [after.into()])).await?;
    row.map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?))).transpose()
}

/// Returns the oldest event of a workspace that has a fan-out.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn oldest_event<C: ConnectionTrait>(conn: &C, workspace: Uuid) -> Result<Option<Uuid>, DbErr> {
    let rows = Entity::find().select_only().column(Column::EventId);
    let rows = rows.filter(Column::WorkspaceId.eq(workspace)).order_by_asc(Column::EventId);
    rows.into_tuple().one(conn).await
}

/// Locks the row of this event until the transaction ends, and returns it. Returns `None` if another transaction has
/// locked it, or if it no longer exists.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn lock<C: ConnectionTrait>(conn: &C, event: Uuid) -> Result<Option<Model>, DbErr> {
    let row = Entity::find_by_id(event).lock_with_behavior(LockType::Update, LockBehavior::SkipLocked);
    statement::one(conn, row).await
}

/// Removes the first `count` subscriptions from a row, after their deliveries are written. Deletes the row when none
/// remain. The transaction must have [locked](lock) the row.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn remove_first<C: ConnectionTrait>(conn: &C, row: &Model, count: usize) -> Result<(), DbErr> {
    let remaining = row.subscriptions.get(ID_BYTES * count..).unwrap_or_default().to_vec();
    store_remaining(conn, row.event_id, remaining).await
}

/// Removes a subscription from all fan-outs of its workspace, so that no more deliveries to it are written. Returns the
/// number of affected events.
///
/// # Errors
/// Returns [`DbErr`] when a statement fails.
pub async fn remove_subscription<C: ConnectionTrait>(
    conn: &C,
    workspace: Uuid,
    subscription: Uuid,
) -> Result<u64, DbErr> {
    let rows = Entity::find().filter(Column::WorkspaceId.eq(workspace)).order_by_asc(Column::EventId);
    let mut event_count = 0;
    for row in statement::all(conn, rows.lock(LockType::Update)).await? {
        let ids = row.subscriptions.chunks_exact(ID_BYTES);
        let remaining: Vec<u8> = ids.filter(|id| *id != subscription.as_bytes()).flatten().copied().collect();
        if remaining.len() < row.subscriptions.len() {
            event_count += 1;
            store_remaining(conn, row.event_id, remaining).await?;
        }
    }
    Ok(event_count)
}

/// Stores the remaining subscriptions, or deletes the row when none remain.
async fn store_remaining<C: ConnectionTrait>(
    conn: &C,
    event: Uuid,
    subscriptions: Vec<u8>,
) -> Result<(), DbErr> {
    if subscriptions.is_empty() {
        return Entity::delete_by_id(event).exec(conn).await.map(drop);
    }
    let update = Entity::update_many()
        .col_expr(Column::Subscriptions, Expr::value(subscriptions))
        .filter(Column::EventId.eq(event));
    update.exec(conn).await.map(drop)
}
