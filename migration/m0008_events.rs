//! The outbox: one row per event, with the exact bytes to sign and send. Times are milliseconds since the epoch.

use crate::definition::{Migration, Phase, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0008_events",
    floor: 0,
    phase: Phase::Expand,
    added_columns: &[],
    tables: &[TableDefinition::heap(
        "events",
        "id UUID NOT NULL,
         workspace_id UUID NOT NULL,
         type TEXT NOT NULL,
         created_at BIGINT NOT NULL,
         body BYTES NOT NULL,
         CONSTRAINT pk_events PRIMARY KEY (id),
         CONSTRAINT fk_events_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE",
    )],
    indexes: &[
        "CREATE INDEX ix_events_created ON events (created_at, id)",
        "CREATE INDEX ix_events_workspace ON events (workspace_id, created_at, id)",
    ],
    statements: &[],
    ..Migration::EMPTY
};
