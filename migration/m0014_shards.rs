//! How the shards of days that are over are found, so that they are brought into one. On SQLite there is one shard, and these stay
//! empty.

use crate::step::Step;

pub(crate) const STEP: Step = Step {
    name: "m0014_shards",
    added: &[],
    tables: &[],
    indexes: &[
        "CREATE INDEX ix_revenue_rollups_shards ON revenue_rollups (starts_at) WHERE grain = 'day' AND shard > 0",
        "CREATE INDEX ix_activity_rollups_shards ON activity_rollups (starts_at) WHERE grain = 'day' AND shard > 0",
    ],
    statements: &[],
};
