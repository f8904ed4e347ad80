//! The Ed25519 key pairs of workspaces, which sign deliveries. Private keys are encrypted; this module does not encrypt
//! or decrypt them.
//!
//! Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::{
    QueryOrder, QuerySelect,
    sea_query::{Expr, ExprTrait},
};

use crate::{InWorkspace, scope, statement, table};

table::declare!(
    /// One key pair of a workspace.
    #[sea_orm(table_name = "webhook_keys")]
    pub struct Model {
        /// The id of the key pair.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The public key, 32 bytes.
        pub public_key: Vec<u8>,
        /// The private key, encrypted.
        pub ciphertext: Vec<u8>,
        /// When it was created and its public key was published.
        pub created_at: i64,
        /// When it begins to sign deliveries.
        pub signs_from: i64,
        /// When it no longer signs; `None` for the newest key pair of the workspace.
        pub signs_until: Option<i64>,
    }
);
scope::workspace_table!();

impl InWorkspace<Entity> {
    /// Returns the workspace's key pairs, newest first.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn list<C: ConnectionTrait>(self, conn: &C) -> Result<Vec<Model>, DbErr> {
        let keys = self.select().order_by_desc(Column::CreatedAt).order_by_desc(Column::Id);
        statement::all(conn, keys).await
    }

    /// Deletes the key pairs that no longer sign at `before`, and makes the others stop at `until` or earlier.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a statement fails.
    pub async fn retire<C: ConnectionTrait>(self, conn: &C, before: i64, until: i64) -> Result<(), DbErr> {
        let in_workspace = || Column::WorkspaceId.eq(self.workspace());
        Entity::update_many()
            .col_expr(Column::SignsUntil, Expr::value(until))
            .filter(in_workspace())
            .filter(Column::SignsUntil.is_null().or(Column::SignsUntil.gt(until)))
            .exec(conn)
            .await?;
        let ended = Entity::delete_many().filter(in_workspace()).filter(Column::SignsUntil.lte(before));
        ended.exec(conn).await.map(drop)
    }
}

/// Returns the key pairs of these workspaces that sign at `now`, newest first.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn signing<C: ConnectionTrait>(
    conn: &C,
    workspaces: &[Uuid],
    now: i64,
) -> Result<Vec<Model>, DbErr> {
    if workspaces.is_empty() {
        return Ok(Vec::new());
    }
    let keys = Entity::find()
        .filter(Column::WorkspaceId.is_in(statement::padded(workspaces)))
        .filter(Column::SignsFrom.lte(now))
        .filter(Column::SignsUntil.is_null().or(Column::SignsUntil.gt(now)))
        .order_by_desc(Column::CreatedAt)
        .order_by_desc(Column::Id);
    statement::all(conn, keys).await
}

/// Returns up to `limit` key pairs with ids greater than `after`, by id, of all workspaces.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn page<C: ConnectionTrait>(conn: &C, after: Uuid, limit: u64) -> Result<Vec<Model>, DbErr> {
    let page = Entity::find().filter(Column::Id.gt(after)).order_by_asc(Column::Id).limit(limit);
    statement::all(conn, page).await
}

/// Replaces the ciphertext of a private key if it is still `current`. Returns whether it was.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn replace_ciphertext<C: ConnectionTrait>(
    conn: &C,
    id: Uuid,
    current: Vec<u8>,
    new: Vec<u8>,
) -> Result<bool, DbErr> {
    let replaced = Entity::update_many()
        .col_expr(Column::Ciphertext, Expr::value(new))
        .filter(Column::Id.eq(id))
        .filter(Column::Ciphertext.eq(current))
        .exec(conn)
        .await?;
    Ok(replaced.rows_affected > 0)
}
