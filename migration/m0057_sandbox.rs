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
    // The table has few rows, so the indexes do not need to be created concurrently. The event feed reads which workspaces are not
    // live.
    statements: &[
        "CREATE UNIQUE INDEX uq_workspaces_live ON workspaces (live_workspace_id)",
        "CREATE INDEX ix_workspaces_test ON workspaces (id) WHERE mode <> 'live'",
    ],
    ..Migration::EMPTY
};
