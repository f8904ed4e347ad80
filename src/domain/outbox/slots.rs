//! The slots of a worker for deliveries in flight, and the share of them that one workspace may occupy.
//!
//! A workspace may occupy another slot while it occupies fewer than its share. While no other workspace occupies a slot,
//! its share is three quarters of all slots; it keeps them until its deliveries end. Beside others, its share is one third
//! of the number of free slots, so it occupies at most a quarter of all. The last quarter is for workspaces that come
//! later: of these slots, a share is only one eighth, and at least one slot while any is free. Others thus get slots even
//! if many endpoints of one workspace hang. Claimed deliveries and pre-leased ones, which are sent without a claim, count
//! alike.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

/// Beside other workspaces, the share of a workspace is the number of free slots divided by this.
const SHARE_DIVISOR: usize = 3;
/// Replaces [`SHARE_DIVISOR`] while only the last quarter of the slots is free.
const LAST_QUARTER_SHARE_DIVISOR: usize = 8;
/// A claim skips a workspace until one quarter of its share is free. Polling the workspace's subscriptions for only a
/// few free slots would cost too much.
const MIN_CAPACITY_DIVISOR: usize = 4;

/// The slots of one worker. Clones share them.
#[derive(Debug, Clone)]
pub struct DeliverySlots {
    total: usize,
    occupied: Arc<Mutex<OccupiedSlots>>,
}

#[derive(Debug, Default)]
struct OccupiedSlots {
    total: usize,
    by_workspace: HashMap<Uuid, usize>,
}

/// An occupied slot of a worker. Dropping it frees the slot.
#[derive(Debug)]
pub struct DeliverySlot {
    workspace: Uuid,
    occupied: Arc<Mutex<OccupiedSlots>>,
}

/// How many deliveries may be claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capacity {
    /// The number of free slots.
    pub free: usize,
    /// The limit of a workspace that occupies no slot.
    pub per_workspace: usize,
    /// The limits of the workspaces that occupy slots. 0 when less than a quarter of a workspace's share is free.
    pub by_workspace: HashMap<Uuid, usize>,
}

impl DeliverySlots {
    /// Creates this number of slots, all of them free.
    pub fn new(total: usize) -> Self {
        Self { total, occupied: Arc::default() }
    }

    /// Returns the number of free slots.
    pub fn free(&self) -> usize {
        self.total - locked(&self.occupied).total
    }

    /// Returns a slot for a delivery of this workspace, or `None` when the workspace has used up its share.
    pub fn acquire_within_share(&self, workspace: Uuid) -> Option<DeliverySlot> {
        let mut occupied = locked(&self.occupied);
        let own = occupied.by_workspace.get(&workspace).copied().unwrap_or_default();
        (own < self.share(occupied.total, own)).then(|| self.occupy(&mut occupied, workspace))
    }

    /// Returns a slot for a claimed delivery of this workspace, or `None` when no slot is free.
    pub fn acquire(&self, workspace: Uuid) -> Option<DeliverySlot> {
        let mut occupied = locked(&self.occupied);
        (occupied.total < self.total).then(|| self.occupy(&mut occupied, workspace))
    }

    /// Returns how many deliveries may be claimed once some occupied slots have become free: `freed` contains their
    /// number for each workspace.
    pub fn capacity_after(&self, freed: &HashMap<Uuid, usize>) -> Capacity {
        let occupied = locked(&self.occupied);
        let total = occupied.total.saturating_sub(freed.values().sum());
        let by_workspace = occupied.by_workspace.iter().map(|(&workspace, &count)| {
            let still_occupied = count.saturating_sub(freed.get(&workspace).copied().unwrap_or_default());
            let share = self.share(total, still_occupied);
            let limit = share.saturating_sub(still_occupied);
            (workspace, if limit < share / MIN_CAPACITY_DIVISOR { 0 } else { limit })
        });
        let by_workspace = by_workspace.collect();
        Capacity { free: self.total - total, per_workspace: self.share(total, 0), by_workspace }
    }

    /// Returns the number of slots that a workspace may occupy while `occupied` slots are occupied in total, `own` of them by
    /// the workspace.
    fn share(&self, occupied: usize, own: usize) -> usize {
        let (free, last_quarter) = (self.total - occupied, self.total / 4);
        if own == occupied {
            return self.total - last_quarter;
        }
        let divisor = if free > last_quarter { SHARE_DIVISOR } else { LAST_QUARTER_SHARE_DIVISOR };
        (free / divisor).max(free.min(1))
    }

    fn occupy(&self, occupied: &mut OccupiedSlots, workspace: Uuid) -> DeliverySlot {
        occupied.total += 1;
        *occupied.by_workspace.entry(workspace).or_default() += 1;
        DeliverySlot { workspace, occupied: Arc::clone(&self.occupied) }
    }
}

impl Drop for DeliverySlot {
    fn drop(&mut self) {
        let mut occupied = locked(&self.occupied);
        occupied.total -= 1;
        if let Some(count) = occupied.by_workspace.get_mut(&self.workspace) {
            *count -= 1;
            if *count == 0 {
                occupied.by_workspace.remove(&self.workspace);
            }
        }
    }
}

fn locked(occupied: &Mutex<OccupiedSlots>) -> MutexGuard<'_, OccupiedSlots> {
    // No code panics while it holds the lock.
    occupied.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACME: Uuid = Uuid::from_u128(1);
    const OTHER: Uuid = Uuid::from_u128(2);

    /// Occupies all slots that a workspace may occupy.
    fn fill(slots: &DeliverySlots, workspace: Uuid) -> Vec<DeliverySlot> {
        std::iter::from_fn(|| slots.acquire_within_share(workspace)).collect()
    }

    #[test]
    fn a_workspace_alone_leaves_a_quarter_of_the_slots_and_beside_another_occupies_a_quarter() {
        let slots = DeliverySlots::new(2_048);
        let alone = fill(&slots, ACME);
        assert_eq!((alone.len(), slots.free()), (1_536, 512));
        let other = slots.acquire_within_share(OTHER);
        assert!(other.is_some());
        drop(alone);
        let occupied = fill(&slots, ACME);
        assert_eq!((occupied.len(), slots.free()), (512, 1_535));
        drop(other);
        assert!(slots.acquire_within_share(OTHER).is_some());
        drop(occupied);
        assert_eq!(slots.free(), 2_048);
        assert_eq!(locked(&slots.occupied).by_workspace, HashMap::new());
    }

    #[test]
    fn two_dozen_workspaces_at_their_limit_leave_slots_for_another() {
        let slots = DeliverySlots::new(2_048);
        let mut occupied = Vec::new();
        for number in 0..25 {
            let before = occupied.len();
            occupied.extend(fill(&slots, Uuid::from_u128(number)));
            assert!(occupied.len() > before, "workspace {number} gets a slot");
        }
    }

    #[test]
    fn a_claim_includes_a_workspace_again_once_a_quarter_of_its_share_is_free() {
        let slots = DeliverySlots::new(400);
        let _other = slots.acquire(OTHER);
        let mut occupied = fill(&slots, ACME);
        assert_eq!(occupied.len(), 100);
        let capacity = |freed: usize| slots.capacity_after(&HashMap::from([(ACME, freed)]));
        let by_workspace = HashMap::from([(ACME, 0), (OTHER, 98)]);
        assert_eq!(capacity(0), Capacity { free: 299, per_workspace: 99, by_workspace });
        assert_eq!(capacity(10).by_workspace[&ACME], 0, "too few are free");
        let by_workspace = HashMap::from([(ACME, 53), (OTHER, 112)]);
        assert_eq!(capacity(40), Capacity { free: 339, per_workspace: 113, by_workspace });
        occupied.truncate(60);
        assert_eq!(slots.capacity_after(&HashMap::new()), capacity(0), "a missing workspace frees none");
        assert_eq!(capacity(0).by_workspace[&ACME], 53);
    }

    #[test]
    fn a_claimed_delivery_gets_a_slot_while_any_is_free() {
        let slots = DeliverySlots::new(2);
        let occupied = [slots.acquire(ACME), slots.acquire(ACME)];
        assert!(occupied.iter().all(Option::is_some) && slots.acquire(OTHER).is_none());
        assert_eq!(slots.capacity_after(&HashMap::new()).per_workspace, 0);
    }
}
