//! Tokens with which the platform calls the Platform API. Times are milliseconds since the epoch.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait};

use crate::{StringList, statement, table};

table::declare!(
    /// One token. The secret is not stored, only its hash.
    #[sea_orm(table_name = "platform_tokens")]
    pub struct Model {
        /// The token's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The name chosen at creation.
        #[sea_orm(column_type = "Text")]
        pub name: String,
        /// The granted scopes.
        pub scopes: StringList,
        /// SHA-256 of the whole secret, 32 bytes.
        #[sea_orm(unique)]
        pub secret_hash: Vec<u8>,
        /// The last four characters of the secret, for display.
        #[sea_orm(column_type = "Text")]
        pub last4: String,
        /// When it was created.
        pub created_at: i64,
        /// When it was most recently used; `None` if never. Written at intervals, so the value may lag behind.
        pub last_used_at: Option<i64>,
        /// When it expires; `None` if it does not.
        pub expires_at: Option<i64>,
        /// When it was revoked; `None` if it was not.
        pub revoked_at: Option<i64>,
    }
);

/// Inserts a token.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn insert<C: ConnectionTrait>(conn: &C, model: Model) -> Result<(), DbErr> {
    statement::insert::<_, _, ActiveModel>(conn, model).await
}

/// Returns all tokens, oldest first, including revoked ones.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn list<C: ConnectionTrait>(conn: &C) -> Result<Vec<Model>, DbErr> {
    statement::all(conn, Entity::find().order_by_asc(Column::CreatedAt).order_by_asc(Column::Id)).await
}

/// Returns the token with this id.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn by_id<C: ConnectionTrait>(conn: &C, id: Uuid) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find_by_id(id)).await
}

/// Returns the token with this secret hash, also if it is revoked or expired.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn by_secret_hash<C: ConnectionTrait>(conn: &C, hash: &[u8; 32]) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find().filter(Column::SecretHash.eq(hash.to_vec()))).await
}

/// Revokes a token. Returns `false` when it does not exist or is already revoked.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn revoke<C: ConnectionTrait>(conn: &C, id: Uuid, at: i64) -> Result<bool, DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::RevokedAt, Expr::value(at))
        .filter(Column::Id.eq(id))
        .filter(Column::RevokedAt.is_null());
    Ok(update.exec(conn).await?.rows_affected > 0)
}

/// Records that a token was used, unless a later use is recorded.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn touch<C: ConnectionTrait>(conn: &C, id: Uuid, at: i64) -> Result<(), DbErr> {
    let no_later_use = Column::LastUsedAt.is_null().or(Column::LastUsedAt.lt(at));
    let update = Entity::update_many()
        .col_expr(Column::LastUsedAt, Expr::value(at))
        .filter(Column::Id.eq(id))
        .filter(no_later_use);
    update.exec(conn).await.map(drop)
}
