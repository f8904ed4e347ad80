//! The arithmetic of one caller's two windows.
//!
//! Owns what counts and when a count starts anew; pure, so that it can be tried against any clock.

use super::Caps;

const MINUTE_MS: i64 = 60_000;
pub(super) const DAY_MS: i64 = 86_400_000;

/// The UTC day in which a time lies, counted from the epoch.
pub fn day_of(now_ms: i64) -> i64 {
    now_ms.div_euclid(DAY_MS)
}

/// One of the two windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// The clock minute.
    Minute,
    /// The UTC day.
    Day,
}

/// Where a caller stands in both windows: the six `X-RateLimit-*` headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The caps.
    pub caps: Caps,
    /// Requests left in the minute.
    pub minute_left: u32,
    /// Unix seconds at which the minute ends.
    pub minute_reset: i64,
    /// Requests left in the day.
    pub day_left: u32,
    /// Unix seconds at which the day ends.
    pub day_reset: i64,
}

impl Standing {
    /// The standing of a caller who has not called yet.
    pub fn fresh(caps: Caps, now_ms: i64) -> Self {
        Usage::default().standing(caps, now_ms)
    }
}

/// What a draw came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draw {
    /// The request passes and was counted.
    Admitted(Standing),
    /// The request is refused and was not counted.
    Refused {
        /// Where the caller stands.
        standing: Standing,
        /// The exhausted window; the day when both are.
        exhausted: Window,
        /// Seconds until it opens again, at least 1.
        retry_after: i64,
    },
}

impl Draw {
    /// Where the caller stands after the draw.
    pub fn standing(&self) -> Standing {
        match self {
            Self::Admitted(standing) | Self::Refused { standing, .. } => *standing,
        }
    }
}

/// How much of each window is used up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Usage {
    minute: i64,
    minute_used: u32,
    today: Day,
    /// Other days whose counts are not all in the database yet: the clock has left them, for good or until it is set back.
    others: Vec<Day>,
    last_draw_ms: i64,
}

/// The count of one UTC day: the sum of what the database was last known to hold, what is on its way there, and what has yet
/// to be sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Day {
    day: i64,
    stored: u64,
    flying: u64,
    pending: u64,
    /// Whether the stored count was read.
    read: bool,
}

impl Day {
    fn of(day: i64) -> Self {
        Self { day, ..Self::default() }
    }

    fn used(&self) -> u64 {
        self.stored + self.flying + self.pending
    }

    /// Whether the database has all of it.
    fn is_saved(&self) -> bool {
        self.flying + self.pending == 0
    }
}

impl Usage {
    /// Whether the stored count of the day at `now_ms` is already part of this one.
    pub(super) fn knows_day(&self, now_ms: i64) -> bool {
        let day = day_of(now_ms);
        self.days().any(|known| known.day == day && known.read)
    }

    /// Takes over the stored count of a day, unless another caller has done so already.
    pub(super) fn adopt(&mut self, day: i64, stored: u64) {
        if self.day(day).is_none() {
            self.others.push(Day::of(day));
        }
        if let Some(known) = self.day(day).filter(|known| !known.read) {
            (known.stored, known.read) = (stored, true);
        }
    }

    fn days(&self) -> impl Iterator<Item = &Day> {
        std::iter::once(&self.today).chain(&self.others)
    }

    fn day(&mut self, day: i64) -> Option<&mut Day> {
        std::iter::once(&mut self.today).chain(&mut self.others).find(|known| known.day == day)
    }

    /// Enters the windows at `now_ms`, which are new unless the clock was in them before.
    ///
    /// A clock that is set back takes the minute's count along: no window lies ahead of the clock, so that none lasts longer than
    /// its length, and setting the clock back by a little gives no second minute. A count further ahead than a minute is
    /// discarded: the clock had jumped. Each day has a count of its own, which the clock finds again when it returns.
    fn roll(&mut self, now_ms: i64) {
        let minute = now_ms.div_euclid(MINUTE_MS);
        if minute > self.minute || minute < self.minute - 1 {
            self.minute_used = 0;
        }
        self.minute = minute;
        let day = day_of(now_ms);
        if day != self.today.day {
            let known = self.others.iter().position(|known| known.day == day);
            let entered = known.map_or_else(|| Day::of(day), |place| self.others.swap_remove(place));
            let left = std::mem::replace(&mut self.today, entered);
            if !left.is_saved() {
                self.others.push(left);
            }
        }
    }

    /// The standing at a time.
    pub(super) fn standing(&self, caps: Caps, now_ms: i64) -> Standing {
        let mut then = self.clone();
        then.roll(now_ms);
        then.stands(caps)
    }

    /// The standing in the windows that were entered last.
    fn stands(&self, caps: Caps) -> Standing {
        let day_left = u64::from(caps.per_day).saturating_sub(self.today.used());
        Standing {
            caps,
            minute_left: caps.per_minute.saturating_sub(self.minute_used),
            minute_reset: (self.minute + 1) * (MINUTE_MS / 1000),
            day_left: u32::try_from(day_left).unwrap_or(0),
            day_reset: (self.today.day + 1) * (DAY_MS / 1000),
        }
    }

    /// Counts one request when both windows have room for it.
    ///
    /// `now_ms` is read under the lock of the bucket: a request that came earlier and is counted later would otherwise look like a
    /// clock that is set back.
    pub(super) fn draw(&mut self, caps: Caps, now_ms: i64) -> Draw {
        self.roll(now_ms);
        self.last_draw_ms = now_ms;
        let minute_full = self.minute_used >= caps.per_minute;
        let day_full = self.today.used() >= u64::from(caps.per_day);
        if !minute_full && !day_full {
            self.minute_used += 1;
            self.today.pending += 1;
            return Draw::Admitted(self.stands(caps));
        }
        let standing = self.stands(caps);
        let (exhausted, reset) = if day_full {
            (Window::Day, standing.day_reset)
        } else {
            (Window::Minute, standing.minute_reset)
        };
        // Rounded up: a caller that waits so long finds the window open.
        let retry_after = (reset * 1000 - now_ms).div_euclid(1000)
            + i64::from((reset * 1000 - now_ms).rem_euclid(1000) != 0);
        Draw::Refused { standing, exhausted, retry_after: retry_after.max(1) }
    }

    /// The day whose stored count must be read before anything departs, when there is something.
    pub(super) fn unread_day(&self) -> Option<i64> {
        (self.today.pending > 0 && !self.today.read).then_some(self.today.day)
    }

    /// Takes what has yet to be sent to the database: each day and its count.
    ///
    /// Nothing of today as long as its stored count was not read: what arrived meanwhile would be counted twice.
    pub(super) fn depart(&mut self) -> Vec<(i64, u64)> {
        let today = std::iter::once(&mut self.today).filter(|today| today.read);
        let leaving = today.chain(&mut self.others).filter(|day| day.pending > 0);
        leaving
            .map(|day| {
                let pending = std::mem::take(&mut day.pending);
                day.flying += pending;
                (day.day, pending)
            })
            .collect()
    }

    /// What departed has arrived, and the database now holds so much, from whichever process; without its word, what it held
    /// and what arrived.
    pub(super) fn arrive(&mut self, day: i64, count: u64, stored: Option<u64>) {
        if let Some(day) = self.day(day) {
            day.flying = day.flying.saturating_sub(count);
            day.stored = stored.unwrap_or(day.stored + count);
            day.read |= stored.is_some();
        }
    }

    /// What departed did not arrive: it waits for the next time.
    pub(super) fn return_home(&mut self, day: i64, count: u64) {
        if let Some(day) = self.day(day) {
            day.flying = day.flying.saturating_sub(count);
            day.pending += count;
        }
    }

    /// Forgets other days than today, but for those that the database has yet to get.
    pub(super) fn forget_saved(&mut self) {
        self.others.retain(|day| !day.is_saved());
    }

    /// Forgets other days than today: this caller's counts are in no database.
    pub(super) fn forget_others(&mut self) {
        self.others.clear();
    }

    /// Whether nothing is lost by forgetting this caller: nothing to send, and no draw within `idle_ms` of now.
    pub(super) fn is_idle(&self, now_ms: i64, idle_ms: i64) -> bool {
        self.days().all(Day::is_saved) && (now_ms - self.last_draw_ms).abs() > idle_ms
    }

    /// Whether the last draw was in the window at `now_ms`.
    pub(super) fn is_in(&self, window: Window, now_ms: i64) -> bool {
        match window {
            Window::Minute => self.minute == now_ms.div_euclid(MINUTE_MS),
            Window::Day => self.today.day == day_of(now_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOON: i64 = 1_767_268_800_000;

    fn caps(per_minute: u32, per_day: u32) -> Caps {
        Caps { per_minute, per_day }
    }

    #[test]
    fn the_sixty_first_request_of_a_minute_waits_for_the_next_minute() {
        let mut usage = Usage::default();
        for left in (0..60).rev() {
            let Draw::Admitted(standing) = usage.draw(Caps::default(), NOON + 500) else { panic!("refused") };
            assert_eq!(standing.minute_left, left);
        }
        let draw = usage.draw(Caps::default(), NOON + 500);
        let Draw::Refused { standing, exhausted, retry_after } = draw else { panic!("admitted") };
        assert_eq!((exhausted, retry_after), (Window::Minute, 60));
        assert_eq!((standing.minute_left, standing.day_left), (0, 940));
        assert_eq!(standing.minute_reset * 1000, NOON + MINUTE_MS);
        assert!(matches!(usage.draw(Caps::default(), NOON + MINUTE_MS), Draw::Admitted(_)));
    }

    #[test]
    fn when_both_windows_are_exhausted_the_day_decides() {
        let mut usage = Usage::default();
        usage.draw(caps(1, 1), NOON);
        let Draw::Refused { exhausted, retry_after, .. } = usage.draw(caps(1, 1), NOON) else {
            panic!("admitted")
        };
        assert_eq!((exhausted, retry_after), (Window::Day, 43_200));
    }

    #[test]
    fn the_wait_is_never_below_a_second() {
        let mut usage = Usage::default();
        usage.draw(caps(1, 9), NOON);
        let Draw::Refused { retry_after, .. } = usage.draw(caps(1, 9), NOON + MINUTE_MS - 1) else {
            panic!("admitted")
        };
        assert_eq!(retry_after, 1);
    }

    #[test]
    fn a_stored_count_is_taken_over_once_and_flushing_changes_nothing() {
        let mut usage = Usage::default();
        usage.draw(caps(60, 20), NOON);
        assert!(!usage.knows_day(NOON));
        usage.adopt(day_of(NOON), 10);
        usage.adopt(day_of(NOON), 10);
        assert!(usage.knows_day(NOON) && !usage.knows_day(NOON + DAY_MS));
        let (day, count) = usage.depart()[0];
        usage.draw(caps(60, 20), NOON);
        usage.arrive(day, count, Some(11));
        assert_eq!(usage.standing(caps(60, 20), NOON).day_left, 8);
        assert_eq!(usage.standing(caps(60, 20), NOON + DAY_MS).day_left, 20);
    }

    #[test]
    fn a_lost_flush_is_sent_again() {
        let mut usage = Usage::default();
        usage.adopt(day_of(NOON), 0);
        usage.draw(caps(60, 20), NOON);
        let (day, count) = usage.depart()[0];
        usage.return_home(day, count);
        assert_eq!(usage.depart(), [(day, 1)]);
    }

    #[test]
    fn nothing_departs_before_the_stored_count_is_read() {
        let mut usage = Usage::default();
        usage.draw(caps(60, 20), NOON);
        assert_eq!(usage.depart(), []);
        assert_eq!(usage.unread_day(), Some(day_of(NOON)));
        usage.adopt(day_of(NOON), 5);
        assert_eq!((usage.unread_day(), usage.depart()), (None, vec![(day_of(NOON), 1)]));
        usage.arrive(day_of(NOON), 1, None);
        assert_eq!(usage.standing(caps(60, 20), NOON).day_left, 14);
    }

    #[test]
    fn what_others_counted_comes_back_with_what_was_sent() {
        let mut usage = Usage::default();
        usage.adopt(day_of(NOON), 0);
        usage.draw(caps(60, 20), NOON);
        let (day, count) = usage.depart()[0];
        usage.draw(caps(60, 20), NOON);
        usage.arrive(day, count, Some(8));
        assert_eq!(usage.standing(caps(60, 20), NOON).day_left, 11);
        usage.arrive(day - 1, count, Some(20));
        assert_eq!(usage.standing(caps(60, 20), NOON).day_left, 11);
    }

    #[test]
    fn the_counts_of_a_day_that_is_over_still_reach_the_database() {
        let mut usage = Usage::default();
        let (day, next) = (day_of(NOON), NOON + DAY_MS);
        usage.adopt(day, 3);
        usage.draw(caps(60, 20), NOON);
        usage.adopt(day + 1, 0);
        usage.draw(caps(60, 20), next);
        usage.draw(caps(60, 20), next);
        assert!(!usage.is_idle(next + DAY_MS, 0));
        let mut left = usage.depart();
        left.sort_unstable();
        assert_eq!(left, [(day, 1), (day + 1, 2)]);

        // One arrives, and the clock returns to the day before while the other is under way.
        usage.arrive(day + 1, 2, Some(2));
        usage.forget_saved();
        assert!(usage.knows_day(NOON));
        assert_eq!(usage.draw(caps(60, 20), NOON).standing().day_left, 15);
        usage.return_home(day, 1);
        assert_eq!(usage.depart(), [(day, 2)]);
        usage.arrive(day, 2, Some(5));
        assert_eq!(usage.standing(caps(60, 20), NOON).day_left, 15);
        assert!(usage.is_idle(NOON + 11, 10) && usage.is_idle(NOON - 11, 10) && !usage.is_idle(NOON, 10));
    }

    #[test]
    fn what_the_database_holds_of_a_day_replaces_what_was_guessed_without_it() {
        let mut usage = Usage::default();
        let day = day_of(NOON);
        usage.draw(caps(60, 20), NOON);
        usage.draw(caps(60, 20), NOON + DAY_MS);
        assert_eq!(usage.depart(), [(day, 1)], "today waits for its stored count");
        usage.arrive(day, 1, Some(7));
        assert_eq!(usage.draw(caps(60, 20), NOON).standing().day_left, 12);
        usage.adopt(day, 7);
        assert_eq!(usage.standing(caps(60, 20), NOON).day_left, 12);
    }

    /// A step of a clock: on, mostly by little, or set to another time.
    fn step() -> impl Strategy<Value = i64> {
        prop_oneof![0..20_000_i64, -90_000..90_000_i64, -3 * DAY_MS..3 * DAY_MS]
    }

    proptest! {
        #[test]
        fn whatever_the_clock_does_nobody_waits_longer_than_a_window(
            per_minute in 1u32..8, per_day in 1u32..40, steps in prop::collection::vec(step(), 1..300),
        ) {
            let mut usage = Usage::default();
            let mut now = NOON;
            for step in steps {
                now += step;
                let caps = caps(per_minute, per_day);
                let Draw::Refused { exhausted, retry_after, standing } = usage.draw(caps, now) else { continue };
                let length_ms = if exhausted == Window::Day { DAY_MS } else { MINUTE_MS };
                prop_assert!((1..=length_ms / 1000).contains(&retry_after), "{exhausted:?}: {retry_after}");
                prop_assert!(standing.minute_reset * 1000 - now <= MINUTE_MS);
                prop_assert!(standing.day_reset * 1000 - now <= DAY_MS);
                // Whoever waits gets in, unless the next window is full already: the clock has been there.
                let mut later = usage.clone();
                later.others.clear();
                prop_assert!(matches!(later.draw(caps, now + retry_after * 1000), Draw::Admitted(_))
                    || exhausted == Window::Minute && later.today.used() >= u64::from(per_day));
            }
        }

        #[test]
        fn no_window_ever_admits_more_than_its_cap(
            per_minute in 0u32..8, per_day in 0u32..40,
            steps in prop::collection::vec(0i64..20_000, 1..300),
        ) {
            let mut usage = Usage::default();
            let mut now = NOON + DAY_MS / 2 - 1_000_000;
            let mut admitted: Vec<i64> = Vec::new();
            for step in steps {
                now += step;
                let draw = usage.draw(caps(per_minute, per_day), now);
                if let Draw::Admitted(_) = draw {
                    admitted.push(now);
                }
                let in_minute =
                    admitted.iter().filter(|at| at.div_euclid(MINUTE_MS) == now.div_euclid(MINUTE_MS)).count();
                let in_day = admitted.iter().filter(|at| day_of(**at) == day_of(now)).count();
                let standing = draw.standing();
                prop_assert_eq!(standing.minute_left as usize, (per_minute as usize).saturating_sub(in_minute));
                prop_assert_eq!(standing.day_left as usize, (per_day as usize).saturating_sub(in_day));
                if let Draw::Refused { exhausted, retry_after, .. } = draw {
                    let room = usage.draw(caps(u32::MAX, u32::MAX), now + retry_after * 1000);
                    prop_assert!(matches!(room, Draw::Admitted(_)));
                    let ends = match exhausted {
                        Window::Minute => standing.minute_reset,
                        Window::Day => standing.day_reset,
                    };
                    prop_assert!(retry_after >= 1 && now + retry_after * 1000 >= ends * 1000);
                    prop_assert!(now + (retry_after - 1) * 1000 <= ends * 1000);
                    break;
                }
            }
        }
    }
}
