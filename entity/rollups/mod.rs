//! Common parts of the two rollup tables, which contain sums by time bucket.
//!
//! [`add`] writes changes, also those of [`api_request_days`](crate::api_request_days). [`read`] sums whole buckets,
//! [`edges`] sums spans shorter than a bucket, and [`merge_shards`] limits the number of rows. The domain decides what
//! each change adds to which bucket.

pub mod edges;
pub(crate) mod merge_shards;
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
pub const QUARTER_HOUR_MS: i64 = 900_000;

/// The length of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum Grain {
    /// A UTC day.
    Day,
    /// A quarter-hour, stored as `quarter`. In every time zone, days begin at the start of a quarter-hour.
    #[sea_orm(string_value = "quarter")]
    QuarterHour,
}

impl Grain {
    /// Both grains.
    pub const ALL: [Self; 2] = [Self::Day, Self::QuarterHour];

    /// Returns the length of a bucket in milliseconds.
    pub const fn length_ms(self) -> i64 {
        match self {
            Self::Day => DAY_MS,
            Self::QuarterHour => QUARTER_HOUR_MS,
        }
    }

    /// Returns the start of the bucket that contains this time.
    pub const fn floor(self, at_ms: i64) -> i64 {
        at_ms - at_ms.rem_euclid(self.length_ms())
    }

    /// Returns the value stored in the database.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::QuarterHour => "quarter",
        }
    }
}

/// A range of whole buckets to sum. The result has one or more parts, such as the points of a chart; a range contains
/// the buckets of one part or of several consecutive parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketRange {
    /// The index of the part that the first bucket belongs to. Several ranges may add to one part.
    pub part: usize,
    /// The length of the buckets to read.
    pub grain: Grain,
    /// 1 to add the sums, -1 to subtract them.
    pub sign: i64,
    /// The start of the first bucket.
    pub from_ms: i64,
    /// The end of the range, excluded: the start of the first bucket that is not read.
    pub to_ms: i64,
    /// How much of the range belongs to each part, at least 1: a bucket that begins this much after `from_ms` belongs
    /// to the next part. Equal to the length of the range if the range belongs to one part.
    pub step_ms: i64,
}

impl BucketRange {
    /// Creates a range whose buckets all belong to the part with the index `part`. `sign` is 1 to add their sums, -1 to
    /// subtract them. The range begins at `from_ms`, ends before `to_ms`, and must contain at least one bucket.
    pub const fn of_one_part(part: usize, grain: Grain, sign: i64, from_ms: i64, to_ms: i64) -> Self {
        Self { part, grain, sign, from_ms, to_ms, step_ms: to_ms - from_ms }
    }

    /// Extends this range by `next` if `next` begins where this range ends, with the next part and the same step, grain
    /// and sign. Otherwise changes nothing and returns `false`.
    pub fn merge(&mut self, next: &Self) -> bool {
        let continues = (next.grain, next.sign, next.from_ms, next.step_ms)
            == (self.grain, self.sign, self.to_ms, self.step_ms);
        let parts = usize::try_from((self.to_ms - self.from_ms) / self.step_ms);
        let can_merge = continues && parts.is_ok_and(|parts| self.part + parts == next.part);
        if can_merge {
            self.to_ms = next.to_ms;
        }
        can_merge
    }
}

/// Inserts rows in their order. If the table has a row with the same values in the columns `key`, adds the columns
/// `sums` to that row. Each key may occur only once in `rows`.
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
    let mut on_conflict = OnConflict::columns(key);
    for sum in sums {
        on_conflict.value(sum, Expr::col((table, sum)).add(Expr::col(("excluded", sum))));
    }
    for mut batch in statement::insert_batches::<_, E::ActiveModel>(conn.get_database_backend(), rows)? {
        batch.statement.on_conflict(on_conflict.clone());
        conn.execute(&batch.statement).await?;
    }
    Ok(())
}

/// Declares the struct of a bucket's sums, with addition, negation and decoding. The columns of a decoded row must be
/// in the order of the fields.
macro_rules! sums {
    (
        $(#[$struct_attribute:meta])*
        pub struct $name:ident {
            $($(#[$attribute:meta])* pub $field:ident: i64),+ $(,)?
        }
    ) => {
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $(#[$struct_attribute])*
        pub struct $name {
            $($(#[$attribute])* pub $field: i64),+
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
        assert_eq!(Grain::QuarterHour.floor(QUARTER_HOUR_MS + 1), QUARTER_HOUR_MS);
    }
}
