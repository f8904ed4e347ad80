//! Events of which deliveries are still to be written: to more subscriptions than the write of the event takes in.
//!
//! A row names the subscriptions that wanted the event when it happened, in the order of their ids.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Expr, LockBehavior, LockType};
use sea_orm::{DbBackend, QueryOrder, QuerySelect};

use crate::{statement, table};

table::declare!(
    /// One event, and who is still to have a delivery of it.
    #[sea_orm(table_name = "webhook_fanouts")]
    pub struct Model {
        /// The event.
        #[sea_orm(primary_key, auto_increment = false)]
        pub event_id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// When the deliveries are due: when the event was written.
        pub due_at: i64,
        /// The ids of the subscriptions, 16 bytes each.
        pub subscriptions: Vec<u8>,
    }
);

/// Whose deliveries are still to be written when an event is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The event.
    pub event_id: Uuid,
    /// The workspace.
    pub workspace_id: Uuid,
    /// The event's type.
    pub event_type: String,
    /// The subscriptions with ids up to this one have theirs.
    pub after: Uuid,
    /// When the deliveries are due.
    pub due_at: i64,
}

impl Model {
    /// The first so many subscriptions.
    pub fn first(&self, many: usize) -> Vec<Uuid> {
        let ids = self.subscriptions.chunks_exact(16).take(many);
        ids.filter_map(|id| Uuid::from_slice(id).ok()).collect()
    }
}

/// Remembers the subscriptions that want an event and have no delivery of it yet; nothing where there are none.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn insert<C: ConnectionTrait>(conn: &C, rest: Rest) -> Result<(), DbErr> {
    let ids = match conn.get_database_backend() {
        DbBackend::Postgres => "string_agg(uuid_send(subscription_id), ''::bytea ORDER BY subscription_id)",
        _ => "unhex(group_concat(hex(subscription_id), '' ORDER BY subscription_id))",
    };
    let sql = format!(
        "INSERT INTO webhook_fanouts (event_id, workspace_id, due_at, subscriptions)
        SELECT $1, $2, $3, {ids} FROM webhook_topics
        WHERE workspace_id = $2 AND event_type = $4 AND subscription_id > $5 HAVING count(*) > 0"
    );
    let Rest { event_id, workspace_id, event_type, after, due_at } = rest;
    let values = [event_id.into(), workspace_id.into(), due_at.into(), event_type.into(), after.into()];
    statement::execute(conn, &sql, values).await.map(drop)
}

/// The oldest event of the next workspace behind this one that has such events, with the workspace.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn next<C: ConnectionTrait>(conn: &C, after: Uuid) -> Result<Option<(Uuid, Uuid)>, DbErr> {
    let sql = "SELECT workspace_id, event_id FROM webhook_fanouts WHERE workspace_id > $1
        ORDER BY workspace_id, event_id LIMIT 1";
    let row = conn.query_one_raw(statement::raw(conn, sql, [after.into()])).await?;
    row.map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?))).transpose()
}

/// The row of this event, for a transaction that changes it; none while another has it.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn take<C: ConnectionTrait>(conn: &C, event: Uuid) -> Result<Option<Model>, DbErr> {
    let row = Entity::find_by_id(event).lock_with_behavior(LockType::Update, LockBehavior::SkipLocked);
    statement::one(conn, row).await
}

/// Forgets the first so many subscriptions, whose deliveries are written; with the last of them the row goes.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn advance<C: ConnectionTrait>(conn: &C, row: &Model, many: usize) -> Result<(), DbErr> {
    keep(conn, row.event_id, row.subscriptions.get(16 * many..).unwrap_or_default().to_vec()).await
}

/// Removes a subscription from all events of its workspace, so that it gets no delivery of those that it has none of yet.
/// Returns the number of these events.
///
/// # Errors
/// Returns [`DbErr`] when a statement fails.
pub async fn forget<C: ConnectionTrait>(conn: &C, workspace: Uuid, subscription: Uuid) -> Result<u64, DbErr> {
    let rows = Entity::find().filter(Column::WorkspaceId.eq(workspace)).order_by_asc(Column::EventId);
    let mut forgotten = 0;
    for row in statement::all(conn, rows.lock(LockType::Update)).await? {
        let ids = row.subscriptions.chunks_exact(16);
        let kept: Vec<u8> = ids.filter(|id| *id != subscription.as_bytes()).flatten().copied().collect();
        if kept.len() < row.subscriptions.len() {
            forgotten += 1;
            keep(conn, row.event_id, kept).await?;
        }
    }
    Ok(forgotten)
}

/// Writes who is still to have a delivery; the row goes with the last of them.
async fn keep<C: ConnectionTrait>(conn: &C, event: Uuid, subscriptions: Vec<u8>) -> Result<(), DbErr> {
    if subscriptions.is_empty() {
        return Entity::delete_by_id(event).exec(conn).await.map(drop);
    }
    let update = Entity::update_many()
        .col_expr(Column::Subscriptions, Expr::value(subscriptions))
        .filter(Column::EventId.eq(event));
    update.exec(conn).await.map(drop)
}
