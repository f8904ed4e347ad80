//! Partitions `webhook_attempts` by UTC day, as `m0029_partition_requests` does for the log of requests. PostgreSQL only.

use sea_orm::DbBackend;

use crate::definition::{Migration, Phase};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0030_partition_attempts",
    floor: 30,
    phase: Phase::Contract,
    statements: &[
        "ALTER TABLE webhook_attempts RENAME TO webhook_attempts_history",
        "ALTER TABLE webhook_attempts_history
             DROP CONSTRAINT pk_webhook_attempts,
             ADD CONSTRAINT pk_webhook_attempts_history PRIMARY KEY USING INDEX uq_webhook_attempts_day",
        "ALTER INDEX ix_webhook_attempts_delivery RENAME TO ix_webhook_attempts_history_delivery",
        "CREATE TABLE webhook_attempts (
             LIKE webhook_attempts_history,
             CONSTRAINT pk_webhook_attempts PRIMARY KEY (id, ended_at)
         ) PARTITION BY RANGE (ended_at)",
        "CREATE INDEX ix_webhook_attempts_delivery ON webhook_attempts (delivery_id, number)",
        "DO $$
         BEGIN
             EXECUTE (SELECT format('ALTER TABLE webhook_attempts ATTACH PARTITION webhook_attempts_history
                 FOR VALUES FROM (MINVALUE) TO (%s)', substring(pg_get_constraintdef(oid) FROM '[0-9]{13,}'))
                 FROM pg_constraint
                 WHERE conrelid = 'webhook_attempts_history'::regclass AND conname = 'ck_first_partition_end');
         END $$",
        "ALTER TABLE webhook_attempts_history DROP CONSTRAINT ck_first_partition_end",
    ],
    only: Some(DbBackend::Postgres),
    ..Migration::EMPTY
};
