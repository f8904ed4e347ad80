//! API keys and their scopes. Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::{
    QueryOrder, QuerySelect,
    sea_query::{Expr, ExprTrait, SubQueryStatement},
};

use crate::{InWorkspace, StringList, old_key_secrets, scope, statement, table};

table::declare!(
    /// One API key. The secret is not stored, only its hash.
    #[sea_orm(table_name = "api_keys")]
    pub struct Model {
        /// The key's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The name chosen at creation.
        #[sea_orm(column_type = "Text")]
        pub name: String,
        /// The granted scopes.
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
        /// The maximum number of requests per minute; `None` uses the workspace's limit. Unless `operator_quota` is
        /// set, the lower of this limit and the workspace's limit applies.
        pub per_minute: Option<i32>,
        /// The maximum number of requests per UTC day; `None` uses the workspace's limit. Unless `operator_quota` is
        /// set, the lower of this limit and the workspace's limit applies.
        pub per_day: Option<i32>,
        /// When it was created.
        pub created_at: i64,
        /// When it was most recently used; `None` if never. Written at intervals, so the value may lag behind.
        pub last_used_at: Option<i64>,
        /// When it expires; `None` if it does not.
        pub expires_at: Option<i64>,
        /// When it was revoked; `None` if it was not.
        pub revoked_at: Option<i64>,
        /// Whether the operator set `per_minute` or `per_day`. These limits may then exceed the workspace's limits.
        pub operator_quota: bool,
        /// Until when deprecated operations work for it after their sunset; `None` if they stop at the sunset.
        pub sunset_extended_until: Option<i64>,
        /// The networks from which it may be used, separated by spaces; `None` means everywhere.
        #[sea_orm(column_type = "Text", nullable)]
        pub networks: Option<String>,
    }
);
scope::workspace_table!();

impl InWorkspace<Entity> {
    /// Returns the workspace's keys, oldest first, including revoked keys.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn list<C: ConnectionTrait>(self, conn: &C) -> Result<Vec<Model>, DbErr> {
        statement::all(conn, self.select().order_by_asc(Column::CreatedAt).order_by_asc(Column::Id)).await
    }

    /// Revokes a key. Returns `false` when the key does not exist or is already revoked.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn revoke<C: ConnectionTrait>(self, conn: &C, id: Uuid, at: i64) -> Result<bool, DbErr> {
        let update = Entity::update_many()
            .col_expr(Column::RevokedAt, Expr::value(at))
            .filter(Column::WorkspaceId.eq(self.workspace()))
            .filter(Column::Id.eq(id))
            .filter(Column::RevokedAt.is_null());
        Ok(update.exec(conn).await?.rows_affected > 0)
    }
}

/// Returns the key whose secret, or whose old secret that has not expired by `now`, has this hash. Also returns a revoked or expired
/// key. Searches all workspaces, since the key determines the workspace. One statement, since anybody can make the server execute it.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn by_secret_hash<C: ConnectionTrait>(
    conn: &C,
    hash: &[u8; 32],
    now: i64,
) -> Result<Option<Model>, DbErr> {
    let old = SubQueryStatement::from(old_key_secrets::key_with_secret(hash, now));
    let is_key = Column::SecretHash.eq(hash.to_vec()).or(Column::Id.into_expr().eq(Expr::from(old)));
    statement::one(conn, Entity::find().filter(is_key)).await
}

/// Returns the ids and secret hashes of up to `limit` keys that are not revoked, including expired keys, in all
/// workspaces, ordered by id and starting after `after`.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn secret_hashes<C: ConnectionTrait>(
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

/// Returns the key with this id. Searches all workspaces, for the operator's commands.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn by_id<C: ConnectionTrait>(conn: &C, id: Uuid) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find_by_id(id)).await
}

/// Returns the keys revoked at or after `since`, in all workspaces. Caches use it to remove revoked keys.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn revoked_since<C: ConnectionTrait>(conn: &C, since: i64) -> Result<Vec<Model>, DbErr> {
    statement::all(conn, Entity::find().filter(Column::RevokedAt.gte(since))).await
}

/// Returns the valid keys of all workspaces that expire until a time, or that were not used since another: not since they were
/// created, if they were never used. Oldest first.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn expiring_or_unused<C: ConnectionTrait>(
    conn: &C,
    now: i64,
    expires_until: i64,
    unused_since: i64,
) -> Result<Vec<Model>, DbErr> {
    let is_valid = Column::ExpiresAt.is_null().or(Column::ExpiresAt.gt(now)).and(Column::RevokedAt.is_null());
    let never_used = Column::LastUsedAt.is_null().and(Column::CreatedAt.lt(unused_since));
    let is_unused = never_used.or(Column::LastUsedAt.lt(unused_since));
    let keys = Entity::find().filter(is_valid).filter(Column::ExpiresAt.lte(expires_until).or(is_unused));
    statement::all(conn, keys.order_by_asc(Column::CreatedAt).order_by_asc(Column::Id)).await
}

/// Records that a key was used, unless a later use is recorded.
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
