//! The index with which the events of a workspace are read in the order of the event feed.

use crate::definition::Migration;

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0054_event_order",
    floor: 37,
    concurrent_indexes: &["CREATE INDEX ix_events_order ON events (workspace_id, id)"],
    ..Migration::EMPTY
};
