//! Damaged tables, and rows whose parent does not exist.

use entity::integrity::{self, orphans::REFERENCES};
use sea_orm::DbBackend;
use uuid::Uuid;

use super::{Finding, Report};
use crate::Result;
use crate::app::App;

const RESTORE: &str = "restore a backup from before the damage; if you know which program changed the database, undo its change";

/// Checks the structure of each table of an SQLite database. PostgreSQL has tools for that.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when a query fails.
pub async fn structure(app: &App) -> Result<Report> {
    if app.db.backend() != DbBackend::Sqlite {
        return Ok(Report::new("PostgreSQL checks its files with `pg_amcheck`"));
    }
    let tables = app.db.table_counts().await?;
    let mut report = Report::new(format!("{} tables", tables.len()));
    for table in tables {
        if let Some(problem) = app.db.first_defect_of(&table.table).await? {
            let (table, remedy) = (table.table, RESTORE.to_owned());
            report.add(Finding { table, id: String::new(), problem, remedy });
        }
    }
    Ok(report)
}

/// Finds rows that refer to a row which does not exist.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when a query fails.
pub async fn orphans(app: &App) -> Result<Report> {
    let (conn, backend) = (app.db.read(), app.db.backend());
    let (mut report, mut rows) = (Report::default(), 0);
    for references in REFERENCES.chunk_by(|left, right| left.table == right.table) {
        let (table, key) = (references[0].table, references[0].key);
        let mut after = Uuid::nil();
        loop {
            let batch = integrity::next_batch(conn, table, key, after).await?;
            rows += integrity::count(conn, table, key, batch).await?;
            for reference in references.iter().filter(|reference| !reference.may_dangle(backend)) {
                for (row, parent) in integrity::orphans::find(conn, *reference, batch).await? {
                    report.add(Finding {
                        table: table.to_owned(),
                        id: format!("{key} {row}"),
                        problem: format!(
                            "{} refers to {parent}, which does not exist in {}",
                            reference.column, reference.parent
                        ),
                        remedy: RESTORE.to_owned(),
                    });
                }
            }
            if batch.is_last() {
                break;
            }
            after = batch.up_to;
        }
    }
    report.summary = format!("{rows} rows with {} references", REFERENCES.len());
    Ok(report)
}
