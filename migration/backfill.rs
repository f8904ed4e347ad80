//! Applies backfills batch by batch.

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Statement};

use crate::definition::Backfill;
use crate::records::{set_value, value};

/// The number of rows in a batch, so that a batch takes milliseconds.
const BATCH_ROWS: u32 = 1_000;

/// Applies the next batch of the backfill of a migration, and stores the position after it. Returns whether it was the last
/// batch.
///
/// A position is the last key of a batch as an SQL literal.
pub(crate) async fn apply_batch(
    transaction: &DatabaseTransaction,
    migration: &str,
    backfill: &Backfill,
) -> Result<bool, DbErr> {
    let Backfill { table, key, statement } = backfill;
    let backend = transaction.get_database_backend();
    let position_name = format!("backfill_{migration}");
    let after = match value(transaction, &position_name).await? {
        Some(position) => format!("{key} > {position}"),
        None => "TRUE".to_owned(),
    };
    let literal = match backend {
        DbBackend::Sqlite => format!("quote({key})"),
        _ => format!("quote_literal({key}::text)"),
    };
    let last_key = format!(
        "SELECT {literal} FROM {table} WHERE {after} ORDER BY {key} LIMIT 1 OFFSET {}",
        BATCH_ROWS - 1
    );
    let last_key = transaction.query_one_raw(Statement::from_string(backend, last_key)).await?;
    let last_key: Option<String> = last_key.map(|row| row.try_get_by_index(0)).transpose()?;
    // The last batch has no end, and is shorter or empty.
    let batch = match &last_key {
        Some(last_key) => format!("({after} AND {key} <= {last_key})"),
        None => format!("({after})"),
    };
    transaction.execute_unprepared(&statement.replace("{batch}", &batch)).await?;
    let is_last = last_key.is_none();
    set_value(transaction, &position_name, last_key).await?;
    Ok(is_last)
}
