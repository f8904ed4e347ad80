//! What students did, by bucket of time and course.

use std::{collections::BTreeMap, ops::AddAssign};

use sea_orm::entity::prelude::*;
use sea_orm::{
    QueryResult,
    sea_query::{Query, SelectStatement},
};

use crate::{
    Span,
    rollups::{self, Grain},
    statement,
};

/// One shard of the sums of one bucket.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
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
    /// Enrolments made in the bucket.
    pub enrollments_created: i64,
    /// Enrolments revoked in the bucket.
    pub enrollments_revoked: i64,
    /// Of the enrolments made in the bucket, those stored as active.
    pub enrollments_active: i64,
    /// Of the enrolments made in the bucket, those that still exist.
    pub cohort_enrollments: i64,
    /// Of the enrolments made in the bucket, those completed.
    pub cohort_completed: i64,
    /// Of the enrolments made in the bucket, the sum of their percentages.
    pub cohort_percent_sum: i64,
    /// Certificates issued in the bucket.
    pub certificates_issued: i64,
}

/// Relations are followed by the finders.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

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

/// The sums of a bucket, or what a change adds to them; the fields are those of [`Model`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Students made.
    pub students_new: i64,
    /// Enrolments made.
    pub enrollments_created: i64,
    /// Enrolments revoked.
    pub enrollments_revoked: i64,
    /// Enrolments stored as active.
    pub enrollments_active: i64,
    /// Enrolments that still exist.
    pub cohort_enrollments: i64,
    /// Enrolments completed.
    pub cohort_completed: i64,
    /// The sum of the enrolments' percentages.
    pub cohort_percent_sum: i64,
    /// Certificates issued.
    pub certificates_issued: i64,
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Self) {
        self.students_new += other.students_new;
        self.enrollments_created += other.enrollments_created;
        self.enrollments_revoked += other.enrollments_revoked;
        self.enrollments_active += other.enrollments_active;
        self.cohort_enrollments += other.cohort_enrollments;
        self.cohort_completed += other.cohort_completed;
        self.cohort_percent_sum += other.cohort_percent_sum;
        self.certificates_issued += other.certificates_issued;
    }
}

const KEY: [Column; 5] =
    [Column::WorkspaceId, Column::CourseId, Column::Grain, Column::StartsAt, Column::Shard];

const SUMS: [Column; 8] = [
    Column::StudentsNew,
    Column::EnrollmentsCreated,
    Column::EnrollmentsRevoked,
    Column::EnrollmentsActive,
    Column::CohortEnrollments,
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
        let mut rows = changed.map(|(bucket, sums)| row(bucket, sums, shard)).peekable();
        while rows.peek().is_some() {
            let batch = rows.by_ref().take(rollups::ROWS_A_STATEMENT);
            let insert = statement::insertion::<_, ActiveModel>(batch);
            conn.execute(&rollups::adding::<Entity>(insert, KEY, SUMS)).await?;
        }
        Ok(())
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
        cohort_enrollments: sums.cohort_enrollments,
        cohort_completed: sums.cohort_completed,
        cohort_percent_sum: sums.cohort_percent_sum,
        certificates_issued: sums.certificates_issued,
    }
}

/// The sums of one workspace.
#[derive(Clone, Copy, Debug)]
pub struct InWorkspace(Uuid);

/// The sums of one workspace.
pub const fn in_workspace(workspace: Uuid) -> InWorkspace {
    InWorkspace(workspace)
}

impl InWorkspace {
    /// The sums over the buckets that begin in a span.
    ///
    /// # Errors
    /// When the database does.
    pub async fn totals<C: ConnectionTrait>(
        self,
        conn: &C,
        course: Uuid,
        grain: Grain,
        span: Span,
    ) -> Result<Sums, DbErr> {
        // Grouped by the course, which is one: without a group there would be a row of nulls over nothing.
        let select = self.range(course, grain, span, Column::CourseId);
        conn.query_one(&select).await?.map_or_else(|| Ok(Sums::default()), |row| sums(&row, 1))
    }

    /// The sums of each bucket that begins in a span, oldest first.
    ///
    /// # Errors
    /// When the database does.
    pub async fn buckets<C: ConnectionTrait>(
        self,
        conn: &C,
        course: Uuid,
        grain: Grain,
        span: Span,
    ) -> Result<Vec<(i64, Sums)>, DbErr> {
        let rows = conn.query_all(&self.range(course, grain, span, Column::StartsAt)).await?;
        rows.iter().map(|row| Ok((row.try_get_by_index(0)?, sums(row, 1)?))).collect()
    }

    /// One range of the primary key, summed over its shards and whatever is not grouped by.
    fn range(&self, course: Uuid, grain: Grain, span: Span, group: Column) -> SelectStatement {
        let mut select = Query::select();
        select
            .column(group)
            .from(Entity)
            .and_where(Column::WorkspaceId.eq(self.0))
            .and_where(Column::CourseId.eq(course))
            .and_where(Column::Grain.eq(grain))
            .cond_where(span.holds(Column::StartsAt))
            .add_group_by([group.into_expr()])
            .order_by(group, sea_orm::Order::Asc);
        rollups::summing(&mut select, SUMS);
        select
    }
}

/// The sums that stand in a row from this place on.
fn sums(row: &QueryResult, place: usize) -> Result<Sums, DbErr> {
    Ok(Sums {
        students_new: row.try_get_by_index(place)?,
        enrollments_created: row.try_get_by_index(place + 1)?,
        enrollments_revoked: row.try_get_by_index(place + 2)?,
        enrollments_active: row.try_get_by_index(place + 3)?,
        cohort_enrollments: row.try_get_by_index(place + 4)?,
        cohort_completed: row.try_get_by_index(place + 5)?,
        cohort_percent_sum: row.try_get_by_index(place + 6)?,
        certificates_issued: row.try_get_by_index(place + 7)?,
    })
}
