//! Recordings of live sessions.

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
        /// The platform's own name for it, unique in the workspace.
        #[sea_orm(column_type = "Text")]
        pub key: String,
        /// The session it recorded.
        pub live_session_id: Uuid,
        /// The title.
        #[sea_orm(column_type = "Text")]
        pub title: String,
        /// How long it is.
        pub duration_seconds: i64,
        /// How big it is.
        pub size_bytes: i64,
        /// Its media type.
        #[sea_orm(column_type = "Text")]
        pub content_type: String,
        /// When it was ready.
        pub created_at: i64,
    }
);
scope::tenant!(keyed);
