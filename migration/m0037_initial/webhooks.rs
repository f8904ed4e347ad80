//! Events, and the webhooks that receive them. The rows of deliveries are the queue.
//!
//! Partial indexes on deliveries keep the queue fast even with millions of settled rows. A statement can use such an
//! index only if it contains the condition of the index literally.
//!
//! The states of a subscription are 0 enabled, 1 paused and 2 disabled. The states of a delivery are 0 pending, 1
//! delivered, 2 dead and 3 held; its origins are 0 event, 1 replay, 2 resend and 3 test. The states of a replay are 0
//! running, 1 done and 2 canceled.

use crate::definition::{Storage, TableDefinition};

/// The outbox: an event with the exact bytes to sign and send.
///
/// `traceparent` is the header (W3C Trace Context) of the span that appended the event, or NULL if the trace is not
/// recorded. Events that test a webhook are not in the event feed.
pub(super) const EVENTS: TableDefinition = TableDefinition::heap(
    "events",
    "id UUID NOT NULL,
     workspace_id UUID NOT NULL,
     type TEXT NOT NULL,
     created_at BIGINT NOT NULL,
     body BYTES NOT NULL,
     traceparent TEXT,
     is_test BOOLEAN NOT NULL DEFAULT FALSE,
     CONSTRAINT pk_events PRIMARY KEY (id),
     CONSTRAINT fk_events_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE",
    &[
        "CREATE INDEX ix_events_created ON events (created_at, id)",
        "CREATE INDEX ix_events_workspace ON events (workspace_id, created_at, id)",
    ],
);

/// A URL that receives events of a workspace.
pub(super) const WEBHOOK_SUBSCRIPTIONS: TableDefinition = TableDefinition::heap(
    "webhook_subscriptions",
    "id UUID NOT NULL,
     workspace_id UUID NOT NULL,
     url TEXT NOT NULL,
     event_types TEXT NOT NULL,
     state SMALLINT NOT NULL,
     failing_since BIGINT,
     warned_at BIGINT,
     disabled_at BIGINT,
     deleted_at BIGINT,
     created_at BIGINT NOT NULL,
     updated_at BIGINT NOT NULL,
     CONSTRAINT pk_webhook_subscriptions PRIMARY KEY (id),
     CONSTRAINT fk_webhook_subscriptions_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
         ON DELETE CASCADE,
     CONSTRAINT ck_webhook_subscriptions_state CHECK (state BETWEEN 0 AND 2)",
    &[
        "CREATE INDEX ix_webhook_subscriptions_created ON webhook_subscriptions (workspace_id, created_at, id)",
        "CREATE INDEX ix_webhook_subscriptions_deleted ON webhook_subscriptions (id) WHERE deleted_at IS NOT NULL",
    ],
);

/// An event type of a subscription, to find the subscriptions of a workspace to an event type.
pub(super) const WEBHOOK_TOPICS: TableDefinition = TableDefinition::keyed(
    "webhook_topics",
    "workspace_id UUID NOT NULL,
     event_type TEXT NOT NULL,
     subscription_id UUID NOT NULL,
     CONSTRAINT pk_webhook_topics PRIMARY KEY (workspace_id, event_type, subscription_id),
     CONSTRAINT fk_webhook_topics_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
         ON DELETE CASCADE,
     CONSTRAINT fk_webhook_topics_subscription FOREIGN KEY (subscription_id)
         REFERENCES webhook_subscriptions (id) ON DELETE CASCADE",
    &["CREATE INDEX ix_webhook_topics_subscription ON webhook_topics (subscription_id)"],
);

/// A secret that signs the deliveries of a subscription. Several are valid while a secret is rotated.
pub(super) const WEBHOOK_SECRETS: TableDefinition = TableDefinition::heap(
    "webhook_secrets",
    "id UUID NOT NULL,
     workspace_id UUID NOT NULL,
     subscription_id UUID NOT NULL,
     ciphertext BYTES NOT NULL,
     created_at BIGINT NOT NULL,
     expires_at BIGINT,
     CONSTRAINT pk_webhook_secrets PRIMARY KEY (id),
     CONSTRAINT fk_webhook_secrets_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
         ON DELETE CASCADE,
     CONSTRAINT fk_webhook_secrets_subscription FOREIGN KEY (subscription_id)
         REFERENCES webhook_subscriptions (id) ON DELETE CASCADE",
    &["CREATE INDEX ix_webhook_secrets_subscription ON webhook_secrets (subscription_id, created_at)"],
);

/// An event to send to a subscription.
///
/// `resumes_at` is when a held delivery was due before it was held. When the subscription is enabled again, the
/// delivery is due at this time, or at once if it has passed.
///
/// There is no foreign key on the replayed delivery, because it may be pruned first. Deliveries and attempts have no
/// foreign key on the workspace: they are deleted with their subscription, and each foreign key costs a lookup per row.
pub(super) const WEBHOOK_DELIVERIES: TableDefinition = TableDefinition::queue(
    "webhook_deliveries",
    "id UUID NOT NULL,
     workspace_id UUID NOT NULL,
     subscription_id UUID NOT NULL,
     event_id UUID NOT NULL,
     event_type TEXT NOT NULL,
     origin SMALLINT NOT NULL,
     replayed_from UUID,
     job_id UUID,
     state SMALLINT NOT NULL,
     attempts INTEGER NOT NULL,
     next_attempt_at BIGINT,
     resumes_at BIGINT,
     lease_token UUID,
     lease_until BIGINT,
     created_at BIGINT NOT NULL,
     settled_at BIGINT,
     last_status INTEGER,
     last_error TEXT,
     CONSTRAINT pk_webhook_deliveries PRIMARY KEY (id),
     CONSTRAINT fk_webhook_deliveries_subscription FOREIGN KEY (subscription_id)
         REFERENCES webhook_subscriptions (id) ON DELETE CASCADE,
     CONSTRAINT fk_webhook_deliveries_event FOREIGN KEY (event_id) REFERENCES events (id),
     CONSTRAINT ck_webhook_deliveries_state CHECK (state BETWEEN 0 AND 3),
     CONSTRAINT ck_webhook_deliveries_origin CHECK (origin BETWEEN 0 AND 3),
     CONSTRAINT ck_webhook_deliveries_due CHECK ((state = 0) = (next_attempt_at IS NOT NULL)),
     CONSTRAINT ck_webhook_deliveries_lease
         CHECK ((lease_token IS NULL) = (lease_until IS NULL) AND (lease_token IS NULL OR state = 0)),
     CONSTRAINT ck_webhook_deliveries_settled CHECK ((state IN (1, 2)) = (settled_at IS NOT NULL))",
    &[
        // The queue, by subscription and due time. No index contains the lease, so claiming a delivery writes only its row.
        "CREATE INDEX ix_webhook_deliveries_due ON webhook_deliveries (subscription_id, next_attempt_at, id)
             WHERE state = 0",
        "CREATE INDEX ix_webhook_deliveries_held ON webhook_deliveries (subscription_id, id) WHERE state = 3",
        // With these indexes, dead deliveries are counted by subscription and event type without reading their rows.
        // SQLite does this only if the index contains the state.
        "CREATE INDEX ix_webhook_deliveries_dead
             ON webhook_deliveries (workspace_id, created_at, id, subscription_id, event_type, state) WHERE state = 2",
        "CREATE INDEX ix_webhook_deliveries_given_up
             ON webhook_deliveries (subscription_id, created_at, id, event_type, state) WHERE state = 2",
        "CREATE INDEX ix_webhook_deliveries_created ON webhook_deliveries (subscription_id, created_at, id)",
        "CREATE INDEX ix_webhook_deliveries_event ON webhook_deliveries (event_id)",
        "CREATE INDEX ix_webhook_deliveries_settled ON webhook_deliveries (settled_at) WHERE settled_at IS NOT NULL",
        "CREATE INDEX ix_webhook_deliveries_replayed ON webhook_deliveries (replayed_from)
             WHERE replayed_from IS NOT NULL",
        "CREATE UNIQUE INDEX uq_webhook_deliveries_job ON webhook_deliveries (job_id, replayed_from)
             WHERE job_id IS NOT NULL",
        // The condition on `attempts` is always true. Statements that do not contain it cannot use this index. With
        // stale statistics, PostgreSQL would otherwise prefer it to the larger index of the queue and read all pending
        // deliveries.
        "CREATE INDEX ix_webhook_deliveries_waiting ON webhook_deliveries (workspace_id, subscription_id)
             WHERE state = 0 AND attempts >= 0",
    ],
);

/// A request of a delivery, and its response.
pub(super) const WEBHOOK_ATTEMPTS: TableDefinition = TableDefinition {
    name: "webhook_attempts",
    columns: "id UUID NOT NULL,
        workspace_id UUID NOT NULL,
        delivery_id UUID NOT NULL,
        number INTEGER NOT NULL,
        started_at BIGINT NOT NULL,
        ended_at BIGINT NOT NULL,
        status INTEGER,
        error TEXT,
        request_headers TEXT NOT NULL,
        response_headers TEXT,
        response_body BYTES",
    storage: Storage::Daily {
        time: "ended_at",
        sqlite: "CONSTRAINT pk_webhook_attempts PRIMARY KEY (id),
            CONSTRAINT fk_webhook_attempts_delivery FOREIGN KEY (delivery_id) REFERENCES webhook_deliveries (id)
                ON DELETE CASCADE",
        // Without the foreign key, since PostgreSQL would look for attempts in every partition to delete a delivery.
        postgres: "CONSTRAINT pk_webhook_attempts PRIMARY KEY (id, ended_at)",
    },
    indexes: &[
        "CREATE INDEX ix_webhook_attempts_delivery ON webhook_attempts (delivery_id, number)",
    ],
};

/// An event with many subscriptions whose deliveries are written in batches. `subscriptions` contains the concatenated
/// ids of the subscriptions.
pub(super) const WEBHOOK_FANOUTS: TableDefinition = TableDefinition::heap(
    "webhook_fanouts",
    "event_id UUID NOT NULL,
     workspace_id UUID NOT NULL,
     due_at BIGINT NOT NULL,
     subscriptions BYTES NOT NULL,
     CONSTRAINT pk_webhook_fanouts PRIMARY KEY (event_id),
     CONSTRAINT fk_webhook_fanouts_event FOREIGN KEY (event_id) REFERENCES events (id) ON DELETE CASCADE",
    &["CREATE INDEX ix_webhook_fanouts_workspace ON webhook_fanouts (workspace_id, event_id)"],
);

/// A job that sends past events again. The subscription is part of its filter and may be deleted before the job, so it
/// has no foreign key.
pub(super) const WEBHOOK_REPLAYS: TableDefinition = TableDefinition::heap(
    "webhook_replays",
    "id UUID NOT NULL,
     workspace_id UUID NOT NULL,
     subscription_id UUID,
     event_type TEXT,
     from_ms BIGINT,
     to_ms BIGINT,
     state SMALLINT NOT NULL,
     total BIGINT NOT NULL,
     done BIGINT NOT NULL,
     position_at BIGINT,
     position_id UUID,
     created_at BIGINT NOT NULL,
     updated_at BIGINT NOT NULL,
     ended_at BIGINT,
     CONSTRAINT pk_webhook_replays PRIMARY KEY (id),
     CONSTRAINT fk_webhook_replays_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
         ON DELETE CASCADE,
     CONSTRAINT ck_webhook_replays_state CHECK (state BETWEEN 0 AND 2),
     CONSTRAINT ck_webhook_replays_position CHECK ((position_at IS NULL) = (position_id IS NULL))",
    &[
        "CREATE INDEX ix_webhook_replays_created ON webhook_replays (workspace_id, created_at, id)",
        "CREATE INDEX ix_webhook_replays_running ON webhook_replays (id) WHERE state = 0",
    ],
);
