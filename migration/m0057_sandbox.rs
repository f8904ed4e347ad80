//! Sandboxes: workspaces of the mode `test`, whose live workspace is `live_workspace_id`, and the deletion of workspaces.
//!
//! A workspace with `deleted_at` does not exist for anyone. A maintenance job deletes its rows. `in_sandbox` is whether a session
//! shows the sandbox of its workspace.

use crate::definition::Migration;

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0057_sandbox",
    floor: 37,
    added_columns: &[
        ("workspaces", "mode TEXT NOT NULL DEFAULT 'live'"),
        ("workspaces", "live_workspace_id UUID"),
        ("workspaces", "deleted_at BIGINT"),
        ("sessions", "in_sandbox BOOLEAN NOT NULL DEFAULT FALSE"),
    ],
    ..Migration::EMPTY
};
