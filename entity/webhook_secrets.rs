//! The secrets that deliveries are signed with, encrypted. What encrypts them is not known here.

use sea_orm::entity::prelude::*;
use sea_orm::{
    QueryOrder,
    sea_query::{Expr, ExprTrait},
};

use crate::{InWorkspace, scope, statement, table};

table::declare!(
    /// One secret of one subscription.
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
        /// When it was made.
        pub created_at: i64,
        /// When it stops signing; the newest has no end.
        pub expires_at: Option<i64>,
    }
);
scope::tenant!();

impl InWorkspace<Entity> {
    /// Deletes a subscription's secrets that ended, and lets those that still live end at `end` at the latest.
    /// Says how many still live.
    ///
    /// # Errors
    /// When the database does.
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

/// The secrets of these subscriptions that sign at this moment, in whichever workspaces: newest first.
///
/// # Errors
/// When the database does.
pub async fn live<C: ConnectionTrait>(
    conn: &C,
    subscriptions: &[Uuid],
    now: i64,
) -> Result<Vec<Model>, DbErr> {
    if subscriptions.is_empty() {
        return Ok(Vec::new());
    }
    let live = Entity::find()
        .filter(Column::SubscriptionId.is_in(statement::padded(subscriptions)))
        .filter(Column::ExpiresAt.is_null().or(Column::ExpiresAt.gt(now)))
        .order_by_desc(Column::CreatedAt)
        .order_by_desc(Column::Id);
    statement::all(conn, live).await
}
