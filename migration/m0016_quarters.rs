//! How the shards of quarter-hours that are over are found, so that they are brought into one. On SQLite there is one shard, and
//! these stay empty.

use crate::step::Step;

pub(crate) const STEP: Step = Step {
    name: "m0016_quarters",
    added: &[],
    tables: &[],
    indexes: &[
        "CREATE INDEX ix_revenue_rollups_quarters ON revenue_rollups (starts_at) WHERE grain = 'quarter' AND shard > 0",
        "CREATE INDEX ix_activity_rollups_quarters ON activity_rollups (starts_at) WHERE grain = 'quarter' AND shard > 0",
    ],
    statements: &[],
};
