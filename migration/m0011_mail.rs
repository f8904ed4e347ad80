//! The mail queue: each row is a message. Its content is deleted once it is sent or dead-lettered.
//!
//! Times are milliseconds since the epoch.

use crate::definition::{Migration, Phase, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0011_mail",
    floor: 0,
    phase: Phase::Expand,
    added_columns: &[],
    tables: &[TableDefinition::heap(
        "mails",
        // State: 0 pending, 1 sent, 2 dead. `due_at`: when the mail is due, or when the current lease expires.
        "id UUID NOT NULL,
         workspace_id UUID NOT NULL,
         kind TEXT NOT NULL,
         recipient TEXT NOT NULL,
         subject TEXT NOT NULL,
         text_body TEXT NOT NULL,
         html_body TEXT NOT NULL,
         state SMALLINT NOT NULL,
         attempts INTEGER NOT NULL,
         due_at BIGINT,
         lease_token UUID,
         created_at BIGINT NOT NULL,
         sent_at BIGINT,
         last_error TEXT,
         CONSTRAINT pk_mails PRIMARY KEY (id),
         CONSTRAINT fk_mails_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE,
         CONSTRAINT ck_mails_state CHECK (state IN (0, 1, 2)),
         CONSTRAINT ck_mails_due CHECK ((state = 0) = (due_at IS NOT NULL)),
         CONSTRAINT ck_mails_lease CHECK (lease_token IS NULL OR state = 0),
         CONSTRAINT ck_mails_sent CHECK ((state = 1) = (sent_at IS NOT NULL))",
    )],
    // A comparison with a nullable column implies that it is not null, so queries need not repeat the condition.
    indexes: &[
        "CREATE INDEX ix_mails_due ON mails (due_at, id) WHERE due_at IS NOT NULL",
        "CREATE INDEX ix_mails_settled ON mails (created_at, id) WHERE due_at IS NULL",
        "CREATE INDEX ix_mails_workspace ON mails (workspace_id, created_at, id)",
    ],
    statements: &[],
    ..Migration::EMPTY
};
