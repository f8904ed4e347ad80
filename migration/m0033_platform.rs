//! Tokens of the platform, and links that sign a person in to the dashboard. Times are milliseconds since the epoch.

use crate::definition::{Migration, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0033_platform",
    floor: 30,
    // Events that test a webhook are not in the event feed.
    added_columns: &[("events", "is_test BOOLEAN NOT NULL DEFAULT FALSE")],
    tables: &[
        TableDefinition::heap(
            "platform_tokens",
            "id UUID NOT NULL,
             name TEXT NOT NULL,
             scopes TEXT NOT NULL,
             secret_hash BYTES NOT NULL,
             last4 TEXT NOT NULL,
             created_at BIGINT NOT NULL,
             last_used_at BIGINT,
             expires_at BIGINT,
             revoked_at BIGINT,
             CONSTRAINT pk_platform_tokens PRIMARY KEY (id),
             CONSTRAINT uq_platform_tokens_secret UNIQUE (secret_hash),
             CONSTRAINT ck_platform_tokens_secret CHECK (length(secret_hash) = 32)",
        ),
        TableDefinition::heap(
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
        ),
    ],
    indexes: &[
        "CREATE INDEX ix_sign_in_links_user ON sign_in_links (user_id)",
        "CREATE INDEX ix_sign_in_links_workspace ON sign_in_links (workspace_id)",
        "CREATE INDEX ix_sign_in_links_expires ON sign_in_links (expires_at)",
    ],
    ..Migration::EMPTY
};
