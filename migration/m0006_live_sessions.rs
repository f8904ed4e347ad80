//! Live sessions and their recordings. Times are milliseconds since the epoch.

use crate::definition::{Migration, Phase, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0006_live_sessions",
    floor: 0,
    phase: Phase::Expand,
    added_columns: &[],
    tables: &[
        TableDefinition::heap(
            "live_sessions",
            "id UUID NOT NULL,
             workspace_id UUID NOT NULL,
             key TEXT NOT NULL,
             course_id UUID,
             title TEXT NOT NULL,
             status TEXT NOT NULL,
             scheduled_at BIGINT,
             started_at BIGINT,
             ended_at BIGINT,
             created_at BIGINT NOT NULL,
             updated_at BIGINT NOT NULL,
             CONSTRAINT pk_live_sessions PRIMARY KEY (id),
             CONSTRAINT fk_live_sessions_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
                 ON DELETE CASCADE,
             CONSTRAINT fk_live_sessions_course FOREIGN KEY (course_id) REFERENCES courses (id) ON DELETE SET NULL,
             CONSTRAINT uq_live_sessions_key UNIQUE (workspace_id, key),
             CONSTRAINT ck_live_sessions_status CHECK (status IN ('scheduled', 'live', 'ended'))",
        ),
        TableDefinition::heap(
            "recordings",
            "id UUID NOT NULL,
             workspace_id UUID NOT NULL,
             key TEXT NOT NULL,
             live_session_id UUID NOT NULL,
             title TEXT NOT NULL,
             duration_seconds BIGINT NOT NULL,
             size_bytes BIGINT NOT NULL,
             content_type TEXT NOT NULL,
             created_at BIGINT NOT NULL,
             CONSTRAINT pk_recordings PRIMARY KEY (id),
             CONSTRAINT fk_recordings_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
                 ON DELETE CASCADE,
             CONSTRAINT fk_recordings_session FOREIGN KEY (live_session_id) REFERENCES live_sessions (id)
                 ON DELETE CASCADE,
             CONSTRAINT uq_recordings_key UNIQUE (workspace_id, key),
             CONSTRAINT ck_recordings_sizes CHECK (duration_seconds >= 0 AND size_bytes >= 0)",
        ),
    ],
    indexes: &[
        "CREATE INDEX ix_live_sessions_course ON live_sessions (course_id)",
        "CREATE INDEX ix_recordings_session ON recordings (live_session_id)",
    ],
    statements: &[],
    ..Migration::EMPTY
};
