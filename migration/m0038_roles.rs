//! The roles of members. The members from before become developers and managers: the bits 2 and 4.

use crate::definition::Migration;

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0038_roles",
    floor: 37,
    added_columns: &[("users", "roles SMALLINT NOT NULL DEFAULT 6")],
    ..Migration::EMPTY
};
