//! Declares tables: a struct names the columns once, for the entity and for decoding rows by column position.

use sea_orm::{DbErr, QueryResult, Value};

/// A row that is decoded by the places of its columns, in the order of its fields.
pub trait Row: Sized {
    /// The row of a query that selects the table's columns in their order.
    ///
    /// # Errors
    /// When a column is missing or of another type.
    fn from_row(row: &QueryResult) -> Result<Self, DbErr>;

    /// The row of these values, one for each column in their order.
    ///
    /// # Errors
    /// When a value is missing or of another type.
    fn from_values(values: &mut dyn Iterator<Item = Result<Value, DbErr>>) -> Result<Self, DbErr>;
}

/// Declares a table from the struct of its rows, whose fields are the columns in their order.
///
/// Derives the SeaORM entity, without relations, and implements [`Row`](crate::Row). Use parentheses: rustfmt does not
/// format macro calls in braces.
macro_rules! declare {
    (
        $(#[$about:meta])*
        pub struct Model {
            $($(#[$option:meta])* pub $field:ident: $type:ty),+ $(,)?
        }
    ) => {
        #[derive(Clone, Debug, PartialEq, Eq, sea_orm::DeriveEntityModel)]
        $(#[$about])*
        pub struct Model {
            $($(#[$option])* pub $field: $type),+
        }

        impl $crate::Row for Model {
            fn from_row(row: &sea_orm::QueryResult) -> Result<Self, sea_orm::DbErr> {
                let mut place = 0..;
                Ok(Self { $($field: row.try_get_by_index(place.next().unwrap_or_default())?),+ })
            }

            fn from_values(
                values: &mut dyn Iterator<Item = Result<sea_orm::Value, sea_orm::DbErr>>,
            ) -> Result<Self, sea_orm::DbErr> {
                Ok(Self { $($field: $crate::gathered::field(values)?),+ })
            }
        }

        /// Relations are followed by the finders.
        #[derive(Copy, Clone, Debug, sea_orm::EnumIter, sea_orm::DeriveRelation)]
        pub enum Relation {}

        impl sea_orm::ActiveModelBehavior for ActiveModel {}
    };
}
pub(crate) use declare;
