//! The primary keys that `m0026_partitions` needs. PostgreSQL only.

use sea_orm::DbBackend;

use crate::definition::{Migration, Phase};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0025_partition_keys",
    floor: 20,
    phase: Phase::Contract,
    concurrent_indexes: &[
        "CREATE UNIQUE INDEX uq_api_requests_history ON api_requests (id, received_at)",
        "CREATE UNIQUE INDEX uq_webhook_attempts_history ON webhook_attempts (id, ended_at)",
    ],
    only: Some(DbBackend::Postgres),
    ..Migration::EMPTY
};
