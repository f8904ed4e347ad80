//! Student activity, summed by course and time bucket: a UTC day or a quarter-hour.
//!
//! Times are milliseconds since the epoch.

use std::collections::BTreeMap;

use sea_orm::entity::prelude::*;

use crate::{
    rollups::{self, BucketRange, Grain},
    table,
};

table::declare!(
    /// One shard of the sums of one bucket.
    #[sea_orm(table_name = "activity_rollups")]
    pub struct Model {
        /// The workspace.
        #[sea_orm(primary_key, auto_increment = false)]
        pub workspace_id: Uuid,
        /// The course, or [`rollups::ALL_COURSES`].
        #[sea_orm(primary_key, auto_increment = false)]
        pub course_id: Uuid,
        /// The length of the bucket.
        #[sea_orm(primary_key, auto_increment = false)]
        pub grain: Grain,
        /// The start of the bucket.
        #[sea_orm(primary_key, auto_increment = false)]
        pub starts_at: i64,
        /// The shard of the sums. Concurrent writers write different shards, so they do not wait for each other.
        #[sea_orm(primary_key, auto_increment = false)]
        pub shard: i16,
        /// Students created in the bucket and not deleted since. In the sums of a course, only those enrolled in it.
        pub students_new: i64,
        /// Enrollments created in the bucket and not deleted since: the completion cohort.
        pub enrollments_created: i64,
        /// Enrollments revoked in the bucket and not reactivated since.
        pub enrollments_revoked: i64,
        /// Enrollments created in the bucket whose stored status is active.
        pub enrollments_active: i64,
        /// Enrollments created in the bucket that are completed.
        pub cohort_completed: i64,
        /// The sum of the completion percentages of the enrollments created in the bucket.
        pub cohort_percent_sum: i64,
        /// Certificates issued in the bucket.
        pub certificates_issued: i64,
    }
);

/// Identifies a bucket: the primary key without the shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ActivityBucket {
    /// The workspace.
    pub workspace_id: Uuid,
    /// The course, or [`rollups::ALL_COURSES`].
    pub course_id: Uuid,
    /// The length of the bucket.
    pub grain: Grain,
    /// The start of the bucket.
    pub starts_at: i64,
}

rollups::sums!(
    /// The sums of a bucket, or the amounts that a change adds to them. The fields are those of [`Model`].
    pub struct ActivitySums {
        /// Students created.
        pub students_new: i64,
        /// Enrollments created.
        pub enrollments_created: i64,
        /// Enrollments revoked.
        pub enrollments_revoked: i64,
        /// Enrollments whose stored status is active.
        pub enrollments_active: i64,
        /// Enrollments completed.
        pub cohort_completed: i64,
        /// The sum of the enrollments' completion percentages.
        pub cohort_percent_sum: i64,
        /// Certificates issued.
        pub certificates_issued: i64,
    }
);

/// The columns of [`ActivityBucket`]. With the shard, they are the primary key.
const BUCKET: [Column; 4] = [Column::WorkspaceId, Column::CourseId, Column::Grain, Column::StartsAt];

/// The columns of [`ActivitySums`], in the order of its fields.
const SUMS: [Column; 7] = [
    Column::StudentsNew,
    Column::EnrollmentsCreated,
    Column::EnrollmentsRevoked,
    Column::EnrollmentsActive,
    Column::CohortCompleted,
    Column::CohortPercentSum,
    Column::CertificatesIssued,
];

/// The changes of one transaction, merged by bucket and written once at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActivityDeltas(BTreeMap<ActivityBucket, ActivitySums>);

impl ActivityDeltas {
    /// Adds the sums to a bucket.
    pub fn add(&mut self, bucket: ActivityBucket, sums: ActivitySums) {
        *self.0.entry(bucket).or_default() += sums;
    }

    /// Writes the collected changes to one shard and clears them. All writers write buckets in the order of their keys,
    /// so they cannot deadlock.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn flush<C: ConnectionTrait>(&mut self, conn: &C, shard: i16) -> Result<(), DbErr> {
        let changed =
            std::mem::take(&mut self.0).into_iter().filter(|(_, sums)| *sums != ActivitySums::default());
        let rows = changed.map(|(bucket, sums)| row(bucket, sums, shard)).collect();
        rollups::add::<_, Entity>(conn, rows, BUCKET.into_iter().chain([Column::Shard]), SUMS).await
    }
}

fn row(bucket: ActivityBucket, sums: ActivitySums, shard: i16) -> Model {
    Model {
        workspace_id: bucket.workspace_id,
        course_id: bucket.course_id,
        grain: bucket.grain,
        starts_at: bucket.starts_at,
        shard,
        students_new: sums.students_new,
        enrollments_created: sums.enrollments_created,
        enrollments_revoked: sums.enrollments_revoked,
        enrollments_active: sums.enrollments_active,
        cohort_completed: sums.cohort_completed,
        cohort_percent_sum: sums.cohort_percent_sum,
        certificates_issued: sums.certificates_issued,
    }
}

/// Returns the activity of one workspace in the ranges, in one course or in all courses: pairs of the index of a part
/// (see [`BucketRange`]) and its sums. Parts without activity are omitted.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn sums_of<C: ConnectionTrait>(
    conn: &C,
    workspace: Uuid,
    course: Option<Uuid>,
    ranges: &[BucketRange],
) -> Result<Vec<(usize, ActivitySums)>, DbErr> {
    let columns = SUMS.map(|sum| sum.to_string());
    let statement =
        rollups::read::sum_statement(conn, "activity_rollups", None, &columns, workspace, course, ranges);
    let rows = conn.query_all_raw(statement).await?;
    rows.iter().map(|row| Ok((rollups::read::decode_part(row)?, ActivitySums::from_row(row, 1)?))).collect()
}

/// Moves up to `limit` rows of one grain into shard 0, oldest first, and returns the number of rows moved. Only buckets
/// that begin before `before` are affected. The totals do not change.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn merge_shards<C: ConnectionTrait>(
    conn: &C,
    grain: Grain,
    before: i64,
    limit: u32,
) -> Result<u64, DbErr> {
    rollups::merge_shards::merge_shards(conn, "activity_rollups", &BUCKET, &SUMS, grain, before, limit).await
}
