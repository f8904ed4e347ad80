//! The audit log of a workspace. Entries are written in the transaction of the change that they record, and never
//! modified.
//!
//! Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::{QueryOrder, QuerySelect};

use crate::{InWorkspace, Keyset, scope, statement, table};

table::declare!(
    /// One audited action.
    #[sea_orm(table_name = "audit_entries")]
    pub struct Model {
        /// The entry's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The user who performed the action; `None` when it was not a user of the dashboard.
        pub user_id: Option<Uuid>,
        /// The user's email address at that time, or the name of the command or process.
        #[sea_orm(column_type = "Text")]
        pub actor: String,
        /// The action's name, such as `key.create`.
        #[sea_orm(column_type = "Text")]
        pub action: String,
        /// The id of the affected record; empty without a record.
        #[sea_orm(column_type = "Text")]
        pub subject: String,
        /// The name of the affected record; empty without a name.
        #[sea_orm(column_type = "Text")]
        pub detail: String,
        /// The client's IP address; empty when the action was performed on the server.
        #[sea_orm(column_type = "Text")]
        pub address: String,
        /// The token of the submitted form, 16 bytes, unique in the workspace. `None` if the form may be submitted
        /// repeatedly.
        pub form: Option<Vec<u8>>,
        /// When the action was performed.
        pub created_at: i64,
    }
);
scope::workspace_table!();

impl InWorkspace<Entity> {
    /// Returns one page of the log.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn page<C: ConnectionTrait>(
        self,
        conn: &C,
        keyset: Keyset<Column>,
    ) -> Result<Vec<Model>, DbErr> {
        statement::all(conn, keyset.page(self.select(), Column::CreatedAt)).await
    }

    /// Returns the id of each user who performed one of these actions, with the time of the most recent one.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn last_by_user<C: ConnectionTrait>(
        self,
        conn: &C,
        actions: &[&str],
    ) -> Result<Vec<(Uuid, i64)>, DbErr> {
        let last = self
            .select()
            .select_only()
            .column(Column::UserId)
            .column_as(Column::CreatedAt.max(), "last_at")
            .filter(Column::Action.is_in(actions.iter().copied()))
            .filter(Column::UserId.is_not_null())
            .group_by(Column::UserId);
        last.into_tuple().all(conn).await
    }
}

/// Deletes up to `limit` entries with ids below `before`, oldest first, and returns the number of rows deleted.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn prune<C: ConnectionTrait>(conn: &C, before: Uuid, limit: u64) -> Result<u64, DbErr> {
    let old = Entity::find().filter(Column::Id.lt(before)).order_by_asc(Column::Id).limit(limit);
    scope::delete_selected(conn, old).await
}
