//! The arithmetic of one caller's two windows.
//!
//! Owns what counts and when a count starts anew; pure, so that it can be tried against any clock.

use super::Caps;

const MINUTE_MS: i64 = 60_000;
pub(super) const DAY_MS: i64 = 86_400_000;

/// The UTC day in which a time lies, counted from the epoch.
pub(crate) fn day_of(now_ms: i64) -> i64 {
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
mod tests;
