//! Certificates.

use sea_orm::entity::prelude::*;
use sea_orm::{Condition, sea_query::OnConflict};

use crate::{InWorkspace, Span, scope, statement, table};

table::declare!(
    /// One certificate. The recipient is a snapshot: it outlives the student.
    #[sea_orm(table_name = "certificates")]
    pub struct Model {
        /// The certificate's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// Who earned it; unique together with the course, none once that student is deleted.
        pub student_id: Option<Uuid>,
        /// The course.
        pub course_id: Uuid,
        /// The enrolment that earned it; none once that is gone.
        pub enrollment_id: Option<Uuid>,
        /// The number people see, unique in the workspace.
        #[sea_orm(column_type = "Text")]
        pub number: String,
        /// The name on it, if it was known.
        #[sea_orm(column_type = "Text", nullable)]
        pub recipient_name: Option<String>,
        /// When it was issued.
        pub issued_at: i64,
    }
);
scope::tenant!();

impl InWorkspace<Entity> {
    /// The certificate with this number.
    ///
    /// # Errors
    /// When the database does.
    pub async fn by_number<C: ConnectionTrait>(self, conn: &C, number: &str) -> Result<Option<Model>, DbErr> {
        statement::one(conn, self.select().filter(Column::Number.eq(number))).await
    }

    /// The certificate of this student for this course.
    ///
    /// # Errors
    /// When the database does.
    pub async fn by_pair<C: ConnectionTrait>(
        self,
        conn: &C,
        student: Uuid,
        course: Uuid,
    ) -> Result<Option<Model>, DbErr> {
        let pair = self.select().filter(Column::StudentId.eq(student)).filter(Column::CourseId.eq(course));
        statement::one(conn, pair).await
    }

    /// Writes a new certificate unless the student has one for the course. True when it was written.
    ///
    /// # Errors
    /// When the database does, a taken number included.
    pub async fn insert_if_absent<C: ConnectionTrait>(self, conn: &C, model: Model) -> Result<bool, DbErr> {
        let taken = OnConflict::columns([Column::StudentId, Column::CourseId]).do_nothing().to_owned();
        statement::insert_unless(conn, self.owned(model), taken).await
    }

    /// The certificates issued in a span, of one course or of all. For the short edges of an analytics window.
    ///
    /// # Errors
    /// When the database does.
    pub async fn issued_in<C: ConnectionTrait>(
        self,
        conn: &C,
        course: Option<Uuid>,
        span: Span,
    ) -> Result<Vec<Model>, DbErr> {
        let course = Condition::all().add_option(course.map(|course| Column::CourseId.eq(course)));
        statement::all(conn, self.select().filter(course).filter(span.holds(Column::IssuedAt))).await
    }
}
