//! The tags of students, one row per tag, used to find students by tag. [`crate::students`] stores the same tags in
//! their order.

use sea_orm::entity::prelude::*;

use crate::{statement, table};

table::declare!(
    /// One tag of one student.
    #[sea_orm(table_name = "student_tags")]
    pub struct Model {
        /// The student.
        #[sea_orm(primary_key, auto_increment = false)]
        pub student_id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The tag.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub tag: String,
    }
);

/// Replaces the student's tags. The new tags must not contain duplicates.
///
/// # Errors
/// Returns [`DbErr`] when a statement fails.
pub async fn replace<C: ConnectionTrait>(
    conn: &C,
    workspace_id: Uuid,
    student_id: Uuid,
    tags: &[String],
) -> Result<(), DbErr> {
    Entity::delete_many()
        .filter(Column::WorkspaceId.eq(workspace_id))
        .filter(Column::StudentId.eq(student_id))
        .exec(conn)
        .await?;
    insert(conn, workspace_id, student_id, tags).await
}

/// Inserts tags of students who have none yet, in batches. The rows must not contain duplicates.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn insert_many<C: ConnectionTrait>(conn: &C, rows: Vec<Model>) -> Result<(), DbErr> {
    statement::insert_many::<_, Model, ActiveModel>(conn, rows).await
}

/// Inserts the tags of a student who has none yet. The tags must not contain duplicates.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn insert<C: ConnectionTrait>(
    conn: &C,
    workspace_id: Uuid,
    student_id: Uuid,
    tags: &[String],
) -> Result<(), DbErr> {
    let rows = tags.iter().map(|tag| Model { student_id, workspace_id, tag: tag.clone() }).collect();
    statement::insert_many::<_, Model, ActiveModel>(conn, rows).await
}
