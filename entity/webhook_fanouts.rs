//! Events whose deliveries are not all written yet, because they have more subscriptions than the event's own transaction
//! covers.
//!
//! A row lists the remaining subscriptions to the event's type as of the event, in the order of their ids.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Expr, LockBehavior, LockType};
use sea_orm::{DbBackend, QueryOrder, QuerySelect};

use crate::{statement, table};

table::declare!(
    /// One event, and the subscriptions that have no delivery of it yet.
    #[sea_orm(table_name = "webhook_fanouts")]
    pub struct Model {
        /// The event.
        #[sea_orm(primary_key, auto_increment = false)]
        pub event_id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// When the deliveries are due: when the event was written.
        pub due_at: i64,
        /// The ids of the remaining subscriptions, 16 bytes each.
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
    /// Subscriptions with ids up to this one already have their delivery.
    pub after: Uuid,
    /// When the deliveries are due.
    pub due_at: i64,
}

impl Model {
    /// Returns the first remaining subscriptions, up to `limit`.
    pub fn first_subscriptions(&self, limit: usize) -> Vec<Uuid> {
        let ids = self.subscriptions.chunks_exact(16).take(limit);
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

/// Returns the next workspace after `after` that has a fan-out, with the oldest event of its fan-outs.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn next<C: ConnectionTrait>(conn: &C, after: Uuid) -> Result<Option<(Uuid, Uuid)>, DbErr> {
    let sql = "SELECT workspace_id, event_id FROM webhook_fanouts WHERE workspace_id > $1
        ORDER BY workspace_id, event_id LIMIT 1";
    let row = conn.query_one_raw(statement::raw(conn, sql, [after.into()])).await?;
    row.map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?))).transpose()
}

/// Locks and returns the row of this event. Returns `None` while another transaction has locked it, or when it no longer
/// exists.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn lock<C: ConnectionTrait>(conn: &C, event: Uuid) -> Result<Option<Model>, DbErr> {
    let row = Entity::find_by_id(event).lock_with_behavior(LockType::Update, LockBehavior::SkipLocked);
    statement::one(conn, row).await
}

/// Removes the first `count` subscriptions, whose deliveries are written. Deletes the row when none remain.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn advance<C: ConnectionTrait>(conn: &C, row: &Model, count: usize) -> Result<(), DbErr> {
    let remaining = row.subscriptions.get(16 * count..).unwrap_or_default().to_vec();
    store_remaining(conn, row.event_id, remaining).await
}

/// Removes a subscription from all fan-outs of its workspace, so that it gets no further deliveries from them. Returns the
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
    let mut removed = 0;
    for row in statement::all(conn, rows.lock(LockType::Update)).await? {
        let ids = row.subscriptions.chunks_exact(16);
        let remaining: Vec<u8> = ids.filter(|id| *id != subscription.as_bytes()).flatten().copied().collect();
        if remaining.len() < row.subscriptions.len() {
            removed += 1;
            store_remaining(conn, row.event_id, remaining).await?;
        }
    }
    Ok(removed)
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
