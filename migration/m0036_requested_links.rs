//! Marks the password links that a person requested on the sign-in page. Those that servers of the previous release write during
//! an upgrade stay unmarked, so they are treated as links of the workspace. They expire within an hour.

use crate::definition::{Migration, Phase};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0036_requested_links",
    floor: 30,
    phase: Phase::Expand,
    added_columns: &[("password_links", "is_requested BOOLEAN NOT NULL DEFAULT FALSE")],
    ..Migration::EMPTY
};
