//! Indexes to find the shards of past days, which are merged into one. SQLite has only one shard, so there these indexes stay
//! empty.

use crate::definition::Migration;

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0014_shards",
    added: &[],
    tables: &[],
    indexes: &[
        "CREATE INDEX ix_revenue_rollups_shards ON revenue_rollups (starts_at) WHERE grain = 'day' AND shard > 0",
        "CREATE INDEX ix_activity_rollups_shards ON activity_rollups (starts_at) WHERE grain = 'day' AND shard > 0",
    ],
    statements: &[],
};
