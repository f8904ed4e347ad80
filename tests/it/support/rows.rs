//! Reads all database rows of a workspace as text, so that a test can detect changes.

use sea_orm::{ConnectionTrait, Statement};

use super::TestWorkspace;

impl TestWorkspace<'_> {
    /// Returns the rows of this workspace in all tables, and the row of the workspace itself. Each is one string with
    /// the table and the values; the strings are sorted.
    pub async fn rows(&self) -> Vec<String> {
        let postgres = self.app.uses_postgres();
        let (tables_query, id) = if postgres {
            let query = "SELECT table_name FROM information_schema.columns WHERE column_name = 'workspace_id' \
                      AND table_schema = 'public'";
            (query, format!("'{}'", self.id.uuid()))
        } else {
            let query = "SELECT t.name FROM sqlite_master t, pragma_table_info(t.name) c \
                      WHERE t.type = 'table' AND c.name = 'workspace_id'";
            (query, format!("X'{}'", self.id.uuid().simple()))
        };
        let mut rows = Vec::new();
        let tables = self.query_strings(tables_query).await;
        assert!(tables.len() > 10, "{tables:?}");
        for (table, column) in
            tables.iter().map(|table| (table.as_str(), "workspace_id")).chain([("workspaces", "id")])
        {
            let row =
                if postgres { "CAST(whole_row AS text)".to_owned() } else { self.row_as_text(table).await };
            let statement =
                format!("SELECT '{table}' || ' ' || {row} FROM {table} whole_row WHERE {column} = {id}");
            rows.extend(self.query_strings(&statement).await);
        }
        rows.sort_unstable();
        rows
    }

    /// Returns an SQL expression that converts a row of this SQLite table to text. On PostgreSQL, a cast does this.
    async fn row_as_text(&self, table: &str) -> String {
        let columns = self
            .query_strings(&format!("SELECT 'quote(' || name || ')' FROM pragma_table_info('{table}')"))
            .await;
        columns.join(" || ' ' || ")
    }

    async fn query_strings(&self, statement: &str) -> Vec<String> {
        let db = &self.app.app.db;
        let statement = Statement::from_string(db.backend(), statement);
        let rows = db.read().query_all_raw(statement).await.expect("the query succeeds");
        rows.iter().map(|row| row.try_get_by_index(0).expect("a text column")).collect()
    }
}
