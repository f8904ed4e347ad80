//! A column of held deliveries with the time at which they were due before they were held. When the subscription is enabled again,
//! they are due at this time, or at once if it has passed.

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
