//! Dashboard sessions, password links, and the audit log. Times are milliseconds since the epoch.

use crate::definition::{Migration, Phase, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0012_identity",
    floor: 0,
    phase: Phase::Expand,
    added_columns: &[],
    tables: &[
        TableDefinition::heap(
            "sessions",
            "id UUID NOT NULL,
             workspace_id UUID NOT NULL,
             user_id UUID NOT NULL,
             token_hash BYTES NOT NULL,
             address TEXT NOT NULL,
             agent TEXT NOT NULL,
             created_at BIGINT NOT NULL,
             seen_at BIGINT NOT NULL,
             CONSTRAINT pk_sessions PRIMARY KEY (id),
             CONSTRAINT fk_sessions_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE,
             CONSTRAINT fk_sessions_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
             CONSTRAINT uq_sessions_token UNIQUE (token_hash),
             CONSTRAINT ck_sessions_token CHECK (length(token_hash) = 32)",
        ),
        TableDefinition::heap(
            "password_links",
            "id UUID NOT NULL,
             workspace_id UUID NOT NULL,
             user_id UUID NOT NULL,
             token_hash BYTES NOT NULL,
             created_at BIGINT NOT NULL,
             expires_at BIGINT NOT NULL,
             CONSTRAINT pk_password_links PRIMARY KEY (id),
             CONSTRAINT fk_password_links_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
                 ON DELETE CASCADE,
             CONSTRAINT fk_password_links_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
             CONSTRAINT uq_password_links_token UNIQUE (token_hash),
             CONSTRAINT ck_password_links_token CHECK (length(token_hash) = 32)",
        ),
        // Audit entries outlive the user and the record, so they contain names and have no foreign keys on these.
        TableDefinition::heap(
            "audit_entries",
            "id UUID NOT NULL,
             workspace_id UUID NOT NULL,
             user_id UUID,
             actor TEXT NOT NULL,
             action TEXT NOT NULL,
             subject TEXT NOT NULL,
             detail TEXT NOT NULL,
             address TEXT NOT NULL,
             form BYTES,
             created_at BIGINT NOT NULL,
             CONSTRAINT pk_audit_entries PRIMARY KEY (id),
             CONSTRAINT fk_audit_entries_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
                 ON DELETE CASCADE",
        ),
    ],
    indexes: &[
        "CREATE INDEX ix_sessions_user ON sessions (user_id, seen_at)",
        "CREATE INDEX ix_sessions_seen ON sessions (seen_at)",
        "CREATE INDEX ix_password_links_user ON password_links (user_id)",
        "CREATE INDEX ix_password_links_expires ON password_links (expires_at)",
        "CREATE INDEX ix_audit_entries_created ON audit_entries (workspace_id, created_at, id)",
        // The token of a form that may be submitted only once; the unique index rejects a second submission.
        "CREATE UNIQUE INDEX uq_audit_entries_form ON audit_entries (workspace_id, form) WHERE form IS NOT NULL",
    ],
    statements: &[],
    ..Migration::EMPTY
};
