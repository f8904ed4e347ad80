//! The roles of processes, so that one process of each role runs the maintenance jobs, and their numbers of connections.

use crate::definition::{Migration, Phase};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0023_process_roles",
    floor: 20,
    phase: Phase::Expand,
    added_columns: &[
        ("processes", "serves BOOLEAN NOT NULL DEFAULT FALSE"),
        ("processes", "runs_worker BOOLEAN NOT NULL DEFAULT FALSE"),
        ("processes", "connections BIGINT NOT NULL DEFAULT 0"),
    ],
    ..Migration::EMPTY
};
