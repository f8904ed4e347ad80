//! Rollups: precomputed sums, so that analytics for a year reads only a few hundred rows.
//!
//! The order of the columns in the primary keys makes a time span of one course one range of the index. In the sums
//! over all courses, `course_id` is the nil UUID, so it has no foreign key. The grain `quarter` is a quarter-hour.
//!
//! Times are milliseconds since the epoch.

use crate::definition::{Migration, Phase, TableDefinition};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0009_rollups",
    floor: 0,
    phase: Phase::Expand,
    added_columns: &[],
    tables: &[
        TableDefinition::keyed(
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
        ),
        TableDefinition::keyed(
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
        ),
    ],
    indexes: &[],
    statements: &[],
    ..Migration::EMPTY
};
