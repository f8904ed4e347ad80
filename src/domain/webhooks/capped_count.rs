//! Counts that stop at a limit, for pages.

/// The largest count that is shown exactly.
const MAX_EXACT: u64 = 10_000;

/// A count that may be incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CappedCount {
    /// The exact count.
    Exactly(u64),
    /// The count is larger than this; counting stopped there.
    MoreThan(u64),
    /// The count among the rows that were examined; more may follow.
    AtLeast(u64),
}

impl CappedCount {
    /// The limit of counting: one more than the largest exact count.
    pub(super) const LIMIT: u64 = MAX_EXACT + 1;

    /// Converts a count that stopped at [`LIMIT`](Self::LIMIT).
    pub(super) const fn of(count: u64) -> Self {
        if count < Self::LIMIT { Self::Exactly(count) } else { Self::MoreThan(MAX_EXACT) }
    }

    /// Converts a count among the examined rows. `is_complete` is true when all rows were examined.
    pub(super) const fn of_examined(count: u64, is_complete: bool) -> Self {
        if is_complete { Self::Exactly(count) } else { Self::AtLeast(count) }
    }

    /// The number that was counted.
    pub const fn counted(self) -> u64 {
        match self {
            Self::Exactly(count) | Self::MoreThan(count) | Self::AtLeast(count) => count,
        }
    }

    /// Whether the count is exactly 0.
    pub const fn is_zero(self) -> bool {
        matches!(self, Self::Exactly(0))
    }

    /// Whether the number is 1, so that a text uses the singular.
    pub const fn is_one(self) -> bool {
        matches!(self, Self::Exactly(1) | Self::AtLeast(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_at_the_limit_means_more() {
        assert_eq!(CappedCount::of(0), CappedCount::Exactly(0));
        assert_eq!(CappedCount::of(10_000), CappedCount::Exactly(10_000));
        assert_eq!(CappedCount::of(10_001), CappedCount::MoreThan(10_000));
        assert!(CappedCount::of(0).is_zero() && CappedCount::of(1).is_one());
        assert!(!CappedCount::of(10_001).is_one() && !CappedCount::of(10_001).is_zero());
    }

    #[test]
    fn zero_among_the_examined_rows_is_not_zero() {
        let none = CappedCount::of_examined(0, false);
        assert_eq!((none, none.counted(), none.is_zero()), (CappedCount::AtLeast(0), 0, false));
        assert!(CappedCount::of_examined(0, true).is_zero());
    }
}
