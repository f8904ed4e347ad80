//! Partitions `api_requests` and `webhook_attempts` by UTC day, so that the rows of a day are deleted by dropping a table.
//! PostgreSQL only.
//!
//! The existing table becomes the first partition, whose name ends with `_history`. It has no start, and ends at least one
//! day after the migration. Servers and workers create the later partitions, so older binaries cannot run on this schema.
//!
//! The migration reads each table twice while it is locked. `webhook_attempts` loses its foreign key, since PostgreSQL would have to look
//! for attempts in every partition to delete a delivery.

use sea_orm::DbBackend;

use crate::definition::{Migration, Phase};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0026_partitions",
    floor: 24,
    phase: Phase::Contract,
    statements: &[
        "ALTER TABLE api_requests RENAME TO api_requests_history",
        "ALTER TABLE api_requests_history
             DROP CONSTRAINT pk_api_requests,
             ADD CONSTRAINT pk_api_requests_history PRIMARY KEY USING INDEX uq_api_requests_history",
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
        "ALTER TABLE webhook_attempts RENAME TO webhook_attempts_history",
        "ALTER TABLE webhook_attempts_history
             DROP CONSTRAINT fk_webhook_attempts_delivery,
             DROP CONSTRAINT pk_webhook_attempts,
             ADD CONSTRAINT pk_webhook_attempts_history PRIMARY KEY USING INDEX uq_webhook_attempts_history",
        "ALTER INDEX ix_webhook_attempts_delivery RENAME TO ix_webhook_attempts_history_delivery",
        "CREATE TABLE webhook_attempts (
             LIKE webhook_attempts_history,
             CONSTRAINT pk_webhook_attempts PRIMARY KEY (id, ended_at)
         ) PARTITION BY RANGE (ended_at)",
        "CREATE INDEX ix_webhook_attempts_delivery ON webhook_attempts (delivery_id, number)",
        // The end is a whole day, after the newest row and after tomorrow.
        "DO $$
         DECLARE
             now_ms CONSTANT BIGINT := extract(epoch FROM clock_timestamp()) * 1000;
             day_ms CONSTANT BIGINT := 86400000;
             attach CONSTANT TEXT := 'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%s)';
             newest BIGINT;
         BEGIN
             SELECT greatest(now_ms, max(received_at)) INTO newest FROM api_requests_history;
             EXECUTE format(attach, 'api_requests', 'api_requests_history', (newest / day_ms + 2) * day_ms);
             SELECT greatest(now_ms, max(ended_at)) INTO newest FROM webhook_attempts_history;
             EXECUTE format(attach, 'webhook_attempts', 'webhook_attempts_history', (newest / day_ms + 2) * day_ms);
         END $$",
    ],
    only: Some(DbBackend::Postgres),
    ..Migration::EMPTY
};
