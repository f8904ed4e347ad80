//! What the server stores about itself, its processes, its requests and the change feed.
//!
//! The tables of requests have no foreign keys: rows of many workspaces are inserted together, and a deleted workspace
//! must not make the whole insert fail. Rows of deleted workspaces are deleted when they are old.

use crate::definition::{Storage, TableDefinition};

/// A value with a name, such as the floor of the schema.
pub(super) const SERVER_STATE: TableDefinition = TableDefinition::keyed(
    "server_state",
    "name TEXT NOT NULL,
     value TEXT NOT NULL,
     CONSTRAINT pk_server_state PRIMARY KEY (name)",
    &[],
);

/// A running process and its last heartbeat. The leases of a process that died are released before they expire. One
/// process of each role runs the maintenance jobs, and a rotation of the master key is refused while a running process
/// does not have the new one.
pub(super) const PROCESSES: TableDefinition = TableDefinition::queue(
    "processes",
    "id BIGINT PRIMARY KEY,
     heartbeat_at BIGINT NOT NULL,
     serves BOOLEAN NOT NULL DEFAULT FALSE,
     runs_worker BOOLEAN NOT NULL DEFAULT FALSE,
     connections BIGINT NOT NULL DEFAULT 0,
     master_keys TEXT NOT NULL DEFAULT ''",
    &[],
);

/// A change of the change feed that was applied, so that it is applied once. Refers to the workspace by its key and
/// without a foreign key, because a `workspace.upsert` change creates the workspace.
pub(super) const APPLIED_CHANGES: TableDefinition = TableDefinition::keyed(
    "applied_changes",
    "workspace_key TEXT NOT NULL,
     change_id TEXT NOT NULL,
     applied_at BIGINT NOT NULL,
     CONSTRAINT pk_applied_changes PRIMARY KEY (workspace_key, change_id)",
    &["CREATE INDEX ix_applied_changes_applied ON applied_changes (applied_at)"],
);

/// A request in the log of a workspace.
pub(super) const API_REQUESTS: TableDefinition = TableDefinition {
    name: "api_requests",
    columns: "id UUID NOT NULL,
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
        received_at BIGINT NOT NULL",
    storage: Storage::Daily {
        time: "received_at",
        sqlite: "CONSTRAINT pk_api_requests PRIMARY KEY (id)",
        postgres: "CONSTRAINT pk_api_requests PRIMARY KEY (id, received_at)",
    },
    indexes: &[
        "CREATE INDEX ix_api_requests_received ON api_requests (workspace_id, received_at, id)",
        "CREATE INDEX ix_api_requests_key ON api_requests (key_id, received_at, id)",
        "CREATE INDEX ix_api_requests_request ON api_requests (workspace_id, request_id)",
        // Failures are few and often searched. With more columns in the index, SQLite would prefer the index of all requests.
        "CREATE INDEX ix_api_requests_failed ON api_requests (workspace_id, received_at, id, status) WHERE status >= 400",
    ],
};

/// The requests of a workspace on a day: `limited` counts those with status 429, and `refused` the others with a status
/// from 400 to 499.
pub(super) const API_REQUEST_DAYS: TableDefinition = TableDefinition::keyed(
    "api_request_days",
    "workspace_id UUID NOT NULL,
     day BIGINT NOT NULL,
     succeeded BIGINT NOT NULL,
     refused BIGINT NOT NULL,
     limited BIGINT NOT NULL,
     failed BIGINT NOT NULL,
     CONSTRAINT pk_api_request_days PRIMARY KEY (workspace_id, day)",
    &["CREATE INDEX ix_api_request_days_day ON api_request_days (day)"],
);
