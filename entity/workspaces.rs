//! Workspaces. Each is a tenant, to which most other rows belong.
//!
//! A deleted workspace keeps its row until its other rows are deleted. Only the functions whose names say so return it.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Expr, LockType};
use sea_orm::{QueryOrder, QuerySelect, Select};

use crate::{scope, statement, table};

table::declare!(
    /// One workspace.
    #[sea_orm(table_name = "workspaces")]
    pub struct Model {
        /// The workspace's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The unique key by which commands and imported changes refer to the workspace.
        #[sea_orm(column_type = "Text", unique)]
        pub key: String,
        /// The name.
        #[sea_orm(column_type = "Text")]
        pub name: String,
        /// The owner's email address.
        #[sea_orm(column_type = "Text")]
        pub owner_email: String,
        /// The limit of requests per minute and API key; `None` uses the default.
        pub per_minute: Option<i32>,
        /// The limit of requests per UTC day and API key; `None` uses the default.
        pub per_day: Option<i32>,
        /// When it was created, in milliseconds since the epoch.
        pub created_at: i64,
        /// When it was last changed, in milliseconds since the epoch.
        pub updated_at: i64,
        /// Whether members who sign in with a password or a link need a second factor.
        pub requires_second_factor: bool,
        /// `live` or `test`.
        #[sea_orm(column_type = "Text")]
        pub mode: String,
        /// The workspace whose sandbox this is.
        #[sea_orm(unique)]
        pub live_workspace_id: Option<Uuid>,
        /// When it was deleted, in milliseconds since the epoch.
        pub deleted_at: Option<i64>,
    }
);

/// Selects the workspaces that are not deleted.
fn select() -> Select<Entity> {
    Entity::find().filter(Column::DeletedAt.is_null())
}

/// Returns the workspace with this id.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn by_id<C: ConnectionTrait>(conn: &C, id: Uuid) -> Result<Option<Model>, DbErr> {
    statement::one(conn, select().filter(Column::Id.eq(id))).await
}

/// Returns the workspaces with these ids, in no particular order.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn by_ids<C: ConnectionTrait>(conn: &C, ids: &[Uuid]) -> Result<Vec<Model>, DbErr> {
    statement::all(conn, select().filter(Column::Id.is_in(ids.iter().copied()))).await
}

/// Returns the workspace with this key.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn by_key<C: ConnectionTrait>(conn: &C, key: &str) -> Result<Option<Model>, DbErr> {
    statement::one(conn, select().filter(Column::Key.eq(key))).await
}

/// Returns the sandbox of a workspace.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn sandbox_of<C: ConnectionTrait>(conn: &C, live: Uuid) -> Result<Option<Model>, DbErr> {
    statement::one(conn, select().filter(Column::LiveWorkspaceId.eq(live))).await
}

/// Locks the workspace with this key until the transaction ends, and returns it.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn lock_by_key<C: ConnectionTrait>(conn: &C, key: &str) -> Result<Option<Model>, DbErr> {
    statement::one(conn, scope::locked(select().filter(Column::Key.eq(key)))).await
}

/// Locks the workspace with this id until the transaction ends, and returns it. A transaction that also locks users or
/// subscriptions must lock the workspace first, to avoid deadlocks.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn lock<C: ConnectionTrait>(conn: &C, id: Uuid) -> Result<Option<Model>, DbErr> {
    statement::one(conn, scope::locked(select().filter(Column::Id.eq(id)))).await
}

/// Locks the workspace with this id against a change of its row until the transaction ends. Other transactions can take the same lock.
/// Returns whether it exists.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn lock_shared<C: ConnectionTrait>(conn: &C, id: Uuid) -> Result<bool, DbErr> {
    let row = select().filter(Column::Id.eq(id)).lock(LockType::Share);
    Ok(statement::one(conn, row).await?.is_some())
}

/// Returns all workspaces, sorted by key.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn list<C: ConnectionTrait>(conn: &C) -> Result<Vec<Model>, DbErr> {
    statement::all(conn, select().order_by_asc(Column::Key)).await
}

/// Returns the workspaces that were deleted before this time, in milliseconds since the epoch, and whose rows still exist.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn deleted_before<C: ConnectionTrait>(conn: &C, before: i64) -> Result<Vec<Model>, DbErr> {
    statement::all(conn, Entity::find().filter(Column::DeletedAt.lt(before)).order_by_asc(Column::Id)).await
}

/// Deletes the row of a workspace, with the rows of other tables that refer to it.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete<C: ConnectionTrait>(conn: &C, id: Uuid) -> Result<(), DbErr> {
    Entity::delete_by_id(id).exec(conn).await.map(drop)
}

/// Inserts a workspace.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails, also when the key is taken.
pub async fn insert<C: ConnectionTrait>(conn: &C, model: Model) -> Result<(), DbErr> {
    statement::insert::<_, _, ActiveModel>(conn, model).await
}

/// Sets the email address of the owner of a workspace's sandbox, if it has one.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn set_owner_of_sandbox<C: ConnectionTrait>(
    conn: &C,
    live: Uuid,
    owner_email: &str,
) -> Result<(), DbErr> {
    let update = Entity::update_many().col_expr(Column::OwnerEmail, Expr::value(owner_email));
    update.filter(Column::LiveWorkspaceId.eq(live)).exec(conn).await.map(drop)
}

/// Updates the columns that are `Set` in `changes`, also of a deleted workspace. Returns `false` when the workspace does not exist,
/// or when no column is `Set`.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn update<C: ConnectionTrait>(conn: &C, id: Uuid, changes: ActiveModel) -> Result<bool, DbErr> {
    let update = Entity::update_many().set(changes).filter(Column::Id.eq(id));
    Ok(update.exec(conn).await?.rows_affected > 0)
}
