//! The dashboard users of a workspace. A person with access to several workspaces has one user in each.
//!
//! Times are milliseconds since the epoch.

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
        /// The key by which email addresses are compared, unique in the workspace.
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
        /// The roles, with one bit each.
        pub roles: i16,
    }
);
scope::workspace_table!();

impl InWorkspace<Entity> {
    /// Returns the user with this folded email address.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn by_email_folded<C: ConnectionTrait>(
        self,
        conn: &C,
        email_folded: &str,
    ) -> Result<Option<Model>, DbErr> {
        statement::one(conn, self.select().filter(Column::EmailFolded.eq(email_folded))).await
    }

    /// Returns the workspace's users, oldest first.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn list<C: ConnectionTrait>(self, conn: &C) -> Result<Vec<Model>, DbErr> {
        statement::all(conn, self.select().order_by_asc(Column::CreatedAt).order_by_asc(Column::Id)).await
    }
}

/// Returns the users with this folded email address in all workspaces, oldest first. Used when the workspace is not
/// known, as at sign-in.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn by_email_folded<C: ConnectionTrait>(conn: &C, email_folded: &str) -> Result<Vec<Model>, DbErr> {
    let users = Entity::find().filter(Column::EmailFolded.eq(email_folded));
    statement::all(conn, users.order_by_asc(Column::CreatedAt).order_by_asc(Column::Id)).await
}
