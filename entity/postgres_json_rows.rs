//! Inserts many rows on PostgreSQL with one parameter: a JSON array of rows.
//!
//! The text of the statement does not depend on the number of rows, so it stays prepared, and the number of parameters is
//! not limited. With one parameter for each value, rows would need several statements with fixed numbers of rows, and each of
//! them a round trip.
//!
//! PostgreSQL inserts the rows in the order of the array. Columns that an upgrade adds to the table get their default.

use sea_orm::{
    ActiveModelTrait, DbErr, EntityTrait, IdenStatic, Iterable, Value,
    sea_query::{Expr, ExprTrait, Func, InsertStatement, Query},
};
use serde_json::{Map, Value as Json};

use crate::statement::InsertBatch;

/// The maximum number of rows per statement. Limits the size of its parameter.
const MAX_ROWS: usize = 500;

/// Builds the statements that insert all columns of these rows, in their order. Returns `None` if a column has another type
/// than [`encode_value`] supports.
///
/// # Errors
/// Returns [`DbErr`] when a statement cannot be built.
pub(crate) fn insert_batches<A: ActiveModelTrait>(rows: &[A]) -> Result<Option<Vec<InsertBatch>>, DbErr> {
    let mut batches = Vec::with_capacity(rows.len().div_ceil(MAX_ROWS));
    for rows in rows.chunks(MAX_ROWS) {
        let Some(json) = rows.iter().map(encode_row).collect::<Option<Json>>() else { return Ok(None) };
        let statement = insert_statement::<A::Entity>(&json)?;
        batches.push(InsertBatch { statement, row_count: rows.len() });
    }
    Ok(Some(batches))
}

/// Builds a statement that inserts the rows of a JSON array.
fn insert_statement<E: EntityTrait>(rows: &Json) -> Result<InsertStatement, DbErr> {
    // PostgreSQL takes the types of the columns from this null, which has the type of the table's rows.
    let row_type = Expr::cust(format!("NULL::\"{}\"", E::default().table_name()));
    let json = Expr::val(rows.to_string()).cast_as("json");
    let rows = Func::cust("json_populate_recordset").arg(row_type).arg(json);
    let select = Query::select().columns(E::Column::iter()).from_function(rows, "rows").take();
    let mut insert = Query::insert().into_table(E::default()).columns(E::Column::iter()).take();
    insert.select_from(select).map_err(|error| DbErr::Custom(error.to_string()))?;
    Ok(insert)
}

/// Converts a row to an object with a member for each column.
fn encode_row<A: ActiveModelTrait>(row: &A) -> Option<Json> {
    let members = <A::Entity as EntityTrait>::Column::iter().map(|column| {
        let value = row.get(column).into_value().and_then(encode_value)?;
        Some((column.as_str().to_owned(), value))
    });
    members.collect::<Option<Map<_, _>>>().map(Json::Object)
}

/// Returns the JSON value that PostgreSQL converts to this value. Supports no bytes, because their JSON text would be twice as
/// long as a parameter.
fn encode_value(value: Value) -> Option<Json> {
    match value {
        Value::Bool(value) => Some(value.into()),
        Value::SmallInt(value) => Some(value.into()),
        Value::Int(value) => Some(value.into()),
        Value::BigInt(value) => Some(value.into()),
        Value::String(value) => Some(value.into()),
        Value::Uuid(value) => Some(value.map(|id| id.to_string()).into()),
        _ => None,
    }
}
