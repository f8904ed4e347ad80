//! Applied changes, idempotency records, and daily counts of the rate limiter. Times are milliseconds since the epoch.

use crate::definition::{Migration, Phase, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0007_limits",
    floor: 0,
    phase: Phase::Expand,
    added_columns: &[],
    tables: &[
        // Refers to the workspace by its key and without a foreign key, because a `workspace.upsert` change creates the
        // workspace.
        TableDefinition::keyed(
            "applied_changes",
            "workspace_key TEXT NOT NULL,
             change_id TEXT NOT NULL,
             applied_at BIGINT NOT NULL,
             CONSTRAINT pk_applied_changes PRIMARY KEY (workspace_key, change_id)",
        ),
        TableDefinition::heap(
            "idempotency_records",
            "api_key_id UUID NOT NULL,
             idempotency_key TEXT NOT NULL,
             fingerprint BYTES NOT NULL,
             state TEXT NOT NULL,
             claim_token UUID NOT NULL,
             claimed_until BIGINT NOT NULL,
             status INTEGER,
             headers TEXT,
             body BYTES,
             created_at BIGINT NOT NULL,
             expires_at BIGINT NOT NULL,
             CONSTRAINT pk_idempotency_records PRIMARY KEY (api_key_id, idempotency_key),
             CONSTRAINT fk_idempotency_records_key FOREIGN KEY (api_key_id) REFERENCES api_keys (id)
                 ON DELETE CASCADE,
             CONSTRAINT ck_idempotency_records_fingerprint CHECK (length(fingerprint) = 32),
             CONSTRAINT ck_idempotency_records_state CHECK (state IN ('running', 'done')),
             CONSTRAINT ck_idempotency_records_answer CHECK (state = 'running' OR status IS NOT NULL)",
        ),
        // There is no foreign key, because a subject is the id of an API key as text.
        TableDefinition::keyed(
            "rate_usage",
            "subject TEXT NOT NULL,
             day BIGINT NOT NULL,
             used BIGINT NOT NULL,
             CONSTRAINT pk_rate_usage PRIMARY KEY (subject, day)",
        ),
    ],
    indexes: &[
        "CREATE INDEX ix_idempotency_records_expiry ON idempotency_records (expires_at)",
        "CREATE INDEX ix_rate_usage_day ON rate_usage (day)",
    ],
    statements: &[],
    ..Migration::EMPTY
};
