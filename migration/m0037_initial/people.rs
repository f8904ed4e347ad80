//! Workspaces and the people who use their dashboards.

use crate::definition::TableDefinition;

/// A school, with its data separate from that of all others. `key` is the id of the platform. Without a quota, the
/// defaults of the server apply.
pub(super) const WORKSPACES: TableDefinition = TableDefinition::heap(
    "workspaces",
    "id UUID NOT NULL,
     key TEXT NOT NULL,
     name TEXT NOT NULL,
     owner_email TEXT NOT NULL,
     per_minute INTEGER,
     per_day INTEGER,
     created_at BIGINT NOT NULL,
     updated_at BIGINT NOT NULL,
     CONSTRAINT pk_workspaces PRIMARY KEY (id),
     CONSTRAINT uq_workspaces_key UNIQUE (key),
     CONSTRAINT ck_workspaces_per_minute CHECK (per_minute >= 1),
     CONSTRAINT ck_workspaces_per_day CHECK (per_day >= 1)",
    &[],
);

/// A person who signs in to the dashboard of a workspace. `email_folded` is the address in lowercase. Without a
/// password, the user signs in with a link of the platform, or chooses a password with a password link.
pub(super) const USERS: TableDefinition = TableDefinition::heap(
    "users",
    "id UUID NOT NULL,
     workspace_id UUID NOT NULL,
     email TEXT NOT NULL,
     email_folded TEXT NOT NULL,
     name TEXT,
     password_hash TEXT,
     created_at BIGINT NOT NULL,
     updated_at BIGINT NOT NULL,
     CONSTRAINT pk_users PRIMARY KEY (id),
     CONSTRAINT fk_users_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE,
     CONSTRAINT uq_users_email UNIQUE (workspace_id, email_folded)",
    &["CREATE INDEX ix_users_email ON users (email_folded)"],
);

/// A browser in which a user is signed in. Contains only the hash of the token in its cookie.
pub(super) const SESSIONS: TableDefinition = TableDefinition::heap(
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
    &[
        "CREATE INDEX ix_sessions_user ON sessions (user_id, seen_at)",
        "CREATE INDEX ix_sessions_seen ON sessions (seen_at)",
    ],
);

/// A link with which a user chooses a password, once. `is_requested` marks those that the person requested on the
/// sign-in page.
pub(super) const PASSWORD_LINKS: TableDefinition = TableDefinition::heap(
    "password_links",
    "id UUID NOT NULL,
     workspace_id UUID NOT NULL,
     user_id UUID NOT NULL,
     token_hash BYTES NOT NULL,
     created_at BIGINT NOT NULL,
     expires_at BIGINT NOT NULL,
     is_requested BOOLEAN NOT NULL DEFAULT FALSE,
     CONSTRAINT pk_password_links PRIMARY KEY (id),
     CONSTRAINT fk_password_links_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
         ON DELETE CASCADE,
     CONSTRAINT fk_password_links_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
     CONSTRAINT uq_password_links_token UNIQUE (token_hash),
     CONSTRAINT ck_password_links_token CHECK (length(token_hash) = 32)",
    &[
        "CREATE INDEX ix_password_links_user ON password_links (user_id)",
        "CREATE INDEX ix_password_links_expires ON password_links (expires_at)",
    ],
);

/// A link of the platform that signs a user in to the dashboard, once.
pub(super) const SIGN_IN_LINKS: TableDefinition = TableDefinition::heap(
    "sign_in_links",
    "id UUID NOT NULL,
     workspace_id UUID NOT NULL,
     user_id UUID NOT NULL,
     token_hash BYTES NOT NULL,
     expires_at BIGINT NOT NULL,
     CONSTRAINT pk_sign_in_links PRIMARY KEY (id),
     CONSTRAINT fk_sign_in_links_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
         ON DELETE CASCADE,
     CONSTRAINT fk_sign_in_links_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
     CONSTRAINT uq_sign_in_links_token UNIQUE (token_hash),
     CONSTRAINT ck_sign_in_links_token CHECK (length(token_hash) = 32)",
    &[
        "CREATE INDEX ix_sign_in_links_user ON sign_in_links (user_id)",
        "CREATE INDEX ix_sign_in_links_workspace ON sign_in_links (workspace_id)",
        "CREATE INDEX ix_sign_in_links_expires ON sign_in_links (expires_at)",
    ],
);

/// A change in a workspace, with who made it. Entries outlive the user and the record, so they contain names and have
/// no foreign keys on these.
pub(super) const AUDIT_ENTRIES: TableDefinition = TableDefinition::heap(
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
    &[
        "CREATE INDEX ix_audit_entries_created ON audit_entries (workspace_id, created_at, id)",
        // The token of a form that may be submitted only once; the unique index rejects a second submission.
        "CREATE UNIQUE INDEX uq_audit_entries_form ON audit_entries (workspace_id, form) WHERE form IS NOT NULL",
        "CREATE INDEX ix_audit_entries_action ON audit_entries (workspace_id, action, user_id, created_at)",
    ],
);
