//! The completed lessons of an enrollment. Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::OnConflict;

use crate::{Connection, lessons, row_cache, statement, table};

table::declare!(
    /// One completed lesson.
    #[sea_orm(table_name = "lesson_completions")]
    pub struct Model {
        /// The enrollment.
        #[sea_orm(primary_key, auto_increment = false)]
        pub enrollment_id: Uuid,
        /// The lesson.
        #[sea_orm(primary_key, auto_increment = false)]
        pub lesson_id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// When it was completed.
        pub completed_at: i64,
    }
);

/// Records a lesson as completed. Returns `false` when it was completed before.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn insert_if_absent<C: Connection>(conn: &C, model: Model) -> Result<bool, DbErr> {
    if let Some(is_inserted) = row_cache::read(conn, |tables| tables.completions.insert_if_absent(&model)) {
        return Ok(is_inserted);
    }
    let on_conflict = OnConflict::columns([Column::EnrollmentId, Column::LessonId]).do_nothing().to_owned();
    statement::insert_on_conflict::<_, _, ActiveModel>(conn, model, on_conflict).await
}

/// Inserts completed lessons, in batches. None of them may exist.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn insert_many<C: ConnectionTrait>(conn: &C, rows: Vec<Model>) -> Result<(), DbErr> {
    statement::insert_many::<_, Model, ActiveModel>(conn, rows).await
}

/// Counts the completed lessons of an enrollment.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn count<C: ConnectionTrait>(conn: &C, workspace: Uuid, enrollment: Uuid) -> Result<u64, DbErr> {
    let completed = Entity::find().filter(Column::WorkspaceId.eq(workspace));
    statement::count(conn, completed.filter(Column::EnrollmentId.eq(enrollment))).await
}

/// Returns the completed lessons of these enrollments, in no particular order.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn of_enrollments<C: ConnectionTrait>(
    conn: &C,
    workspace: Uuid,
    enrollments: &[Uuid],
) -> Result<Vec<Model>, DbErr> {
    if enrollments.is_empty() {
        return Ok(Vec::new());
    }
    let completed = Entity::find().filter(Column::WorkspaceId.eq(workspace));
    statement::all(conn, completed.filter(Column::EnrollmentId.is_in(statement::padded(enrollments)))).await
}

/// Remembers in the cache of the transaction, if it is active, which of these lessons are completed in these
/// enrollments. The transaction must have locked the students of the enrollments.
///
/// # Errors
/// Returns [`DbErr`] when a query fails.
pub async fn remember<C: Connection>(
    conn: &C,
    workspace: Uuid,
    enrollments: &[Uuid],
    lessons: &[lessons::Model],
) -> Result<(), DbErr> {
    let lessons: Vec<Uuid> = lessons.iter().map(|lesson| lesson.id).collect();
    let mut rows = Vec::new();
    for enrollments in enrollments.chunks(MAX_ENROLLMENTS) {
        let completed = Entity::find()
            .filter(statement::unindexed(Column::WorkspaceId.eq(workspace)))
            .filter(Column::EnrollmentId.is_in(statement::padded(enrollments)))
            .filter(statement::unindexed(Column::LessonId.is_in(statement::padded(&lessons))));
        rows.extend(statement::all(conn, completed).await?);
    }
    row_cache::read(conn, |tables| {
        tables.completions.remember(enrollments, &lessons, rows);
        Some(())
    });
    Ok(())
}

/// Maximum number of enrollments per query.
const MAX_ENROLLMENTS: usize = 512;
