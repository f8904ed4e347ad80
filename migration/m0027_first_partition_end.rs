//! Limits the rows of two tables to the days before an end, eight days after the migration. The existing tables become the first
//! partitions, which end there. PostgreSQL only.
//!
//! Existing rows are not checked yet, so that the tables are locked only briefly. If `m0029` and `m0030` are not applied within a week,
//! PostgreSQL rejects new rows.

use sea_orm::DbBackend;

use crate::definition::{Migration, Phase};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0027_first_partition_end",
    floor: 30,
    phase: Phase::Contract,
    statements: &["DO $$
         DECLARE
             day_ms CONSTANT BIGINT := 86400000;
             end_ms CONSTANT BIGINT := (floor(extract(epoch FROM clock_timestamp()) * 1000 / day_ms) + 9) * day_ms;
             add_end CONSTANT TEXT := 'ALTER TABLE %I ADD CONSTRAINT ck_first_partition_end CHECK (%I < %s) NOT VALID';
         BEGIN
             EXECUTE format(add_end, 'api_requests', 'received_at', end_ms);
             EXECUTE format(add_end, 'webhook_attempts', 'ended_at', end_ms);
         END $$"],
    only: Some(DbBackend::Postgres),
    ..Migration::EMPTY
};
