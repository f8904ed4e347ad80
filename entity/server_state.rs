//! Named values that the server stores about itself.

use sea_orm::entity::prelude::*;
use sea_orm::{QuerySelect, sea_query::OnConflict};

use crate::{statement, table};

table::declare!(
    /// One named value.
    #[sea_orm(table_name = "server_state")]
    pub struct Model {
        /// The name.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub name: String,
        /// The value.
        #[sea_orm(column_type = "Text")]
        pub value: String,
    }
);

/// Returns the value with this name.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn get<C: ConnectionTrait>(conn: &C, name: &str) -> Result<Option<String>, DbErr> {
    Ok(statement::one(conn, Entity::find_by_id(name.to_owned())).await?.map(|row| row.value))
}

/// Like [`get`], but on PostgreSQL no other transaction can change the value until this one ends. Several transactions can hold
/// this lock. SQLite has only one writer.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn get_for_share<C: ConnectionTrait>(conn: &C, name: &str) -> Result<Option<String>, DbErr> {
    let rows = Entity::find_by_id(name.to_owned()).lock_shared();
    Ok(statement::one(conn, rows).await?.map(|row| row.value))
}

/// Like [`get_for_share`], but only one transaction can hold this lock, and none that locks for share: waits until they have
/// ended.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn get_for_update<C: ConnectionTrait>(conn: &C, name: &str) -> Result<Option<String>, DbErr> {
    let rows = Entity::find_by_id(name.to_owned()).lock_exclusive();
    Ok(statement::one(conn, rows).await?.map(|row| row.value))
}

/// Deletes the value with this name, if there is one.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete<C: ConnectionTrait>(conn: &C, name: &str) -> Result<(), DbErr> {
    Entity::delete_by_id(name.to_owned()).exec(conn).await.map(drop)
}

/// Stores the value with this name, replacing an earlier one.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn put<C: ConnectionTrait>(conn: &C, name: &str, value: &str) -> Result<(), DbErr> {
    let on_conflict = OnConflict::column(Column::Name).update_column(Column::Value).to_owned();
    statement::insert_on_conflict::<_, _, ActiveModel>(conn, row(name, value), on_conflict).await.map(drop)
}

/// Stores the value with this name unless one exists. Returns whether it was stored.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn put_if_absent<C: ConnectionTrait>(conn: &C, name: &str, value: &str) -> Result<bool, DbErr> {
    let on_conflict = OnConflict::column(Column::Name).do_nothing().to_owned();
    statement::insert_on_conflict::<_, _, ActiveModel>(conn, row(name, value), on_conflict).await
}

fn row(name: &str, value: &str) -> Model {
    Model { name: name.to_owned(), value: value.to_owned() }
}
