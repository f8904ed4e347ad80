//! Single-use links that sign a person in to the dashboard. Only the hash of the link's token is stored.
//!
//! Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;

use crate::{InWorkspace, scope, statement, table};

table::declare!(
    /// One link that is unused, or was opened and waits for the code of the second factor.
    #[sea_orm(table_name = "sign_in_links")]
    pub struct Model {
        /// The link's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The user's workspace.
        pub workspace_id: Uuid,
        /// The user.
        pub user_id: Uuid,
        /// SHA-256 of the token, 32 bytes.
        #[sea_orm(unique)]
        pub token_hash: Vec<u8>,
        /// When it expires.
        pub expires_at: i64,
    }
);
scope::workspace_table!();

impl InWorkspace<Entity> {
    /// Replaces the token of a link that still has the token with the hash `from`, and the time at which it expires. Returns whether it
    /// had it.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn replace_token<C: ConnectionTrait>(
        self,
        conn: &C,
        from: &[u8; 32],
        to: &[u8; 32],
        expires_at: i64,
    ) -> Result<bool, DbErr> {
        let update = Entity::update_many()
            .filter(self.is_in_workspace())
            .filter(Column::TokenHash.eq(from.to_vec()))
            .col_expr(Column::TokenHash, Expr::value(to.to_vec()))
            .col_expr(Column::ExpiresAt, Expr::value(expires_at));
        Ok(update.exec(conn).await?.rows_affected == 1)
    }

    /// Deletes all links of a user and returns the number of rows deleted.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn delete_for_user<C: ConnectionTrait>(self, conn: &C, user: Uuid) -> Result<u64, DbErr> {
        let delete = Entity::delete_many().filter(self.is_in_workspace()).filter(Column::UserId.eq(user));
        Ok(delete.exec(conn).await?.rows_affected)
    }
}

/// Returns the link with this token hash, also if it has expired. Searches all workspaces, since the token determines
/// the workspace.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn by_token_hash<C: ConnectionTrait>(conn: &C, hash: &[u8; 32]) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find().filter(Column::TokenHash.eq(hash.to_vec()))).await
}

/// Deletes the links that have expired by `now` and returns the number of rows deleted.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete_expired<C: ConnectionTrait>(conn: &C, now: i64) -> Result<u64, DbErr> {
    Ok(Entity::delete_many().filter(Column::ExpiresAt.lte(now)).exec(conn).await?.rows_affected)
}
