//! The audit log: who did what when, from where. Written with the change it tells of, never changed.

use sea_orm::entity::prelude::*;

use crate::{InWorkspace, Keyset, scope, statement};

/// One thing that was done.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
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

/// Relations are followed by the finders.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

scope::row!(id, workspace_id, user_id, actor, action, subject, detail, address, form, created_at);
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
}
