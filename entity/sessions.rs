//! Sessions: who is signed in. The token itself is nowhere.

use sea_orm::entity::prelude::*;
use sea_orm::{
    QueryOrder, QuerySelect,
    sea_query::{Expr, ExprTrait},
};

use crate::{InWorkspace, scope, statement, table};

table::declare!(
    /// One signed-in browser.
    #[sea_orm(table_name = "sessions")]
    pub struct Model {
        /// The session's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace of the person.
        pub workspace_id: Uuid,
        /// The person.
        pub user_id: Uuid,
        /// SHA-256 of the token, 32 bytes.
        #[sea_orm(unique)]
        pub token_hash: Vec<u8>,
        /// The client address it was begun from.
        #[sea_orm(column_type = "Text")]
        pub address: String,
        /// What the browser called itself.
        #[sea_orm(column_type = "Text")]
        pub agent: String,
        /// When it was begun.
        pub created_at: i64,
        /// When it was last used, to within the interval at which that is saved.
        pub seen_at: i64,
    }
);
scope::tenant!();

impl InWorkspace<Entity> {
    /// A person's sessions, the one used last first.
    ///
    /// # Errors
    /// When the database does.
    pub async fn of_user<C: ConnectionTrait>(
        self,
        conn: &C,
        user: Uuid,
        limit: u64,
    ) -> Result<Vec<Model>, DbErr> {
        let of_user = self.select().filter(Column::UserId.eq(user));
        let sorted = of_user.order_by_desc(Column::SeenAt).order_by_desc(Column::Id).limit(limit);
        statement::all(conn, sorted).await
    }

    /// Ends one of a person's sessions. False when it is not there.
    ///
    /// # Errors
    /// When the database does.
    pub async fn end<C: ConnectionTrait>(self, conn: &C, user: Uuid, id: Uuid) -> Result<bool, DbErr> {
        let delete = Entity::delete_many()
            .filter(self.inside())
            .filter(Column::UserId.eq(user))
            .filter(Column::Id.eq(id));
        Ok(delete.exec(conn).await?.rows_affected > 0)
    }

    /// Ends a person's sessions but one, and says how many there were.
    ///
    /// # Errors
    /// When the database does.
    pub async fn end_others<C: ConnectionTrait>(
        self,
        conn: &C,
        user: Uuid,
        kept: Option<Uuid>,
    ) -> Result<u64, DbErr> {
        let mut delete = Entity::delete_many().filter(self.inside()).filter(Column::UserId.eq(user));
        if let Some(kept) = kept {
            delete = delete.filter(Column::Id.ne(kept));
        }
        Ok(delete.exec(conn).await?.rows_affected)
    }
}

/// The session with this token, in whichever workspace: the token is what names the workspace.
///
/// # Errors
/// When the database does.
pub async fn by_token_hash<C: ConnectionTrait>(conn: &C, hash: &[u8; 32]) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find().filter(Column::TokenHash.eq(hash.to_vec()))).await
}

/// Remembers that a session was used, unless a later use is known.
///
/// # Errors
/// When the database does.
pub async fn touch<C: ConnectionTrait>(conn: &C, id: Uuid, at: i64) -> Result<(), DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::SeenAt, Expr::value(at))
        .filter(Column::Id.eq(id))
        .filter(Column::SeenAt.lt(at));
    update.exec(conn).await.map(drop)
}

/// Deletes the sessions last used or begun before these moments, and says how many there were.
///
/// # Errors
/// When the database does.
pub async fn delete_ended<C: ConnectionTrait>(
    conn: &C,
    seen_before: i64,
    created_before: i64,
) -> Result<u64, DbErr> {
    let ended = Column::SeenAt.lte(seen_before).or(Column::CreatedAt.lte(created_before));
    Ok(Entity::delete_many().filter(ended).exec(conn).await?.rows_affected)
}
