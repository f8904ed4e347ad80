//! Fair scheduling across workspaces: an index to find the workspaces and subscriptions with pending deliveries, and
//! the table of fan-outs, from which the deliveries of an event with many subscriptions are written in batches.
//!
//! Times are milliseconds since the epoch.

use crate::definition::{Migration, Phase, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0019_fair_queue",
    floor: 0,
    phase: Phase::Expand,
    added_columns: &[],
    tables: &[TableDefinition::heap(
        "webhook_fanouts",
        // `subscriptions` contains the concatenated ids of the subscriptions.
        "event_id UUID NOT NULL,
         workspace_id UUID NOT NULL,
         due_at BIGINT NOT NULL,
         subscriptions BYTES NOT NULL,
         CONSTRAINT pk_webhook_fanouts PRIMARY KEY (event_id),
         CONSTRAINT fk_webhook_fanouts_event FOREIGN KEY (event_id) REFERENCES events (id) ON DELETE CASCADE",
    )],
    indexes: &[
        // The condition on `attempts` is always true. Statements that do not contain it cannot use this index. With
        // stale statistics, PostgreSQL would otherwise prefer it to the larger index of the queue and read all pending
        // deliveries.
        "CREATE INDEX ix_webhook_deliveries_waiting ON webhook_deliveries (workspace_id, subscription_id)
             WHERE state = 0 AND attempts >= 0",
        "CREATE INDEX ix_webhook_fanouts_workspace ON webhook_fanouts (workspace_id, event_id)",
    ],
    statements: &[],
    ..Migration::EMPTY
};
