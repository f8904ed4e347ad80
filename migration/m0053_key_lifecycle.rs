//! Until when deprecated operations work for an API key after their sunset, from where it may be used, and the mails about keys that
//! expire or are not used.
//!
//! `networks` contains networks in CIDR notation, separated by spaces; without them, a key may be used from everywhere.

use crate::definition::{Migration, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0053_key_lifecycle",
    floor: 37,
    added_columns: &[("api_keys", "sunset_extended_until BIGINT"), ("api_keys", "networks TEXT")],
    tables: &[
        // `stage` is `unused`, or the number of days before the expiry.
        TableDefinition::keyed(
            "key_notices",
            "key_id UUID NOT NULL,
             stage TEXT NOT NULL,
             sent_at BIGINT NOT NULL,
             CONSTRAINT pk_key_notices PRIMARY KEY (key_id, stage),
             CONSTRAINT fk_key_notices_key FOREIGN KEY (key_id) REFERENCES api_keys (id) ON DELETE CASCADE",
            &[],
        ),
    ],
    ..Migration::EMPTY
};
