//! Many rows of SQLite as one: the driver hands rows over one by one between two threads, which costs more than
//! finding them. So the database gathers them into one JSON text, and they are taken apart here.
//!
//! Nothing else knows of it: what goes in is a query for whole rows, what comes out are models.

use sea_orm::sea_query::{SelectStatement, ValueType, ValueTypeErr};
use sea_orm::{
    ColumnTrait, ColumnType, ConnectionTrait, DbErr, EntityTrait, IdenStatic, Iterable, Statement, Value,
};
use serde_json::Value as Json;
use uuid::Uuid;

use crate::Row;

/// How a column travels in JSON, and what it is taken for afterwards.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Uuid,
    Bytes,
    Text,
    Small,
    Int,
    Big,
    Double,
    Bool,
}

impl Kind {
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
            other => return Err(DbErr::Type(format!("columns of type {other:?} cannot be gathered"))),
        })
    }

    /// A cell as the entity expects it.
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

/// All rows of a query for whole rows of this entity, in their order.
///
/// # Errors
/// When the database does, or a row is not what the entity says.
pub(crate) async fn all<C: ConnectionTrait, E>(
    conn: &C,
    rows: &SelectStatement,
) -> Result<Vec<E::Model>, DbErr>
where
    E: EntityTrait<Model: Row>,
{
    let mut kinds = Vec::new();
    let mut cells = Vec::new();
    for column in E::Column::iter() {
        let kind = Kind::of(column.def().get_column_type())?;
        let name = column.as_str();
        // JSON holds no bytes.
        cells.push(match kind {
            Kind::Uuid | Kind::Bytes => format!("iif(r.\"{name}\" IS NULL, NULL, hex(r.\"{name}\"))"),
            _ => format!("r.\"{name}\""),
        });
        kinds.push(kind);
    }
    let backend = conn.get_database_backend();
    let Statement { sql, values, .. } = backend.build(rows);
    // SQLite keeps the order of an ordered query inside an aggregate.
    let sql = format!("SELECT json_group_array(json_array({})) FROM ({sql}) AS r", cells.join(", "));
    let gathered = conn.query_one_raw(Statement { sql, values, db_backend: backend }).await?;
    let Some(gathered) = gathered else { return Ok(Vec::new()) };
    let text: String = gathered.try_get_by_index(0)?;
    let rows: Vec<Vec<Json>> =
        serde_json::from_str(&text).map_err(|error| DbErr::Type(format!("gathered rows: {error}")))?;
    rows.iter().map(|row| E::Model::from_values(&mut values_of(&kinds, row))).collect()
}

fn values_of<'a>(kinds: &'a [Kind], row: &'a [Json]) -> impl Iterator<Item = Result<Value, DbErr>> + 'a {
    kinds.iter().zip(row).map(|(kind, cell)| {
        kind.value(cell).ok_or_else(|| DbErr::Type(format!("a gathered cell is no {kind:?}: {cell}")))
    })
}

/// The next value, as a field of a model.
pub(crate) fn field<T: ValueType>(
    values: &mut dyn Iterator<Item = Result<Value, DbErr>>,
) -> Result<T, DbErr> {
    let value = values.next().ok_or_else(|| DbErr::Type("a gathered row is too short".to_owned()))??;
    T::try_from(value)
        .map_err(|ValueTypeErr| DbErr::Type(format!("a gathered cell is no {}", T::type_name())))
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
