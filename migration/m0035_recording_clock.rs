//! The marks of the recording clock on PostgreSQL: the highest horizon of a reader, and the reserve. SQLite stores them in
//! `server_state`. Both are milliseconds since the epoch.

use crate::definition::Migration;
use sea_orm::DbBackend;

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0035_recording_clock",
    floor: 30,
    statements: &[
        "CREATE SEQUENCE IF NOT EXISTS recording_horizon",
        "CREATE SEQUENCE IF NOT EXISTS recording_reserve",
    ],
    only: Some(DbBackend::Postgres),
    ..Migration::EMPTY
};
