//! The secrets of API keys that a rotation replaced. The current ones are in [`api_keys`]. Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Expr, OnConflict, SelectStatement};
use sea_orm::{QuerySelect as _, QueryTrait as _};

use crate::{api_keys, statement, table};

table::declare!(
    /// The secret that the last rotation of a key replaced. The secret is not stored, only its hash.
    #[sea_orm(table_name = "old_key_secrets")]
    pub struct Model {
        /// The key.
        #[sea_orm(primary_key, auto_increment = false)]
        pub key_id: Uuid,
        /// SHA-256 of the whole secret, 32 bytes.
        #[sea_orm(unique)]
        pub secret_hash: Vec<u8>,
        /// The first characters of the secret, for display.
        #[sea_orm(column_type = "Text")]
        pub prefix: String,
        /// The last four characters of the secret, for display.
        #[sea_orm(column_type = "Text")]
        pub last4: String,
        /// When the rotation replaced it.
        pub replaced_at: i64,
        /// When it expires. The key can expire earlier.
        pub expires_at: i64,
    }
);

/// Selects the key whose old secret has this hash and has not expired by `now`.
pub(crate) fn key_with_secret(hash: &[u8; 32], now: i64) -> SelectStatement {
    let key = Entity::find().select_only().column(Column::KeyId);
    key.filter(Column::SecretHash.eq(hash.to_vec())).filter(Column::ExpiresAt.gt(now)).into_query()
}

/// Returns the secret of this key if it has not expired by `now`.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn of_key<C: ConnectionTrait>(conn: &C, key: Uuid, now: i64) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find_by_id(key).filter(Column::ExpiresAt.gt(now))).await
}

/// Returns the secrets of the keys of a workspace that have not expired by `now`.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn of_workspace<C: ConnectionTrait>(
    conn: &C,
    workspace: Uuid,
    now: i64,
) -> Result<Vec<Model>, DbErr> {
    let keys = api_keys::Entity::find().select_only().column(api_keys::Column::Id);
    let keys = keys.filter(api_keys::Column::WorkspaceId.eq(workspace)).into_query();
    let secrets = Entity::find().filter(Column::KeyId.in_subquery(keys));
    statement::all(conn, secrets.filter(Column::ExpiresAt.gt(now))).await
}

/// Returns the hashes of the current and the old secret of each key that was rotated at or after `since`, in all workspaces.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn hashes_since<C: ConnectionTrait>(
    conn: &C,
    since: i64,
) -> Result<Vec<(Vec<u8>, Vec<u8>)>, DbErr> {
    let sql =
        "SELECT k.secret_hash, s.secret_hash FROM old_key_secrets AS s JOIN api_keys AS k ON k.id = s.key_id
        WHERE s.replaced_at >= $1 AND k.revoked_at IS NULL";
    let rows = conn.query_all_raw(statement::raw(conn, sql, [since.into()])).await?;
    rows.iter().map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?))).collect()
}

/// Stores the secret that a rotation replaced, instead of the one that the previous rotation of the key replaced.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn replace<C: ConnectionTrait>(conn: &C, row: Model) -> Result<(), DbErr> {
    let mut on_conflict = OnConflict::column(Column::KeyId);
    on_conflict.update_columns([
        Column::SecretHash,
        Column::Prefix,
        Column::Last4,
        Column::ReplacedAt,
        Column::ExpiresAt,
    ]);
    statement::insert_on_conflict::<_, _, ActiveModel>(conn, row, on_conflict).await.map(drop)
}

/// Makes the secret of a key expire at this time. Returns `false` when it has expired by then, or when there is none.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn expire<C: ConnectionTrait>(conn: &C, key: Uuid, at: i64) -> Result<bool, DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::ExpiresAt, Expr::value(at))
        .filter(Column::KeyId.eq(key))
        .filter(Column::ExpiresAt.gt(at));
    Ok(update.exec(conn).await?.rows_affected > 0)
}
