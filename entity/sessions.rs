//! Dashboard sessions. Only the hash of the session token is stored. Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::{
    QueryOrder, QuerySelect,
    sea_query::{Expr, ExprTrait},
};

use crate::{InWorkspace, scope, statement, table};

table::declare!(
    /// One session of a browser.
    #[sea_orm(table_name = "sessions")]
    pub struct Model {
        /// The session's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The user's workspace.
        pub workspace_id: Uuid,
        /// The user.
        pub user_id: Uuid,
        /// SHA-256 of the token, 32 bytes.
        #[sea_orm(unique)]
        pub token_hash: Vec<u8>,
        /// The client's IP address at login.
        #[sea_orm(column_type = "Text")]
        pub address: String,
        /// The `User-Agent` header at login.
        #[sea_orm(column_type = "Text")]
        pub agent: String,
        /// When it was created.
        pub created_at: i64,
        /// When it was most recently used. Written at intervals, so the value may lag behind.
        pub seen_at: i64,
        /// When the user last proved their identity, by signing in or by confirming it.
        pub authenticated_at: i64,
        /// Whether the user entered a code of their second factor.
        pub has_second_factor: bool,
        /// Whether the user signed in with an OpenID Connect provider.
        pub uses_provider: bool,
        /// Whether it shows the sandbox of the workspace.
        pub in_sandbox: bool,
    }
);
scope::workspace_table!();

impl InWorkspace<Entity> {
    /// Returns up to `limit` sessions of a user, most recently used first.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn of_user<C: ConnectionTrait>(
        self,
        conn: &C,
        user: Uuid,
        limit: u64,
    ) -> Result<Vec<Model>, DbErr> {
        let sessions = self.select().filter(Column::UserId.eq(user));
        let sorted = sessions.order_by_desc(Column::SeenAt).order_by_desc(Column::Id).limit(limit);
        statement::all(conn, sorted).await
    }

    /// Ends one of a user's sessions. Returns `false` when the user has no session with this id.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn end<C: ConnectionTrait>(self, conn: &C, user: Uuid, id: Uuid) -> Result<bool, DbErr> {
        let delete = Entity::delete_many()
            .filter(self.is_in_workspace())
            .filter(Column::UserId.eq(user))
            .filter(Column::Id.eq(id));
        Ok(delete.exec(conn).await?.rows_affected > 0)
    }

    /// Ends all sessions of a user, except the session `kept` if it is set. Returns the number of sessions ended.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn end_others<C: ConnectionTrait>(
        self,
        conn: &C,
        user: Uuid,
        kept: Option<Uuid>,
    ) -> Result<u64, DbErr> {
        let mut delete = Entity::delete_many().filter(self.is_in_workspace()).filter(Column::UserId.eq(user));
        if let Some(kept) = kept {
            delete = delete.filter(Column::Id.ne(kept));
        }
        Ok(delete.exec(conn).await?.rows_affected)
    }
}

/// Returns the session with this token hash, also if it has expired by age or inactivity. Searches all workspaces,
/// since the token determines the workspace.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn by_token_hash<C: ConnectionTrait>(conn: &C, hash: &[u8; 32]) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find().filter(Column::TokenHash.eq(hash.to_vec()))).await
}

/// Lets all sessions of a workspace that show its sandbox show the workspace.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn leave_sandbox<C: ConnectionTrait>(conn: &C, workspace: Uuid) -> Result<(), DbErr> {
    let update = Entity::update_many().col_expr(Column::InSandbox, Expr::value(false));
    let update = update.filter(Column::WorkspaceId.eq(workspace)).filter(Column::InSandbox.eq(true));
    update.exec(conn).await.map(drop)
}

/// Records that a session was used, unless a later use is recorded.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn touch<C: ConnectionTrait>(conn: &C, id: Uuid, at: i64) -> Result<(), DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::SeenAt, Expr::value(at))
        .filter(Column::Id.eq(id))
        .filter(Column::SeenAt.lt(at));
    update.exec(conn).await.map(drop)
}

/// Deletes the expired sessions: those last used at or before `seen_before`, and those created at or before
/// `created_before`. Returns the number of rows deleted.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete_expired<C: ConnectionTrait>(
    conn: &C,
    seen_before: i64,
    created_before: i64,
) -> Result<u64, DbErr> {
    let expired = Column::SeenAt.lte(seen_before).or(Column::CreatedAt.lte(created_before));
    Ok(Entity::delete_many().filter(expired).exec(conn).await?.rows_affected)
}
