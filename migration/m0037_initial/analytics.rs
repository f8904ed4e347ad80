//! Rollups: precomputed sums, so that analytics for a year reads only a few hundred rows.
//!
//! The order of the columns in the primary keys makes a time span of one course one range of the index. In the sums
//! over all courses, `course_id` is the nil UUID, so it has no foreign key. The grain `quarter` is a quarter-hour.
//!
//! On PostgreSQL, concurrent writes add to different shards of a sum. The shards of past days and quarter-hours are
//! merged into one; the indexes find them. SQLite has only one shard, so the indexes are empty there.

use crate::definition::TableDefinition;

/// The orders and refunds of a day or quarter-hour in a currency.
pub(super) const REVENUE_ROLLUPS: TableDefinition = TableDefinition::keyed(
    "revenue_rollups",
    "workspace_id UUID NOT NULL,
     course_id UUID NOT NULL,
     grain TEXT NOT NULL,
     starts_at BIGINT NOT NULL,
     currency TEXT NOT NULL,
     shard SMALLINT NOT NULL,
     orders BIGINT NOT NULL,
     refunds BIGINT NOT NULL,
     gross_amount BIGINT NOT NULL,
     discount_amount BIGINT NOT NULL,
     tax_amount BIGINT NOT NULL,
     refunded_amount BIGINT NOT NULL,
     CONSTRAINT pk_revenue_rollups PRIMARY KEY (workspace_id, course_id, grain, starts_at, currency, shard),
     CONSTRAINT fk_revenue_rollups_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
         ON DELETE CASCADE,
     CONSTRAINT ck_revenue_rollups_grain CHECK (grain IN ('day', 'quarter'))",
    &[
        "CREATE INDEX ix_revenue_rollups_shards ON revenue_rollups (starts_at) WHERE grain = 'day' AND shard > 0",
        "CREATE INDEX ix_revenue_rollups_quarters ON revenue_rollups (starts_at) WHERE grain = 'quarter' AND shard > 0",
    ],
);

/// The new students, enrollments and certificates of a day or quarter-hour.
pub(super) const ACTIVITY_ROLLUPS: TableDefinition = TableDefinition::keyed(
    "activity_rollups",
    "workspace_id UUID NOT NULL,
     course_id UUID NOT NULL,
     grain TEXT NOT NULL,
     starts_at BIGINT NOT NULL,
     shard SMALLINT NOT NULL,
     students_new BIGINT NOT NULL,
     enrollments_created BIGINT NOT NULL,
     enrollments_revoked BIGINT NOT NULL,
     enrollments_active BIGINT NOT NULL,
     cohort_completed BIGINT NOT NULL,
     cohort_percent_sum BIGINT NOT NULL,
     certificates_issued BIGINT NOT NULL,
     CONSTRAINT pk_activity_rollups PRIMARY KEY (workspace_id, course_id, grain, starts_at, shard),
     CONSTRAINT fk_activity_rollups_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
         ON DELETE CASCADE,
     CONSTRAINT ck_activity_rollups_grain CHECK (grain IN ('day', 'quarter'))",
    &[
        "CREATE INDEX ix_activity_rollups_shards ON activity_rollups (starts_at) WHERE grain = 'day' AND shard > 0",
        "CREATE INDEX ix_activity_rollups_quarters ON activity_rollups (starts_at) WHERE grain = 'quarter' AND shard > 0",
    ],
);
