//! Delivery controls of webhooks: filters, custom request headers, rates and Ed25519 signatures. Also the offer to
//! replay what died while an endpoint failed.
//!
//! `filters` contains conditions, one per line. `headers` is a JSON object of names and encrypted values in hexadecimal.
//! `rate` is a number of deliveries per second. An outage begins with the first failed attempt and ends with a success;
//! dead deliveries created from `offered_from` on are offered for a replay.

use crate::definition::{Migration, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0039_delivery_controls",
    floor: 37,
    added_columns: &[
        ("webhook_subscriptions", "filters TEXT"),
        ("webhook_subscriptions", "headers TEXT"),
        ("webhook_subscriptions", "rate INTEGER"),
        ("webhook_subscriptions", "ed25519 BOOLEAN NOT NULL DEFAULT FALSE"),
        ("webhook_subscriptions", "outage_since BIGINT"),
        ("webhook_subscriptions", "recovered_at BIGINT"),
        ("webhook_subscriptions", "offered_from BIGINT"),
    ],
    tables: &[
        // When a subscription with a rate may be sent the next deliveries. Claims update the row, so it is narrow and separate.
        // `next_at_us` is in microseconds since the epoch: the theoretical arrival time of the generic cell rate algorithm.
        TableDefinition::queue(
            "webhook_rates",
            "subscription_id UUID NOT NULL,
             interval_us BIGINT NOT NULL,
             burst BIGINT NOT NULL,
             next_at_us BIGINT NOT NULL,
             CONSTRAINT pk_webhook_rates PRIMARY KEY (subscription_id),
             CONSTRAINT fk_webhook_rates_subscription FOREIGN KEY (subscription_id)
                 REFERENCES webhook_subscriptions (id) ON DELETE CASCADE,
             CONSTRAINT ck_webhook_rates_positive CHECK (interval_us > 0 AND burst > 0)",
            &[],
        ),
        // An Ed25519 key pair of a workspace. Several are valid while the key is rotated.
        TableDefinition::heap(
            "webhook_keys",
            "id UUID NOT NULL,
             workspace_id UUID NOT NULL,
             public_key BYTES NOT NULL,
             ciphertext BYTES NOT NULL,
             created_at BIGINT NOT NULL,
             signs_from BIGINT NOT NULL,
             signs_until BIGINT,
             CONSTRAINT pk_webhook_keys PRIMARY KEY (id),
             CONSTRAINT fk_webhook_keys_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
                 ON DELETE CASCADE",
            &["CREATE INDEX ix_webhook_keys_workspace ON webhook_keys (workspace_id, created_at)"],
        ),
    ],
    ..Migration::EMPTY
};
