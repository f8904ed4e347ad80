//! The log of API requests, its daily counts, and an index for a dashboard page. In the daily counts, `limited` counts
//! the requests with status 429, and `refused` the other requests with a status from 400 to 499.
//!
//! The tables have no foreign keys: rows of many workspaces are inserted together, and a deleted workspace must not
//! make the whole insert fail. Rows of deleted workspaces are deleted when they are old.
//!
//! Times are milliseconds since the epoch.

use crate::definition::{Migration, Phase, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0013_requests",
    floor: 0,
    phase: Phase::Expand,
    added_columns: &[],
    tables: &[
        TableDefinition::heap(
            "api_requests",
            "id UUID NOT NULL,
             workspace_id UUID NOT NULL,
             key_id UUID NOT NULL,
             request_id TEXT NOT NULL,
             operation TEXT,
             method TEXT NOT NULL,
             target TEXT NOT NULL,
             status INTEGER NOT NULL,
             duration_us BIGINT NOT NULL,
             address TEXT NOT NULL,
             headers TEXT NOT NULL,
             error BYTES,
             received_at BIGINT NOT NULL,
             CONSTRAINT pk_api_requests PRIMARY KEY (id)",
        ),
        TableDefinition::keyed(
            "api_request_days",
            "workspace_id UUID NOT NULL,
             day BIGINT NOT NULL,
             succeeded BIGINT NOT NULL,
             refused BIGINT NOT NULL,
             limited BIGINT NOT NULL,
             failed BIGINT NOT NULL,
             CONSTRAINT pk_api_request_days PRIMARY KEY (workspace_id, day)",
        ),
    ],
    indexes: &[
        "CREATE INDEX ix_api_requests_received ON api_requests (workspace_id, received_at, id)",
        "CREATE INDEX ix_api_requests_key ON api_requests (key_id, received_at, id)",
        "CREATE INDEX ix_api_requests_request ON api_requests (workspace_id, request_id)",
        // Failures are few and often searched. With more columns in the index, SQLite would prefer the index of all requests.
        "CREATE INDEX ix_api_requests_failed ON api_requests (workspace_id, received_at, id, status) WHERE status >= 400",
        "CREATE INDEX ix_api_request_days_day ON api_request_days (day)",
        // Used to count completed enrollments by time.
        "CREATE INDEX ix_enrollments_completed ON enrollments (workspace_id, completed_at)
             WHERE completed_at IS NOT NULL",
    ],
    statements: &[],
    ..Migration::EMPTY
};
