//! Marks the events that test a webhook. Those that servers of the previous release write during an upgrade stay unmarked, so they
//! are in the event feed.

use crate::definition::{Backfill, Migration};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0034_test_events",
    floor: 30,
    backfill: Some(Backfill {
        table: "webhook_deliveries",
        key: "id",
        statement: "UPDATE events SET is_test = TRUE
            WHERE id IN (SELECT event_id FROM webhook_deliveries WHERE origin = 3 AND {batch})",
    }),
    ..Migration::EMPTY
};
