//! Sums kept beside the facts: revenue and activity, by UTC day and by UTC quarter-hour.
//!
//! [`Pending`] collects what one write transaction adds and writes it, sorted, as the transaction's last
//! statements; [`read`] sums spans of whole rows and [`edges`] what is shorter than a row. Owns both rollup tables.
//! Never decides which change counts where: the domain does.

pub mod edges;
mod pending;
pub mod read;
mod shards;

use uuid::Uuid;

pub use pending::{Mark, Pending};
pub use shards::{Lease, SHARDS, Shards};

/// Milliseconds of a UTC day.
pub const DAY_MS: i64 = 86_400_000;
/// Milliseconds of a quarter-hour.
pub const QUARTER_MS: i64 = 900_000;
/// The `course_id` of the sums over all courses.
pub const ALL_COURSES: Uuid = Uuid::nil();

/// How long the span is that one row sums up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grain {
    /// A UTC day.
    Day,
    /// A quarter of an hour, beginning at :00, :15, :30 or :45.
    Quarter,
}

impl Grain {
    /// Both grains, in the order of their text.
    pub const ALL: [Self; 2] = [Self::Day, Self::Quarter];

    /// The grain as the database keeps it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Quarter => "quarter",
        }
    }

    /// Its length in milliseconds.
    pub const fn length_ms(self) -> i64 {
        match self {
            Self::Day => DAY_MS,
            Self::Quarter => QUARTER_MS,
        }
    }

    /// The start of the span that holds `at_ms`.
    pub const fn floor(self, at_ms: i64) -> i64 {
        at_ms - at_ms.rem_euclid(self.length_ms())
    }
}

macro_rules! sums {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct $name { $($(#[$field_doc])* pub $field: i64),* }

        impl $name {
            /// The columns, in the order of [`Self::values`].
            pub const COLUMNS: &[&str] = &[$(stringify!($field)),*];

            /// The sums, in the order of [`Self::COLUMNS`].
            pub const fn values(self) -> [i64; Self::COLUMNS.len()] {
                [$(self.$field),*]
            }

            /// The sums that stand in the order of [`Self::COLUMNS`].
            pub const fn from_values(values: [i64; Self::COLUMNS.len()]) -> Self {
                let [$($field),*] = values;
                Self { $($field),* }
            }

            /// The same sums with the other sign.
            #[must_use]
            pub fn negated(self) -> Self {
                Self { $($field: -self.$field),* }
            }
        }

        impl std::ops::AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)*
            }
        }
    };
}

sums! {
    /// Revenue in one currency. Amounts in its minor units.
    RevenueSums {
        /// Orders, at their `paid_at`.
        orders,
        /// Refunds, at their own `created_at`.
        refunds,
        /// `total_amount` of the orders.
        gross_amount,
        /// `discount_amount` of the orders.
        discount_amount,
        /// `tax_amount` of the orders.
        tax_amount,
        /// `amount` of the refunds.
        refunded_amount,
    }
}

sums! {
    /// What students did.
    ActivitySums {
        /// Students that exist, at their `created_at`; of one course those who have an enrolment in it.
        students_new,
        /// Enrolments that exist, at their `created_at`: the completion cohort.
        enrollments_created,
        /// Enrolments that are revoked, at their `revoked_at`.
        enrollments_revoked,
        /// Enrolments whose stored status is active, at their `created_at`.
        enrollments_active,
        /// Enrolments of the cohort in which every lesson is done.
        cohort_completed,
        /// `percent_complete` over the cohort.
        cohort_percent_sum,
        /// Certificates, at their `issued_at`.
        certificates_issued,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_begin_at_or_before_what_they_hold() {
        assert_eq!(Grain::Day.floor(-1), -DAY_MS);
        assert_eq!(Grain::Day.floor(DAY_MS), DAY_MS);
        assert_eq!(Grain::Quarter.floor(QUARTER_MS + 1), QUARTER_MS);
    }

    #[test]
    fn sums_survive_their_list_of_values() {
        let sums = RevenueSums { orders: 1, gross_amount: 9900, ..RevenueSums::default() };
        assert_eq!(RevenueSums::from_values(sums.values()), sums);
        assert_eq!(RevenueSums::COLUMNS[2], "gross_amount");
    }
}
