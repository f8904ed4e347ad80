//! One row for each tag of a student, so that students are found by tag. [`crate::students`] holds their order.

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

/// Makes these the student's tags; there must be no doubles among them.
///
/// # Errors
/// When the database does.
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

/// Writes new tags of many students, who have none yet.
///
/// # Errors
/// When the database does.
pub async fn insert_many<C: ConnectionTrait>(conn: &C, rows: Vec<Model>) -> Result<(), DbErr> {
    statement::insert_many::<_, Model, ActiveModel>(conn, rows).await
}

/// Writes the tags of a student who has none yet; there must be no doubles among them.
///
/// # Errors
/// When the database does.
pub async fn insert<C: ConnectionTrait>(
    conn: &C,
    workspace_id: Uuid,
    student_id: Uuid,
    tags: &[String],
) -> Result<(), DbErr> {
    let rows = tags.iter().map(|tag| Model { student_id, workspace_id, tag: tag.clone() }).collect();
    statement::insert_many::<_, Model, ActiveModel>(conn, rows).await
}
