//! The references between tables that are checked.

use std::collections::BTreeSet;

use entity::integrity::orphans::REFERENCES;
use sea_orm::{ConnectionTrait, DbBackend, Statement};

use crate::support::databases;

#[tokio::test]
async fn every_foreign_key_is_checked() {
    let checked: BTreeSet<(String, String, String)> = REFERENCES
        .iter()
        .map(|reference| (reference.table.into(), reference.column.into(), reference.parent.into()))
        .collect();
    assert_eq!(checked.len(), REFERENCES.len(), "no reference is listed twice");
    for database in databases().await {
        let backend = database.get_database_backend();
        let sql = match backend {
            DbBackend::Postgres => {
                "SELECT c.conrelid::regclass::text, a.attname::text, c.confrelid::regclass::text FROM pg_constraint AS c
                 JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] WHERE c.contype = 'f'"
            }
            _ => {
                "SELECT t.name, f.\"from\", f.\"table\" FROM sqlite_master AS t, pragma_foreign_key_list(t.name) AS f
                 WHERE t.type = 'table'"
            }
        };
        let rows = database.query_all_raw(Statement::from_string(backend, sql)).await.unwrap();
        let text = |row: &sea_orm::QueryResult, column| row.try_get_by_index::<String>(column).unwrap();
        let keys: BTreeSet<_> = rows.iter().map(|row| (text(row, 0), text(row, 1), text(row, 2))).collect();
        let expected: BTreeSet<_> = REFERENCES
            .iter()
            .filter(|reference| !reference.may_dangle(backend))
            .map(|reference| (reference.table.into(), reference.column.into(), reference.parent.into()))
            .collect();
        assert_eq!(keys, expected);
    }
}
