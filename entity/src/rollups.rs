//! What the two tables of sums share: their grains, and how a change's differences are written.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait, InsertStatement, OnConflict, SelectStatement};

/// The course of the sums over all courses.
pub const ALL_COURSES: Uuid = Uuid::nil();

/// How long a bucket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum Grain {
    /// A UTC day.
    Day,
    /// A quarter of an hour: every time zone's days begin at one.
    Quarter,
}

/// Rows written by one statement at most.
pub(crate) const ROWS_A_STATEMENT: usize = 100;

/// Makes the insert add its sums to those already there.
pub(crate) fn adding<E: EntityTrait>(
    mut insert: InsertStatement,
    key: impl IntoIterator<Item = E::Column>,
    sums: impl IntoIterator<Item = E::Column>,
) -> InsertStatement {
    let table = E::default();
    let mut conflict = OnConflict::columns(key);
    for sum in sums {
        conflict.value(sum, Expr::col((table, sum)).add(Expr::col(("excluded", sum))));
    }
    insert.on_conflict(conflict);
    insert
}

/// Reads the sums of these columns, each as a 64-bit integer: PostgreSQL widens them to `numeric` otherwise.
pub(crate) fn summing<C: ColumnTrait>(select: &mut SelectStatement, sums: impl IntoIterator<Item = C>) {
    for sum in sums {
        select.expr(sum.into_expr().sum().cast_as("bigint"));
    }
}
