//! The encrypted secrets that sign deliveries. This module does not encrypt or decrypt them.

use sea_orm::entity::prelude::*;
use sea_orm::{
    QueryOrder,
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
        /// When it stops signing; `None` for the newest.
        pub expires_at: Option<i64>,
    }
);
scope::tenant!();

impl InWorkspace<Entity> {
    /// Deletes a subscription's expired secrets, and limits the expiry of the others to `end`. Returns how many are still
    /// active.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a statement fails.
    pub async fn expire<C: ConnectionTrait>(
        self,
        conn: &C,
        subscription: Uuid,
        now: i64,
        end: i64,
    ) -> Result<u64, DbErr> {
        let ours = || Column::WorkspaceId.eq(self.workspace()).and(Column::SubscriptionId.eq(subscription));
        Entity::delete_many().filter(ours()).filter(Column::ExpiresAt.lte(now)).exec(conn).await?;
        Entity::update_many()
            .col_expr(Column::ExpiresAt, Expr::value(end))
            .filter(ours())
            .filter(Column::ExpiresAt.is_null().or(Column::ExpiresAt.gt(end)))
            .exec(conn)
            .await?;
        statement::count(conn, self.select().filter(ours()).filter(Column::ExpiresAt.gt(now))).await
    }
}

/// Returns the active secrets of these subscriptions, in any workspace, newest first.
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
