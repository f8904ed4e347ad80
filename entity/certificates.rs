//! Certificates. Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::{Condition, sea_query::OnConflict};

use crate::{Connection, InWorkspace, SpanMs, scope, statement, table};

table::declare!(
    /// One certificate. The recipient's name is a copy, so it remains when the student is deleted.
    #[sea_orm(table_name = "certificates")]
    pub struct Model {
        /// The certificate's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The student, unique together with the course; `None` after the student is deleted.
        pub student_id: Option<Uuid>,
        /// The course.
        pub course_id: Uuid,
        /// The completed enrollment; `None` after the enrollment is deleted.
        pub enrollment_id: Option<Uuid>,
        /// The number shown to people, unique in the workspace.
        #[sea_orm(column_type = "Text")]
        pub number: String,
        /// The recipient's name, if known at issue.
        #[sea_orm(column_type = "Text", nullable)]
        pub recipient_name: Option<String>,
        /// When it was issued.
        pub issued_at: i64,
    }
);
scope::workspace_table!(cached);

impl InWorkspace<Entity> {
    /// Returns the certificate with this number.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn by_number<C: Connection>(self, conn: &C, number: &str) -> Result<Option<Model>, DbErr> {
        statement::one(conn, self.select().filter(Column::Number.eq(number))).await
    }

    /// Returns the certificate of this student for this course.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn by_student_and_course<C: Connection>(
        self,
        conn: &C,
        student: Uuid,
        course: Uuid,
    ) -> Result<Option<Model>, DbErr> {
        let cached = self.cached(conn, |rows| {
            let mut of_student = rows.all_with(self.workspace(), Column::StudentId, student)?;
            Some(of_student.find(|row| row.course_id == course).cloned())
        });
        if let Some(row) = cached {
            return Ok(row);
        }
        let rows = self.select().filter(Column::StudentId.eq(student)).filter(Column::CourseId.eq(course));
        statement::one(conn, rows).await
    }

    /// Inserts a certificate unless the student has one for the course. Returns whether it was inserted.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails, also when the number is taken.
    pub async fn insert_if_absent<C: Connection>(self, conn: &C, model: Model) -> Result<bool, DbErr> {
        let on_conflict = OnConflict::columns([Column::StudentId, Column::CourseId]).do_nothing().to_owned();
        statement::insert_on_conflict(conn, self.scoped_row(model), on_conflict).await
    }

    /// Returns the certificates issued in a time span, for one course or for all courses, in no particular order.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn issued_in<C: Connection>(
        self,
        conn: &C,
        course: Option<Uuid>,
        span: SpanMs,
    ) -> Result<Vec<Model>, DbErr> {
        let course = Condition::all().add_option(course.map(|course| Column::CourseId.eq(course)));
        statement::all(conn, self.select().filter(course).filter(span.contains(Column::IssuedAt))).await
    }

    /// Keeps the certificates of these students in the cache of the transaction, if it is active. The transaction must have locked the
    /// student to whom they belong.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn remember_of_students<C: Connection>(self, conn: &C, students: &[Uuid]) -> Result<(), DbErr> {
        let rows = self.with_ids_in(conn, Column::StudentId, students).await?;
        self.remember(conn, rows, students.iter().map(|id| (Column::StudentId, (*id).into())).collect());
        Ok(())
    }
}
