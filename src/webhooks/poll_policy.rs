//! Decides when a worker polls the queue. Never polls itself, and reads no clock.
//!
//! Polling cost grows with the number of in-flight deliveries, since they remain at the head of the queue. So the
//! worker polls only after a wake signal, after enough attempts have completed, or after an interval, whichever comes
//! first. The in-flight limit of a subscription is the maximum number of its deliveries in flight.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

/// Maximum number of completions for which the next poll waits after a claim.
pub(super) const MAX_COMPLETIONS_BETWEEN_POLLS: usize = 128;
/// The poll interval if there is no other reason to poll.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// The poll interval of an idle queue if servers in other processes wake the worker. They do not wake it for deliveries that
/// commands create, that a worker without free slots leaves, or that a dead worker had leased.
pub(super) const REMOTE_POLL_INTERVAL: Duration = Duration::from_secs(5);
/// The longest time until the next poll after a poll that claimed some deliveries, but fewer than its limit.
/// Completions can cause an earlier poll. Also the time until the next poll after an empty poll that new deliveries followed:
/// the first delivery that is due has been due for less than this.
const REPOLL_DELAY: Duration = Duration::from_millis(20);
/// The delay between a wake and the next poll after another empty poll: the wake may be for a subscription that is at its
/// in-flight limit.
const EMPTY_POLL_DELAY: Duration = Duration::from_millis(100);
/// After an empty poll, the queue is polled again once the completions of one subscription reach the in-flight
/// limit divided by this.
const IN_FLIGHT_LIMIT_DIVISOR: usize = 8;

/// The last known state of the queue, and the latest time of the next poll.
#[derive(Debug)]
pub(super) struct PollPolicy {
    queue: QueueState,
    next_poll_at: Instant,
}

#[derive(Debug)]
enum QueueState {
    /// Nothing was due at the last poll, or polling is paused after an error.
    Idle,
    /// Deliveries may be due. The next poll waits for this number of completions, or until `next_poll_at`.
    MaybeDue { completions_needed: usize },
    /// Deliveries are due that cannot be claimed: their subscriptions are at their in-flight limit, or other workers
    /// have leased them.
    Blocked {
        /// Subscriptions for which deliveries were queued since the empty poll, behind those in flight.
        queued_behind: HashSet<Uuid>,
        /// The number of completions since the empty poll, for each subscription with queued deliveries.
        completions: HashMap<Uuid, usize>,
        /// The number of completions after which a subscription counts as below its in-flight limit.
        completions_needed: usize,
    },
}

impl PollPolicy {
    /// Creates a policy whose first poll is due now.
    pub(super) fn new(now: Instant) -> Self {
        Self { queue: QueueState::MaybeDue { completions_needed: 0 }, next_poll_at: now }
    }

    /// Returns the latest time of the next poll, or of reading whether something is due.
    pub(super) fn next_poll_at(&self) -> Instant {
        self.next_poll_at
    }

    /// Records that a delivery of any subscription is due.
    pub(super) fn wake(&mut self, now: Instant) {
        let delay =
            if matches!(self.queue, QueueState::Blocked { .. }) { EMPTY_POLL_DELAY } else { Duration::ZERO };
        self.leave_idle();
        self.next_poll_at = self.next_poll_at.min(now + delay);
    }

    /// Records that a delivery of a subscription is due. `in_flight` is the number of the subscription's deliveries
    /// that are in flight in this worker.
    pub(super) fn wake_for(&mut self, subscription: Uuid, in_flight: usize, now: Instant) {
        match &mut self.queue {
            // The completions of the deliveries in flight trigger the next poll.
            QueueState::Blocked { queued_behind, completions_needed, .. }
                if in_flight >= *completions_needed =>
            {
                _ = queued_behind.insert(subscription)
            }
            _ => self.wake(now),
        }
    }

    /// Records completions: for each the subscription, and whether the delivery was claimed from the queue.
    pub(super) fn record_completions(&mut self, completed: &[(Uuid, bool)]) {
        match &mut self.queue {
            QueueState::Idle => {}
            QueueState::MaybeDue { completions_needed } => {
                *completions_needed = completions_needed.saturating_sub(completed.len());
            }
            QueueState::Blocked { queued_behind, completions, .. } => {
                // A subscription whose deliveries all took the fast path has nothing queued.
                for (subscription, was_claimed) in completed {
                    if *was_claimed || queued_behind.contains(subscription) {
                        *completions.entry(*subscription).or_default() += 1;
                    }
                }
            }
        }
    }

    /// Records that deliveries were returned unsent. They are due immediately.
    pub(super) fn record_unsent(&mut self) {
        self.leave_idle();
    }

    /// Causes a poll if the queue is idle.
    fn leave_idle(&mut self) {
        if matches!(self.queue, QueueState::Idle) {
            self.queue = QueueState::MaybeDue { completions_needed: 0 };
        }
    }

    /// Returns whether the worker must read when the next delivery is due before it polls: nothing was due at the last
    /// poll, and the interval has passed.
    pub(super) fn should_read_next_due(&self, now: Instant) -> bool {
        matches!(self.queue, QueueState::Idle) && self.is_interval_over(now)
    }

    /// Returns whether the worker should poll the queue now.
    pub(super) fn should_poll(&self, now: Instant) -> bool {
        match &self.queue {
            QueueState::Idle => false,
            QueueState::MaybeDue { completions_needed } => {
                *completions_needed == 0 || self.is_interval_over(now)
            }
            QueueState::Blocked { completions, completions_needed, .. } => {
                self.is_interval_over(now) || completions.values().any(|count| count >= completions_needed)
            }
        }
    }

    /// Records the time until the first delivery without a lease is due, or `None` when nothing is queued. Returns true
    /// when it is due already. `is_woken_remotely` is whether servers in other processes wake the worker.
    pub(super) fn record_next_due(
        &mut self,
        due_in: Option<Duration>,
        is_woken_remotely: bool,
        now: Instant,
    ) -> bool {
        let is_due = due_in.is_some_and(|due_in| due_in.is_zero());
        self.queue = if is_due { QueueState::MaybeDue { completions_needed: 0 } } else { QueueState::Idle };
        let interval = if is_woken_remotely && !is_due { REMOTE_POLL_INTERVAL } else { POLL_INTERVAL };
        let wait = due_in.filter(|due_in| !due_in.is_zero()).unwrap_or(interval);
        self.next_poll_at = now + wait.min(interval);
        is_due
    }

    /// Polls at this time at the latest, because the rate of a subscription then allows more deliveries.
    pub(super) fn poll_at(&mut self, at: Instant) {
        self.next_poll_at = self.next_poll_at.min(at);
    }

    /// Records a poll that claimed `claimed` of at most `limit` deliveries. At least one was claimed, or the limit was
    /// 0.
    pub(super) fn record_claim(&mut self, limit: usize, claimed: usize, now: Instant) {
        // More may be due, above all when the limit was reached. The next poll waits for the same number of
        // completions, but no longer than `wait`.
        let wait = match claimed {
            0 => POLL_INTERVAL,
            _ if claimed == limit => Duration::ZERO,
            _ => REPOLL_DELAY,
        };
        self.queue = QueueState::MaybeDue { completions_needed: claimed.min(MAX_COMPLETIONS_BETWEEN_POLLS) };
        self.next_poll_at = now + wait;
    }

    /// Records an empty poll: deliveries were due and slots were free, but nothing could be claimed. `in_flight_limit`
    /// is the number of deliveries that one subscription may have in flight, and `due_for` how long the first delivery
    /// has been due. If that is short, polls again soon.
    pub(super) fn record_empty_poll(&mut self, in_flight_limit: usize, due_for: Duration, now: Instant) {
        // The first delivery may have been committed after the poll, so its subscription need not be at its limit. Deliveries
        // of fan-outs and of long transactions have been due for longer when they are committed.
        if due_for < REPOLL_DELAY {
            self.queue = QueueState::MaybeDue { completions_needed: 0 };
            self.next_poll_at = now + REPOLL_DELAY;
            return;
        }
        let completions_needed = (in_flight_limit / IN_FLIGHT_LIMIT_DIVISOR).max(1);
        let (queued_behind, completions) = (HashSet::new(), HashMap::new());
        self.queue = QueueState::Blocked { queued_behind, completions, completions_needed };
        self.next_poll_at = now + POLL_INTERVAL;
    }

    /// Stops polling until this time, because reading or writing the queue failed. A wake or an unsent delivery ends
    /// the pause early.
    pub(super) fn pause(&mut self, until: Instant) {
        (self.queue, self.next_poll_at) = (QueueState::Idle, until);
    }

    fn is_interval_over(&self, now: Instant) -> bool {
        now >= self.next_poll_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Uuid = Uuid::from_u128(1);
    const OTHER: Uuid = Uuid::from_u128(2);
    const PRE_LEASED: Uuid = Uuid::from_u128(3);
    const MOMENT: Duration = Duration::from_millis(1);

    fn after_empty_poll(now: Instant) -> PollPolicy {
        let mut policy = PollPolicy::new(now);
        assert!(policy.should_poll(now) && policy.record_next_due(Some(Duration::ZERO), false, now));
        policy.record_empty_poll(64, REPOLL_DELAY, now);
        assert!(!policy.should_poll(now));
        policy
    }

    #[test]
    fn a_wake_polls_at_once_and_after_an_empty_poll_with_a_delay() {
        let now = Instant::now();
        let mut policy = PollPolicy::new(now);
        assert!(!policy.record_next_due(None, false, now) && !policy.should_poll(now));
        policy.wake(now);
        assert!(policy.should_poll(now));

        let mut policy = after_empty_poll(now);
        policy.wake(now);
        assert!(!policy.should_poll(now + EMPTY_POLL_DELAY - MOMENT));
        assert!(policy.should_poll(now + EMPTY_POLL_DELAY));
    }

    #[test]
    fn a_wake_is_not_delayed_after_an_empty_poll_that_new_deliveries_followed() {
        let now = Instant::now();
        let mut policy = PollPolicy::new(now);
        assert!(policy.record_next_due(Some(Duration::ZERO), false, now));
        policy.record_empty_poll(64, REPOLL_DELAY - MOMENT, now);
        assert_eq!(policy.next_poll_at(), now + REPOLL_DELAY, "without a wake");
        policy.wake(now);
        assert_eq!(policy.next_poll_at(), now);
        assert!(policy.should_poll(now));
    }

    #[test]
    fn deliveries_behind_a_full_subscription_wait_until_a_fraction_of_it_has_completed() {
        let now = Instant::now();
        let mut policy = after_empty_poll(now);
        policy.wake_for(PRE_LEASED, 8, now);
        for subscription in [OTHER, FULL] {
            policy.record_completions(&[(subscription, true); 7]);
        }
        assert!(!policy.should_poll(now + POLL_INTERVAL - MOMENT));
        policy.record_completions(&[(FULL, true)]);
        assert!(policy.should_poll(now + MOMENT));
    }

    #[test]
    fn pre_leased_deliveries_count_once_others_are_queued_behind_them() {
        let now = Instant::now();
        let mut policy = after_empty_poll(now);
        policy.record_completions(&[(PRE_LEASED, false); 100]);
        assert!(!policy.should_poll(now + MOMENT));
        policy.wake_for(PRE_LEASED, 42, now);
        assert!(!policy.should_poll(now + MOMENT));
        policy.record_completions(&[(PRE_LEASED, false); 8]);
        assert!(policy.should_poll(now + MOMENT));
    }

    #[test]
    fn deliveries_queued_behind_few_others_or_with_capacity_left_are_polled_soon() {
        let now = Instant::now();
        let mut policy = after_empty_poll(now);
        policy.wake_for(PRE_LEASED, 7, now);
        assert!(
            policy.should_poll(now + EMPTY_POLL_DELAY),
            "too few are in flight to trigger a poll when they complete"
        );

        let mut policy = PollPolicy::new(now);
        assert!(!policy.record_next_due(None, false, now));
        policy.wake_for(PRE_LEASED, 64, now + MOMENT);
        assert!(policy.should_poll(now + MOMENT));
    }

    #[test]
    fn the_queue_is_polled_again_at_the_interval_after_an_empty_poll() {
        let now = Instant::now();
        let mut policy = after_empty_poll(now);
        policy.wake_for(FULL, 64, now);
        assert_eq!(policy.next_poll_at(), now + POLL_INTERVAL);
        assert!(!policy.should_poll(now + POLL_INTERVAL - MOMENT) && policy.should_poll(now + POLL_INTERVAL));
    }

    #[test]
    fn the_next_poll_waits_for_as_many_completions_as_were_claimed() {
        let now = Instant::now();
        let mut policy = PollPolicy::new(now);
        policy.record_claim(10, 3, now);
        policy.record_completions(&[(OTHER, false), (FULL, true)]);
        assert!(!policy.should_poll(now));
        policy.record_completions(&[(OTHER, false)]);
        assert!(policy.should_poll(now));
        policy.record_claim(10, 10, now);
        assert!(policy.should_poll(now), "the claim reached its limit");
    }

    #[test]
    fn a_delivery_that_is_due_later_is_read_at_that_time() {
        let now = Instant::now();
        let mut policy = PollPolicy::new(now);
        assert!(!policy.record_next_due(Some(REPOLL_DELAY), false, now) && !policy.should_read_next_due(now));
        assert!(policy.should_read_next_due(now + REPOLL_DELAY) && !policy.should_poll(now + REPOLL_DELAY));
        policy.pause(now + POLL_INTERVAL);
        policy.record_unsent();
        assert!(policy.should_poll(now), "unsent deliveries are due");
    }

    #[test]
    fn a_worker_that_others_wake_polls_an_idle_queue_less_often() {
        let now = Instant::now();
        let mut policy = PollPolicy::new(now);
        assert!(!policy.record_next_due(None, true, now));
        assert_eq!(policy.next_poll_at(), now + REMOTE_POLL_INTERVAL);
        assert!(!policy.record_next_due(Some(POLL_INTERVAL), true, now));
        assert_eq!(policy.next_poll_at(), now + POLL_INTERVAL, "a retry is due earlier");
        policy.wake(now);
        assert!(policy.should_poll(now));
    }
}
