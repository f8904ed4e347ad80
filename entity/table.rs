//! Declares tables: one struct defines the columns for the entity and for decoding rows by column position.

use sea_orm::{DbErr, QueryResult, Value};

/// A row that is decoded by column position, in the order of its fields.
pub trait Row: Sized {
    /// Decodes a row of a query that selects the table's columns in order.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a column is missing or has another type.
    fn from_row(row: &QueryResult) -> Result<Self, DbErr>;

    /// Builds a row from values, one for each column in order.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a value is missing or has another type.
    fn from_values(values: &mut dyn Iterator<Item = Result<Value, DbErr>>) -> Result<Self, DbErr>;
}

/// Declares a table from the struct of its rows. The fields are the columns, in order.
///
/// Derives the SeaORM entity, without relations, and implements [`Row`](crate::Row). Call it with parentheses: rustfmt
/// does not format macro calls in braces.
macro_rules! declare {
    (
        $(#[$table_attribute:meta])*
        pub struct Model {
            $($(#[$attribute:meta])* pub $field:ident: $type:ty),+ $(,)?
        }
    ) => {
        #[derive(Clone, Debug, PartialEq, Eq, sea_orm::DeriveEntityModel)]
        $(#[$table_attribute])*
        pub struct Model {
            $($(#[$attribute])* pub $field: $type),+
        }

        impl $crate::Row for Model {
            fn from_row(row: &sea_orm::QueryResult) -> Result<Self, sea_orm::DbErr> {
                let mut columns = 0..;
                Ok(Self { $($field: row.try_get_by_index(columns.next().unwrap_or_default())?),+ })
            }

            fn from_values(
                values: &mut dyn Iterator<Item = Result<sea_orm::Value, sea_orm::DbErr>>,
            ) -> Result<Self, sea_orm::DbErr> {
                Ok(Self { $($field: $crate::sqlite_json_rows::decode_next(values)?),+ })
            }
        }

        /// No relations are declared: queries join tables explicitly.
        #[derive(Copy, Clone, Debug, sea_orm::EnumIter, sea_orm::DeriveRelation)]
        pub enum Relation {}

        impl sea_orm::ActiveModelBehavior for ActiveModel {}
    };
}
pub(crate) use declare;
