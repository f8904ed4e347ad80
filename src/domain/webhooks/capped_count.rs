//! Counts that stop at a limit, so that pages load fast.

/// The largest count that is shown exactly.
const MAX_EXACT: u64 = 10_000;

/// A count that may be incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CappedCount {
    /// The exact count.
    Exactly(u64),
    /// The count is larger than this number, where counting stopped.
    MoreThan(u64),
    /// The count among the rows that were examined; more may follow.
    AtLeast(u64),
}

impl CappedCount {
    /// The number at which a query stops counting: one more than the largest exact count.
    pub(super) const LIMIT: u64 = MAX_EXACT + 1;

    /// Converts a count that stopped at [`LIMIT`](Self::LIMIT).
    pub(super) const fn from_count(count: u64) -> Self {
        if count < Self::LIMIT { Self::Exactly(count) } else { Self::MoreThan(MAX_EXACT) }
    }

    /// Converts a count among the examined rows. `is_complete` is true when all rows were examined.
    pub(super) const fn from_examined(count: u64, is_complete: bool) -> Self {
        if is_complete { Self::Exactly(count) } else { Self::AtLeast(count) }
    }

    /// Returns the exact count, or the number that the count exceeds or reaches.
    pub const fn counted(self) -> u64 {
        match self {
            Self::Exactly(count) | Self::MoreThan(count) | Self::AtLeast(count) => count,
        }
    }

    /// Returns whether the count is exactly 0. `AtLeast(0)` is not.
    pub const fn is_zero(self) -> bool {
        matches!(self, Self::Exactly(0))
    }

    /// Returns whether a text with the counted number needs the singular.
    pub const fn is_one(self) -> bool {
        matches!(self, Self::Exactly(1) | Self::AtLeast(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_at_the_limit_is_more_than_the_largest_exact_count() {
        assert_eq!(CappedCount::from_count(0), CappedCount::Exactly(0));
        assert_eq!(CappedCount::from_count(10_000), CappedCount::Exactly(10_000));
        assert_eq!(CappedCount::from_count(10_001), CappedCount::MoreThan(10_000));
        assert!(CappedCount::from_count(0).is_zero() && CappedCount::from_count(1).is_one());
        assert!(!CappedCount::from_count(10_001).is_one() && !CappedCount::from_count(10_001).is_zero());
    }

    #[test]
    fn zero_among_the_examined_rows_is_not_zero() {
        let none = CappedCount::from_examined(0, false);
        assert_eq!((none, none.counted(), none.is_zero()), (CappedCount::AtLeast(0), 0, false));
        assert!(CappedCount::from_examined(0, true).is_zero());
    }
}
