//! Enrollments: the access of students to courses, and their progress. Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::{
    Condition, QueryOrder, QuerySelect,
    sea_query::{Expr, ExprTrait, OnConflict},
};

use crate::{Connection, InWorkspace, SpanMs, scope, statement, table};

/// The stored status of an enrollment. Whether an enrollment has expired is not stored but derived from `expires_at`;
/// see [`EffectiveStatus`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum StoredEnrollmentStatus {
    /// The student has access until the enrollment expires.
    Active,
    /// Every lesson is completed, and there is at least one. The student has access, which does not expire.
    Completed,
    /// Access was revoked.
    Revoked,
}

/// How an enrollment was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum StoredEnrollmentSource {
    /// Created by an integration through the API.
    Api,
    /// Paid for by an order.
    Order,
    /// Created by a person.
    Manual,
    /// Imported from another system.
    Import,
}

/// The status of an enrollment at a point in time: the stored status, or expired for an active enrollment whose end has
/// passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EffectiveStatus {
    /// The student has access.
    Active,
    /// Every lesson is completed, and there is at least one. The student has access.
    Completed,
    /// The stored status is active, and the expiry has passed.
    Expired,
    /// Access was revoked.
    Revoked,
}

impl EffectiveStatus {
    /// Returns the condition on the stored status. The status is a literal and not a parameter, since the partial index
    /// of active enrollments requires it.
    pub(crate) fn stored_condition(self) -> Expr {
        let status = match self {
            Self::Active | Self::Expired => StoredEnrollmentStatus::Active,
            Self::Completed => StoredEnrollmentStatus::Completed,
            Self::Revoked => StoredEnrollmentStatus::Revoked,
        };
        Column::Status.into_expr().eq(Expr::Constant(status.to_value().into()))
    }

    /// Returns the condition on the expiry that rows must meet in addition to
    /// [`stored_condition`](Self::stored_condition); `None` when there is none. [`Model::status_at`] does the same for
    /// a row that has been read.
    pub(crate) fn time_condition(self, now: i64) -> Option<Expr> {
        match self {
            Self::Active => Some(Column::ExpiresAt.is_null().or(Column::ExpiresAt.gt(now))),
            Self::Expired => Some(Column::ExpiresAt.lte(now)),
            Self::Completed | Self::Revoked => None,
        }
    }
}

table::declare!(
    /// One enrollment.
    #[sea_orm(table_name = "enrollments")]
    pub struct Model {
        /// The enrollment's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The student; unique together with the course.
        pub student_id: Uuid,
        /// The course.
        pub course_id: Uuid,
        /// The stored status; see [`Model::status_at`].
        pub status: StoredEnrollmentStatus,
        /// How the enrollment was created.
        pub source: StoredEnrollmentSource,
        /// The order that pays for the access, if any.
        pub order_id: Option<Uuid>,
        /// The number of completed lessons.
        pub completed_lessons: i32,
        /// The number of lessons of the course.
        pub total_lessons: i32,
        /// When a lesson was most recently completed; `None` if none was.
        pub last_activity_at: Option<i64>,
        /// When the access began: at the creation or the most recent reactivation.
        pub enrolled_at: i64,
        /// When access expires, unless every lesson is completed; `None` if it does not.
        pub expires_at: Option<i64>,
        /// When every lesson became completed; `None` while any is not.
        pub completed_at: Option<i64>,
        /// When access was revoked; `None` unless the status is revoked.
        pub revoked_at: Option<i64>,
        /// Why access was revoked.
        #[sea_orm(column_type = "Text", nullable)]
        pub revoke_reason: Option<String>,
        /// When it was created; for a change of the change feed, the time of the change.
        pub created_at: i64,
        /// When it was last changed, by the clock of the server. Unlike `created_at`, never the time of a change of the
        /// change feed.
        pub updated_at: i64,
        /// While an order pays for the access: the end of the access that was granted without an order.
        /// [`NO_EXPIRY`] if that access does not end; `None` without such a grant.
        pub granted_until: Option<i64>,
    }
);
scope::workspace_table!(cached);

/// The value of [`Model::granted_until`] for a grant that does not expire.
pub const NO_EXPIRY: i64 = i64::MAX;

impl Model {
    /// Returns the end of the access that was granted without an order: [`NO_EXPIRY`] if it does not end, `None`
    /// without such a grant.
    pub fn grant_end(&self) -> Option<i64> {
        match self.order_id {
            Some(_) => self.granted_until,
            None => Some(self.expires_at.unwrap_or(NO_EXPIRY)),
        }
    }

    /// Returns the status at `now`.
    pub fn status_at(&self, now: i64) -> EffectiveStatus {
        match self.status {
            StoredEnrollmentStatus::Active if self.expires_at.is_some_and(|end| end <= now) => {
                EffectiveStatus::Expired
            }
            StoredEnrollmentStatus::Active => EffectiveStatus::Active,
            StoredEnrollmentStatus::Completed => EffectiveStatus::Completed,
            StoredEnrollmentStatus::Revoked => EffectiveStatus::Revoked,
        }
    }
}

impl InWorkspace<Entity> {
    /// Returns the enrollment of this student in this course.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn by_student_and_course<C: Connection>(
        self,
        conn: &C,
        student: Uuid,
        course: Uuid,
    ) -> Result<Option<Model>, DbErr> {
        if let Some(row) = self.cached_by_student_and_course(conn, student, course) {
            return Ok(row);
        }
        statement::one(conn, self.select_by_student_and_course(student, course)).await
    }

    /// Locks the enrollment of this student in this course until the transaction ends, and returns it.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn lock_by_student_and_course<C: Connection>(
        self,
        conn: &C,
        student: Uuid,
        course: Uuid,
    ) -> Result<Option<Model>, DbErr> {
        if let Some(row) = self.cached_by_student_and_course(conn, student, course) {
            return Ok(row);
        }
        statement::one(conn, scope::locked(self.select_by_student_and_course(student, course))).await
    }

    /// Returns the enrollment, or `None` if the cache of the transaction does not contain all enrollments of the student.
    fn cached_by_student_and_course<C: Connection>(
        &self,
        conn: &C,
        student: Uuid,
        course: Uuid,
    ) -> Option<Option<Model>> {
        self.cached(conn, |rows| {
            let mut of_student = rows.all_with(self.workspace(), Column::StudentId, student)?;
            Some(of_student.find(|row| row.course_id == course).cloned())
        })
    }

    fn select_by_student_and_course(&self, student: Uuid, course: Uuid) -> Select<Entity> {
        self.select().filter(Column::StudentId.eq(student)).filter(Column::CourseId.eq(course))
    }

    /// Inserts an enrollment unless the student has one for the course. Returns whether it was inserted.
    ///
    /// On PostgreSQL, waits for a running transaction that inserts an enrollment of the same student in the same
    /// course, and returns `false` if that transaction commits.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn insert_if_absent<C: Connection>(self, conn: &C, model: Model) -> Result<bool, DbErr> {
        match self.cached_by_student_and_course(conn, model.student_id, model.course_id) {
            Some(Some(_existing)) => return Ok(false),
            Some(None) => return self.insert(conn, model).await.map(|()| true),
            None => {}
        }
        let on_conflict = OnConflict::columns([Column::StudentId, Column::CourseId]).do_nothing().to_owned();
        statement::insert_on_conflict(conn, self.scoped_row(model), on_conflict).await
    }

    /// Returns the enrollments of these students, sorted by student and then newest first.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn of_students<C: Connection>(self, conn: &C, students: &[Uuid]) -> Result<Vec<Model>, DbErr> {
        let mut enrollments = self.with_ids_in(conn, Column::StudentId, students).await?;
        enrollments.sort_unstable_by(|a, b| {
            (a.student_id, b.created_at, b.id).cmp(&(b.student_id, a.created_at, a.id))
        });
        Ok(enrollments)
    }

    /// Keeps the enrollments of these students in the cache of the transaction, if it is active. `orders` are orders of these
    /// students. The transaction must have locked the students. Returns the enrollments.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn remember_of_students<C: Connection>(
        self,
        conn: &C,
        students: &[Uuid],
        orders: &[Uuid],
    ) -> Result<Vec<Model>, DbErr> {
        let rows = self.with_ids_in(conn, Column::StudentId, students).await?;
        let students = students.iter().map(|student| (Column::StudentId, (*student).into()));
        let orders = orders.iter().map(|order| (Column::OrderId, (*order).into()));
        self.remember(conn, rows.clone(), students.chain(orders).collect());
        Ok(rows)
    }

    /// Returns the enrollments that these orders pay for, in no particular order.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn of_orders<C: Connection>(self, conn: &C, orders: &[Uuid]) -> Result<Vec<Model>, DbErr> {
        self.with_ids_in(conn, Column::OrderId, orders).await
    }

    /// Returns up to `limit` enrollments of a course, ordered by student id and starting after `after_student`. Used to
    /// change all enrollments of a course in batches.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn of_course<C: ConnectionTrait>(
        self,
        conn: &C,
        course: Uuid,
        after_student: Option<Uuid>,
        limit: u64,
    ) -> Result<Vec<Model>, DbErr> {
        let after = Condition::all().add_option(after_student.map(|student| Column::StudentId.gt(student)));
        let batch = self
            .select()
            .filter(Column::CourseId.eq(course))
            .filter(after)
            .order_by_asc(Column::StudentId)
            .limit(limit);
        statement::all(conn, batch).await
    }

    /// Returns the enrollments created in a time span, in one course or in all courses, in no particular order.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn created_in<C: ConnectionTrait>(
        self,
        conn: &C,
        course: Option<Uuid>,
        span: SpanMs,
    ) -> Result<Vec<Model>, DbErr> {
        statement::all(conn, self.in_course(course).filter(span.contains(Column::CreatedAt))).await
    }

    /// Counts the enrollments created in a time span, in one course or in all courses, whose stored status is active
    /// although they have expired by `now`.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn count_expired<C: ConnectionTrait>(
        self,
        conn: &C,
        course: Option<Uuid>,
        span: SpanMs,
        now: i64,
    ) -> Result<u64, DbErr> {
        // Expired enrollments are few, so the index on the expiry is faster than the index on the creation time.
        let created = self.in_course(course).filter(span.contains_unindexed(Column::CreatedAt));
        let expired = Condition::all().add_option(EffectiveStatus::Expired.time_condition(now));
        statement::count(conn, created.filter(EffectiveStatus::Expired.stored_condition()).filter(expired))
            .await
    }

    /// Returns the enrollments revoked in a time span and not reactivated since, in one course or in all courses, in no
    /// particular order.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn revoked_in<C: ConnectionTrait>(
        self,
        conn: &C,
        course: Option<Uuid>,
        span: SpanMs,
    ) -> Result<Vec<Model>, DbErr> {
        statement::all(conn, self.in_course(course).filter(span.contains(Column::RevokedAt))).await
    }

    /// Counts the enrollments completed at or after `from` and before `until`, by time step of `step_ms`. Steps begin
    /// at multiples of `step_ms`. Returns pairs of the start of a step and its count, ordered by time. Steps without
    /// completed enrollments are omitted.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn count_completed_in<C: ConnectionTrait>(
        self,
        conn: &C,
        (from, until): (i64, i64),
        step_ms: i64,
    ) -> Result<Vec<(i64, i64)>, DbErr> {
        let sql = "SELECT completed_at / $4 * $4, COUNT(*) FROM enrollments
            WHERE workspace_id = $1 AND completed_at IS NOT NULL AND completed_at >= $2 AND completed_at < $3
            GROUP BY 1 ORDER BY 1";
        let values = [self.workspace().into(), from.into(), until.into(), step_ms.into()];
        let rows = conn.query_all_raw(statement::raw(conn, sql, values)).await?;
        rows.iter().map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?))).collect()
    }

    /// Selects the enrollments in one course or in all courses. The condition on the course uses no index.
    fn in_course(&self, course: Option<Uuid>) -> Select<Entity> {
        let course = course.map(|course| statement::unindexed(Column::CourseId.eq(course)));
        self.select().filter(Condition::all().add_option(course))
    }
}
