//! The indexes of sandboxes: a workspace has at most one, and the event feed reads which workspaces are not live.

use crate::definition::Migration;

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0058_sandbox_indexes",
    floor: 37,
    concurrent_indexes: &[
        "CREATE UNIQUE INDEX uq_workspaces_live ON workspaces (live_workspace_id)",
        "CREATE INDEX ix_workspaces_test ON workspaces (id) WHERE mode <> 'live'",
    ],
    ..Migration::EMPTY
};
