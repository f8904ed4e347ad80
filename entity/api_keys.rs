//! API keys: who may call, and with which scopes.

use sea_orm::entity::prelude::*;
use sea_orm::{
    QueryOrder, QuerySelect,
    sea_query::{Expr, ExprTrait},
};

use crate::{InWorkspace, StringList, scope, statement, table};

table::declare!(
    /// One API key. The secret itself is nowhere.
    #[sea_orm(table_name = "api_keys")]
    pub struct Model {
        /// The key's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// What its owner calls it.
        #[sea_orm(column_type = "Text")]
        pub name: String,
        /// The scopes it grants.
        pub scopes: StringList,
        /// SHA-256 of the whole secret, 32 bytes.
        #[sea_orm(unique)]
        pub secret_hash: Vec<u8>,
        /// The first characters of the secret, for display.
        #[sea_orm(column_type = "Text")]
        pub prefix: String,
        /// The last four characters of the secret, for display.
        #[sea_orm(column_type = "Text")]
        pub last4: String,
        /// The key's own limit of requests a minute; `None` uses the workspace's. Unless `operator_quota` is set, the workspace's limits
        /// it as well.
        pub per_minute: Option<i32>,
        /// The key's own limit of requests a UTC day, likewise.
        pub per_day: Option<i32>,
        /// When it was made.
        pub created_at: i64,
        /// When it was last used, to within the interval at which that is saved.
        pub last_used_at: Option<i64>,
        /// When it ends by itself.
        pub expires_at: Option<i64>,
        /// When it was revoked.
        pub revoked_at: Option<i64>,
        /// Whether the operator gave the quota, which may then exceed the workspace's.
        pub operator_quota: bool,
    }
);
scope::tenant!();

impl InWorkspace<Entity> {
    /// The workspace's keys, oldest first, revoked ones included.
    ///
    /// # Errors
    /// When the database does.
    pub async fn list<C: ConnectionTrait>(self, conn: &C) -> Result<Vec<Model>, DbErr> {
        statement::all(conn, self.select().order_by_asc(Column::CreatedAt).order_by_asc(Column::Id)).await
    }

    /// Revokes a key. False when it is not there or was revoked before.
    ///
    /// # Errors
    /// When the database does.
    pub async fn revoke<C: ConnectionTrait>(self, conn: &C, id: Uuid, at: i64) -> Result<bool, DbErr> {
        let update = Entity::update_many()
            .col_expr(Column::RevokedAt, Expr::value(at))
            .filter(Column::WorkspaceId.eq(self.workspace()))
            .filter(Column::Id.eq(id))
            .filter(Column::RevokedAt.is_null());
        Ok(update.exec(conn).await?.rows_affected > 0)
    }
}

/// The key with this secret, in whichever workspace: the key is what names the workspace.
///
/// # Errors
/// When the database does.
pub async fn by_secret_hash<C: ConnectionTrait>(conn: &C, hash: &[u8; 32]) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find().filter(Column::SecretHash.eq(hash.to_vec()))).await
}

/// The ids and secret hashes of keys in all workspaces that were not revoked, by id: those after an id, so many at most.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn digests<C: ConnectionTrait>(
    conn: &C,
    after: Option<Uuid>,
    limit: u64,
) -> Result<Vec<(Uuid, Vec<u8>)>, DbErr> {
    let mut select = Entity::find().select_only().columns([Column::Id, Column::SecretHash]);
    if let Some(after) = after {
        select = select.filter(Column::Id.gt(after));
    }
    let select = select.filter(Column::RevokedAt.is_null()).order_by_asc(Column::Id).limit(limit);
    select.into_tuple().all(conn).await
}

/// The key with this id, in whichever workspace, for the operator's commands.
///
/// # Errors
/// When the database does.
pub async fn by_id<C: ConnectionTrait>(conn: &C, id: Uuid) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find_by_id(id)).await
}

/// The keys revoked at or after this moment, in all workspaces: what a cache of keys must forget.
///
/// # Errors
/// When the database does.
pub async fn revoked_since<C: ConnectionTrait>(conn: &C, since: i64) -> Result<Vec<Model>, DbErr> {
    statement::all(conn, Entity::find().filter(Column::RevokedAt.gte(since))).await
}

/// Remembers that a key was used, unless a later use is known.
///
/// # Errors
/// When the database does.
pub async fn touch<C: ConnectionTrait>(conn: &C, id: Uuid, at: i64) -> Result<(), DbErr> {
    let earlier = Column::LastUsedAt.is_null().or(Column::LastUsedAt.lt(at));
    let update = Entity::update_many()
        .col_expr(Column::LastUsedAt, Expr::value(at))
        .filter(Column::Id.eq(id))
        .filter(earlier);
    update.exec(conn).await.map(drop)
}
