//! The users of a workspace, who can sign in to the dashboard.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;

use crate::{InWorkspace, scope, statement, table};

table::declare!(
    /// One user of one workspace.
    #[sea_orm(table_name = "users")]
    pub struct Model {
        /// The user's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The email address as entered.
        #[sea_orm(column_type = "Text")]
        pub email: String,
        /// The case-folded email address, unique in the workspace.
        #[sea_orm(column_type = "Text")]
        pub email_folded: String,
        /// The name.
        #[sea_orm(column_type = "Text", nullable)]
        pub name: Option<String>,
        /// The hash of the password; `None` until one is set.
        #[sea_orm(column_type = "Text", nullable)]
        pub password_hash: Option<String>,
        /// When it was created.
        pub created_at: i64,
        /// When it was last changed.
        pub updated_at: i64,
    }
);
scope::tenant!();

impl InWorkspace<Entity> {
    /// Returns the user with this folded email address.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn by_email_folded<C: ConnectionTrait>(
        self,
        conn: &C,
        folded: &str,
    ) -> Result<Option<Model>, DbErr> {
        statement::one(conn, self.select().filter(Column::EmailFolded.eq(folded))).await
    }

    /// Returns the workspace's users, oldest first.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn list<C: ConnectionTrait>(self, conn: &C) -> Result<Vec<Model>, DbErr> {
        statement::all(conn, self.select().order_by_asc(Column::CreatedAt).order_by_asc(Column::Id)).await
    }
}

/// Returns the users with this folded email address in all workspaces, oldest first. A login does not specify a workspace.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn by_email_folded<C: ConnectionTrait>(conn: &C, folded: &str) -> Result<Vec<Model>, DbErr> {
    let found = Entity::find().filter(Column::EmailFolded.eq(folded));
    statement::all(conn, found.order_by_asc(Column::CreatedAt).order_by_asc(Column::Id)).await
}
