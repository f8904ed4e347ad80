//! Common parts of the two rollup tables: grains, writing of changes, and reading of time spans.
//!
//! [`read`] sums whole buckets, [`edges`] sums spans shorter than a bucket, and [`fold`] limits the number of rows. The domain
//! decides what each change adds to which bucket.

pub mod edges;
pub(crate) mod fold;
pub(crate) mod read;

use sea_orm::IntoActiveModel;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};

use crate::statement;

/// The course id of the sums over all courses.
pub const ALL_COURSES: Uuid = Uuid::nil();

/// The length of a UTC day in milliseconds.
pub const DAY_MS: i64 = 86_400_000;
/// The length of a quarter-hour in milliseconds.
pub const QUARTER_MS: i64 = 900_000;

/// The length of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum Grain {
    /// A UTC day.
    Day,
    /// A quarter-hour. In every time zone, days begin at one.
    Quarter,
}

impl Grain {
    /// Both grains.
    pub const ALL: [Self; 2] = [Self::Day, Self::Quarter];

    /// Returns the length of a bucket in milliseconds.
    pub const fn length_ms(self) -> i64 {
        match self {
            Self::Day => DAY_MS,
            Self::Quarter => QUARTER_MS,
        }
    }

    /// Returns the start of the bucket that contains this time.
    pub const fn floor(self, at_ms: i64) -> i64 {
        at_ms - at_ms.rem_euclid(self.length_ms())
    }

    /// Returns the grain as stored in the database.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Quarter => "quarter",
        }
    }
}

/// A range of whole buckets to sum, for one part of the result or for several consecutive parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketRange {
    /// The index of the part to which the first buckets belong. Several ranges may add to one part.
    pub part: usize,
    /// The buckets to read.
    pub grain: Grain,
    /// 1 to add the sums, -1 to subtract them.
    pub sign: i64,
    /// The start of the first bucket.
    pub from_ms: i64,
    /// The end of the range, excluded: the start of the first bucket that is not read.
    pub to_ms: i64,
    /// The length of a part, at least 1. A bucket that begins this much later belongs to the next part.
    pub step_ms: i64,
}

impl BucketRange {
    /// Creates a range that belongs to one part. It must contain at least one bucket.
    pub const fn whole(part: usize, grain: Grain, sign: i64, from_ms: i64, to_ms: i64) -> Self {
        Self { part, grain, sign, from_ms, to_ms, step_ms: to_ms - from_ms }
    }

    /// Appends a range that continues this one with the next part. Returns `false`, without a change, if it does not.
    pub fn merge(&mut self, next: &Self) -> bool {
        let continues = (next.grain, next.sign, next.from_ms, next.step_ms)
            == (self.grain, self.sign, self.to_ms, self.step_ms);
        let parts = usize::try_from((self.to_ms - self.from_ms) / self.step_ms);
        let fits = continues && parts.is_ok_and(|parts| self.part + parts == next.part);
        if fits {
            self.to_ms = next.to_ms;
        }
        fits
    }
}

/// The maximum number of rows per statement.
const ROWS_PER_STATEMENT: usize = 100;

/// Inserts rows in their order. If a row with the same key exists, adds the sums to that row.
pub(crate) async fn add<C: ConnectionTrait, E>(
    conn: &C,
    rows: Vec<E::Model>,
    key: impl IntoIterator<Item = E::Column>,
    sums: impl IntoIterator<Item = E::Column>,
) -> Result<(), DbErr>
where
    E: EntityTrait<Model: IntoActiveModel<E::ActiveModel>>,
{
    let table = E::default();
    let mut conflict = OnConflict::columns(key);
    for sum in sums {
        conflict.value(sum, Expr::col((table, sum)).add(Expr::col(("excluded", sum))));
    }
    let mut rows = rows.into_iter().peekable();
    while rows.peek().is_some() {
        let mut insert =
            statement::insert_statement::<_, E::ActiveModel>(rows.by_ref().take(ROWS_PER_STATEMENT));
        insert.on_conflict(conflict.clone());
        conn.execute(&insert).await?;
    }
    Ok(())
}

/// Declares the struct of a bucket's sums, with addition, negation and decoding from consecutive columns, which must be in the
/// order of the fields.
macro_rules! sums {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            $($(#[$option:meta])* pub $field:ident: i64),+ $(,)?
        }
    ) => {
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $(#[$about])*
        pub struct $name {
            $($(#[$option])* pub $field: i64),+
        }

        impl std::ops::AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)+
            }
        }

        impl std::ops::Neg for $name {
            type Output = Self;

            fn neg(self) -> Self {
                Self { $($field: -self.$field),+ }
            }
        }

        impl $name {
            /// Decodes the sums of a row, starting at this column.
            pub(crate) fn from_row(row: &sea_orm::QueryResult, first_column: usize) -> Result<Self, sea_orm::DbErr> {
                let mut columns = first_column..;
                Ok(Self { $($field: row.try_get_by_index(columns.next().unwrap_or_default())?),+ })
            }
        }
    };
}
pub(crate) use sums;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_begins_at_or_before_the_times_in_it() {
        assert_eq!(Grain::Day.floor(-1), -DAY_MS);
        assert_eq!(Grain::Day.floor(DAY_MS), DAY_MS);
        assert_eq!(Grain::Quarter.floor(QUARTER_MS + 1), QUARTER_MS);
    }
}
