//! Indexes to find the rollup shards of past days, which are merged into one. SQLite has only one shard, so these
//! indexes are empty there.

use crate::definition::{Migration, Phase};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0014_shards",
    floor: 0,
    phase: Phase::Expand,
    added_columns: &[],
    tables: &[],
    indexes: &[
        "CREATE INDEX ix_revenue_rollups_shards ON revenue_rollups (starts_at) WHERE grain = 'day' AND shard > 0",
        "CREATE INDEX ix_activity_rollups_shards ON activity_rollups (starts_at) WHERE grain = 'day' AND shard > 0",
    ],
    statements: &[],
    ..Migration::EMPTY
};
