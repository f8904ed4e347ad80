//! The tags of students, one row per tag, used to find students by tag. [`crate::students`] stores the same tags in
//! their order.

use sea_orm::entity::prelude::*;

use crate::{Connection, row_cache, statement, table};

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
pub async fn replace<C: Connection>(
    conn: &C,
    workspace_id: Uuid,
    student_id: Uuid,
    tags: &[String],
) -> Result<(), DbErr> {
    let is_collected = row_cache::read(conn, |tables| {
        tables.tags.delete(student_id);
        Some(())
    });
    if is_collected.is_none() {
        Entity::delete_many()
            .filter(Column::WorkspaceId.eq(workspace_id))
            .filter(Column::StudentId.eq(student_id))
            .exec(conn)
            .await?;
    }
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
pub async fn insert<C: Connection>(
    conn: &C,
    workspace_id: Uuid,
    student_id: Uuid,
    tags: &[String],
) -> Result<(), DbErr> {
    let rows: Vec<Model> =
        tags.iter().map(|tag| Model { student_id, workspace_id, tag: tag.clone() }).collect();
    let is_collected = row_cache::read(conn, |tables| {
        tables.tags.insert(rows.clone());
        Some(())
    });
    if is_collected.is_some() {
        return Ok(());
    }
    statement::insert_many::<_, Model, ActiveModel>(conn, rows).await
}
