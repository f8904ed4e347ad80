//! Replay jobs: dead deliveries of a workspace sent again, batch by batch, with how far each job is.

use sea_orm::entity::prelude::*;
use sea_orm::{QueryOrder, QuerySelect, sea_query::Expr};

use crate::{InWorkspace, scope, statement, table};

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
pub enum State {
    /// There may be more to replay.
    #[sea_orm(num_value = 0)]
    Running,
    /// All is replayed.
    #[sea_orm(num_value = 1)]
    Done,
    /// Somebody ended it early.
    #[sea_orm(num_value = 2)]
    Cancelled,
}

table::declare!(
    /// One job: which dead deliveries it replays, and behind which of them it goes on.
    #[sea_orm(table_name = "webhook_replays")]
    pub struct Model {
        /// The job's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// Only deliveries of this subscription, which may be gone by now.
        pub subscription_id: Option<Uuid>,
        /// Only deliveries of events of this type.
        #[sea_orm(column_type = "Text", nullable)]
        pub event_type: Option<String>,
        /// Only deliveries made from then on.
        pub from_ms: Option<i64>,
        /// Only deliveries made before.
        pub to_ms: Option<i64>,
        /// How far it is.
        pub state: State,
        /// How many deliveries there were to replay when it began.
        pub total: i64,
        /// How many of them are replayed.
        pub done: i64,
        /// When the last delivery that it looked at was made.
        pub position_at: Option<i64>,
        /// The last delivery that it looked at.
        pub position_id: Option<Uuid>,
        /// When it began.
        pub created_at: i64,
        /// When it last came further.
        pub updated_at: i64,
        /// When it ended.
        pub ended_at: Option<i64>,
    }
);
scope::tenant!();

impl InWorkspace<Entity> {
    /// The workspace's jobs that still run, newest first.
    ///
    /// # Errors
    /// When the database does.
    pub async fn running<C: ConnectionTrait>(self, conn: &C) -> Result<Vec<Model>, DbErr> {
        let running = self.checked().filter(Expr::cust("state = 0")).order_by_desc(Column::Id);
        statement::all(conn, running).await
    }
}

/// The job with this id, in whichever workspace, for the operator's commands.
///
/// # Errors
/// When the database does.
pub async fn by_id<C: ConnectionTrait>(conn: &C, id: Uuid) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find_by_id(id)).await
}

/// The jobs that still run, in whichever workspaces, oldest first.
///
/// # Errors
/// When the database does.
pub async fn running<C: ConnectionTrait>(conn: &C, limit: u64) -> Result<Vec<Model>, DbErr> {
    let running = Entity::find().filter(Expr::cust("state = 0")).order_by_asc(Column::Id).limit(limit);
    statement::all(conn, running).await
}
