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
///
/// The day's count is the sum of what the database was last known to hold, what is on its way there, and what
/// has yet to be sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Usage {
    minute: i64,
    minute_used: u32,
    day: i64,
    stored: u64,
    flying: u64,
    pending: u64,
    /// The day whose stored count was read; `None` before the first reading.
    read: Option<i64>,
    last_draw_ms: i64,
}

impl Usage {
    /// Whether the stored count of the day at `now_ms` is already part of this one.
    pub(super) fn knows_day(&self, now_ms: i64) -> bool {
        self.read.is_some_and(|read| read >= day_of(now_ms))
    }

    /// Takes over the stored count of a day, unless another caller has done so already.
    pub(super) fn adopt(&mut self, day: i64, stored: u64) {
        self.roll(day * DAY_MS);
        if self.day == day && self.read != Some(day) {
            self.stored += stored;
            self.read = Some(day);
        }
    }

    /// Starts the windows anew when the clock has left them. A clock that steps back stays in the later one.
    fn roll(&mut self, now_ms: i64) {
        let minute = now_ms.div_euclid(MINUTE_MS);
        if minute > self.minute {
            (self.minute, self.minute_used) = (minute, 0);
        }
        let day = day_of(now_ms);
        if day > self.day {
            (self.day, self.stored, self.flying, self.pending) = (day, 0, 0, 0);
        }
    }

    fn day_used(&self) -> u64 {
        self.stored + self.flying + self.pending
    }

    pub(super) fn standing(mut self, caps: Caps, now_ms: i64) -> Standing {
        self.roll(now_ms);
        Standing {
            caps,
            minute_left: caps.per_minute.saturating_sub(self.minute_used),
            minute_reset: (self.minute + 1) * (MINUTE_MS / 1000),
            day_left: u32::try_from(u64::from(caps.per_day).saturating_sub(self.day_used())).unwrap_or(0),
            day_reset: (self.day + 1) * (DAY_MS / 1000),
        }
    }

    /// Counts one request when both windows have room for it.
    pub(super) fn draw(&mut self, caps: Caps, now_ms: i64) -> Draw {
        self.roll(now_ms);
        self.last_draw_ms = now_ms;
        let minute_full = self.minute_used >= caps.per_minute;
        let day_full = self.day_used() >= u64::from(caps.per_day);
        if !minute_full && !day_full {
            self.minute_used += 1;
            self.pending += 1;
            return Draw::Admitted(self.standing(caps, now_ms));
        }
        let standing = self.standing(caps, now_ms);
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
        (self.pending > 0 && self.read != Some(self.day)).then_some(self.day)
    }

    /// Takes what has yet to be sent to the database: the day and its count.
    ///
    /// Nothing as long as the stored count was not read: what arrived meanwhile would be counted twice.
    pub(super) fn depart(&mut self) -> Option<(i64, u64)> {
        if self.read != Some(self.day) {
            return None;
        }
        let pending = std::mem::take(&mut self.pending);
        self.flying += pending;
        (pending > 0).then_some((self.day, pending))
    }

    /// What departed has arrived, and the database now holds so much, from whichever process; without its word, what it held
    /// and what arrived.
    pub(super) fn arrive(&mut self, day: i64, count: u64, stored: Option<u64>) {
        if self.day == day {
            self.flying = self.flying.saturating_sub(count);
            self.stored = stored.unwrap_or(self.stored + count);
        }
    }

    /// What departed did not arrive: it waits for the next time.
    pub(super) fn return_home(&mut self, day: i64, count: u64) {
        if self.day == day {
            self.flying = self.flying.saturating_sub(count);
            self.pending += count;
        }
    }

    /// Whether nothing is lost by forgetting this caller: nothing to send, and no draw for `idle_ms`.
    pub(super) fn is_idle(&self, now_ms: i64, idle_ms: i64) -> bool {
        self.pending + self.flying == 0 && now_ms - self.last_draw_ms > idle_ms
    }

    /// Whether the last draw was before the window at `now_ms`.
    pub(super) fn is_before(&self, window: Window, now_ms: i64) -> bool {
        match window {
            Window::Minute => self.minute < now_ms.div_euclid(MINUTE_MS),
            Window::Day => self.day < day_of(now_ms),
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
        let (day, count) = usage.depart().unwrap();
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
        let (day, count) = usage.depart().unwrap();
        usage.return_home(day, count);
        assert_eq!(usage.depart(), Some((day, 1)));
    }

    #[test]
    fn nothing_departs_before_the_stored_count_is_read() {
        let mut usage = Usage::default();
        usage.draw(caps(60, 20), NOON);
        assert_eq!(usage.depart(), None);
        assert_eq!(usage.unread_day(), Some(day_of(NOON)));
        usage.adopt(day_of(NOON), 5);
        assert_eq!((usage.unread_day(), usage.depart()), (None, Some((day_of(NOON), 1))));
        usage.arrive(day_of(NOON), 1, None);
        assert_eq!(usage.standing(caps(60, 20), NOON).day_left, 14);
    }

    #[test]
    fn what_others_counted_comes_back_with_what_was_sent() {
        let mut usage = Usage::default();
        usage.adopt(day_of(NOON), 0);
        usage.draw(caps(60, 20), NOON);
        let (day, count) = usage.depart().unwrap();
        usage.draw(caps(60, 20), NOON);
        usage.arrive(day, count, Some(8));
        assert_eq!(usage.standing(caps(60, 20), NOON).day_left, 11);
        usage.arrive(day - 1, count, Some(20));
        assert_eq!(usage.standing(caps(60, 20), NOON).day_left, 11);
    }

    proptest! {
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
