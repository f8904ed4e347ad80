//! The lessons of a course.

use sea_orm::entity::prelude::*;

use crate::{InWorkspace, scope, table};

/// What a lesson is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum Kind {
    /// A film.
    Video,
    /// A recording to listen to.
    Audio,
    /// A text to read.
    Text,
    /// A file to take away.
    Download,
    /// Questions with answers.
    Quiz,
    /// Work to hand in.
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
        /// The platform's own name for it, unique in the workspace.
        #[sea_orm(column_type = "Text")]
        pub key: String,
        /// The title.
        #[sea_orm(column_type = "Text")]
        pub title: String,
        /// What it is made of; the column is called `type`.
        #[sea_orm(column_name = "type")]
        pub kind: Kind,
        /// Its place in the module.
        pub position: i32,
        /// How long it takes, where that can be said.
        pub duration_seconds: Option<i64>,
        /// Whether it can be seen without being enrolled.
        pub free_preview: bool,
    }
);
scope::tenant!(keyed);

impl InWorkspace<Entity> {
    /// The lessons of these courses, by course, module and place.
    ///
    /// # Errors
    /// When the database does.
    pub async fn of_courses<C: ConnectionTrait>(
        self,
        conn: &C,
        courses: &[Uuid],
    ) -> Result<Vec<Model>, DbErr> {
        let mut lessons = self.among(conn, Column::CourseId, courses).await?;
        lessons
            .sort_unstable_by_key(|lesson| (lesson.course_id, lesson.module_id, lesson.position, lesson.id));
        Ok(lessons)
    }
}
