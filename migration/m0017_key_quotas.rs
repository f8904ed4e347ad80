//! The column that states whether the operator set the quota of a key: `per_minute` and `per_day`. Such a
//! quota may exceed the workspace's.
//!
//! For existing keys, the audit log shows which keys a user of the workspace created: the entry has the same time as
//! the key, because both are written in one transaction, and contains the key's name. The operator created all other
//! keys.

use crate::definition::{Migration, Phase};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0017_key_quotas",
    floor: 0,
    phase: Phase::Expand,
    added_columns: &[("api_keys", "operator_quota BOOLEAN NOT NULL DEFAULT FALSE")],
    tables: &[],
    indexes: &[],
    statements: &["UPDATE api_keys SET operator_quota = TRUE
         WHERE (per_minute IS NOT NULL OR per_day IS NOT NULL) AND NOT EXISTS (
             SELECT 1 FROM audit_entries
             WHERE audit_entries.workspace_id = api_keys.workspace_id
               AND audit_entries.created_at = api_keys.created_at
               AND audit_entries.action = 'key.create'
               AND audit_entries.user_id IS NOT NULL
               AND audit_entries.detail = api_keys.name)"],
    ..Migration::EMPTY
};
