//! When a failed delivery is tried again, and when a subscription has failed for too long. Pure.

use std::time::Duration;

use super::outbound::DEADLINE;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// The waits between one attempt and the next, counted from the end of the one that failed (seed 6).
const WAITS_MS: [i64; 6] = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS];
/// Attempts at a delivery, at most.
pub(super) const ATTEMPTS: i32 = WAITS_MS.len() as i32 + 1;
/// `Retry-After` lengthens a wait to this at most.
const LONGEST_WAIT_MS: i64 = 24 * HOUR_MS;

/// How long a subscription may fail before its owner is warned.
pub(super) const WARN_AFTER_MS: i64 = 3 * DAY_MS;
/// How long a subscription may fail before it is disabled (seed 6).
pub(super) const DISABLE_AFTER_MS: i64 = 7 * DAY_MS;
/// How long the log of deliveries is kept (seed 6).
pub(super) const KEPT_MS: i64 = 30 * DAY_MS;

/// How long a worker has a delivery for itself: longer than an attempt can take, with time to record what came of it.
pub(super) const LEASE: Duration = Duration::from_secs(60);
/// What is left of the lease when an attempt begins, at least: what came of it is recorded in the last of that.
pub(super) const LEFT_AT_LEAST: Duration = Duration::from_secs(DEADLINE.as_secs() + 5);
const _: () = assert!(LEASE.as_secs() >= LEFT_AT_LEAST.as_secs() * 3);

/// When a delivery is tried again whose attempt of this number, from 1 on, failed and ended at `ended_ms`; `None` when
/// that was the last.
///
/// `asked` is the wait that the receiver asked for: it lengthens the wait, and never shortens it.
pub(super) fn again_at(number: i32, ended_ms: i64, asked: Option<Duration>) -> Option<i64> {
    let made = usize::try_from(number).ok()?.checked_sub(1)?;
    let wait = *WAITS_MS.get(made)?;
    let asked = asked.map_or(0, |asked| i64::try_from(asked.as_millis()).unwrap_or(i64::MAX));
    Some(ended_ms + wait.max(asked.min(LONGEST_WAIT_MS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_waits_and_no_more() {
        let mut at = 0;
        let times: Vec<i64> = (1..7)
            .map(|number| {
                at = again_at(number, at, None).unwrap();
                at / MINUTE_MS
            })
            .collect();
        assert_eq!(times, [1, 6, 36, 156, 516, 1956]);
        assert_eq!(again_at(7, at, None), None);
        assert_eq!(again_at(7, at, Some(Duration::from_secs(1))), None);
    }

    #[test]
    fn a_receiver_lengthens_a_wait_and_never_shortens_it() {
        let wait = |seconds| again_at(2, 0, Some(Duration::from_secs(seconds))).unwrap() / 1000;
        assert_eq!(
            (wait(0), wait(299), wait(301), wait(86_400), wait(u64::MAX)),
            (300, 300, 301, 86_400, 86_400)
        );
    }
}
