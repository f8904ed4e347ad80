//! The lessons of a course.

use sea_orm::entity::prelude::*;

use crate::{Connection, InWorkspace, scope, table};

/// The type of a lesson's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum StoredLessonType {
    /// A video.
    Video,
    /// An audio recording.
    Audio,
    /// A text to read.
    Text,
    /// A file to download.
    Download,
    /// A quiz.
    Quiz,
    /// An assignment to submit.
    Assignment,
    /// A live session.
    Live,
}

table::declare!(
    /// One lesson.
    #[sea_orm(table_name = "lessons")]
    pub struct Model {
        /// The lesson's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The course.
        pub course_id: Uuid,
        /// The module.
        pub module_id: Uuid,
        /// The key assigned by the platform whose changes are imported, unique in the workspace.
        #[sea_orm(column_type = "Text")]
        pub key: String,
        /// The title.
        #[sea_orm(column_type = "Text")]
        pub title: String,
        /// The content type. The column is named `type`.
        #[sea_orm(column_name = "type")]
        pub lesson_type: StoredLessonType,
        /// The position in the module.
        pub position: i32,
        /// The duration in seconds, if known.
        pub duration_seconds: Option<i64>,
        /// Whether it is visible without an enrollment.
        pub free_preview: bool,
    }
);
scope::workspace_table!(keyed, cached);

impl InWorkspace<Entity> {
    /// Keeps the lessons with these ids or keys in the cache of the transaction, if it is active. The transaction must have
    /// locked their courses. Returns the lessons.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn remember_by_ids_or_keys<C: Connection>(
        self,
        conn: &C,
        ids: &[Uuid],
        keys: &[&str],
    ) -> Result<Vec<Model>, DbErr> {
        let ids = self.ids_by_ids_or_keys(conn, ids, keys).await?;
        let rows = self.by_ids(conn, &ids).await?;
        self.remember(conn, rows.clone(), keys.iter().map(|key| (Column::Key, (*key).into())).collect());
        Ok(rows)
    }

    /// Returns the lessons of these courses, sorted by course, module and position.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn of_courses<C: Connection>(self, conn: &C, courses: &[Uuid]) -> Result<Vec<Model>, DbErr> {
        let mut lessons = self.with_ids_in(conn, Column::CourseId, courses).await?;
        lessons
            .sort_unstable_by_key(|lesson| (lesson.course_id, lesson.module_id, lesson.position, lesson.id));
        Ok(lessons)
    }
}
