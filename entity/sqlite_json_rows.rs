//! Reads many rows of SQLite as one JSON value. The SQLite driver passes rows one by one between two threads, which costs more
//! than the query itself. This module aggregates the rows in the database and decodes them here.
//!
//! Callers pass a query for whole rows and get models.

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
    Small,
    Int,
    Big,
    Double,
    Bool,
}

impl JsonColumnType {
    fn of(column: &ColumnType) -> Result<Self, DbErr> {
        Ok(match column {
            ColumnType::Uuid => Self::Uuid,
            ColumnType::Blob | ColumnType::Binary(_) | ColumnType::VarBinary(_) => Self::Bytes,
            ColumnType::Text | ColumnType::String(_) | ColumnType::Char(_) => Self::Text,
            ColumnType::SmallInteger => Self::Small,
            ColumnType::Integer => Self::Int,
            ColumnType::BigInteger => Self::Big,
            ColumnType::Double => Self::Double,
            ColumnType::Boolean => Self::Bool,
            other => return Err(DbErr::Type(format!("columns of type {other:?} cannot be read as JSON"))),
        })
    }

    /// Decodes a cell to the value that the entity expects.
    fn value(self, cell: &Json) -> Option<Value> {
        let null = cell.is_null();
        let text = || if null { Some(None) } else { Some(Some(cell.as_str()?)) };
        let number = || if null { Some(None) } else { Some(Some(cell.as_i64()?)) };
        Some(match self {
            Self::Uuid => Value::Uuid(text()?.map(Uuid::try_parse).transpose().ok()?),
            Self::Bytes => Value::Bytes(text()?.map(unhex).map_or(Some(None), |bytes| bytes.map(Some))?),
            Self::Text => Value::String(text()?.map(str::to_owned)),
            Self::Small => Value::SmallInt(number()?.map(TryInto::try_into).transpose().ok()?),
            Self::Int => Value::Int(number()?.map(TryInto::try_into).transpose().ok()?),
            Self::Big => Value::BigInt(number()?),
            Self::Double if null => Value::Double(None),
            Self::Double => Value::Double(Some(cell.as_f64()?)),
            Self::Bool => Value::Bool(number()?.map(|bit| bit != 0)),
        })
    }
}

/// Returns all rows of a query for whole rows of this entity, in their order.
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
    let mut cells = Vec::new();
    for column in E::Column::iter() {
        let column_type = JsonColumnType::of(column.def().get_column_type())?;
        let name = column.as_str();
        // JSON has no byte strings.
        cells.push(match column_type {
            JsonColumnType::Uuid | JsonColumnType::Bytes => {
                format!("iif(r.\"{name}\" IS NULL, NULL, hex(r.\"{name}\"))")
            }
            _ => format!("r.\"{name}\""),
        });
        types.push(column_type);
    }
    let backend = conn.get_database_backend();
    let Statement { sql, values, .. } = backend.build(rows);
    // SQLite aggregates the rows of an ordered query in their order.
    let sql = format!("SELECT json_group_array(json_array({})) FROM ({sql}) AS r", cells.join(", "));
    let aggregated = conn.query_one_raw(Statement { sql, values, db_backend: backend }).await?;
    let Some(aggregated) = aggregated else { return Ok(Vec::new()) };
    let text: String = aggregated.try_get_by_index(0)?;
    let rows: Vec<Vec<Json>> =
        serde_json::from_str(&text).map_err(|error| DbErr::Type(format!("invalid JSON rows: {error}")))?;
    rows.iter().map(|row| E::Model::from_values(&mut values_of(&types, row))).collect()
}

fn values_of<'a>(
    types: &'a [JsonColumnType],
    row: &'a [Json],
) -> impl Iterator<Item = Result<Value, DbErr>> + 'a {
    types.iter().zip(row).map(|(column_type, cell)| {
        column_type
            .value(cell)
            .ok_or_else(|| DbErr::Type(format!("expected a {column_type:?} in a JSON row, got {cell}")))
    })
}

/// Decodes the next value as a field of a model.
pub(crate) fn field<T: ValueType>(
    values: &mut dyn Iterator<Item = Result<Value, DbErr>>,
) -> Result<T, DbErr> {
    let value = values.next().ok_or_else(|| DbErr::Type("a JSON row has too few values".to_owned()))??;
    T::try_from(value)
        .map_err(|ValueTypeErr| DbErr::Type(format!("expected a {} in a JSON row", T::type_name())))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let (pairs, rest) = digits.as_chunks::<2>();
    let nibble = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    };
    rest.is_empty().then_some(())?;
    pairs.iter().map(|[high, low]| Some(nibble(*high)? << 4 | nibble(*low)?)).collect()
}
