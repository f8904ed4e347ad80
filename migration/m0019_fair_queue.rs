//! Fair scheduling across workspaces: an index finds workspaces with pending deliveries; all pending deliveries of one
//! subscription take one lookup. Events with many subscriptions have their deliveries written in batches.

use crate::definition::{Migration, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0019_fair_queue",
    added: &[],
    tables: &[TableDefinition::heap(
        "webhook_fanouts",
        // `subscriptions`: their ids, concatenated.
        "event_id UUID NOT NULL,
         workspace_id UUID NOT NULL,
         due_at BIGINT NOT NULL,
         subscriptions BYTES NOT NULL,
         CONSTRAINT pk_webhook_fanouts PRIMARY KEY (event_id),
         CONSTRAINT fk_webhook_fanouts_event FOREIGN KEY (event_id) REFERENCES events (id) ON DELETE CASCADE",
    )],
    indexes: &[
        // The second condition is always true. It prevents the use of this index by statements that do not contain it: with
        // stale statistics, PostgreSQL would prefer it to the larger index of the queue and read all pending deliveries in it.
        "CREATE INDEX ix_webhook_deliveries_waiting ON webhook_deliveries (workspace_id, subscription_id)
             WHERE state = 0 AND attempts >= 0",
        "CREATE INDEX ix_webhook_fanouts_workspace ON webhook_fanouts (workspace_id, event_id)",
    ],
    statements: &[],
};
