//! The database migrations of this server.
//!
//! Each migration is a file, which is not changed after its release. Migrations do not use the crate `entity`, because
//! it describes only the newest tables. In all tables, times are milliseconds since the epoch.
//!
//! A [`Migrator`] compares the database with the migrations of this binary, and applies them. `foundation::database` decides
//! about transactions, locks and retries.

mod backfill;
mod definition;
mod m0001_workspaces;
mod m0002_courses;
mod m0003_students;
mod m0004_orders;
mod m0005_enrollments;
mod m0006_live_sessions;
mod m0007_limits;
mod m0008_events;
mod m0009_rollups;
mod m0010_deliveries;
mod m0011_mail;
mod m0012_identity;
mod m0013_requests;
mod m0014_shards;
mod m0015_resumes;
mod m0016_quarters;
mod m0017_key_quotas;
mod m0018_sign_ins;
mod m0019_fair_queue;
mod m0020_grants;
mod m0021_processes;
mod m0022_rate_windows;
mod m0023_process_roles;
mod m0024_retention;
mod m0025_day_keys;
mod m0026_attempts_without_key;
mod m0027_first_partition_end;
mod m0028_check_first_partitions;
mod m0029_partition_requests;
mod m0030_partition_attempts;
mod m0031_trace_context;
mod m0032_process_keys;
mod m0033_platform;
mod m0034_test_events;
mod m0035_recording_clock;
mod m0036_requested_links;
mod migrator;
mod records;

pub use definition::{Backfill, Migration, Phase, TableDefinition, index_and_table};
pub use migrator::{MigrationStatus, Migrator, OutOfOrder, StepOutcome, apply_step, next};
pub use records::record;

/// All migrations, oldest first.
pub const MIGRATIONS: &[Migration] = &[
    m0001_workspaces::MIGRATION,
    m0002_courses::MIGRATION,
    m0003_students::MIGRATION,
    m0004_orders::MIGRATION,
    m0005_enrollments::MIGRATION,
    m0006_live_sessions::MIGRATION,
    m0007_limits::MIGRATION,
    m0008_events::MIGRATION,
    m0009_rollups::MIGRATION,
    m0010_deliveries::MIGRATION,
    m0011_mail::MIGRATION,
    m0012_identity::MIGRATION,
    m0013_requests::MIGRATION,
    m0014_shards::MIGRATION,
    m0015_resumes::MIGRATION,
    m0016_quarters::MIGRATION,
    m0017_key_quotas::MIGRATION,
    m0018_sign_ins::MIGRATION,
    m0019_fair_queue::MIGRATION,
    m0020_grants::MIGRATION,
    m0021_processes::MIGRATION,
    m0022_rate_windows::MIGRATION,
    m0023_process_roles::MIGRATION,
    m0024_retention::MIGRATION,
    m0025_day_keys::MIGRATION,
    m0026_attempts_without_key::MIGRATION,
    m0027_first_partition_end::MIGRATION,
    m0028_check_first_partitions::MIGRATION,
    m0029_partition_requests::MIGRATION,
    m0030_partition_attempts::MIGRATION,
    m0031_trace_context::MIGRATION,
    m0032_process_keys::MIGRATION,
    m0033_platform::MIGRATION,
    m0034_test_events::MIGRATION,
    m0035_recording_clock::MIGRATION,
    m0036_requested_links::MIGRATION,
];
