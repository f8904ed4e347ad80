//! The column with the end of the delay before the next attempt at a held delivery. The delay continues while the
//! subscription is paused.

use crate::definition::{Migration, Phase};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0015_resumes",
    floor: 0,
    phase: Phase::Expand,
    added_columns: &[("webhook_deliveries", "resumes_at BIGINT")],
    tables: &[],
    indexes: &[],
    statements: &[],
    ..Migration::EMPTY
};
