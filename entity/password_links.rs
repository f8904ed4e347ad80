//! Links by which a person sets a password, once. The token itself is nowhere.

use sea_orm::entity::prelude::*;

use crate::{InWorkspace, scope, statement, table};

table::declare!(
    /// One link that was not used yet.
    #[sea_orm(table_name = "password_links")]
    pub struct Model {
        /// The link's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace of the person.
        pub workspace_id: Uuid,
        /// The person.
        pub user_id: Uuid,
        /// SHA-256 of the token, 32 bytes.
        #[sea_orm(unique)]
        pub token_hash: Vec<u8>,
        /// When it was made.
        pub created_at: i64,
        /// From then on it opens nothing.
        pub expires_at: i64,
    }
);
scope::tenant!();

impl InWorkspace<Entity> {
    /// Deletes all links of a person.
    ///
    /// # Errors
    /// When the database does.
    pub async fn delete_of<C: ConnectionTrait>(self, conn: &C, user: Uuid) -> Result<u64, DbErr> {
        let delete = Entity::delete_many().filter(self.inside()).filter(Column::UserId.eq(user));
        Ok(delete.exec(conn).await?.rows_affected)
    }
}

/// The link with this token, in whichever workspace: the token is what names the workspace.
///
/// # Errors
/// When the database does.
pub async fn by_token_hash<C: ConnectionTrait>(conn: &C, hash: &[u8; 32]) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find().filter(Column::TokenHash.eq(hash.to_vec()))).await
}

/// Deletes the links that have expired by then, and says how many there were.
///
/// # Errors
/// When the database does.
pub async fn delete_expired<C: ConnectionTrait>(conn: &C, by: i64) -> Result<u64, DbErr> {
    Ok(Entity::delete_many().filter(Column::ExpiresAt.lte(by)).exec(conn).await?.rows_affected)
}
