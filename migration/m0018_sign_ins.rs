//! An index to find when each user of a workspace last signed in, in the audit log.

use crate::definition::{Migration, Phase};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0018_sign_ins",
    floor: 0,
    phase: Phase::Expand,
    added_columns: &[],
    tables: &[],
    indexes: &[
        "CREATE INDEX ix_audit_entries_action ON audit_entries (workspace_id, action, user_id, created_at)",
    ],
    statements: &[],
    ..Migration::EMPTY
};
