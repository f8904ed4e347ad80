//! Removes the foreign key of attempts, since PostgreSQL would have to look for attempts in every partition to delete a delivery.
//! PostgreSQL only.

use sea_orm::DbBackend;

use crate::definition::{Migration, Phase};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0026_attempts_without_key",
    floor: 20,
    phase: Phase::Contract,
    statements: &[
        // In the order in which workers lock them, so that the migration and a worker do not wait for each other.
        "LOCK TABLE webhook_deliveries, webhook_attempts IN ACCESS EXCLUSIVE MODE",
        "ALTER TABLE webhook_attempts DROP CONSTRAINT fk_webhook_attempts_delivery",
    ],
    only: Some(DbBackend::Postgres),
    ..Migration::EMPTY
};
