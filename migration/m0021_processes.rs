//! Heartbeats of processes, so that the leases of a process that died can be released before they expire.
//!
//! Times are milliseconds since the epoch.

use crate::definition::{Migration, Phase, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0021_processes",
    floor: 20,
    phase: Phase::Expand,
    added_columns: &[],
    tables: &[TableDefinition::queue("processes", "id BIGINT PRIMARY KEY, heartbeat_at BIGINT NOT NULL")],
    indexes: &[],
    statements: &[],
    ..Migration::EMPTY
};
