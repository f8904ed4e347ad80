//! The mail queue.

use crate::definition::TableDefinition;

/// A message. Its content is deleted once it is sent or dead-lettered. The states are 0 pending, 1 sent and 2 dead.
/// `due_at` is when the mail is due, or when the current lease expires.
pub(super) const MAILS: TableDefinition = TableDefinition::heap(
    "mails",
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
    &[
        "CREATE INDEX ix_mails_due ON mails (due_at, id) WHERE due_at IS NOT NULL",
        "CREATE INDEX ix_mails_settled ON mails (created_at, id) WHERE due_at IS NULL",
        "CREATE INDEX ix_mails_workspace ON mails (workspace_id, created_at, id)",
    ],
);
