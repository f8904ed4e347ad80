//! Events are read in the order of their ids, which contain the time. Each index by time costs a write per event.

use crate::definition::{Migration, Phase};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0059_event_indexes",
    // Older programs run on it; only the dry run of a filter is slow there.
    floor: 37,
    phase: Phase::Contract,
    statements: &["DROP INDEX ix_events_created", "DROP INDEX ix_events_workspace"],
    ..Migration::EMPTY
};
