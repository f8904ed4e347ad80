//! Which rows make up which span: whole days, a few quarter-hours beside each bound, and single facts for the rest.
//!
//! For each bound there is one part "from midnight UTC up to the bound", for each span one part "the days from
//! the midnight before its start up to the midnight before its end". A span is its days, plus the part of its
//! end, less the part of its start. So a bound in the middle of a day costs half a day of quarter-hours at most,
//! and no row is read for two spans.

use entity::rollups::{Grain, Piece};

/// Before everything: no record is older than the epoch.
const BEGINNING_MS: i64 = -1 << 52;

/// What to read for the spans between some bounds.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// How many bounds there are.
    bounds: usize,
    /// Rows of the rollups.
    pub(super) pieces: Vec<Piece>,
    /// Facts: the part, and from where to where, less than a quarter-hour.
    pub(super) edges: Vec<(usize, i64, i64)>,
}

impl Plan {
    /// The plan for the spans between these rising bounds.
    pub(super) fn new(bounds: &[i64]) -> Self {
        let mut plan = Self { bounds: bounds.len(), pieces: Vec::new(), edges: Vec::new() };
        for (place, &bound) in bounds.iter().enumerate() {
            plan.up_to(place, bound);
        }
        for (place, span) in bounds.windows(2).enumerate() {
            let (from_ms, to_ms) = (Grain::Day.floor(span[0]), Grain::Day.floor(span[1]));
            plan.add(Piece::whole(plan.days_of(place), Grain::Day, 1, from_ms, to_ms));
        }
        plan
    }

    /// How many parts there are, [`Self::before`] included.
    pub(super) fn parts(&self) -> usize {
        2 * self.bounds
    }

    /// The part "from midnight up to the bound" of a bound.
    pub(super) fn midnight_to(&self, bound: usize) -> usize {
        bound
    }

    /// The part "days" of the span between a bound and the next.
    pub(super) fn days_of(&self, span: usize) -> usize {
        self.bounds + span
    }

    /// The part of all days before that of the first bound, for what counts from the beginning.
    pub(super) fn before(&self) -> usize {
        2 * self.bounds - 1
    }

    /// The days before the first bound's, to be read for what counts from the beginning.
    pub(super) fn beginning(&self, first_bound: i64) -> Piece {
        let to_ms = Grain::Day.floor(first_bound);
        Piece::whole(self.before(), Grain::Day, 1, BEGINNING_MS, to_ms)
    }

    /// From midnight up to the bound: the quarter-hours before it, or the day less those after it.
    fn up_to(&mut self, part: usize, bound: i64) {
        let (day, quarter) = (Grain::Day.floor(bound), Grain::Quarter.floor(bound));
        let next_day = day + Grain::Day.length_ms();
        if quarter - day <= next_day - quarter {
            self.add(Piece::whole(part, Grain::Quarter, 1, day, quarter));
        } else {
            self.add(Piece::whole(part, Grain::Day, 1, day, next_day));
            self.add(Piece::whole(part, Grain::Quarter, -1, quarter, next_day));
        }
        if quarter < bound {
            self.edges.push((part, quarter, bound));
        }
    }

    /// A piece that is not empty; days that follow one another, each for the next part, are read as one.
    fn add(&mut self, piece: Piece) {
        if piece.from_ms < piece.to_ms && !self.pieces.last_mut().is_some_and(|last| last.take_in(&piece)) {
            self.pieces.push(piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use entity::rollups::{DAY_MS, QUARTER_MS};

    use super::*;

    #[test]
    fn whole_days_need_no_quarter_hours() {
        let plan = Plan::new(&[0, 30 * DAY_MS]);
        let days = Piece::whole(2, Grain::Day, 1, 0, 30 * DAY_MS);
        assert_eq!((plan.pieces, plan.edges), (vec![days], vec![]));
    }

    #[test]
    fn days_one_by_one_are_read_as_one_piece() {
        let plan = Plan::new(&[0, DAY_MS, 2 * DAY_MS, 3 * DAY_MS]);
        let days = Piece { step_ms: DAY_MS, ..Piece::whole(4, Grain::Day, 1, 0, 3 * DAY_MS) };
        assert_eq!(plan.pieces, [days]);
    }

    #[test]
    fn a_late_bound_is_read_from_the_end_of_its_day() {
        let bound = DAY_MS - QUARTER_MS + 1;
        let plan = Plan::new(&[0, bound]);
        let day = Piece::whole(1, Grain::Day, 1, 0, DAY_MS);
        let after = Piece::whole(1, Grain::Quarter, -1, DAY_MS - QUARTER_MS, DAY_MS);
        assert_eq!(plan.pieces, [day, after]);
        assert_eq!(plan.edges, [(1, DAY_MS - QUARTER_MS, bound)]);
    }
}
