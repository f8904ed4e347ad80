//! What the server remembers about itself: a few named texts.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::OnConflict;

use crate::{statement, table};

table::declare!(
    /// One named text.
    #[sea_orm(table_name = "server_state")]
    pub struct Model {
        /// The name.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub name: String,
        /// The text.
        #[sea_orm(column_type = "Text")]
        pub value: String,
    }
);

/// The text with this name.
///
/// # Errors
/// When the database does.
pub async fn get<C: ConnectionTrait>(conn: &C, name: &str) -> Result<Option<String>, DbErr> {
    Ok(statement::one(conn, Entity::find_by_id(name.to_owned())).await?.map(|row| row.value))
}

/// Writes the text with this name, over an older one.
///
/// # Errors
/// When the database does.
pub async fn put<C: ConnectionTrait>(conn: &C, name: &str, value: &str) -> Result<(), DbErr> {
    let newer = OnConflict::column(Column::Name).update_column(Column::Value).to_owned();
    statement::insert_unless::<_, _, ActiveModel>(conn, row(name, value), newer).await.map(drop)
}

/// Writes the text with this name unless there is one. True when it was written.
///
/// # Errors
/// When the database does.
pub async fn put_if_absent<C: ConnectionTrait>(conn: &C, name: &str, value: &str) -> Result<bool, DbErr> {
    let taken = OnConflict::column(Column::Name).do_nothing().to_owned();
    statement::insert_unless::<_, _, ActiveModel>(conn, row(name, value), taken).await
}

fn row(name: &str, value: &str) -> Model {
    Model { name: name.to_owned(), value: value.to_owned() }
}
