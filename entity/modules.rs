//! The modules of a course.

use sea_orm::entity::prelude::*;

use crate::{Connection, InWorkspace, scope, table};

table::declare!(
    /// One module.
    #[sea_orm(table_name = "modules")]
    pub struct Model {
        /// The module's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The course.
        pub course_id: Uuid,
        /// The key assigned by the platform whose changes are imported, unique in the workspace.
        #[sea_orm(column_type = "Text")]
        pub key: String,
        /// The title.
        #[sea_orm(column_type = "Text")]
        pub title: String,
        /// The position in the course.
        pub position: i32,
    }
);
scope::workspace_table!(keyed);

impl InWorkspace<Entity> {
    /// Returns the modules of these courses, sorted by course and position.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn of_courses<C: Connection>(self, conn: &C, courses: &[Uuid]) -> Result<Vec<Model>, DbErr> {
        let mut modules = self.with_ids_in(conn, Column::CourseId, courses).await?;
        modules.sort_unstable_by_key(|module| (module.course_id, module.position, module.id));
        Ok(modules)
    }
}
