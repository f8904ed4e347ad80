//! Live sessions. Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;

use crate::{scope, table};

/// The status of a live session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum StoredLiveSessionStatus {
    /// Not started yet.
    Scheduled,
    /// In progress.
    Live,
    /// Ended.
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
        /// The key assigned by the platform whose changes are imported, unique in the workspace.
        #[sea_orm(column_type = "Text")]
        pub key: String,
        /// The course it belongs to, if any.
        pub course_id: Option<Uuid>,
        /// The title.
        #[sea_orm(column_type = "Text")]
        pub title: String,
        /// The status.
        pub status: StoredLiveSessionStatus,
        /// When it is scheduled to start.
        pub scheduled_at: Option<i64>,
        /// When it started.
        pub started_at: Option<i64>,
        /// When it ended.
        pub ended_at: Option<i64>,
        /// When it was created, according to the imported change.
        pub created_at: i64,
        /// When it was last changed, by the clock of the server. Unlike `created_at`, never the time of an imported
        /// change.
        pub updated_at: i64,
    }
);
scope::workspace_table!(keyed, cached);
