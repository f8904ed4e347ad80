//! What the two tables of sums share: their grains, how a change's differences are written, and how spans are read.
//!
//! [`read`] sums spans of whole buckets, [`edges`] what is shorter than a bucket, and [`fold`] keeps them few. Which change counts
//! where is the domain's to say.

pub mod edges;
pub(crate) mod fold;
pub(crate) mod read;

use sea_orm::IntoActiveModel;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};

use crate::statement;

/// The course of the sums over all courses.
pub const ALL_COURSES: Uuid = Uuid::nil();

/// Milliseconds of a UTC day.
pub const DAY_MS: i64 = 86_400_000;
/// Milliseconds of a quarter-hour.
pub const QUARTER_MS: i64 = 900_000;

/// How long a bucket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum Grain {
    /// A UTC day.
    Day,
    /// A quarter of an hour: every time zone's days begin at one.
    Quarter,
}

impl Grain {
    /// Both grains.
    pub const ALL: [Self; 2] = [Self::Day, Self::Quarter];

    /// The length of a bucket in milliseconds.
    pub const fn length_ms(self) -> i64 {
        match self {
            Self::Day => DAY_MS,
            Self::Quarter => QUARTER_MS,
        }
    }

    /// When the bucket begins that holds this moment.
    pub const fn floor(self, at_ms: i64) -> i64 {
        at_ms - at_ms.rem_euclid(self.length_ms())
    }

    /// The grain as the database keeps it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Quarter => "quarter",
        }
    }
}

/// Whole buckets whose sums are wanted, for one part or for several that follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// To which sum of the caller's the first buckets belong; several pieces may belong to one.
    pub part: usize,
    /// The buckets to read.
    pub grain: Grain,
    /// 1 to add, -1 to take away.
    pub sign: i64,
    /// When the first bucket begins.
    pub from_ms: i64,
    /// When the first bucket begins that is not read any more.
    pub to_ms: i64,
    /// How long a part is, at least 1: what begins so much later belongs to the next part.
    pub step_ms: i64,
}

impl Piece {
    /// A piece that belongs to one part as a whole; it holds a bucket at least.
    pub const fn whole(part: usize, grain: Grain, sign: i64, from_ms: i64, to_ms: i64) -> Self {
        Self { part, grain, sign, from_ms, to_ms, step_ms: to_ms - from_ms }
    }

    /// Takes in a piece that goes on where this one ends, for the next part; `false` when it does not.
    pub fn take_in(&mut self, next: &Self) -> bool {
        let goes_on = (next.grain, next.sign, next.from_ms, next.step_ms)
            == (self.grain, self.sign, self.to_ms, self.step_ms);
        let parts = usize::try_from((self.to_ms - self.from_ms) / self.step_ms);
        let fits = goes_on && parts.is_ok_and(|parts| self.part + parts == next.part);
        if fits {
            self.to_ms = next.to_ms;
        }
        fits
    }
}

/// Rows written by one statement at most.
const ROWS_A_STATEMENT: usize = 100;

/// Writes rows in their order. Where a row with the same key exists, its sums are added to that row.
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
        let mut insert = statement::insertion::<_, E::ActiveModel>(rows.by_ref().take(ROWS_A_STATEMENT));
        insert.on_conflict(conflict.clone());
        conn.execute(&insert).await?;
    }
    Ok(())
}

/// Declares the struct of a bucket's sums. Implements addition, negation and decoding from consecutive columns, which must be
/// in the order of the fields.
macro_rules! sums {
    (
        $(#[$about:meta])*
        pub struct Sums {
            $($(#[$option:meta])* pub $field:ident: i64),+ $(,)?
        }
    ) => {
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $(#[$about])*
        pub struct Sums {
            $($(#[$option])* pub $field: i64),+
        }

        impl std::ops::AddAssign for Sums {
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)+
            }
        }

        impl std::ops::Neg for Sums {
            type Output = Self;

            fn neg(self) -> Self {
                Self { $($field: -self.$field),+ }
            }
        }

        impl Sums {
            /// The sums in a row, from this column on.
            pub(crate) fn from_row(row: &sea_orm::QueryResult, place: usize) -> Result<Self, sea_orm::DbErr> {
                let mut place = place..;
                Ok(Self { $($field: row.try_get_by_index(place.next().unwrap_or_default())?),+ })
            }
        }
    };
}
pub(crate) use sums;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_begins_at_or_before_what_it_holds() {
        assert_eq!(Grain::Day.floor(-1), -DAY_MS);
        assert_eq!(Grain::Day.floor(DAY_MS), DAY_MS);
        assert_eq!(Grain::Quarter.floor(QUARTER_MS + 1), QUARTER_MS);
    }
}
