//! API keys and tokens, and the limits of requests.

use crate::definition::TableDefinition;

/// An API key of a workspace. Contains only the hash of its secret. `operator_quota` states that the operator set
/// `per_minute` and `per_day`, so that they may exceed the quota of the workspace.
pub(super) const API_KEYS: TableDefinition = TableDefinition::heap(
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
     operator_quota BOOLEAN NOT NULL DEFAULT FALSE,
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
    &[
        "CREATE INDEX ix_api_keys_workspace ON api_keys (workspace_id, created_at, id)",
        "CREATE INDEX ix_api_keys_revoked ON api_keys (revoked_at) WHERE revoked_at IS NOT NULL",
    ],
);

/// A token with which the platform calls its API, for all workspaces. Contains only the hash of its secret.
pub(super) const PLATFORM_TOKENS: TableDefinition = TableDefinition::heap(
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
    &[],
);

/// A request with an `Idempotency-Key`: its claim while it runs, then its response, which a repeated request receives.
pub(super) const IDEMPOTENCY_RECORDS: TableDefinition = TableDefinition::heap(
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
    &["CREATE INDEX ix_idempotency_records_expiry ON idempotency_records (expires_at)"],
);

/// The number of requests of a subject on a day, so that a restart keeps the daily limits. There is no foreign key,
/// because a subject is the id of an API key as text.
pub(super) const RATE_USAGE: TableDefinition = TableDefinition::keyed(
    "rate_usage",
    "subject TEXT NOT NULL,
     day BIGINT NOT NULL,
     used BIGINT NOT NULL,
     CONSTRAINT pk_rate_usage PRIMARY KEY (subject, day)",
    &["CREATE INDEX ix_rate_usage_day ON rate_usage (day)"],
);

/// The requests of a subject in its current windows, which several processes count together for exact rate limits.
pub(super) const RATE_WINDOWS: TableDefinition = TableDefinition::unlogged(
    "rate_windows",
    "subject TEXT PRIMARY KEY,
     short_limit BIGINT NOT NULL,
     short_length BIGINT NOT NULL,
     short_start BIGINT NOT NULL,
     short_used BIGINT NOT NULL,
     day_limit BIGINT NOT NULL,
     day_start BIGINT NOT NULL,
     day_used BIGINT NOT NULL,
     requested BIGINT NOT NULL,
     admitted BIGINT NOT NULL",
    &[],
);
