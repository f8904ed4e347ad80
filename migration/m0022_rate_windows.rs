//! Request counts that several processes share, for exact rate limits.
//!
//! Times are milliseconds since the epoch.

use crate::definition::{Migration, Phase, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0022_rate_windows",
    floor: 20,
    phase: Phase::Expand,
    tables: &[TableDefinition::unlogged(
        "rate_windows",
        "subject TEXT PRIMARY KEY,
        short_limit BIGINT NOT NULL,
        short_length BIGINT NOT NULL,
        short_start BIGINT NOT NULL,
        short_used BIGINT NOT NULL,
        day_limit BIGINT NOT NULL,
        day_start BIGINT NOT NULL,
        day_used BIGINT NOT NULL,
        requested BIGINT NOT NULL,
        admitted BIGINT NOT NULL",
    )],
    ..Migration::EMPTY
};
