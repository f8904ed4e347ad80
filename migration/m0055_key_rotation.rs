//! The old secrets of rotated API keys.
//!
//! The current secret stays in `api_keys`, so that the previous release, which knows no other one, accepts it. A rotation moves the
//! secret that it replaces into this table. One row per key allows at most two valid secrets.

use crate::definition::{Migration, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0055_key_rotation",
    floor: 37,
    tables: &[
        // The secret that the last rotation of a key replaced. Only its hash is stored. The row stays after `expires_at`, until the
        // next rotation replaces it.
        TableDefinition::heap(
            "old_key_secrets",
            "key_id UUID NOT NULL,
             secret_hash BYTES NOT NULL,
             prefix TEXT NOT NULL,
             last4 TEXT NOT NULL,
             replaced_at BIGINT NOT NULL,
             expires_at BIGINT NOT NULL,
             CONSTRAINT pk_old_key_secrets PRIMARY KEY (key_id),
             CONSTRAINT fk_old_key_secrets_key FOREIGN KEY (key_id) REFERENCES api_keys (id) ON DELETE CASCADE,
             CONSTRAINT uq_old_key_secrets_secret UNIQUE (secret_hash),
             CONSTRAINT ck_old_key_secrets_secret CHECK (length(secret_hash) = 32)",
            &["CREATE INDEX ix_old_key_secrets_replaced ON old_key_secrets (replaced_at)"],
        ),
    ],
    ..Migration::EMPTY
};
