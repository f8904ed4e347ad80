//! The primary keys of tables with one partition per day, which contain the time that determines the partition. PostgreSQL only.

use sea_orm::DbBackend;

use crate::definition::{Migration, Phase};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0025_day_keys",
    floor: 20,
    phase: Phase::Contract,
    concurrent_indexes: &[
        "CREATE UNIQUE INDEX uq_api_requests_day ON api_requests (id, received_at)",
        "CREATE UNIQUE INDEX uq_webhook_attempts_day ON webhook_attempts (id, ended_at)",
    ],
    only: Some(DbBackend::Postgres),
    ..Migration::EMPTY
};
