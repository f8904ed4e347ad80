//! The people who run a workspace.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;

use crate::{InWorkspace, scope, statement, table};

table::declare!(
    /// One person of one workspace.
    #[sea_orm(table_name = "users")]
    pub struct Model {
        /// The person's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The address as it was given.
        #[sea_orm(column_type = "Text")]
        pub email: String,
        /// The address without regard to case, unique in the workspace.
        #[sea_orm(column_type = "Text")]
        pub email_folded: String,
        /// The name.
        #[sea_orm(column_type = "Text", nullable)]
        pub name: Option<String>,
        /// The password's hash, once one is set.
        #[sea_orm(column_type = "Text", nullable)]
        pub password_hash: Option<String>,
        /// When it was made.
        pub created_at: i64,
        /// When it was last changed.
        pub updated_at: i64,
    }
);
scope::tenant!();

impl InWorkspace<Entity> {
    /// The person with this folded address.
    ///
    /// # Errors
    /// When the database does.
    pub async fn by_email_folded<C: ConnectionTrait>(
        self,
        conn: &C,
        folded: &str,
    ) -> Result<Option<Model>, DbErr> {
        statement::one(conn, self.select().filter(Column::EmailFolded.eq(folded))).await
    }

    /// The workspace's people, by age.
    ///
    /// # Errors
    /// When the database does.
    pub async fn list<C: ConnectionTrait>(self, conn: &C) -> Result<Vec<Model>, DbErr> {
        statement::all(conn, self.select().order_by_asc(Column::CreatedAt).order_by_asc(Column::Id)).await
    }
}

/// The person with this folded address in all workspaces, by age: a login does not say which one.
///
/// # Errors
/// When the database does.
pub async fn by_email_folded<C: ConnectionTrait>(conn: &C, folded: &str) -> Result<Vec<Model>, DbErr> {
    let found = Entity::find().filter(Column::EmailFolded.eq(folded));
    statement::all(conn, found.order_by_asc(Column::CreatedAt).order_by_asc(Column::Id)).await
}
