//! Reads two tables to prove that they have no row after the end of their first partitions. Other transactions read and write them
//! meanwhile. PostgreSQL only.

use sea_orm::DbBackend;

use crate::definition::{Migration, Phase};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0028_check_first_partitions",
    floor: 30,
    phase: Phase::Contract,
    statements: &[
        "ALTER TABLE api_requests VALIDATE CONSTRAINT ck_first_partition_end",
        "ALTER TABLE webhook_attempts VALIDATE CONSTRAINT ck_first_partition_end",
    ],
    only: Some(DbBackend::Postgres),
    ..Migration::EMPTY
};
