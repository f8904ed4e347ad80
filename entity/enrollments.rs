//! Enrolments: which student may attend which course, and how far they are.

use sea_orm::entity::prelude::*;
use sea_orm::{
    Condition, QueryOrder, QuerySelect,
    sea_query::{Expr, ExprTrait, OnConflict},
};

use crate::{InWorkspace, Span, scope, statement, table};

/// How an enrolment is stored. Expiry is not: it comes by itself, see [`Standing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum Status {
    /// The student may attend, until it expires.
    Active,
    /// Every lesson is done.
    Completed,
    /// Access was taken away.
    Revoked,
}

/// Where an enrolment came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum Source {
    /// An integration made it.
    Api,
    /// An order paid for it.
    Order,
    /// A person made it.
    Manual,
    /// It was brought from elsewhere.
    Import,
}

/// How an enrolment stands at a moment: its stored status, or expired when an active one has run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// The student may attend.
    Active,
    /// Every lesson is done.
    Completed,
    /// It was active and has run out.
    Expired,
    /// Access was taken away.
    Revoked,
}

impl Standing {
    /// True for the rows that are stored as it wants them. It is spelled out and not bound, since those that are active have an
    /// index of their own.
    pub(crate) fn stored(self) -> Expr {
        let status = match self {
            Self::Active | Self::Expired => Status::Active,
            Self::Completed => Status::Completed,
            Self::Revoked => Status::Revoked,
        };
        Column::Status.into_expr().eq(Expr::Constant(status.to_value().into()))
    }

    /// What else is true at `now` of the rows that are [stored](Self::stored) so and stand so; [`Model::standing_at`] says
    /// the same of one row.
    pub(crate) fn lasts_at(self, now: i64) -> Option<Expr> {
        match self {
            Self::Active => Some(Column::ExpiresAt.is_null().or(Column::ExpiresAt.gt(now))),
            Self::Expired => Some(Column::ExpiresAt.lte(now)),
            Self::Completed | Self::Revoked => None,
        }
    }
}

table::declare!(
    /// One enrolment.
    #[sea_orm(table_name = "enrollments")]
    pub struct Model {
        /// The enrolment's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The student; unique together with the course.
        pub student_id: Uuid,
        /// The course.
        pub course_id: Uuid,
        /// How it is stored; [`Model::standing_at`] says how it stands.
        pub status: Status,
        /// Where it came from.
        pub source: Source,
        /// The order that paid for it.
        pub order_id: Option<Uuid>,
        /// How many lessons are done.
        pub completed_lessons: i32,
        /// How many lessons there are.
        pub total_lessons: i32,
        /// When a lesson was last done.
        pub last_activity_at: Option<i64>,
        /// When access was given, last time.
        pub enrolled_at: i64,
        /// When access ends by itself.
        pub expires_at: Option<i64>,
        /// When the last lesson was done.
        pub completed_at: Option<i64>,
        /// When access was taken away.
        pub revoked_at: Option<i64>,
        /// Why access was taken away.
        #[sea_orm(column_type = "Text", nullable)]
        pub revoke_reason: Option<String>,
        /// When it was made.
        pub created_at: i64,
        /// When the server last recorded a change of it.
        pub updated_at: i64,
        /// The latest end of the grants, kept while an order pays for the access: [`WITHOUT_END`] for one without end, `None` without
        /// a grant.
        pub granted_until: Option<i64>,
    }
);
scope::tenant!();

/// The end of a grant that has none.
pub const WITHOUT_END: i64 = i64::MAX;

impl Model {
    /// Until when grants give access, whether or not an order pays for it; `None` when there was no grant.
    pub fn granted(&self) -> Option<i64> {
        match self.order_id {
            Some(_) => self.granted_until,
            None => Some(self.expires_at.unwrap_or(WITHOUT_END)),
        }
    }

    /// How the enrolment stands at `now`.
    pub fn standing_at(&self, now: i64) -> Standing {
        match self.status {
            Status::Active if self.expires_at.is_some_and(|end| end <= now) => Standing::Expired,
            Status::Active => Standing::Active,
            Status::Completed => Standing::Completed,
            Status::Revoked => Standing::Revoked,
        }
    }
}

impl InWorkspace<Entity> {
    /// The enrolment of this student in this course.
    ///
    /// # Errors
    /// When the database does.
    pub async fn by_pair<C: ConnectionTrait>(
        self,
        conn: &C,
        student: Uuid,
        course: Uuid,
    ) -> Result<Option<Model>, DbErr> {
        statement::one(conn, self.pair(student, course)).await
    }

    /// The enrolment of this student in this course, locked until the transaction ends.
    ///
    /// # Errors
    /// When the database does.
    pub async fn lock_pair<C: ConnectionTrait>(
        self,
        conn: &C,
        student: Uuid,
        course: Uuid,
    ) -> Result<Option<Model>, DbErr> {
        statement::one(conn, scope::locked(self.pair(student, course))).await
    }

    fn pair(&self, student: Uuid, course: Uuid) -> Select<Entity> {
        self.select().filter(Column::StudentId.eq(student)).filter(Column::CourseId.eq(course))
    }

    /// Writes a new enrolment unless the student has one for the course. True when it was written.
    ///
    /// On PostgreSQL it waits for a running transaction that enrols the same pair and then gives false.
    ///
    /// # Errors
    /// When the database does.
    pub async fn insert_if_absent<C: ConnectionTrait>(self, conn: &C, model: Model) -> Result<bool, DbErr> {
        let taken = OnConflict::columns([Column::StudentId, Column::CourseId]).do_nothing().to_owned();
        statement::insert_unless(conn, self.owned(model), taken).await
    }

    /// The enrolments of these students, newest first within each.
    ///
    /// # Errors
    /// When the database does.
    pub async fn of_students<C: ConnectionTrait>(
        self,
        conn: &C,
        students: &[Uuid],
    ) -> Result<Vec<Model>, DbErr> {
        let mut enrollments = self.among(conn, Column::StudentId, students).await?;
        enrollments.sort_unstable_by(|a, b| {
            (a.student_id, b.created_at, b.id).cmp(&(b.student_id, a.created_at, a.id))
        });
        Ok(enrollments)
    }

    /// The enrolments that these orders paid for, in no particular order.
    ///
    /// # Errors
    /// When the database does.
    pub async fn of_orders<C: ConnectionTrait>(self, conn: &C, orders: &[Uuid]) -> Result<Vec<Model>, DbErr> {
        self.among(conn, Column::OrderId, orders).await
    }

    /// One batch of a course's enrolments by student, beginning after a student: for changes to them all.
    ///
    /// # Errors
    /// When the database does.
    pub async fn of_course<C: ConnectionTrait>(
        self,
        conn: &C,
        course: Uuid,
        after_student: Option<Uuid>,
        limit: u64,
    ) -> Result<Vec<Model>, DbErr> {
        let begin = Condition::all().add_option(after_student.map(|student| Column::StudentId.gt(student)));
        let batch = self
            .select()
            .filter(Column::CourseId.eq(course))
            .filter(begin)
            .order_by_asc(Column::StudentId)
            .limit(limit);
        statement::all(conn, batch).await
    }

    /// The enrolments made in a span, of one course or of all. For the short edges of an analytics window.
    ///
    /// # Errors
    /// When the database does.
    pub async fn created_in<C: ConnectionTrait>(
        self,
        conn: &C,
        course: Option<Uuid>,
        span: Span,
    ) -> Result<Vec<Model>, DbErr> {
        statement::all(conn, self.in_course(course).filter(span.holds(Column::CreatedAt))).await
    }

    /// How many of the enrolments made in a span are stored as active but have expired by `now`.
    ///
    /// # Errors
    /// When the database does.
    pub async fn count_expired<C: ConnectionTrait>(
        self,
        conn: &C,
        course: Option<Uuid>,
        span: Span,
        now: i64,
    ) -> Result<u64, DbErr> {
        // Those that have expired are few, so that their index is to be used and not that of the span.
        let made = self.in_course(course).filter(span.holds_unindexed(Column::CreatedAt));
        let ran_out = Condition::all().add_option(Standing::Expired.lasts_at(now));
        statement::count(conn, made.filter(Standing::Expired.stored()).filter(ran_out)).await
    }

    /// The enrolments revoked in a span, of one course or of all. For the short edges of an analytics window.
    ///
    /// # Errors
    /// When the database does.
    pub async fn revoked_in<C: ConnectionTrait>(
        self,
        conn: &C,
        course: Option<Uuid>,
        span: Span,
    ) -> Result<Vec<Model>, DbErr> {
        statement::all(conn, self.in_course(course).filter(span.holds(Column::RevokedAt))).await
    }

    /// How many enrolments were completed in each step of `step_ms` of the span, by the step's start; steps without any
    /// are left out.
    ///
    /// # Errors
    /// When the database does.
    pub async fn completed_in<C: ConnectionTrait>(
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

    /// The enrolments of one course, found by something else, or of all.
    fn in_course(&self, course: Option<Uuid>) -> Select<Entity> {
        let course = course.map(|course| statement::unindexed(Column::CourseId.eq(course)));
        self.select().filter(Condition::all().add_option(course))
    }
}
