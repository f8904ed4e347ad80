//! An index to delete old rows of `applied_changes`.

use crate::definition::Migration;

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0024_retention",
    floor: 20,
    concurrent_indexes: &["CREATE INDEX ix_applied_changes_applied ON applied_changes (applied_at)"],
    ..Migration::EMPTY
};
