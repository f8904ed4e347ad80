//! The master keys of processes, so that a rotation of the key is refused while a running process does not have the new one.

use crate::definition::{Migration, Phase};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0032_process_keys",
    floor: 30,
    phase: Phase::Expand,
    added_columns: &[("processes", "master_keys TEXT NOT NULL DEFAULT ''")],
    ..Migration::EMPTY
};
