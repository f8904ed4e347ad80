//! Plans which rollup rows make up each span between two bounds: whole days, quarter-hours near the bounds, and single
//! records for the rest. Bounds are in milliseconds since the epoch.
//!
//! A plan has numbered parts, and each row that is read is added to one part. Each bound has a part "from midnight UTC
//! to the bound". Each span has a part "the days from the midnight before its start to the midnight before its end". A
//! span is its days, plus the part of its end, minus the part of its start. A bound in the middle of a day therefore
//! costs at most half a day of quarter-hours, and no row is read twice.

use entity::rollups::{BucketRange, Grain};

/// A time in milliseconds that is earlier than every record: no record is older than the epoch.
const MIN_TIME_MS: i64 = -1 << 52;
/// The sign of a range whose rows are added to its part.
const ADD: i64 = 1;
/// The sign of a range whose rows are subtracted from its part.
const SUBTRACT: i64 = -1;

/// The rows and records to read for the spans between bounds.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Number of bounds.
    bounds: usize,
    /// Ranges of rollup rows.
    pub(super) ranges: Vec<BucketRange>,
    /// Ranges of single records, each shorter than a quarter-hour: the part, the start and the end in milliseconds.
    pub(super) edges: Vec<(usize, i64, i64)>,
}

impl Plan {
    /// Creates the plan for the spans between ascending bounds.
    pub(super) fn new(bounds: &[i64]) -> Self {
        let mut plan = Self { bounds: bounds.len(), ranges: Vec::new(), edges: Vec::new() };
        for (index, &bound) in bounds.iter().enumerate() {
            plan.add_midnight_to(index, bound);
        }
        for (index, span) in bounds.windows(2).enumerate() {
            let (from_ms, to_ms) = (Grain::Day.floor(span[0]), Grain::Day.floor(span[1]));
            plan.add(BucketRange::of_one_part(plan.days_of(index), Grain::Day, ADD, from_ms, to_ms));
        }
        plan
    }

    /// Returns the number of parts, including [`Self::before_first_bound`].
    pub(super) fn part_count(&self) -> usize {
        2 * self.bounds
    }

    /// Returns the part "from midnight to the bound" of a bound.
    pub(super) fn midnight_to(&self, bound: usize) -> usize {
        bound
    }

    /// Returns the part "days" of the span between a bound and the next.
    pub(super) fn days_of(&self, span: usize) -> usize {
        self.bounds + span
    }

    /// Returns the part with all days before the day of the first bound, for figures that count from the beginning.
    pub(super) fn before_first_bound(&self) -> usize {
        2 * self.bounds - 1
    }

    /// Returns the range of the days before the day of the first bound, for figures that count from the beginning.
    pub(super) fn days_before(&self, first_bound: i64) -> BucketRange {
        let to_ms = Grain::Day.floor(first_bound);
        BucketRange::of_one_part(self.before_first_bound(), Grain::Day, ADD, MIN_TIME_MS, to_ms)
    }

    /// Adds the part from midnight to the bound: the quarter-hours from midnight to the bound, or the whole day minus
    /// the quarter-hours from the bound to the next midnight, whichever are fewer.
    fn add_midnight_to(&mut self, part: usize, bound: i64) {
        let (day, quarter) = (Grain::Day.floor(bound), Grain::QuarterHour.floor(bound));
        let next_day = day + Grain::Day.length_ms();
        if quarter - day <= next_day - quarter {
            self.add(BucketRange::of_one_part(part, Grain::QuarterHour, ADD, day, quarter));
        } else {
            self.add(BucketRange::of_one_part(part, Grain::Day, ADD, day, next_day));
            self.add(BucketRange::of_one_part(part, Grain::QuarterHour, SUBTRACT, quarter, next_day));
        }
        if quarter < bound {
            self.edges.push((part, quarter, bound));
        }
    }

    /// Adds a range unless it is empty. Ranges of consecutive days that belong to consecutive parts are merged.
    fn add(&mut self, range: BucketRange) {
        if range.from_ms < range.to_ms && !self.ranges.last_mut().is_some_and(|last| last.merge(&range)) {
            self.ranges.push(range);
        }
    }
}

#[cfg(test)]
mod tests {
    use entity::rollups::{DAY_MS, QUARTER_HOUR_MS};

    use super::*;

    #[test]
    fn whole_days_need_no_quarter_hours() {
        let plan = Plan::new(&[0, 30 * DAY_MS]);
        let days = BucketRange::of_one_part(2, Grain::Day, ADD, 0, 30 * DAY_MS);
        assert_eq!((plan.ranges, plan.edges), (vec![days], vec![]));
    }

    #[test]
    fn consecutive_days_are_read_as_one_range() {
        let plan = Plan::new(&[0, DAY_MS, 2 * DAY_MS, 3 * DAY_MS]);
        let days =
            BucketRange { step_ms: DAY_MS, ..BucketRange::of_one_part(4, Grain::Day, ADD, 0, 3 * DAY_MS) };
        assert_eq!(plan.ranges, [days]);
    }

    #[test]
    fn a_late_bound_is_read_from_the_end_of_its_day() {
        let bound = DAY_MS - QUARTER_HOUR_MS + 1;
        let plan = Plan::new(&[0, bound]);
        let day = BucketRange::of_one_part(1, Grain::Day, ADD, 0, DAY_MS);
        let after =
            BucketRange::of_one_part(1, Grain::QuarterHour, SUBTRACT, DAY_MS - QUARTER_HOUR_MS, DAY_MS);
        assert_eq!(plan.ranges, [day, after]);
        assert_eq!(plan.edges, [(1, DAY_MS - QUARTER_HOUR_MS, bound)]);
    }
}
