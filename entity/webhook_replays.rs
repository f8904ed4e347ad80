//! Replay jobs, which send the dead deliveries of a workspace again in batches, and their progress.
//!
//! Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::{QueryOrder, QuerySelect, sea_query::Expr};

use crate::{InWorkspace, scope, statement, table};

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
pub enum StoredReplayState {
    /// The job has not replayed all deliveries yet.
    #[sea_orm(num_value = 0)]
    Running,
    /// All deliveries were replayed.
    #[sea_orm(num_value = 1)]
    Done,
    /// The job was canceled.
    #[sea_orm(num_value = 2)]
    Canceled,
}

table::declare!(
    /// One job: the filter that selects its deliveries, and its progress.
    #[sea_orm(table_name = "webhook_replays")]
    pub struct Model {
        /// The job's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// Only deliveries to this subscription, which may have been deleted since.
        pub subscription_id: Option<Uuid>,
        /// Only deliveries of events of this type.
        #[sea_orm(column_type = "Text", nullable)]
        pub event_type: Option<String>,
        /// Only deliveries created at this time or later.
        pub from_ms: Option<i64>,
        /// Only deliveries created before this time.
        pub to_ms: Option<i64>,
        /// The job's state.
        pub state: StoredReplayState,
        /// The number of deliveries to replay when the job started.
        pub total: i64,
        /// The number of deliveries replayed so far.
        pub done: i64,
        /// The creation time of the most recently examined delivery; `None` before the first.
        pub position_at: Option<i64>,
        /// The id of the most recently examined delivery; `None` before the first.
        pub position_id: Option<Uuid>,
        /// When the job started.
        pub created_at: i64,
        /// When the row was most recently changed.
        pub updated_at: i64,
        /// When the job was done or canceled; `None` while it runs.
        pub ended_at: Option<i64>,
    }
);
scope::workspace_table!();

impl InWorkspace<Entity> {
    /// Returns the workspace's running jobs, newest first.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn running<C: ConnectionTrait>(self, conn: &C) -> Result<Vec<Model>, DbErr> {
        let running = self.select_workspace_unindexed().filter(is_running()).order_by_desc(Column::Id);
        statement::all(conn, running).await
    }
}

/// Returns the condition for running jobs. The state is a literal and not a parameter, as in the condition of the
/// partial index, which is not used otherwise.
fn is_running() -> Expr {
    Expr::cust("state = 0")
}

/// Returns the job with this id in any workspace, for the operator's commands.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn by_id<C: ConnectionTrait>(conn: &C, id: Uuid) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find_by_id(id)).await
}

/// Returns up to `limit` running jobs of all workspaces, oldest first.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn running<C: ConnectionTrait>(conn: &C, limit: u64) -> Result<Vec<Model>, DbErr> {
    let running = Entity::find().filter(is_running()).order_by_asc(Column::Id).limit(limit);
    statement::all(conn, running).await
}

/// Deletes up to `limit` jobs that ended before this time, oldest first, and returns the number of rows deleted. `before_id` is the
/// first id of that time.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn prune<C: ConnectionTrait>(
    conn: &C,
    before_id: Uuid,
    before_ms: i64,
    limit: u64,
) -> Result<u64, DbErr> {
    let ended = Entity::find().filter(Column::Id.lt(before_id)).filter(Column::EndedAt.lt(before_ms));
    scope::delete_selected(conn, ended.order_by_asc(Column::Id).limit(limit)).await
}
