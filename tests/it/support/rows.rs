//! All database rows of a workspace as text, to detect changes.

use sea_orm::{ConnectionTrait, Statement};

use super::Workspace;

impl Workspace<'_> {
    /// Returns every row of every table that belongs to this workspace, and the row of the workspace itself.
    pub async fn rows(&self) -> Vec<String> {
        let postgres = self.app.has_many_writers();
        let (tables, id) = if postgres {
            let of = "SELECT table_name FROM information_schema.columns WHERE column_name = 'workspace_id' \
                      AND table_schema = 'public'";
            (of, format!("'{}'", self.id.uuid()))
        } else {
            let of = "SELECT t.name FROM sqlite_master t, pragma_table_info(t.name) c \
                      WHERE t.type = 'table' AND c.name = 'workspace_id'";
            (of, format!("X'{}'", self.id.uuid().simple()))
        };
        let mut rows = Vec::new();
        let tables = self.query_strings(tables).await;
        assert!(tables.len() > 10, "{tables:?}");
        for (table, column) in
            tables.iter().map(|table| (table.as_str(), "workspace_id")).chain([("workspaces", "id")])
        {
            let row = if postgres { "CAST(whole_row AS text)".to_owned() } else { self.columns(table).await };
            let statement =
                format!("SELECT '{table}' || ' ' || {row} FROM {table} whole_row WHERE {column} = {id}");
            rows.extend(self.query_strings(&statement).await);
        }
        rows.sort_unstable();
        rows
    }

    /// Returns an SQL expression for a row of SQLite as text; PostgreSQL does this by a cast.
    async fn columns(&self, table: &str) -> String {
        let columns = self
            .query_strings(&format!("SELECT 'quote(' || name || ')' FROM pragma_table_info('{table}')"))
            .await;
        columns.join(" || ' ' || ")
    }

    async fn query_strings(&self, statement: &str) -> Vec<String> {
        let db = &self.app.app.db;
        let statement = Statement::from_string(db.backend(), statement);
        let rows = db.read().query_all_raw(statement).await.expect("the tables are read");
        rows.iter().map(|row| row.try_get_by_index(0).expect("a text")).collect()
    }
}
