//! Recovery codes of people with a second factor. Only their hashes are stored, and a used code is deleted.

use sea_orm::entity::prelude::*;

use crate::{statement, table};

table::declare!(
    /// One unused code of one person.
    #[sea_orm(table_name = "recovery_codes")]
    pub struct Model {
        /// The person.
        #[sea_orm(primary_key, auto_increment = false)]
        pub person_id: Uuid,
        /// The hash of the code, 32 bytes.
        #[sea_orm(primary_key, auto_increment = false)]
        pub code_hash: Vec<u8>,
    }
);

/// Replaces all codes of a person. Without hashes, deletes them.
///
/// # Errors
/// Returns [`DbErr`] when a statement fails.
pub async fn replace<C: ConnectionTrait>(conn: &C, person: Uuid, hashes: &[[u8; 32]]) -> Result<(), DbErr> {
    Entity::delete_many().filter(Column::PersonId.eq(person)).exec(conn).await?;
    let rows = hashes.iter().map(|hash| Model { person_id: person, code_hash: hash.to_vec() }).collect();
    statement::insert_many::<_, Model, ActiveModel>(conn, rows).await
}

/// Deletes a code. Returns `false` when the person has no such code.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete<C: ConnectionTrait>(conn: &C, person: Uuid, hash: &[u8; 32]) -> Result<bool, DbErr> {
    let delete =
        Entity::delete_many().filter(Column::PersonId.eq(person)).filter(Column::CodeHash.eq(hash.to_vec()));
    Ok(delete.exec(conn).await?.rows_affected > 0)
}

/// Counts the codes of a person.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn count<C: ConnectionTrait>(conn: &C, person: Uuid) -> Result<u64, DbErr> {
    statement::count(conn, Entity::find().filter(Column::PersonId.eq(person))).await
}
