//! Computes the two windows of a caller: the clock minute and the UTC day.
//!
//! The current time is a parameter, in milliseconds since the epoch, so tests can use any clock.

use super::limit_store::Counted;
use super::{Limits, MINUTE_MS};

pub(super) const DAY_MS: i64 = 86_400_000;

/// Returns the UTC day that contains a time, as the number of days since the Unix epoch.
pub(crate) fn day_of(now_ms: i64) -> i64 {
    now_ms.div_euclid(DAY_MS)
}

/// A window in which requests are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// The clock minute.
    Minute,
    /// The UTC day.
    Day,
}

/// The rate-limit status of a caller: the values of the six `X-RateLimit-*` headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimitStatus {
    /// The limits of the caller.
    pub limits: Limits,
    /// Number of requests left in the minute.
    pub minute_left: u32,
    /// When the minute ends, in Unix seconds.
    pub minute_reset: i64,
    /// Number of requests left in the day.
    pub day_left: u32,
    /// When the day ends, in Unix seconds.
    pub day_reset: i64,
}

impl RateLimitStatus {
    /// Returns the status of a caller that has made no requests.
    pub fn unused(limits: Limits, now_ms: i64) -> Self {
        Usage::default().status(limits, now_ms)
    }
}

/// Whether a request is admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The request is admitted and was counted.
    Admitted(RateLimitStatus),
    /// The request is rejected and was not counted.
    Rejected {
        /// The status of the caller.
        status: RateLimitStatus,
        /// The exhausted window; the day if both are exhausted.
        exhausted: Window,
        /// Seconds until the next window begins, at least 1.
        retry_after: i64,
    },
}

impl Decision {
    /// Rejects a request of a caller whose minute or day is exhausted.
    fn rejected(status: RateLimitStatus, now_ms: i64) -> Self {
        let (exhausted, reset) = if status.day_left == 0 {
            (Window::Day, status.day_reset)
        } else {
            (Window::Minute, status.minute_reset)
        };
        let wait_ms = reset * 1000 - now_ms;
        // Rounded up to whole seconds, so that the window has ended after this time.
        let retry_after = wait_ms.div_euclid(1000) + i64::from(wait_ms.rem_euclid(1000) != 0);
        Self::Rejected { status, exhausted, retry_after: retry_after.max(1) }
    }

    /// Returns the status of the caller after the decision.
    pub fn status(&self) -> RateLimitStatus {
        match self {
            Self::Admitted(status) | Self::Rejected { status, .. } => *status,
        }
    }
}

/// The number of requests of a caller in each window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// The clock minute of the most recent request, as the number of minutes since the Unix epoch.
    minute: i64,
    /// The number of requests in this minute, including those of `reserved`.
    minute_used: u32,
    /// The number of requests in this minute that this process has admitted and the shared store has counted, including reserved
    /// ones that were used. Determines how many are reserved.
    minute_admitted: u32,
    /// Requests that the shared store has counted in advance in this minute and on this day.
    reserved: Reserved,
    /// The UTC day of the most recent request.
    today: DayUsage,
    /// Other days whose counts are not completely stored yet: earlier days, or later days if the clock was set back.
    other_days: Vec<DayUsage>,
    last_request_ms: i64,
}

/// The smallest limit per minute and per day for which requests are reserved.
const MIN_RESERVED_LIMIT: u32 = 600;
/// A process reserves at most one request for this many that it has admitted in the minute, so that at most 5 % are unused when the
/// minute ends.
const ADMITTED_PER_RESERVED: u32 = 20;

/// Requests that the shared store has counted in advance for this process, so that it can admit them without asking the
/// store again. Unused ones are lost when the minute ends or the limits change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Reserved {
    count: u32,
    /// Whether a request to the store, which is in progress, reserves more.
    is_requested: bool,
    /// The number of requests in this minute that may have been reserved without this process knowing, because the store failed
    /// or the request was canceled.
    lost: u32,
    /// The limits under which the requests were reserved.
    limits: Limits,
}

/// The count of one UTC day: the sum of `stored`, `in_flight` and `pending`, or `shared` if that is more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct DayUsage {
    /// The number of days since the Unix epoch.
    day: i64,
    /// The most recently known count in the database, by all processes.
    stored: u64,
    /// Requests that are being written to the database.
    in_flight: u64,
    /// Requests that are not written yet.
    pending: u64,
    /// Whether `stored` was returned by the database, at least once.
    is_read: bool,
    /// The most recently known count in the shared limit store, plus requests that this process has admitted without it since then.
    shared: u64,
}

/// Counts that this process knows. The shared limit store can know fewer after it lost its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KnownCounts {
    pub(super) minute_start_ms: i64,
    pub(super) minute_used: u32,
    pub(super) day_start_ms: i64,
    pub(super) day_used: u64,
}

impl DayUsage {
    fn new(day: i64) -> Self {
        Self { day, ..Self::default() }
    }

    fn used(&self) -> u64 {
        (self.stored + self.in_flight + self.pending).max(self.shared)
    }

    /// Counts a request that this process has admitted without the shared store.
    fn count(&mut self) {
        self.shared = self.used() + 1;
        self.pending += 1;
    }

    /// Returns whether all requests of the day are stored.
    fn is_saved(&self) -> bool {
        self.in_flight + self.pending == 0
    }
}

impl Usage {
    /// Returns whether the stored count of the day at `now_ms` was read.
    pub(super) fn has_stored_count(&self, now_ms: i64) -> bool {
        let day = day_of(now_ms);
        self.days().any(|usage| usage.day == day && usage.is_read)
    }

    /// Sets the stored count of a day, unless a concurrent request has already done so.
    pub(super) fn set_stored(&mut self, day: i64, stored: u64) {
        if self.day(day).is_none() {
            self.other_days.push(DayUsage::new(day));
        }
        if let Some(usage) = self.day(day).filter(|usage| !usage.is_read) {
            (usage.stored, usage.is_read) = (stored, true);
        }
    }

    fn days(&self) -> impl Iterator<Item = &DayUsage> {
        std::iter::once(&self.today).chain(&self.other_days)
    }

    fn day(&mut self, day: i64) -> Option<&mut DayUsage> {
        std::iter::once(&mut self.today).chain(&mut self.other_days).find(|usage| usage.day == day)
    }

    /// Advances to the windows at `now_ms`.
    ///
    /// If the clock is set back to the previous minute, the count of the minute continues there, so that this change of
    /// the clock allows no additional requests. If the clock is set back further, the count of the minute is discarded,
    /// so that no caller must wait longer than a minute. Each day has a separate count, which applies again if the
    /// clock returns to that day.
    fn advance_to(&mut self, now_ms: i64) {
        let minute = now_ms.div_euclid(MINUTE_MS);
        if minute > self.minute || minute < self.minute - 1 {
            self.minute_used = 0;
        }
        let day = day_of(now_ms);
        if minute != self.minute || day != self.today.day {
            self.minute_admitted = 0;
            self.reserved = Reserved { limits: self.reserved.limits, ..Reserved::default() };
        }
        self.minute = minute;
        if day != self.today.day {
            let index = self.other_days.iter().position(|usage| usage.day == day);
            let today = index.map_or_else(|| DayUsage::new(day), |index| self.other_days.swap_remove(index));
            let previous = std::mem::replace(&mut self.today, today);
            if !previous.is_saved() {
                self.other_days.push(previous);
            }
        }
    }

    /// Returns the status at `now_ms`. Does not advance the windows.
    pub(super) fn status(&self, limits: Limits, now_ms: i64) -> RateLimitStatus {
        let mut advanced = self.clone();
        advanced.advance_to(now_ms);
        advanced.current_status(limits)
    }

    /// Returns the status in the current windows.
    fn current_status(&self, limits: Limits) -> RateLimitStatus {
        let reserved = self.reserved.count;
        let day_used = self.today.used().saturating_sub(u64::from(reserved));
        let day_left = u64::from(limits.per_day).saturating_sub(day_used);
        RateLimitStatus {
            limits,
            minute_left: limits.per_minute.saturating_sub(self.minute_used.saturating_sub(reserved)),
            minute_reset: (self.minute + 1) * (MINUTE_MS / 1000),
            day_left: u32::try_from(day_left).unwrap_or(0),
            day_reset: (self.today.day + 1) * (DAY_MS / 1000),
        }
    }

    /// Admits and counts a request if neither window is exhausted.
    ///
    /// The caller must hold the lock of this value when it reads `now_ms` from the clock. Otherwise, requests that are
    /// counted out of order would look like a clock that is set back.
    pub(super) fn acquire(&mut self, limits: Limits, now_ms: i64) -> Decision {
        if let Some(decision) = self.decide(limits, now_ms) {
            return decision;
        }
        self.minute_used += 1;
        self.today.count();
        Decision::Admitted(self.current_status(limits))
    }

    /// Advances to the windows at `now_ms`, and decides a request without the shared store: admits it if a request is
    /// reserved, or rejects it if this process knows that a window is exhausted.
    ///
    /// The caller must hold the lock of this value, as for [`Self::acquire`].
    pub(super) fn decide(&mut self, limits: Limits, now_ms: i64) -> Option<Decision> {
        self.advance_to(now_ms);
        self.last_request_ms = now_ms;
        if self.reserved.limits != limits {
            self.reserved = Reserved { limits, ..Reserved::default() };
        }
        if let Some(admitted) = self.admit_reserved(limits) {
            return Some(admitted);
        }
        let status = self.current_status(limits);
        (status.minute_left == 0 || status.day_left == 0).then(|| Decision::rejected(status, now_ms))
    }

    /// Admits a request that is reserved under these limits, if there is one.
    fn admit_reserved(&mut self, limits: Limits) -> Option<Decision> {
        if self.reserved.count == 0 || self.reserved.limits != limits {
            return None;
        }
        self.reserved.count -= 1;
        self.minute_admitted += 1;
        self.today.pending += 1;
        Some(Decision::Admitted(self.current_status(limits)))
    }

    /// Returns how many requests the shared store is to reserve with the next one. If it is not 0, [`Self::record`] or
    /// [`Self::lose_reservation`] must follow; until then, it is 0 for other requests.
    pub(super) fn begin_reservation(&mut self, limits: Limits) -> u32 {
        if limits.per_minute.min(limits.per_day) < MIN_RESERVED_LIMIT || self.reserved.is_requested {
            return 0;
        }
        let count = (self.minute_admitted / ADMITTED_PER_RESERVED).saturating_sub(self.reserved.lost);
        self.reserved.is_requested = count > 0;
        count
    }

    /// Records that the store may have reserved this many requests without this process knowing.
    pub(super) fn lose_reservation(&mut self, count: u32) {
        self.reserved.is_requested = false;
        self.reserved.lost = self.reserved.lost.saturating_add(count);
    }

    /// Returns the counts in the current windows.
    pub(super) fn known(&self) -> KnownCounts {
        KnownCounts {
            minute_start_ms: self.minute * MINUTE_MS,
            minute_used: self.minute_used,
            day_start_ms: self.today.day * DAY_MS,
            day_used: self.today.used(),
        }
    }

    /// Records the decision of the shared limit store about a request, or that of this process's share, and returns it.
    pub(super) fn record(&mut self, limits: Limits, counted: &Counted, now_ms: i64) -> Decision {
        // The windows of the store, which can have advanced further.
        self.advance_to(now_ms.max(counted.short_start));
        if counted.is_from_share {
            return self.record_from_share(limits, counted, now_ms);
        }
        let saturated = |count: i64| u32::try_from(count.max(0)).unwrap_or(u32::MAX);
        let day = day_of(counted.day_start);
        if counted.short_start == self.minute * MINUTE_MS {
            self.minute_used = self.minute_used.max(saturated(counted.short_used + counted.reserved));
            if day == self.today.day {
                self.minute_admitted += u32::from(counted.is_admitted);
                if self.reserved.limits == limits {
                    self.reserved.count += saturated(counted.reserved);
                }
            }
        }
        if counted.was_reserving {
            self.reserved.is_requested = false;
        }
        if self.day(day).is_none() {
            self.other_days.push(DayUsage::new(day));
        }
        if let Some(usage) = self.day(day) {
            usage.shared = usage.shared.max((counted.day_used + counted.reserved).unsigned_abs());
            usage.pending += u64::from(counted.is_admitted);
        }
        if !counted.is_admitted
            && let Some(admitted) = self.admit_reserved(limits)
        {
            return admitted;
        }
        let status = RateLimitStatus {
            limits,
            minute_left: saturated(counted.short_left),
            minute_reset: (counted.short_start + MINUTE_MS) / 1000,
            day_left: saturated(counted.day_left),
            day_reset: (counted.day_start + DAY_MS) / 1000,
        };
        if counted.is_admitted { Decision::Admitted(status) } else { Decision::rejected(status, now_ms) }
    }

    /// Records the decision of this process's share, and returns it.
    fn record_from_share(&mut self, limits: Limits, counted: &Counted, now_ms: i64) -> Decision {
        if counted.is_admitted {
            self.minute_used += 1;
            self.today.count();
        }
        let status = self.current_status(limits);
        let at_most = |left: u32, share_left: i64| left.min(u32::try_from(share_left).unwrap_or(u32::MAX));
        let status = RateLimitStatus {
            minute_left: at_most(status.minute_left, counted.short_left),
            day_left: at_most(status.day_left, counted.day_left),
            ..status
        };
        if counted.is_admitted { Decision::Admitted(status) } else { Decision::rejected(status, now_ms) }
    }

    /// Returns the current day if it has pending requests and its stored count was not read yet.
    pub(super) fn unread_day(&self) -> Option<i64> {
        (self.today.pending > 0 && !self.today.is_read).then_some(self.today.day)
    }

    /// Marks the pending requests as in flight and returns them as pairs of day and count.
    ///
    /// Omits the current day until its stored count was read: if they were written before that, the count would include
    /// them a second time.
    pub(super) fn take_pending(&mut self) -> Vec<(i64, u64)> {
        let today = std::iter::once(&mut self.today).filter(|today| today.is_read);
        let days = today.chain(&mut self.other_days).filter(|usage| usage.pending > 0);
        days.map(|usage| {
            let pending = std::mem::take(&mut usage.pending);
            usage.in_flight += pending;
            (usage.day, pending)
        })
        .collect()
    }

    /// Confirms that `count` requests of a day were written. `stored` is the new count in the database; without it,
    /// `count` is added to the known count.
    pub(super) fn confirm(&mut self, day: i64, count: u64, stored: Option<u64>) {
        if let Some(usage) = self.day(day) {
            usage.in_flight = usage.in_flight.saturating_sub(count);
            usage.stored = stored.unwrap_or(usage.stored + count);
            usage.is_read |= stored.is_some();
        }
    }

    /// Marks requests that could not be written as pending again.
    pub(super) fn restore_pending(&mut self, day: i64, count: u64) {
        if let Some(usage) = self.day(day) {
            usage.in_flight = usage.in_flight.saturating_sub(count);
            usage.pending += count;
        }
    }

    /// Removes the days whose counts are completely stored, except the current day.
    pub(super) fn drop_saved_days(&mut self) {
        self.other_days.retain(|day| !day.is_saved());
    }

    /// Removes all days except the current day. For a caller whose counts are never stored.
    pub(super) fn drop_other_days(&mut self) {
        self.other_days.clear();
    }

    /// Returns whether this caller can be removed from memory: all counts are stored, and the last request was more
    /// than `idle_ms` before `now_ms`, or after it if the clock was set back.
    pub(super) fn is_idle(&self, now_ms: i64, idle_ms: i64) -> bool {
        self.days().all(DayUsage::is_saved) && (now_ms - self.last_request_ms).abs() > idle_ms
    }

    /// Returns whether the last request was in the window at `now_ms`.
    pub(super) fn is_in(&self, window: Window, now_ms: i64) -> bool {
        match window {
            Window::Minute => self.minute == now_ms.div_euclid(MINUTE_MS),
            Window::Day => self.today.day == day_of(now_ms),
        }
    }
}

#[cfg(test)]
mod tests;
