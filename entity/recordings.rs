//! Recordings of live sessions. Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;

use crate::{scope, table};

table::declare!(
    /// One recording.
    #[sea_orm(table_name = "recordings")]
    pub struct Model {
        /// The recording's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The key assigned by the platform whose changes are imported, unique in the workspace.
        #[sea_orm(column_type = "Text")]
        pub key: String,
        /// The recorded live session.
        pub live_session_id: Uuid,
        /// The title.
        #[sea_orm(column_type = "Text")]
        pub title: String,
        /// The duration in seconds.
        pub duration_seconds: i64,
        /// The size in bytes.
        pub size_bytes: i64,
        /// The media type.
        #[sea_orm(column_type = "Text")]
        pub content_type: String,
        /// When it became available.
        pub created_at: i64,
    }
);
scope::workspace_table!(keyed);
