//! The database migrations of this server.
//!
//! Each migration is a file or a folder, which is not changed after its release. Migrations do not use the crate `entity`,
//! because it describes only the newest tables. In all tables, times are milliseconds since the epoch.
//!
//! A [`Migrator`] compares the database with the migrations of this binary, and applies them. `foundation::database` decides
//! about transactions, locks and retries.

mod backfill;
mod definition;
mod m0037_initial;
mod m0038_roles;
mod m0039_delivery_controls;
mod m0050_people;
mod m0051_candidate_usage;
mod m0052_deprecations;
mod m0053_key_lifecycle;
mod m0054_event_order;
mod m0055_key_rotation;
mod m0056_webhook_description;
mod m0057_sandbox;
mod m0058_sandbox_indexes;
mod m0059_event_indexes;
mod migrator;
mod records;

pub use definition::{Backfill, Migration, Phase, TableDefinition, index_and_table};
pub use migrator::{MigrationStatus, Migrator, OutOfOrder, StepOutcome, apply_step, next, unreleased};
pub use records::record;

/// All migrations, oldest first.
pub const MIGRATIONS: &[Migration] = &[
    m0037_initial::MIGRATION,
    m0038_roles::MIGRATION,
    m0039_delivery_controls::MIGRATION,
    m0050_people::MIGRATION,
    m0051_candidate_usage::MIGRATION,
    m0052_deprecations::MIGRATION,
    m0053_key_lifecycle::MIGRATION,
    m0054_event_order::MIGRATION,
    m0055_key_rotation::MIGRATION,
    m0056_webhook_description::MIGRATION,
    m0057_sandbox::MIGRATION,
    m0058_sandbox_indexes::MIGRATION,
    m0059_event_indexes::MIGRATION,
];
