//! The audit log: who did what when, from where. Written with the change it tells of, never changed.

use sea_orm::QuerySelect;
use sea_orm::entity::prelude::*;

use crate::{InWorkspace, Keyset, scope, statement, table};

table::declare!(
    /// One thing that was done.
    #[sea_orm(table_name = "audit_entries")]
    pub struct Model {
        /// The entry's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The person, when one did it.
        pub user_id: Option<Uuid>,
        /// The person's address at that time, or the name of what did it.
        #[sea_orm(column_type = "Text")]
        pub actor: String,
        /// What was done, in one word.
        #[sea_orm(column_type = "Text")]
        pub action: String,
        /// The id of the record; empty when there is none.
        #[sea_orm(column_type = "Text")]
        pub subject: String,
        /// What the record was called; empty when it has no name.
        #[sea_orm(column_type = "Text")]
        pub detail: String,
        /// The client address; empty when it was done on the server.
        #[sea_orm(column_type = "Text")]
        pub address: String,
        /// The token of the form that did it, 16 bytes, when the form may be sent once; unique in the workspace.
        pub form: Option<Vec<u8>>,
        /// When.
        pub created_at: i64,
    }
);
scope::tenant!();

impl InWorkspace<Entity> {
    /// One page of the log.
    ///
    /// # Errors
    /// When the database does.
    pub async fn page<C: ConnectionTrait>(
        self,
        conn: &C,
        keyset: Keyset<Column>,
    ) -> Result<Vec<Model>, DbErr> {
        statement::all(conn, keyset.page(self.select(), Column::CreatedAt)).await
    }

    /// When each person last did one of these things, for those who did.
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
