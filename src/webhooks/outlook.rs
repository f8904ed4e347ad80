//! When a worker looks at the queue. Never looks itself, and reads no clock.
//!
//! A look costs as much as is in hand, since what is in flight stands at the head of the queue. So it waits for a hint, for attempts
//! to end, or for a while, whichever comes first.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

/// Attempts that end before another look, at most.
pub(super) const WORTH: usize = 128;
/// How often the queue is looked at when nothing says that there is something.
const POLL: Duration = Duration::from_millis(500);
/// How soon it is looked at again when some may be left, though few attempts end.
const SOON: Duration = Duration::from_millis(20);
/// How soon after a look for nothing a bell is answered: what rings may be of a subscription that is full, too.
const BARREN: Duration = Duration::from_millis(100);
/// What a subscription may have in flight in parts of which one has to end before it counts as one that takes more.
const PARTS: usize = 8;

/// What is known of the queue, and when to look at it whatever happens.
#[derive(Debug)]
pub(super) struct Outlook {
    known: Known,
    at: Instant,
}

#[derive(Debug)]
enum Known {
    /// Nothing was due at the last look.
    Nothing,
    /// Something may be due. So many attempts have to end before it is worth a look.
    Some { worth: usize },
    /// What is due may not be taken: its subscriptions have as much in flight as they may have, or others have it.
    Full {
        /// Subscriptions of which more was queued since, behind what they have in flight.
        behind: HashSet<Uuid>,
        /// How many attempts ended since of each subscription that has a queue.
        ended: HashMap<Uuid, usize>,
        /// How many of one have to.
        enough: usize,
    },
}

impl Outlook {
    /// It is time for a look.
    pub(super) fn new(now: Instant) -> Self {
        Self { known: Known::Some { worth: 0 }, at: now }
    }

    /// When to look, or to ask whether something is due, whatever happens until then.
    pub(super) fn at(&self) -> Instant {
        self.at
    }

    /// Something is due, of whichever subscription.
    pub(super) fn rung(&mut self, now: Instant) {
        let wait = if matches!(self.known, Known::Full { .. }) { BARREN } else { Duration::ZERO };
        self.came_back();
        self.at = self.at.min(now + wait);
    }

    /// Something is due of a subscription that has so many in flight here.
    pub(super) fn rung_for(&mut self, subscription: Uuid, in_flight: usize, now: Instant) {
        match &mut self.known {
            // Their end tells.
            Known::Full { behind, enough, .. } if in_flight >= *enough => _ = behind.insert(subscription),
            _ => self.rung(now),
        }
    }

    /// Attempts ended, each of a subscription; with it stands whether it had been taken from the queue.
    pub(super) fn ended(&mut self, attempts: &[(Uuid, bool)]) {
        match &mut self.known {
            Known::Nothing => {}
            Known::Some { worth } => *worth = worth.saturating_sub(attempts.len()),
            Known::Full { behind, ended, .. } => {
                // Where nothing had to be taken, nothing waits.
                let queued = attempts.iter().filter(|(of, taken)| *taken || behind.contains(of));
                queued.for_each(|(of, _)| *ended.entry(*of).or_default() += 1);
            }
        }
    }

    /// What was in hand came back unsent, and is due at once.
    pub(super) fn came_back(&mut self) {
        if matches!(self.known, Known::Nothing) {
            self.known = Known::Some { worth: 0 };
        }
    }

    /// Whether to ask first if something is due: nothing says so, but it is time.
    pub(super) fn is_to_be_asked(&self, now: Instant) -> bool {
        matches!(self.known, Known::Nothing) && self.is_time(now)
    }

    /// Whether to look.
    pub(super) fn is_worth_a_look(&self, now: Instant) -> bool {
        match &self.known {
            Known::Nothing => false,
            Known::Some { worth } => *worth == 0 || self.is_time(now),
            Known::Full { ended, enough, .. } => {
                self.is_time(now) || ended.values().any(|ended| ended >= enough)
            }
        }
    }

    /// The first that is free is due in so long, or nothing is: true when it is due already.
    pub(super) fn found(&mut self, due_in: Option<Duration>, now: Instant) -> bool {
        let is_due = due_in.is_some_and(|due_in| due_in.is_zero());
        self.known = if is_due { Known::Some { worth: 0 } } else { Known::Nothing };
        let wait = due_in.filter(|due_in| !due_in.is_zero()).unwrap_or(POLL);
        self.at = now + wait.min(POLL);
        is_due
    }

    /// A look had room for so many and took so many, at least one of them or there was no room.
    pub(super) fn took(&mut self, room: usize, taken: usize, now: Instant) {
        // Some may be left; if all that there was room for came, certainly. As many have to go first as came.
        let wait = match taken {
            0 => POLL,
            _ if taken == room => Duration::ZERO,
            _ => SOON,
        };
        (self.known, self.at) = (Known::Some { worth: taken.min(WORTH) }, now + wait);
    }

    /// A look took nothing of what is due, though there was room, and a subscription may have so many in flight as this cap.
    pub(super) fn was_barren(&mut self, cap: usize, now: Instant) {
        let enough = (cap / PARTS).max(1);
        let (behind, ended) = (HashSet::new(), HashMap::new());
        (self.known, self.at) = (Known::Full { behind, ended, enough }, now + POLL);
    }

    /// The queue could not be read or written: nothing is known of it until then.
    pub(super) fn pause(&mut self, until: Instant) {
        (self.known, self.at) = (Known::Nothing, until);
    }

    fn is_time(&self, now: Instant) -> bool {
        now >= self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Uuid = Uuid::from_u128(1);
    const OTHER: Uuid = Uuid::from_u128(2);
    const BORN: Uuid = Uuid::from_u128(3);
    const MOMENT: Duration = Duration::from_millis(1);

    fn barren(now: Instant) -> Outlook {
        let mut outlook = Outlook::new(now);
        assert!(outlook.is_worth_a_look(now) && outlook.found(Some(Duration::ZERO), now));
        outlook.was_barren(64, now);
        assert!(!outlook.is_worth_a_look(now));
        outlook
    }

    #[test]
    fn what_rings_is_looked_for_at_once_and_after_a_barren_look_a_little_later() {
        let now = Instant::now();
        let mut outlook = Outlook::new(now);
        assert!(!outlook.found(None, now) && !outlook.is_worth_a_look(now));
        outlook.rung(now);
        assert!(outlook.is_worth_a_look(now));

        let mut outlook = barren(now);
        outlook.rung(now);
        assert!(!outlook.is_worth_a_look(now + BARREN - MOMENT));
        assert!(outlook.is_worth_a_look(now + BARREN));
    }

    #[test]
    fn what_is_queued_behind_a_full_subscription_waits_until_a_part_of_it_ended() {
        let now = Instant::now();
        let mut outlook = barren(now);
        outlook.rung_for(BORN, 8, now);
        for subscription in [OTHER, FULL] {
            outlook.ended(&[(subscription, true); 7]);
        }
        assert!(!outlook.is_worth_a_look(now + POLL - MOMENT));
        outlook.ended(&[(FULL, true)]);
        assert!(outlook.is_worth_a_look(now + MOMENT));
    }

    #[test]
    fn what_was_born_in_hand_tells_of_the_queue_once_something_is_queued_behind_it() {
        let now = Instant::now();
        let mut outlook = barren(now);
        outlook.ended(&[(BORN, false); 100]);
        assert!(!outlook.is_worth_a_look(now + MOMENT));
        outlook.rung_for(BORN, 42, now);
        assert!(!outlook.is_worth_a_look(now + MOMENT));
        outlook.ended(&[(BORN, false); 8]);
        assert!(outlook.is_worth_a_look(now + MOMENT));
    }

    #[test]
    fn what_is_queued_behind_few_or_while_there_is_room_is_looked_for_soon() {
        let now = Instant::now();
        let mut outlook = barren(now);
        outlook.rung_for(BORN, 7, now);
        assert!(outlook.is_worth_a_look(now + BARREN), "too few are in flight for their end to tell");

        let mut outlook = Outlook::new(now);
        assert!(!outlook.found(None, now));
        outlook.rung_for(BORN, 64, now + MOMENT);
        assert!(outlook.is_worth_a_look(now + MOMENT));
    }

    #[test]
    fn a_barren_look_is_repeated_in_the_end_whatever_happens() {
        let now = Instant::now();
        let mut outlook = barren(now);
        outlook.rung_for(FULL, 64, now);
        assert_eq!(outlook.at(), now + POLL);
        assert!(!outlook.is_worth_a_look(now + POLL - MOMENT) && outlook.is_worth_a_look(now + POLL));
    }

    #[test]
    fn as_many_as_came_have_to_go_before_the_next_look() {
        let now = Instant::now();
        let mut outlook = Outlook::new(now);
        outlook.took(10, 3, now);
        outlook.ended(&[(OTHER, false), (FULL, true)]);
        assert!(!outlook.is_worth_a_look(now));
        outlook.ended(&[(OTHER, false)]);
        assert!(outlook.is_worth_a_look(now));
        outlook.took(10, 10, now);
        assert!(outlook.is_worth_a_look(now), "all that there was room for came");
    }

    #[test]
    fn what_is_due_later_is_asked_for_then() {
        let now = Instant::now();
        let mut outlook = Outlook::new(now);
        assert!(!outlook.found(Some(SOON), now) && !outlook.is_to_be_asked(now));
        assert!(outlook.is_to_be_asked(now + SOON) && !outlook.is_worth_a_look(now + SOON));
        outlook.pause(now + POLL);
        outlook.came_back();
        assert!(outlook.is_worth_a_look(now), "what came back unsent is due");
    }
}
