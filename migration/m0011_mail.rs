//! The mail to be sent: each row is a message with all of its text, and the queue itself.

use crate::step::{Step, Table};

pub(crate) const STEP: Step = Step {
    name: "m0011_mail",
    added: &[],
    tables: &[Table::heap(
        "mails",
        // State: 0 pending, 1 sent, 2 dead. Due: when a worker may take it, or the end of the lease of one that has.
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
    // A comparison with a nullable column implies that it is not null, so the queries need not repeat it.
    indexes: &[
        "CREATE INDEX ix_mails_due ON mails (due_at, id) WHERE due_at IS NOT NULL",
        "CREATE INDEX ix_mails_settled ON mails (created_at, id) WHERE due_at IS NULL",
        "CREATE INDEX ix_mails_workspace ON mails (workspace_id, created_at, id)",
    ],
    statements: &[],
};
