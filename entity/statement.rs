//! The few ways in which rows are read and written, and what only one database knows.

use sea_orm::{
    ActiveModelTrait, ConnectionTrait, DbBackend, DbErr, EntityTrait, IntoActiveModel, QuerySelect,
    QueryTrait, Select, Statement, Value,
    sea_query::{Asterisk, Expr, ExprTrait, InsertStatement, OnConflict, Query, SelectStatement},
};
use uuid::Uuid;

use crate::{Row, gathered};

/// Rows written by one statement: 200 at most, so that its parameters stay far below what both databases take, and few
/// different numbers, so that statements stay prepared.
const ROWS_A_STATEMENT: [usize; 8] = [200, 64, 32, 16, 8, 4, 2, 1];

/// All rows of a query for whole rows. On PostgreSQL they are decoded by their columns' places: decoding by name costs
/// half of a list read; on SQLite they come [gathered].
pub(crate) async fn all<C: ConnectionTrait, E>(conn: &C, select: Select<E>) -> Result<Vec<E::Model>, DbErr>
where
    E: EntityTrait<Model: Row>,
{
    let rows = select.into_query();
    if conn.get_database_backend() == DbBackend::Sqlite {
        return gathered::all::<C, E>(conn, &rows).await;
    }
    conn.query_all(&rows).await?.iter().map(E::Model::from_row).collect()
}

/// The first row of a query, if there is one.
pub(crate) async fn one<C: ConnectionTrait, E>(conn: &C, select: Select<E>) -> Result<Option<E::Model>, DbErr>
where
    E: EntityTrait<Model: Row>,
{
    conn.query_one(&select.into_query()).await?.as_ref().map(E::Model::from_row).transpose()
}

/// How many rows a query has.
pub(crate) async fn count<C: ConnectionTrait, E: EntityTrait>(
    conn: &C,
    select: Select<E>,
) -> Result<u64, DbErr> {
    number(conn, &select.select_only().expr(Expr::col(Asterisk).count()).into_query()).await
}

/// How many rows a query has, counted no further than the limit.
pub(crate) async fn count_to<C: ConnectionTrait, E: EntityTrait>(
    conn: &C,
    select: Select<E>,
    limit: u64,
) -> Result<u64, DbErr> {
    let rows = select.select_only().expr(Expr::value(1)).limit(limit).into_query();
    let count = Query::select().expr(Expr::col(Asterisk).count()).from_subquery(rows, "counted").take();
    number(conn, &count).await
}

/// Whether a query has fewer rows than the limit; it reads no more of them than that.
pub(crate) async fn is_short<C: ConnectionTrait>(
    conn: &C,
    mut rows: SelectStatement,
    limit: u64,
) -> Result<bool, DbErr> {
    let rows = rows.limit(limit).take();
    let count = Query::select().expr(Expr::col(Asterisk).count()).from_subquery(rows, "few").take();
    Ok(number(conn, &count).await? < limit)
}

/// The number that a statement counts.
async fn number<C: ConnectionTrait>(conn: &C, count: &SelectStatement) -> Result<u64, DbErr> {
    let rows: i64 = conn.query_one(count).await?.map_or(Ok(0), |row| row.try_get_by_index(0))?;
    Ok(rows.unsigned_abs())
}

/// The same condition in a form that no index of either database serves.
pub(crate) fn unindexed(condition: Expr) -> Expr {
    condition.is(Expr::custom_keyword("TRUE"))
}

/// Writes one new row, all of its columns.
pub(crate) async fn insert<C: ConnectionTrait, M, A>(conn: &C, model: M) -> Result<(), DbErr>
where
    M: IntoActiveModel<A>,
    A: ActiveModelTrait,
{
    conn.execute(&insertion([model])).await.map(drop)
}

/// Writes new rows, many a statement.
pub(crate) async fn insert_many<C: ConnectionTrait, M, A>(conn: &C, models: Vec<M>) -> Result<(), DbErr>
where
    M: IntoActiveModel<A>,
    A: ActiveModelTrait,
{
    let mut models = models.into_iter();
    while let Some(&rows) = ROWS_A_STATEMENT.iter().find(|&&rows| rows <= models.len()) {
        conn.execute(&insertion(models.by_ref().take(rows))).await?;
    }
    Ok(())
}

/// Writes one new row unless the conflict's columns are taken. True when it was written.
///
/// On PostgreSQL this waits for a running transaction that writes the same columns and then sees its row.
pub(crate) async fn insert_unless<C: ConnectionTrait, M, A>(
    conn: &C,
    model: M,
    conflict: OnConflict,
) -> Result<bool, DbErr>
where
    M: IntoActiveModel<A>,
    A: ActiveModelTrait,
{
    let mut statement = insertion([model]);
    statement.on_conflict(conflict);
    Ok(conn.execute(&statement).await?.rows_affected() > 0)
}

/// The statement that writes all columns of these rows.
pub(crate) fn insertion<M, A>(models: impl IntoIterator<Item = M>) -> InsertStatement
where
    M: IntoActiveModel<A>,
    A: ActiveModelTrait,
{
    A::Entity::insert_many(models.into_iter().map(|model| model.into_active_model().reset_all())).into_query()
}

/// Parents found through so few children are looked up one by one and sorted; through more, the list is walked in
/// its order, and so many children make sure that a page is soon full.
pub(crate) const FEW: u64 = 2_000;

/// The values, padded by repeating the last one, so that lists of all lengths share a few prepared statements.
pub(crate) fn padded<T: Clone>(ids: &[T]) -> Vec<T> {
    let mut padded = ids.to_vec();
    if let Some(last) = ids.last().cloned() {
        let rungs = [1, 5, 26, 101, 512];
        let length = rungs.into_iter().find(|&rung| rung >= ids.len()).unwrap_or(ids.len());
        padded.resize(length, last);
    }
    padded
}

/// A statement written out, for what the query builder cannot say. Both databases number parameters `$1`, `$2`.
pub(crate) fn raw<C: ConnectionTrait>(
    conn: &C,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Statement {
    Statement::from_sql_and_values(conn.get_database_backend(), sql, values)
}

/// Executes a statement written out. Returns the number of affected rows.
pub(crate) async fn execute<C: ConnectionTrait>(
    conn: &C,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Result<u64, DbErr> {
    Ok(conn.execute_raw(raw(conn, sql, values)).await?.rows_affected())
}

/// An id as it stands in a JSON parameter: 32 hexadecimal digits.
pub(crate) fn hex(id: Uuid) -> String {
    id.as_simple().to_string()
}

/// Ids as one JSON parameter, so that the statement's text does not depend on how many they are.
pub(crate) fn json_ids(ids: impl IntoIterator<Item = Uuid>) -> String {
    serde_json::Value::from_iter(ids.into_iter().map(hex)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_ids_have_few_lengths() {
        let ids: Vec<Uuid> = (0..30).map(Uuid::from_u128).collect();
        assert_eq!(padded(&ids).len(), 101);
        assert_eq!(padded(&ids[..5]).len(), 5);
        assert_eq!(padded(&ids[..2]), [ids[0], ids[1], ids[1], ids[1], ids[1]]);
        assert!(padded::<Uuid>(&[]).is_empty());
    }
}
