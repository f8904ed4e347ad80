//! The outbox: one row an event, with the exact bytes that will be signed and sent.

use crate::step::{Step, Table};

pub(crate) const STEP: Step = Step {
    name: "m0008_events",
    added: &[],
    tables: &[Table::heap(
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
};
