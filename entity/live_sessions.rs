//! Live sessions.

use sea_orm::entity::prelude::*;

use crate::{scope, table};

/// How far a live session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum Status {
    /// Still to come.
    Scheduled,
    /// Running.
    Live,
    /// Over.
    Ended,
}

table::declare!(
    /// One live session.
    #[sea_orm(table_name = "live_sessions")]
    pub struct Model {
        /// The session's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The platform's own name for it, unique in the workspace.
        #[sea_orm(column_type = "Text")]
        pub key: String,
        /// The course it belongs to.
        pub course_id: Option<Uuid>,
        /// The title.
        #[sea_orm(column_type = "Text")]
        pub title: String,
        /// How far it is.
        pub status: Status,
        /// When it is to start.
        pub scheduled_at: Option<i64>,
        /// When it started.
        pub started_at: Option<i64>,
        /// When it ended.
        pub ended_at: Option<i64>,
        /// When it was made.
        pub created_at: i64,
        /// When the server last recorded a change of it.
        pub updated_at: i64,
    }
);
scope::tenant!(keyed);
