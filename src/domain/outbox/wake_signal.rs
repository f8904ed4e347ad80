//! Wakes the worker of this process after a commit that made deliveries due, and names their subscriptions if they are known.
//!
//! The signal only shortens the wait. The worker also polls, because other processes write deliveries, too.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;
use uuid::Uuid;

/// Notifies the worker of this process after a commit.
#[derive(Debug, Default)]
pub struct WakeSignal {
    notify: Notify,
    pending: Mutex<PendingWakes>,
    is_woken_remotely: AtomicBool,
}

/// The wakes since the last call of [`WakeSignal::take`].
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PendingWakes {
    /// Whether deliveries of any subscription may be due, because [`WakeSignal::wake`] was called.
    pub any_subscription: bool,
    /// The subscriptions of [`WakeSignal::wake_for`]: the id of the workspace and the id of the subscription.
    pub subscriptions: HashSet<(Uuid, Uuid)>,
}

impl WakeSignal {
    /// Wakes the worker because deliveries are due whose subscriptions the caller does not know.
    pub fn wake(&self) {
        self.add(|pending| pending.any_subscription = true);
    }

    /// Wakes the worker because deliveries of these subscriptions of a workspace are due. Does nothing if there are
    /// none.
    pub fn wake_for(&self, workspace: Uuid, subscriptions: Vec<Uuid>) {
        if !subscriptions.is_empty() {
            let woken = subscriptions.into_iter().map(|subscription| (workspace, subscription));
            self.add(|pending| pending.subscriptions.extend(woken));
        }
    }

    /// Returns whether servers in other processes wake this worker, too, so that it can poll less often.
    pub fn is_woken_remotely(&self) -> bool {
        self.is_woken_remotely.load(Ordering::Relaxed)
    }

    /// Records whether servers in other processes wake this worker, too.
    pub(super) fn set_woken_remotely(&self, is_woken_remotely: bool) {
        self.is_woken_remotely.store(is_woken_remotely, Ordering::Relaxed);
    }

    /// Waits for a wake. Returns at once if there was one since the previous wait.
    pub async fn notified(&self) {
        self.notify.notified().await;
    }

    /// Removes and returns the pending wakes.
    pub fn take(&self) -> PendingWakes {
        std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, update: impl FnOnce(&mut PendingWakes)) {
        update(&mut self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        self.notify.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_wake_is_returned_once() {
        let wake_signal = WakeSignal::default();
        let (workspace, first, second) = (Uuid::from_u128(9), Uuid::from_u128(1), Uuid::from_u128(2));
        wake_signal.wake_for(workspace, vec![first]);
        wake_signal.wake_for(workspace, vec![second, first]);
        wake_signal.notified().await;
        let subscriptions = HashSet::from([(workspace, first), (workspace, second)]);
        assert_eq!(wake_signal.take(), PendingWakes { any_subscription: false, subscriptions });
        assert_eq!(wake_signal.take(), PendingWakes::default());
        wake_signal.wake();
        wake_signal.notified().await;
        assert_eq!(
            wake_signal.take(),
            PendingWakes { any_subscription: true, subscriptions: HashSet::new() }
        );
    }
}
