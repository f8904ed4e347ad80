//! The mails that owners got about API keys that expire soon, are not used, or were rotated.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::OnConflict;
use sea_orm::{QuerySelect as _, QueryTrait as _};

use crate::{api_keys, statement, table};

table::declare!(
    /// The last mail of one kind about one key.
    #[sea_orm(table_name = "key_notices")]
    pub struct Model {
        /// The key.
        #[sea_orm(primary_key, auto_increment = false)]
        pub key_id: Uuid,
        /// Why the mail was sent: `unused`, `rotated`, or the number of days before the expiry.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub stage: String,
        /// When it was queued, in milliseconds since the epoch.
        pub sent_at: i64,
    }
);

/// Stores notices. Replaces those of the same key and stage.
///
/// # Errors
/// Returns [`DbErr`] when a statement fails.
pub async fn replace<C: ConnectionTrait>(conn: &C, rows: Vec<Model>) -> Result<(), DbErr> {
    let mut on_conflict = OnConflict::columns([Column::KeyId, Column::Stage]);
    on_conflict.update_column(Column::SentAt);
    for row in rows {
        statement::insert_on_conflict::<_, _, ActiveModel>(conn, row, on_conflict.clone()).await?;
    }
    Ok(())
}

/// Deletes the notices of a key, except those of one stage.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete_except<C: ConnectionTrait>(conn: &C, key: Uuid, stage: &str) -> Result<(), DbErr> {
    let delete = Entity::delete_many().filter(Column::KeyId.eq(key)).filter(Column::Stage.ne(stage));
    delete.exec(conn).await.map(drop)
}

/// Returns the notices of all keys of a workspace.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn of_workspace<C: ConnectionTrait>(conn: &C, workspace_id: Uuid) -> Result<Vec<Model>, DbErr> {
    let keys = api_keys::Entity::find().select_only().column(api_keys::Column::Id);
    let keys = keys.filter(api_keys::Column::WorkspaceId.eq(workspace_id)).into_query();
    statement::all(conn, Entity::find().filter(Column::KeyId.in_subquery(keys))).await
}

/// Returns when the last mail of one kind about a key was queued, in milliseconds since the epoch. `None` if there was none.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn sent_at<C: ConnectionTrait>(conn: &C, key: Uuid, stage: &str) -> Result<Option<i64>, DbErr> {
    let select = Entity::find().filter(Column::KeyId.eq(key)).filter(Column::Stage.eq(stage));
    Ok(statement::one(conn, select).await?.map(|notice| notice.sent_at))
}
