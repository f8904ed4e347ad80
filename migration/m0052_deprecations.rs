//! Who uses what a contract marks as deprecated, and which mails were sent about it.

use crate::definition::{Migration, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0052_deprecations",
    floor: 37,
    tables: &[
        // Rows are deleted after 90 days. `name` is the parameter, field or value of an enum; empty for the operation.
        TableDefinition::heap(
            "deprecated_uses",
            "day BIGINT NOT NULL,
             key_id UUID NOT NULL,
             contract TEXT NOT NULL,
             operation TEXT NOT NULL,
             pointer TEXT NOT NULL,
             name TEXT NOT NULL,
             workspace_id UUID NOT NULL,
             requests BIGINT NOT NULL,
             first_at BIGINT NOT NULL,
             last_at BIGINT NOT NULL,
             request_id TEXT NOT NULL,
             CONSTRAINT pk_deprecated_uses PRIMARY KEY (day, key_id, contract, operation, pointer, name)",
            &["CREATE INDEX ix_deprecated_uses_workspace ON deprecated_uses (workspace_id, day)"],
        ),
        // `stage` is `first`, or the sunset and the number of days before it. A sunset that moves has reminders of its own.
        TableDefinition::keyed(
            "deprecation_notices",
            "workspace_id UUID NOT NULL,
             contract TEXT NOT NULL,
             operation TEXT NOT NULL,
             name TEXT NOT NULL,
             stage TEXT NOT NULL,
             sent_at BIGINT NOT NULL,
             CONSTRAINT pk_deprecation_notices PRIMARY KEY (workspace_id, contract, operation, name, stage)",
            &[],
        ),
    ],
    ..Migration::EMPTY
};
