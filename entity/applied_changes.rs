//! Which of the platform's changes were applied, so that each is applied once.

use sea_orm::entity::prelude::*;
use sea_orm::{QuerySelect, sea_query::OnConflict};

use crate::{statement, table};

table::declare!(
    /// One applied change. The workspace is named by its key, since a change may be what creates it.
    #[sea_orm(table_name = "applied_changes")]
    pub struct Model {
        /// The workspace's key.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub workspace_key: String,
        /// The change's id, the platform's own.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub change_id: String,
        /// When it was applied.
        pub applied_at: i64,
    }
);

/// Records a change as applied. False when it was before, and then there is nothing to do.
///
/// On PostgreSQL it waits for a running transaction that applies the same change.
///
/// # Errors
/// When the database does.
pub async fn insert_if_absent<C: ConnectionTrait>(conn: &C, model: Model) -> Result<bool, DbErr> {
    let taken = OnConflict::columns([Column::WorkspaceKey, Column::ChangeId]).do_nothing().to_owned();
    statement::insert_unless::<_, _, ActiveModel>(conn, model, taken).await
}

/// Records changes as applied, all of one workspace. Those of the ids that were not recorded before.
///
/// On PostgreSQL it waits for a running transaction that applies one of the same changes; ids should be sorted, so
/// that two of them never wait for each other crosswise.
///
/// # Errors
/// When the database does.
pub async fn insert_new<C: ConnectionTrait>(
    conn: &C,
    workspace_key: &str,
    change_ids: &[&str],
    applied_at: i64,
) -> Result<Vec<String>, DbErr> {
    if change_ids.is_empty() {
        return Ok(Vec::new());
    }
    let model = |id: &&str| Model {
        workspace_key: workspace_key.to_owned(),
        change_id: (*id).to_owned(),
        applied_at,
    };
    let taken = OnConflict::columns([Column::WorkspaceKey, Column::ChangeId]).do_nothing().to_owned();
    let mut insert = statement::insertion::<_, ActiveModel>(change_ids.iter().map(model));
    insert.on_conflict(taken).returning_col(Column::ChangeId);
    conn.query_all(&insert).await?.iter().map(|row| row.try_get_by_index(0)).collect()
}

/// Those of the workspace's changes that were applied, in no particular order: to pass over a batch quickly.
///
/// # Errors
/// When the database does.
pub async fn applied<C: ConnectionTrait>(
    conn: &C,
    workspace_key: &str,
    change_ids: &[&str],
) -> Result<Vec<String>, DbErr> {
    let known = Entity::find()
        .select_only()
        .column(Column::ChangeId)
        .filter(Column::WorkspaceKey.eq(workspace_key))
        .filter(Column::ChangeId.is_in(change_ids.iter().copied()));
    known.into_tuple().all(conn).await
}
