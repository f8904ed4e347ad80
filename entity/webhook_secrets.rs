//! The secrets that sign deliveries. They are encrypted; this module does not encrypt or decrypt them.
//!
//! Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::{
    QueryOrder, QuerySelect,
    sea_query::{Expr, ExprTrait},
};

use crate::{InWorkspace, scope, statement, table};

table::declare!(
    /// One secret of a subscription.
    #[sea_orm(table_name = "webhook_secrets")]
    pub struct Model {
        /// The secret's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The subscription.
        pub subscription_id: Uuid,
        /// The secret, encrypted.
        pub ciphertext: Vec<u8>,
        /// When it was created.
        pub created_at: i64,
        /// When it expires and no longer signs deliveries; `None` for the newest secret of the subscription.
        pub expires_at: Option<i64>,
    }
);
scope::workspace_table!();

impl InWorkspace<Entity> {
    /// Deletes a subscription's secrets that have expired by `now`, and makes the others expire at `expires_at` or
    /// earlier. Returns the number of secrets that are active at `now`.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a statement fails.
    pub async fn expire<C: ConnectionTrait>(
        self,
        conn: &C,
        subscription: Uuid,
        now: i64,
        expires_at: i64,
    ) -> Result<u64, DbErr> {
        let of_subscription =
            || Column::WorkspaceId.eq(self.workspace()).and(Column::SubscriptionId.eq(subscription));
        Entity::delete_many().filter(of_subscription()).filter(Column::ExpiresAt.lte(now)).exec(conn).await?;
        Entity::update_many()
            .col_expr(Column::ExpiresAt, Expr::value(expires_at))
            .filter(of_subscription())
            .filter(Column::ExpiresAt.is_null().or(Column::ExpiresAt.gt(expires_at)))
            .exec(conn)
            .await?;
        statement::count(conn, self.select().filter(of_subscription()).filter(Column::ExpiresAt.gt(now)))
            .await
    }
}

/// Returns up to `limit` secrets with ids greater than `after`, by id, of all workspaces.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn page<C: ConnectionTrait>(conn: &C, after: Uuid, limit: u64) -> Result<Vec<Model>, DbErr> {
    let page = Entity::find().filter(Column::Id.gt(after)).order_by_asc(Column::Id).limit(limit);
    statement::all(conn, page).await
}

/// Replaces the ciphertext of a secret if it is still `current`. Returns whether it was.
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

/// Returns the secrets of these subscriptions that have not expired by `now`, in any workspace, newest first.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn active<C: ConnectionTrait>(
    conn: &C,
    subscriptions: &[Uuid],
    now: i64,
) -> Result<Vec<Model>, DbErr> {
    if subscriptions.is_empty() {
        return Ok(Vec::new());
    }
    let active = Entity::find()
        .filter(Column::SubscriptionId.is_in(statement::padded(subscriptions)))
        .filter(Column::ExpiresAt.is_null().or(Column::ExpiresAt.gt(now)))
        .order_by_desc(Column::CreatedAt)
        .order_by_desc(Column::Id);
    statement::all(conn, active).await
}
