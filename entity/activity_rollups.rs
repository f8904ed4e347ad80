//! What students did, by bucket of time and course.

use std::collections::BTreeMap;

use sea_orm::entity::prelude::*;

use crate::{
    rollups::{self, Grain, Piece},
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
        /// How long the bucket is.
        #[sea_orm(primary_key, auto_increment = false)]
        pub grain: Grain,
        /// When the bucket begins.
        #[sea_orm(primary_key, auto_increment = false)]
        pub starts_at: i64,
        /// Which share of the sums: writers that run together write different ones.
        #[sea_orm(primary_key, auto_increment = false)]
        pub shard: i16,
        /// Students made in the bucket, less those of them deleted since.
        pub students_new: i64,
        /// Enrolments made in the bucket, less those of them deleted since: the completion cohort.
        pub enrollments_created: i64,
        /// Enrolments revoked in the bucket, less those made active again since.
        pub enrollments_revoked: i64,
        /// Of the enrolments made in the bucket, those stored as active.
        pub enrollments_active: i64,
        /// Of the enrolments made in the bucket, those completed.
        pub cohort_completed: i64,
        /// Of the enrolments made in the bucket, the sum of their percentages.
        pub cohort_percent_sum: i64,
        /// Certificates issued in the bucket.
        pub certificates_issued: i64,
    }
);

/// What a sum is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bucket {
    /// The workspace.
    pub workspace_id: Uuid,
    /// The course, or [`rollups::ALL_COURSES`].
    pub course_id: Uuid,
    /// How long the bucket is.
    pub grain: Grain,
    /// When the bucket begins.
    pub starts_at: i64,
}

rollups::sums!(
    /// The sums of a bucket, or what a change adds to them; the fields are those of [`Model`].
    pub struct Sums {
        /// Students made.
        pub students_new: i64,
        /// Enrolments made.
        pub enrollments_created: i64,
        /// Enrolments revoked.
        pub enrollments_revoked: i64,
        /// Enrolments stored as active.
        pub enrollments_active: i64,
        /// Enrolments completed.
        pub cohort_completed: i64,
        /// The sum of the enrolments' percentages.
        pub cohort_percent_sum: i64,
        /// Certificates issued.
        pub certificates_issued: i64,
    }
);

/// What a sum is over; the shard comes with it.
const BUCKET: [Column; 4] = [Column::WorkspaceId, Column::CourseId, Column::Grain, Column::StartsAt];

const SUMS: [Column; 7] = [
    Column::StudentsNew,
    Column::EnrollmentsCreated,
    Column::EnrollmentsRevoked,
    Column::EnrollmentsActive,
    Column::CohortCompleted,
    Column::CohortPercentSum,
    Column::CertificatesIssued,
];

/// What one transaction adds, collected so that it is written at its end, each bucket once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deltas(BTreeMap<Bucket, Sums>);

impl Deltas {
    /// Adds to a bucket.
    pub fn add(&mut self, bucket: Bucket, sums: Sums) {
        *self.0.entry(bucket).or_default() += sums;
    }

    /// Writes what was collected into one shard, in the order of the buckets, so that two writers never wait
    /// for each other crosswise. Nothing is left.
    ///
    /// # Errors
    /// When the database does.
    pub async fn flush<C: ConnectionTrait>(&mut self, conn: &C, shard: i16) -> Result<(), DbErr> {
        let changed = std::mem::take(&mut self.0).into_iter().filter(|(_, sums)| *sums != Sums::default());
        let rows = changed.map(|(bucket, sums)| row(bucket, sums, shard)).collect();
        rollups::add::<_, Entity>(conn, rows, BUCKET.into_iter().chain([Column::Shard]), SUMS).await
    }
}

fn row(bucket: Bucket, sums: Sums, shard: i16) -> Model {
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

/// What happened in one workspace, over all courses or in one, in each part of these pieces. Parts without anything
/// are left out.
///
/// # Errors
/// When the database does.
pub async fn sums_of<C: ConnectionTrait>(
    conn: &C,
    workspace: Uuid,
    course: Option<Uuid>,
    pieces: &[Piece],
) -> Result<Vec<(usize, Sums)>, DbErr> {
    let columns = SUMS.map(|sum| sum.to_string());
    let statement =
        rollups::read::statement(conn, "activity_rollups", None, &columns, workspace, course, pieces);
    let rows = conn.query_all_raw(statement).await?;
    rows.iter().map(|row| Ok((rollups::read::part(row)?, Sums::from_row(row, 1)?))).collect()
}

/// Moves rows of buckets that began before this moment into the first shard, of each grain as many as the limit at most, the
/// oldest first; says how many. The sums stay what they are.
///
/// # Errors
/// When the database does.
pub async fn fold<C: ConnectionTrait>(conn: &C, grain: Grain, before: i64, limit: u32) -> Result<u64, DbErr> {
    rollups::fold::fold(conn, "activity_rollups", &BUCKET, &SUMS, grain, before, limit).await
}
