//! Reads many rows from SQLite as one JSON value.
//!
//! The SQLite driver passes rows one by one between two threads, which costs more than the query itself. Instead, the
//! database aggregates the rows into a JSON array, and this module decodes the array into models.

use sea_orm::sea_query::{SelectStatement, ValueType, ValueTypeErr};
use sea_orm::{
    ColumnTrait, ColumnType, ConnectionTrait, DbErr, EntityTrait, IdenStatic, Iterable, Statement, Value,
};
use serde_json::Value as Json;
use uuid::Uuid;

use crate::Row;

/// How a column is represented in JSON and decoded.
#[derive(Clone, Copy, Debug)]
enum JsonColumnType {
    Uuid,
    Bytes,
    Text,
    SmallInteger,
    Integer,
    BigInteger,
    Double,
    Boolean,
}

impl JsonColumnType {
    fn new(column_type: &ColumnType) -> Result<Self, DbErr> {
        Ok(match column_type {
            ColumnType::Uuid => Self::Uuid,
            ColumnType::Blob | ColumnType::Binary(_) | ColumnType::VarBinary(_) => Self::Bytes,
            ColumnType::Text | ColumnType::String(_) | ColumnType::Char(_) => Self::Text,
            ColumnType::SmallInteger => Self::SmallInteger,
            ColumnType::Integer => Self::Integer,
            ColumnType::BigInteger => Self::BigInteger,
            ColumnType::Double => Self::Double,
            ColumnType::Boolean => Self::Boolean,
            other => return Err(DbErr::Type(format!("columns of type {other:?} cannot be read as JSON"))),
        })
    }

    /// Decodes a cell into the value that the entity expects. Returns `None` when the cell is not a value of this type.
    fn decode(self, cell: &Json) -> Option<Value> {
        let is_null = cell.is_null();
        let text = || if is_null { Some(None) } else { Some(Some(cell.as_str()?)) };
        let number = || if is_null { Some(None) } else { Some(Some(cell.as_i64()?)) };
        Some(match self {
            Self::Uuid => Value::Uuid(text()?.map(Uuid::try_parse).transpose().ok()?),
            Self::Bytes => Value::Bytes(text()?.map(hex::decode).transpose().ok()?),
            Self::Text => Value::String(text()?.map(str::to_owned)),
            Self::SmallInteger => Value::SmallInt(number()?.map(TryInto::try_into).transpose().ok()?),
            Self::Integer => Value::Int(number()?.map(TryInto::try_into).transpose().ok()?),
            Self::BigInteger => Value::BigInt(number()?),
            Self::Double if is_null => Value::Double(None),
            Self::Double => Value::Double(Some(cell.as_f64()?)),
            Self::Boolean => Value::Bool(number()?.map(|number| number != 0)),
        })
    }
}

/// Returns all rows of a query that selects all columns of this entity, in the order of the query.
///
/// # Errors
/// Returns [`DbErr`] when the query fails or a row does not match the entity.
pub(crate) async fn all<C: ConnectionTrait, E>(
    conn: &C,
    rows: &SelectStatement,
) -> Result<Vec<E::Model>, DbErr>
where
    E: EntityTrait<Model: Row>,
{
    let mut types = Vec::new();
    let mut expressions = Vec::new();
    for column in E::Column::iter() {
        let column_type = JsonColumnType::new(column.def().get_column_type())?;
        let name = column.as_str();
        // JSON has no type for bytes, so they are encoded as hexadecimal digits.
        expressions.push(match column_type {
            JsonColumnType::Uuid | JsonColumnType::Bytes => {
                format!("iif(r.\"{name}\" IS NULL, NULL, hex(r.\"{name}\"))")
            }
            _ => format!("r.\"{name}\""),
        });
        types.push(column_type);
    }
    let backend = conn.get_database_backend();
    let Statement { sql, values, .. } = backend.build(rows);
    // SQLite aggregates the rows of an ordered subquery in its order.
    let sql = format!("SELECT json_group_array(json_array({})) FROM ({sql}) AS r", expressions.join(", "));
    let aggregated = conn.query_one_raw(Statement { sql, values, db_backend: backend }).await?;
    let Some(aggregated) = aggregated else { return Ok(Vec::new()) };
    let text: String = aggregated.try_get_by_index(0)?;
    let rows: Vec<Vec<Json>> =
        serde_json::from_str(&text).map_err(|error| DbErr::Type(format!("invalid JSON rows: {error}")))?;
    rows.iter().map(|row| E::Model::from_values(&mut decode_row(&types, row))).collect()
}

/// Decodes the values of a row.
fn decode_row<'a>(
    types: &'a [JsonColumnType],
    row: &'a [Json],
) -> impl Iterator<Item = Result<Value, DbErr>> + 'a {
    types.iter().zip(row).map(|(column_type, cell)| {
        column_type
            .decode(cell)
            .ok_or_else(|| DbErr::Type(format!("expected a {column_type:?} in a JSON row, got {cell}")))
    })
}

/// Takes the next value of a row and converts it to the type of a model's field.
pub(crate) fn decode_next<T: ValueType>(
    values: &mut dyn Iterator<Item = Result<Value, DbErr>>,
) -> Result<T, DbErr> {
    let value = values.next().ok_or_else(|| DbErr::Type("a JSON row has too few values".to_owned()))??;
    T::try_from(value)
        .map_err(|ValueTypeErr| DbErr::Type(format!("expected a {} in a JSON row", T::type_name())))
}
