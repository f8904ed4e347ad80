//! Partitions `api_requests` by UTC day, so that the rows of a day are deleted by dropping a table. The existing table becomes the first
//! partition, `api_requests_history`. PostgreSQL only.
//!
//! The transaction reads no rows, since `m0028_check_first_partitions` has read them. Servers create the later partitions, so older
//! binaries cannot run on this schema.

use sea_orm::DbBackend;

use crate::definition::{Migration, Phase};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0029_partition_requests",
    floor: 30,
    phase: Phase::Contract,
    statements: &[
        "ALTER TABLE api_requests RENAME TO api_requests_history",
        "ALTER TABLE api_requests_history
             DROP CONSTRAINT pk_api_requests,
             ADD CONSTRAINT pk_api_requests_history PRIMARY KEY USING INDEX uq_api_requests_day",
        "ALTER INDEX ix_api_requests_received RENAME TO ix_api_requests_history_received",
        "ALTER INDEX ix_api_requests_key RENAME TO ix_api_requests_history_key",
        "ALTER INDEX ix_api_requests_request RENAME TO ix_api_requests_history_request",
        "ALTER INDEX ix_api_requests_failed RENAME TO ix_api_requests_history_failed",
        "CREATE TABLE api_requests (
             LIKE api_requests_history,
             CONSTRAINT pk_api_requests PRIMARY KEY (id, received_at)
         ) PARTITION BY RANGE (received_at)",
        "CREATE INDEX ix_api_requests_received ON api_requests (workspace_id, received_at, id)",
        "CREATE INDEX ix_api_requests_key ON api_requests (key_id, received_at, id)",
        "CREATE INDEX ix_api_requests_request ON api_requests (workspace_id, request_id)",
        "CREATE INDEX ix_api_requests_failed ON api_requests (workspace_id, received_at, id, status) WHERE status >= 400",
        "DO $$
         BEGIN
             EXECUTE (SELECT format('ALTER TABLE api_requests ATTACH PARTITION api_requests_history
                 FOR VALUES FROM (MINVALUE) TO (%s)', substring(pg_get_constraintdef(oid) FROM '[0-9]{13,}'))
                 FROM pg_constraint
                 WHERE conrelid = 'api_requests_history'::regclass AND conname = 'ck_first_partition_end');
         END $$",
        "ALTER TABLE api_requests_history DROP CONSTRAINT ck_first_partition_end",
    ],
    only: Some(DbBackend::Postgres),
    ..Migration::EMPTY
};
