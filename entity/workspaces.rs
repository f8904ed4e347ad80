//! Workspaces: the tenants themselves.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;

use crate::{scope, statement, table};

table::declare!(
    /// One workspace.
    #[sea_orm(table_name = "workspaces")]
    pub struct Model {
        /// The workspace's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The platform's own name for it, unique.
        #[sea_orm(column_type = "Text", unique)]
        pub key: String,
        /// The name people see.
        #[sea_orm(column_type = "Text")]
        pub name: String,
        /// Where mail to its owner goes.
        #[sea_orm(column_type = "Text")]
        pub owner_email: String,
        /// Requests a minute and key, when not the default.
        pub per_minute: Option<i32>,
        /// Requests a UTC day and key, when not the default.
        pub per_day: Option<i32>,
        /// When it was made.
        pub created_at: i64,
        /// When it was last changed.
        pub updated_at: i64,
    }
);

/// The workspace with this id.
///
/// # Errors
/// When the database does.
pub async fn by_id<C: ConnectionTrait>(conn: &C, id: Uuid) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find_by_id(id)).await
}

/// The workspaces with these ids, in no order.
///
/// # Errors
/// When the database does.
pub async fn by_ids<C: ConnectionTrait>(conn: &C, ids: &[Uuid]) -> Result<Vec<Model>, DbErr> {
    statement::all(conn, Entity::find().filter(Column::Id.is_in(ids.iter().copied()))).await
}

/// The workspace with this key of the platform's.
///
/// # Errors
/// When the database does.
pub async fn by_key<C: ConnectionTrait>(conn: &C, key: &str) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find().filter(Column::Key.eq(key))).await
}

/// The workspace with this key, locked until the transaction ends.
///
/// # Errors
/// When the database does.
pub async fn lock_by_key<C: ConnectionTrait>(conn: &C, key: &str) -> Result<Option<Model>, DbErr> {
    statement::one(conn, scope::locked(Entity::find().filter(Column::Key.eq(key)))).await
}

/// The workspace with this id, locked until the transaction ends. Its people and subscriptions are locked after it.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn lock<C: ConnectionTrait>(conn: &C, id: Uuid) -> Result<Option<Model>, DbErr> {
    statement::one(conn, scope::locked(Entity::find_by_id(id))).await
}

/// All workspaces, by key.
///
/// # Errors
/// When the database does.
pub async fn list<C: ConnectionTrait>(conn: &C) -> Result<Vec<Model>, DbErr> {
    statement::all(conn, Entity::find().order_by_asc(Column::Key)).await
}

/// Writes a new workspace.
///
/// # Errors
/// When the database does, a taken key included.
pub async fn insert<C: ConnectionTrait>(conn: &C, model: Model) -> Result<(), DbErr> {
    statement::insert::<_, _, ActiveModel>(conn, model).await
}

/// Writes the columns that are `Set` in `changes`. False when the workspace is not there.
///
/// # Errors
/// When the database does.
pub async fn update<C: ConnectionTrait>(conn: &C, id: Uuid, changes: ActiveModel) -> Result<bool, DbErr> {
    let update = Entity::update_many().set(changes).filter(Column::Id.eq(id));
    Ok(update.exec(conn).await?.rows_affected > 0)
}
