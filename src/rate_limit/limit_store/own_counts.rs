//! What this process has admitted of each subject, and what its share of the limits still allows.
//!
//! While the store does not answer, N servers cannot know what the others admit. Each then admits at most its share of a limit
//! L: the N shares are L / N, rounded so that their sum is L.
//!
//! The law, for every window (a clock minute, a UTC day, the window of sign-in attempts), as long as the servers know each other:
//!
//! 1. A minute that begins while the store does not answer admits at most L. So does a longer window, unless the store fails
//!    again after it has answered.
//! 2. Every window admits at most L × (2 − 1 / N), rounded up, however often the store fails and recovers in it, and also if
//!    only some of the servers reach it.
//! 3. A window in which the store always answers in time admits at most L, and only reserved requests can stay unused.
//!
//! Why it holds: let a be the number of requests of a window that a server has admitted, with the store or without it. While the
//! [share applies](super::StoreStatus::share), a request is admitted only while a, including the requests that the store is
//! being asked for, is less than the share s. So a server ends with at most max(a, s), where the sum of all a that the store has
//! counted is at most L. The sum of max(a, s) is largest when the store has admitted all L for one server, and the others then
//! use their shares: L + (N − 1) × L / N. If all use their shares only, it is L. For this:
//!
//! - Reserved requests count as admitted from the time when the store has counted them.
//! - What was admitted without the store is added to it before it decides again, so that it admits less afterwards. Other
//!   servers may notice later that the store answers, so the share still applies for the
//!   [`SETTLING_TIME`](super::SETTLING_TIME), and until the minute ends, in which the store may fail again.
//! - A request that has waited too long is decided from the share. If the store counts it nevertheless, and reports that later,
//!   what is added to the store is reduced by it. If it is never reported, because the connection broke, the store counts
//!   the request twice. Then it admits less, never more.
//! - A request that the store admits while the share applies is rejected if the share is used up.
//!
//! Not covered: a server that restarts forgets what it has admitted, and while servers start or stop, they have different N for
//! some seconds. A server that has not been asked while the store did not answer does not know about it, so that 2. applies
//! instead of 1.

use dashmap::DashMap;
use entity::processes::Servers;
use entity::rate_windows::{SubjectCounts, SubjectRequests};

use super::Counted;
use crate::window::DAY_MS;

/// How far a window continues if the clock is before its start, in milliseconds. The same as in the stores.
const MAX_LAG_MS: i64 = 5_000;
/// Number of subjects in memory above which those without a request in their current short window are removed.
const PRUNE_THRESHOLD: usize = 100_000;

/// The requests that this process has admitted, by subject.
#[derive(Debug, Default)]
pub(super) struct OwnCounts(DashMap<String, Own>);

/// The requests of one subject.
#[derive(Debug, Default)]
struct Own {
    short: OwnWindow,
    day: OwnWindow,
    /// The number of requests that the store is being asked for, including those to be reserved.
    asked: i64,
    /// The limits and the length of the short window, as of the last request.
    short_limit: i64,
    short_length: i64,
    day_limit: i64,
}

#[derive(Debug, Default)]
struct OwnWindow {
    /// In milliseconds since the epoch.
    start: i64,
    admitted: i64,
    /// How many of `admitted` must be added to the store. Negative if the store has counted requests that were not admitted.
    uncounted: i64,
}

impl OwnWindow {
    /// Advances to the window at `now_ms`, with the rules of the stores.
    fn advance(&mut self, now_ms: i64, length: i64, alignment: i64, max_set_back: i64) {
        let new = now_ms - now_ms.rem_euclid(alignment);
        if !(self.start - max_set_back..self.start + length).contains(&now_ms) {
            *self = Self { start: new, ..Self::default() };
        } else if now_ms < self.start - MAX_LAG_MS {
            self.start = new;
        }
    }

    /// Uses the window of the store, which can have begun at another time. Returns whether it is the current one.
    fn follow(&mut self, start: i64, length: i64) -> bool {
        if start >= self.start + length {
            *self = Self::default();
        } else if start <= self.start - length {
            return false;
        }
        self.start = start;
        true
    }

    /// Takes the count to be added to the store, if the window is not over.
    fn take_uncounted(&mut self, now_ms: i64, length: i64) -> i64 {
        if self.uncounted <= 0 || now_ms >= self.start + length {
            return 0;
        }
        std::mem::take(&mut self.uncounted)
    }

    fn add_uncounted(&mut self, start: i64, count: i64) {
        if self.start == start {
            self.uncounted += count;
        }
    }
}

impl Own {
    fn advance(&mut self, request: &SubjectRequests, now_ms: i64) {
        let length = request.short_length;
        self.short.advance(now_ms, length, request.short_alignment, length - 1);
        self.day.advance(now_ms, DAY_MS, DAY_MS, MAX_LAG_MS);
    }

    fn remember(&mut self, request: &SubjectRequests) {
        (self.short_limit, self.short_length) = (request.short_limit, request.short_length);
        self.day_limit = request.day_limit;
    }

    /// Returns how many more requests this server's share admits in the short window and on the day, in addition to the admitted
    /// ones and `asked`.
    fn left(&self, request: &SubjectRequests, servers: Servers, asked: i64) -> (i64, i64) {
        let left = |window: &OwnWindow, limit| (share(limit, servers) - window.admitted - asked).max(0);
        (left(&self.short, request.short_limit), left(&self.day, request.day_limit))
    }

    /// Returns a decision from the share, after it was recorded.
    fn decision(&self, request: &SubjectRequests, servers: Servers, is_admitted: bool) -> Counted {
        let (short_left, day_left) = self.left(request, servers, self.asked);
        Counted {
            is_admitted,
            is_from_share: true,
            short_start: self.short.start,
            short_used: request.short_limit - short_left,
            short_left,
            day_start: self.day.start,
            day_used: request.day_limit - day_left,
            day_left,
            reserved: 0,
            was_reserving: false,
        }
    }

    /// Records that the store has counted requests that were not admitted.
    fn count_surplus(&mut self, counted: &Counted, requests: i64) {
        self.short.add_uncounted(counted.short_start, -requests);
        self.day.add_uncounted(counted.day_start, -requests);
    }
}

/// Returns the share of this server of a limit. Remainders go to the servers with the lowest ranks.
fn share(limit: i64, servers: Servers) -> i64 {
    let count = i64::from(servers.count.max(1));
    limit / count + i64::from(i64::from(servers.rank) < limit % count)
}

/// Requests that the store is being asked for, until this value is dropped.
pub(super) struct Asked<'a> {
    own: &'a OwnCounts,
    request: &'a SubjectRequests,
    /// Their number, including those to be reserved.
    count: i64,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if self.count > 0
            && let Some(mut own) = self.own.0.get_mut(&self.request.subject)
        {
            own.asked = (own.asked - self.count).max(0);
        }
    }
}

impl Asked<'_> {
    /// Returns how many requests to reserve.
    pub(super) fn reserve(&self) -> u32 {
        u32::try_from(self.count - 1).unwrap_or(0)
    }

    /// Records what the store has counted, and returns the decision. `share` is given if the share of this server applies.
    pub(super) fn finish(mut self, mut counted: Counted, share: Option<Servers>) -> Counted {
        let request = self.request;
        let count = std::mem::take(&mut self.count);
        counted.short_left = (request.short_limit - counted.short_used).max(0);
        counted.day_left = (request.day_limit - counted.day_used).max(0);
        self.own.with(&request.subject, |own| {
            own.asked = (own.asked - count).max(0);
            own.remember(request);
            let is_current_short = own.short.follow(counted.short_start, request.short_length);
            let is_current_day = own.day.follow(counted.day_start, DAY_MS);
            if let Some(servers) = share {
                let (mut short_left, day_left) = own.left(request, servers, 0);
                if !is_current_short {
                    short_left = 0;
                }
                let (left, counted_by_store) = (short_left.min(day_left), counted.admitted());
                counted.is_admitted &= left > 0;
                counted.reserved = counted.reserved.min((left - 1).max(0));
                own.count_surplus(&counted, counted_by_store - counted.admitted());
                counted.short_left = counted.short_left.min(short_left - counted.admitted()).max(0);
                counted.day_left = counted.day_left.min(day_left - counted.admitted()).max(0);
            }
            own.short.admitted += if is_current_short { counted.admitted() } else { 0 };
            own.day.admitted += if is_current_day { counted.admitted() } else { 0 };
        });
        counted
    }
}

impl OwnCounts {
    fn with<T>(&self, subject: &str, call: impl FnOnce(&mut Own) -> T) -> T {
        match self.0.get_mut(subject) {
            Some(mut own) => call(&mut own),
            None => call(&mut self.0.entry(subject.to_owned()).or_default()),
        }
    }

    /// Begins to ask the store for a request and for others to be reserved. Returns the rejection if the share of this server
    /// applies and is used up.
    pub(super) fn ask<'a>(
        &'a self,
        request: &'a SubjectRequests,
        mut reserve: u32,
        share: Option<Servers>,
        now_ms: i64,
    ) -> Result<Asked<'a>, Counted> {
        self.with(&request.subject, |own| {
            if let Some(servers) = share {
                own.advance(request, now_ms);
                let (short_left, day_left) = own.left(request, servers, own.asked);
                let left = short_left.min(day_left);
                if left < 1 {
                    return Err(own.decision(request, servers, false));
                }
                reserve = reserve.min(u32::try_from(left - 1).unwrap_or(u32::MAX));
            }
            own.asked += 1 + i64::from(reserve);
            Ok(())
        })?;
        Ok(Asked { own: self, request, count: 1 + i64::from(reserve) })
    }

    /// Decides a request from this server's share. `adds_day` is whether to add it to the day in the store later.
    pub(super) fn decide(
        &self,
        request: &SubjectRequests,
        adds_day: bool,
        servers: Servers,
        now_ms: i64,
    ) -> Counted {
        self.with(&request.subject, |own| {
            own.advance(request, now_ms);
            own.remember(request);
            let (short_left, day_left) = own.left(request, servers, own.asked);
            let is_admitted = short_left > 0 && day_left > 0;
            if is_admitted {
                own.short.admitted += 1;
                own.short.uncounted += 1;
                own.day.admitted += 1;
                own.day.uncounted += i64::from(adds_day);
            }
            own.decision(request, servers, is_admitted)
        })
    }

    /// Records that the store has counted requests that no longer waited.
    pub(super) fn count_late(&self, subject: &str, counted: &Counted) {
        if let Some(mut own) = self.0.get_mut(subject) {
            own.count_surplus(counted, counted.admitted());
        }
    }

    /// Takes the counts to be added to the store.
    pub(super) fn take_uncounted(&self, now_ms: i64) -> Vec<SubjectCounts> {
        let counts = self.0.iter_mut().filter_map(|mut entry| {
            let (subject, own) = entry.pair_mut();
            let short_count = own.short.take_uncounted(now_ms, own.short_length);
            let day_count = own.day.take_uncounted(now_ms, DAY_MS);
            (short_count + day_count > 0).then(|| SubjectCounts {
                subject: subject.clone(),
                short_limit: own.short_limit,
                short_length: own.short_length,
                short_start: own.short.start,
                short_count,
                day_limit: own.day_limit,
                day_start: own.day.start,
                day_count,
            })
        });
        counts.collect()
    }

    /// Returns counts that could not be added.
    pub(super) fn restore_uncounted(&self, counts: &[SubjectCounts]) {
        for counts in counts {
            if let Some(mut own) = self.0.get_mut(&counts.subject) {
                own.short.add_uncounted(counts.short_start, counts.short_count);
                own.day.add_uncounted(counts.day_start, counts.day_count);
            }
        }
    }

    pub(super) fn remove(&self, subject: &str) {
        self.0.remove(subject);
    }

    /// Removes subjects without requests on the current day, or in their current short window if there are many.
    pub(super) fn drop_ended(&self, now_ms: i64) {
        let are_many = self.0.len() > PRUNE_THRESHOLD;
        self.0.retain(|_, own| {
            let short_ended = now_ms >= own.short.start + own.short_length;
            own.asked > 0 || !short_ended || (!are_many && now_ms < own.day.start + DAY_MS)
        });
    }
}
