//! Common functions to read and write rows, including the differences between the databases.

use sea_orm::{
    ActiveModelTrait, ConnectionTrait, DbBackend, DbErr, EntityTrait, IntoActiveModel, QuerySelect,
    QueryTrait, Select, Statement, Value,
    sea_query::{Asterisk, Expr, ExprTrait, InsertStatement, OnConflict, Query, SelectStatement},
};
use uuid::Uuid;

use crate::{Row, postgres_json_rows, sqlite_json_rows};

/// The numbers of rows that a statement with one parameter for each value can insert. At most 200, so that the number of
/// parameters stays far below the limits of both databases. Only a few different numbers, so that statements stay prepared.
const BATCH_SIZES: [usize; 8] = [200, 64, 32, 16, 8, 4, 2, 1];

/// A statement that inserts rows. A conflict clause can be added.
pub(crate) struct InsertBatch {
    pub(crate) statement: InsertStatement,
    /// The number of rows.
    pub(crate) row_count: usize,
}

/// Returns all rows of a query that selects all columns of a table. On PostgreSQL, rows are decoded by column position,
/// because decoding by name would account for half of the time that reading a list takes. On SQLite, they are read
/// [as JSON](sqlite_json_rows).
pub(crate) async fn all<C: ConnectionTrait, E>(conn: &C, select: Select<E>) -> Result<Vec<E::Model>, DbErr>
where
    E: EntityTrait<Model: Row>,
{
    let rows = select.into_query();
    if conn.get_database_backend() == DbBackend::Sqlite {
        return sqlite_json_rows::all::<C, E>(conn, &rows).await;
    }
    conn.query_all(&rows).await?.iter().map(E::Model::from_row).collect()
}

/// Returns the first row of a query that selects all columns of a table, in their order. Returns `None` without a row.
pub(crate) async fn one<C: ConnectionTrait, E>(conn: &C, select: Select<E>) -> Result<Option<E::Model>, DbErr>
where
    E: EntityTrait<Model: Row>,
{
    conn.query_one(&select.into_query()).await?.as_ref().map(E::Model::from_row).transpose()
}

/// Counts the rows of a query.
pub(crate) async fn count<C: ConnectionTrait, E: EntityTrait>(
    conn: &C,
    select: Select<E>,
) -> Result<u64, DbErr> {
    fetch_count(conn, &select.select_only().expr(Expr::col(Asterisk).count()).into_query()).await
}

/// Counts the rows of a query, up to `limit`.
pub(crate) async fn count_up_to<C: ConnectionTrait, E: EntityTrait>(
    conn: &C,
    select: Select<E>,
    limit: u64,
) -> Result<u64, DbErr> {
    let rows = select.select_only().expr(Expr::value(1)).limit(limit).into_query();
    let count = Query::select().expr(Expr::col(Asterisk).count()).from_subquery(rows, "counted").take();
    fetch_count(conn, &count).await
}

/// Returns whether a query has fewer than `limit` rows. Reads at most `limit` rows.
pub(crate) async fn has_fewer_than<C: ConnectionTrait>(
    conn: &C,
    mut rows: SelectStatement,
    limit: u64,
) -> Result<bool, DbErr> {
    let rows = rows.limit(limit).take();
    let count = Query::select().expr(Expr::col(Asterisk).count()).from_subquery(rows, "few").take();
    Ok(fetch_count(conn, &count).await? < limit)
}

/// Runs a statement that returns one count.
async fn fetch_count<C: ConnectionTrait>(conn: &C, count: &SelectStatement) -> Result<u64, DbErr> {
    let count: i64 = conn.query_one(count).await?.map_or(Ok(0), |row| row.try_get_by_index(0))?;
    Ok(count.unsigned_abs())
}

/// Rewrites a condition so that neither database uses an index for this condition. Indexes can still be used for the
/// other conditions of the statement.
pub(crate) fn unindexed(condition: Expr) -> Expr {
    condition.is(Expr::custom_keyword("TRUE"))
}

/// Inserts a row with all columns.
pub(crate) async fn insert<C: ConnectionTrait, M, A>(conn: &C, model: M) -> Result<(), DbErr>
where
    M: IntoActiveModel<A>,
    A: ActiveModelTrait,
{
    conn.execute(&insert_statement([model])).await.map(drop)
}

/// Inserts rows, in batches.
pub(crate) async fn insert_many<C: ConnectionTrait, M, A>(conn: &C, models: Vec<M>) -> Result<(), DbErr>
where
    M: IntoActiveModel<A>,
    A: ActiveModelTrait,
{
    for batch in insert_batches(conn.get_database_backend(), models)? {
        conn.execute(&batch.statement).await?;
    }
    Ok(())
}

/// Splits rows into batches of [`BATCH_SIZES`].
pub(crate) fn batches<M>(models: Vec<M>) -> impl Iterator<Item = Vec<M>> {
    let mut models = models.into_iter();
    std::iter::from_fn(move || {
        let row_count = BATCH_SIZES.iter().find(|&&row_count| row_count <= models.len())?;
        Some(models.by_ref().take(*row_count).collect())
    })
}

/// Inserts a row. If another row has the same values in the columns of the conflict clause, applies the clause instead.
/// A clause without columns applies to every unique constraint. Returns whether a row was inserted or updated.
///
/// On PostgreSQL, waits for a running transaction that writes the same values. If that transaction commits, applies the
/// clause to its row.
pub(crate) async fn insert_on_conflict<C: ConnectionTrait, M, A>(
    conn: &C,
    model: M,
    on_conflict: OnConflict,
) -> Result<bool, DbErr>
where
    M: IntoActiveModel<A>,
    A: ActiveModelTrait,
{
    let mut statement = insert_statement([model]);
    statement.on_conflict(on_conflict);
    Ok(conn.execute(&statement).await?.rows_affected() > 0)
}

/// Builds the statement that inserts all columns of these rows, with one parameter for each value.
fn insert_statement<M, A>(models: impl IntoIterator<Item = M>) -> InsertStatement
where
    M: IntoActiveModel<A>,
    A: ActiveModelTrait,
{
    A::Entity::insert_many(models.into_iter().map(|model| model.into_active_model().reset_all())).into_query()
}

/// Builds the statements that insert all columns of these rows, in their order. On PostgreSQL, several rows are
/// [one parameter](postgres_json_rows) if possible.
///
/// # Errors
/// Returns [`DbErr`] when a statement cannot be built.
pub(crate) fn insert_batches<M, A>(backend: DbBackend, models: Vec<M>) -> Result<Vec<InsertBatch>, DbErr>
where
    M: IntoActiveModel<A>,
    A: ActiveModelTrait,
{
    let rows: Vec<A> = models.into_iter().map(IntoActiveModel::into_active_model).collect();
    if backend == DbBackend::Postgres
        && rows.len() > 1
        && let Some(batches) = postgres_json_rows::insert_batches(&rows)?
    {
        return Ok(batches);
    }
    let insert = |rows: Vec<A>| InsertBatch { row_count: rows.len(), statement: insert_statement(rows) };
    Ok(batches(rows).map(insert).collect())
}

/// With fewer matching rows, a list query reads and sorts all of them. Otherwise it scans an index in the order of the
/// list, because a page is then filled quickly.
pub(crate) const FEW_ROWS: u64 = 2_000;

/// Pads a list for an `IN` condition by repeating its last value. Each length of a list is another statement for the
/// database and for the cache of prepared statements of a connection; padded lists of up to 512 values have only five
/// lengths. Longer lists and empty lists are not padded.
pub(crate) fn padded<T: Clone>(values: &[T]) -> Vec<T> {
    let mut padded = values.to_vec();
    if let Some(last) = values.last().cloned() {
        let lengths = [1, 5, 26, 101, 512];
        let length = lengths.into_iter().find(|&length| length >= values.len()).unwrap_or(values.len());
        padded.resize(length, last);
    }
    padded
}

/// Builds a statement from SQL that the query builder cannot express. In both databases, `$1` is the first of `values`.
pub(crate) fn raw<C: ConnectionTrait>(
    conn: &C,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Statement {
    Statement::from_sql_and_values(conn.get_database_backend(), sql, values)
}

/// Executes an SQL statement and returns the number of affected rows.
pub(crate) async fn execute<C: ConnectionTrait>(
    conn: &C,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Result<u64, DbErr> {
    Ok(conn.execute_raw(raw(conn, sql, values)).await?.rows_affected())
}

/// Formats an id for a JSON parameter: 32 hexadecimal digits.
pub(crate) fn hex(id: Uuid) -> String {
    id.as_simple().to_string()
}

/// Formats ids as one JSON parameter, so that the statement's text does not depend on their number.
pub(crate) fn json_ids(ids: impl IntoIterator<Item = Uuid>) -> String {
    serde_json::Value::from_iter(ids.into_iter().map(hex)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_ids_are_padded_to_few_lengths() {
        let ids: Vec<Uuid> = (0..30).map(Uuid::from_u128).collect();
        assert_eq!(padded(&ids).len(), 101);
        assert_eq!(padded(&ids[..5]).len(), 5);
        assert_eq!(padded(&ids[..2]), [ids[0], ids[1], ids[1], ids[1], ids[1]]);
        assert!(padded::<Uuid>(&[]).is_empty());
    }
}
