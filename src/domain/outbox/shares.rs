//! Places of a worker for deliveries in flight, and how many of them one workspace may have.
//!
//! A workspace may have a third of what is then left free: a quarter of all places for the first, and always some for the next.
//! However many subscriptions with endpoints that hang a workspace has, its deliveries cannot take the places of the others.
//! What is handed over from a commit and what is claimed from the queue count alike.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

/// What one workspace may have is what is free, divided by this.
const PARTS: usize = 3;
/// What has to be free of a workspace's share, as a part of it, before the queue is asked for its deliveries again: the look
/// costs more the more subscriptions it has.
const WORTH: usize = 4;

/// The places of one worker; clones share them.
#[derive(Debug, Clone)]
pub struct Shares {
    places: usize,
    taken: Arc<Mutex<Taken>>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    of: HashMap<Uuid, usize>,
}

/// A place of a worker, which is free again once this is dropped.
#[derive(Debug)]
pub struct Share {
    workspace: Uuid,
    taken: Arc<Mutex<Taken>>,
}

/// What may be claimed of workspaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// Places that are free.
    pub free: usize,
    /// What may be claimed of a workspace that has no place.
    pub each: usize,
    /// What may be claimed of those that have; nothing of one whose share is nearly used up.
    pub of: HashMap<Uuid, usize>,
}

impl Shares {
    /// So many places, all of them free.
    pub fn new(places: usize) -> Self {
        Self { places, taken: Arc::default() }
    }

    /// How many places are free.
    pub fn free(&self) -> usize {
        self.places - locked(&self.taken).all
    }

    /// A place for a delivery of this workspace, while its share is not used up.
    pub fn within(&self, workspace: Uuid) -> Option<Share> {
        let mut taken = locked(&self.taken);
        let has = taken.of.get(&workspace).copied().unwrap_or_default();
        (has < self.most(taken.all)).then(|| self.add(&mut taken, workspace))
    }

    /// A place for a delivery of this workspace that was claimed, while there is one.
    pub fn any(&self, workspace: Uuid) -> Option<Share> {
        let mut taken = locked(&self.taken);
        (taken.all < self.places).then(|| self.add(&mut taken, workspace))
    }

    /// What may be claimed once these places are free, too: how many of which workspace.
    pub fn room(&self, ended: &HashMap<Uuid, usize>) -> Room {
        let taken = locked(&self.taken);
        let all = taken.all.saturating_sub(ended.values().sum());
        let each = self.most(all);
        let of = taken.of.iter().map(|(&workspace, &has)| {
            let room =
                each.saturating_sub(has.saturating_sub(ended.get(&workspace).copied().unwrap_or_default()));
            (workspace, if room < each / WORTH { 0 } else { room })
        });
        Room { free: self.places - all, each, of: of.collect() }
    }

    /// What a workspace may have while so many places are taken.
    fn most(&self, all: usize) -> usize {
        let free = self.places - all;
        (free / PARTS).max(free.min(1))
    }

    fn add(&self, taken: &mut Taken, workspace: Uuid) -> Share {
        taken.all += 1;
        *taken.of.entry(workspace).or_default() += 1;
        Share { workspace, taken: Arc::clone(&self.taken) }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = locked(&self.taken);
        taken.all -= 1;
        if let Some(of_one) = taken.of.get_mut(&self.workspace) {
            *of_one -= 1;
            if *of_one == 0 {
                taken.of.remove(&self.workspace);
            }
        }
    }
}

fn locked(taken: &Mutex<Taken>) -> MutexGuard<'_, Taken> {
    // Nothing panics while it holds the lock.
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Uuid = Uuid::from_u128(1);
    const OTHER: Uuid = Uuid::from_u128(2);

    #[test]
    fn a_workspace_has_a_quarter_of_the_places_at_most() {
        let shares = Shares::new(2_048);
        let held: Vec<Share> = std::iter::from_fn(|| shares.within(ONE)).collect();
        assert_eq!((held.len(), shares.free()), (512, 1_536));
        assert!(shares.within(OTHER).is_some());
        drop(held);
        assert_eq!(shares.free(), 2_048);
        assert_eq!(locked(&shares.taken).of, HashMap::new());
    }

    #[test]
    fn two_dozen_workspaces_that_take_what_they_can_leave_room_for_another() {
        let shares = Shares::new(2_048);
        let mut held = Vec::new();
        for number in 0..25 {
            let before = held.len();
            held.extend(std::iter::from_fn(|| shares.within(Uuid::from_u128(number))));
            assert!(held.len() > before, "workspace {number} finds a place");
        }
    }

    #[test]
    fn a_claim_asks_for_a_workspace_again_once_a_part_of_its_share_is_free() {
        let shares = Shares::new(400);
        let mut held: Vec<Share> = std::iter::from_fn(|| shares.within(ONE)).collect();
        assert_eq!(held.len(), 100);
        let room = |ended: usize| shares.room(&HashMap::from([(ONE, ended)]));
        assert_eq!(room(0), Room { free: 300, each: 100, of: HashMap::from([(ONE, 0)]) });
        assert_eq!(room(10).of[&ONE], 0, "too few of them");
        assert_eq!(room(40), Room { free: 340, each: 113, of: HashMap::from([(ONE, 53)]) });
        held.truncate(60);
        assert_eq!(shares.room(&HashMap::new()), room(0), "what ended counts as free");
        assert_eq!(room(0).of[&ONE], 53);
    }

    #[test]
    fn what_was_claimed_finds_a_place_while_there_is_any() {
        let shares = Shares::new(2);
        let held = [shares.any(ONE), shares.any(ONE)];
        assert!(held.iter().all(Option::is_some) && shares.any(OTHER).is_none());
        assert_eq!(shares.room(&HashMap::new()).each, 0);
    }
}
