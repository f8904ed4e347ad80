//! Which lessons an enrolment has done.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::OnConflict;

use crate::{statement, table};

table::declare!(
    /// One lesson done.
    #[sea_orm(table_name = "lesson_completions")]
    pub struct Model {
        /// The enrolment.
        #[sea_orm(primary_key, auto_increment = false)]
        pub enrollment_id: Uuid,
        /// The lesson.
        #[sea_orm(primary_key, auto_increment = false)]
        pub lesson_id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// When it was done.
        pub completed_at: i64,
    }
);

/// Records a lesson as done. False when it was done before.
///
/// # Errors
/// When the database does.
pub async fn insert_if_absent<C: ConnectionTrait>(conn: &C, model: Model) -> Result<bool, DbErr> {
    let taken = OnConflict::columns([Column::EnrollmentId, Column::LessonId]).do_nothing().to_owned();
    statement::insert_unless::<_, _, ActiveModel>(conn, model, taken).await
}

/// Writes lessons done that were not done before, many a statement.
///
/// # Errors
/// When the database does.
pub async fn insert_many<C: ConnectionTrait>(conn: &C, rows: Vec<Model>) -> Result<(), DbErr> {
    statement::insert_many::<_, Model, ActiveModel>(conn, rows).await
}

/// How many lessons the enrolment has done.
///
/// # Errors
/// When the database does.
pub async fn count<C: ConnectionTrait>(conn: &C, workspace: Uuid, enrollment: Uuid) -> Result<u64, DbErr> {
    let done = Entity::find().filter(Column::WorkspaceId.eq(workspace));
    statement::count(conn, done.filter(Column::EnrollmentId.eq(enrollment))).await
}

/// The lessons that these enrolments have done, in no particular order.
///
/// # Errors
/// When the database does.
pub async fn of_enrollments<C: ConnectionTrait>(
    conn: &C,
    workspace: Uuid,
    enrollments: &[Uuid],
) -> Result<Vec<Model>, DbErr> {
    if enrollments.is_empty() {
        return Ok(Vec::new());
    }
    let done = Entity::find().filter(Column::WorkspaceId.eq(workspace));
    statement::all(conn, done.filter(Column::EnrollmentId.is_in(statement::padded(enrollments)))).await
}
