//! Workspaces, their users and API keys, and values that the server stores about itself.
//!
//! Times are milliseconds since the epoch.

use crate::definition::{Migration, Phase, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0001_workspaces",
    floor: 0,
    phase: Phase::Expand,
    added_columns: &[],
    tables: &[
        TableDefinition::heap(
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
        ),
        TableDefinition::heap(
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
        ),
        TableDefinition::heap(
            "api_keys",
            "id UUID NOT NULL,
             workspace_id UUID NOT NULL,
             name TEXT NOT NULL,
             scopes TEXT NOT NULL,
             secret_hash BYTES NOT NULL,
             prefix TEXT NOT NULL,
             last4 TEXT NOT NULL,
             per_minute INTEGER,
             per_day INTEGER,
             created_at BIGINT NOT NULL,
             last_used_at BIGINT,
             expires_at BIGINT,
             revoked_at BIGINT,
             CONSTRAINT pk_api_keys PRIMARY KEY (id),
             CONSTRAINT fk_api_keys_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE,
             CONSTRAINT uq_api_keys_secret UNIQUE (secret_hash),
             CONSTRAINT ck_api_keys_secret CHECK (length(secret_hash) = 32),
             CONSTRAINT ck_api_keys_per_minute CHECK (per_minute >= 1),
             CONSTRAINT ck_api_keys_per_day CHECK (per_day >= 1)",
        ),
        TableDefinition::keyed(
            "server_state",
            "name TEXT NOT NULL,
             value TEXT NOT NULL,
             CONSTRAINT pk_server_state PRIMARY KEY (name)",
        ),
    ],
    indexes: &[
        "CREATE INDEX ix_users_email ON users (email_folded)",
        "CREATE INDEX ix_api_keys_workspace ON api_keys (workspace_id, created_at, id)",
        "CREATE INDEX ix_api_keys_revoked ON api_keys (revoked_at) WHERE revoked_at IS NOT NULL",
    ],
    statements: &[],
    ..Migration::EMPTY
};
