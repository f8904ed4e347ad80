//! The retry schedule of failed deliveries, and the time limits of leases, failing subscriptions and the delivery log.

use std::time::Duration;

use entity::rollups::DAY_MS;

use super::outbound::ATTEMPT_TIMEOUT;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;

/// The delays between one attempt at a delivery and the next, counted from the end of the failed one.
const DELIVERY_RETRY_DELAYS_MS: [i64; 6] =
    [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS];
/// Maximum number of attempts at a delivery.
pub(super) const MAX_ATTEMPTS: i32 = DELIVERY_RETRY_DELAYS_MS.len() as i32 + 1;

/// How long a subscription may fail before its owner is warned.
pub(super) const WARN_AFTER_MS: i64 = 3 * DAY_MS;
/// How long a subscription may fail before it is disabled.
pub(super) const DISABLE_AFTER_MS: i64 = 7 * DAY_MS;
/// How long the delivery log is stored: deliveries, attempts and events.
pub(super) const RETENTION_MS: i64 = domain::outbox::RETENTION_DAYS * DAY_MS;

/// The duration of a lease: longer than an attempt can take, with time to record its result.
pub(super) const LEASE: Duration = Duration::from_secs(60);
/// The minimum time left of a lease when an attempt begins: its time limit and 5 seconds to record its result.
pub(super) const MIN_LEASE_LEFT: Duration = Duration::from_secs(ATTEMPT_TIMEOUT.as_secs() + 5);
const _: () = assert!(LEASE.as_secs() >= MIN_LEASE_LEFT.as_secs() * 3);

/// Returns when a delivery is retried after a failed attempt, or `None` if it was the last one. `number` is the number
/// of the attempt, starting at 1. `ended_ms` is when it ended. Both times are in milliseconds since the epoch.
///
/// `retry_after` is the delay that the receiver requested, at most 24 hours. It can lengthen the delay, never shorten it.
pub(super) fn retry_at(number: i32, ended_ms: i64, retry_after: Option<Duration>) -> Option<i64> {
    let index = usize::try_from(number).ok()?.checked_sub(1)?;
    let delay = *DELIVERY_RETRY_DELAYS_MS.get(index)?;
    let requested = retry_after.map_or(0, |delay| i64::try_from(delay.as_millis()).unwrap_or(i64::MAX));
    Some(ended_ms.saturating_add(delay.max(requested)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_is_retried_six_times() {
        let mut at = 0;
        let times: Vec<i64> = (1..7)
            .map(|number| {
                at = retry_at(number, at, None).unwrap();
                at / MINUTE_MS
            })
            .collect();
        assert_eq!(times, [1, 6, 36, 156, 516, 1956]);
        assert_eq!(retry_at(7, at, None), None);
        assert_eq!(retry_at(7, at, Some(Duration::from_secs(1))), None);
    }

    #[test]
    fn retry_after_lengthens_a_delay_and_never_shortens_it() {
        let delay = |seconds| retry_at(2, 0, Some(Duration::from_secs(seconds))).unwrap() / 1000;
        assert_eq!((delay(0), delay(299), delay(301), delay(86_400)), (300, 300, 301, 86_400));
    }

    #[test]
    fn the_contract_and_the_guide_state_the_delays() {
        let in_words = |delay_ms: &i64| match (delay_ms / HOUR_MS, delay_ms / MINUTE_MS) {
            (0, 1) => "1 minute".to_owned(),
            (0, minutes) => format!("{minutes} minutes"),
            (hours, _) => format!("{hours} hours"),
        };
        let delays: Vec<String> = DELIVERY_RETRY_DELAYS_MS.iter().map(in_words).collect();
        let (last, others) = delays.split_last().unwrap();
        let statement = format!("is retried after {} and {last}", others.join(", "));
        for text in [include_str!("../../openapi/v1.yaml"), include_str!("../portal/guides/webhooks.md")] {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let statements = text.matches("is retried after").count();
            assert!(statements > 0 && statements == text.matches(&statement).count(), "{statement}");
        }
    }
}
