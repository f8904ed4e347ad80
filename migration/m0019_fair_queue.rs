//! Workspaces take turns: those that have deliveries to send are found by an index, in which the pending deliveries of one
//! subscription are one entry; and events with many subscriptions have their deliveries written in batches.

use crate::step::{Step, Table};

pub(crate) const STEP: Step = Step {
    name: "m0019_fair_queue",
    added: &[],
    tables: &[Table::heap(
        "webhook_fanouts",
        // Subscriptions: their ids one after the other.
        "event_id UUID NOT NULL,
         workspace_id UUID NOT NULL,
         due_at BIGINT NOT NULL,
         subscriptions BYTES NOT NULL,
         CONSTRAINT pk_webhook_fanouts PRIMARY KEY (event_id),
         CONSTRAINT fk_webhook_fanouts_event FOREIGN KEY (event_id) REFERENCES events (id) ON DELETE CASCADE",
    )],
    indexes: &[
        // The second condition always holds. It keeps the index from statements that do not spell it out: with stale
        // statistics PostgreSQL would prefer it to the larger index of the queue, and read all that is pending in it.
        "CREATE INDEX ix_webhook_deliveries_waiting ON webhook_deliveries (workspace_id, subscription_id)
             WHERE state = 0 AND attempts >= 0",
        "CREATE INDEX ix_webhook_fanouts_workspace ON webhook_fanouts (workspace_id, event_id)",
    ],
    statements: &[],
};
