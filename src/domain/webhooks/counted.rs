//! Counts that go no further than a page tells.

/// Beyond this, it is only said that there are more.
const MANY: u64 = 10_000;

/// How many there are of what a page only mentions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// So many.
    Exactly(u64),
    /// More than so many; nobody counted on.
    MoreThan(u64),
    /// So many of those that were looked through; nobody looked on.
    AtLeast(u64),
}

impl Counted {
    /// How far to count: one more than is told shows that there are more.
    pub(super) const LIMIT: u64 = MANY + 1;

    /// What a count up to [`LIMIT`](Self::LIMIT) tells.
    pub(super) const fn of(count: u64) -> Self {
        if count < Self::LIMIT { Self::Exactly(count) } else { Self::MoreThan(MANY) }
    }

    /// What was found where not all was looked through, or all.
    pub(super) const fn of_those_looked_at(count: u64, is_all: bool) -> Self {
        if is_all { Self::Exactly(count) } else { Self::AtLeast(count) }
    }

    /// How many were found.
    pub const fn found(self) -> u64 {
        match self {
            Self::Exactly(count) | Self::MoreThan(count) | Self::AtLeast(count) => count,
        }
    }

    /// Whether there is none.
    pub const fn is_zero(self) -> bool {
        matches!(self, Self::Exactly(0))
    }

    /// Whether one alone is told of.
    pub const fn is_one(self) -> bool {
        matches!(self, Self::Exactly(1) | Self::AtLeast(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_alone_stands_for_more() {
        assert_eq!(Counted::of(0), Counted::Exactly(0));
        assert_eq!(Counted::of(10_000), Counted::Exactly(10_000));
        assert_eq!(Counted::of(10_001), Counted::MoreThan(10_000));
        assert!(Counted::of(0).is_zero() && Counted::of(1).is_one());
        assert!(!Counted::of(10_001).is_one() && !Counted::of(10_001).is_zero());
    }

    #[test]
    fn none_among_those_looked_at_is_not_none() {
        let none = Counted::of_those_looked_at(0, false);
        assert_eq!((none, none.found(), none.is_zero()), (Counted::AtLeast(0), 0, false));
        assert!(Counted::of_those_looked_at(0, true).is_zero());
    }
}
