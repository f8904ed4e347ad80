//! The worker's bell: says that deliveries were committed that are due, and of which subscriptions if whoever rings knows.
//!
//! Only a hint. Other processes write too, so that a look at the queue alone is sufficient.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;
use uuid::Uuid;

/// Rung after a commit, heard by one worker of this process.
#[derive(Debug, Default)]
pub struct Bell {
    notify: Notify,
    rung: Mutex<Rung>,
}

/// What was rung for since it was asked last.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rung {
    /// Something is due, of whichever subscription.
    pub anywhere: bool,
    /// Something of these is due: a workspace, and a subscription of it.
    pub of: HashSet<(Uuid, Uuid)>,
}

impl Bell {
    /// Something is due, of whichever subscription.
    pub fn ring(&self) {
        self.add(|rung| rung.anywhere = true);
    }

    /// Something of these subscriptions of a workspace is due.
    pub fn ring_for(&self, workspace: Uuid, subscriptions: Vec<Uuid>) {
        if !subscriptions.is_empty() {
            self.add(|rung| rung.of.extend(subscriptions.into_iter().map(|of| (workspace, of))));
        }
    }

    /// Waits until it rings, or goes on at once when it rang since somebody waited last.
    pub async fn heard(&self) {
        self.notify.notified().await;
    }

    /// What was rung for since this was asked last.
    pub fn take(&self) -> Rung {
        std::mem::take(&mut *self.rung.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, what: impl FnOnce(&mut Rung)) {
        what(&mut self.rung.lock().unwrap_or_else(PoisonError::into_inner));
        self.notify.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_rung_for_is_told_once() {
        let bell = Bell::default();
        let (workspace, one, other) = (Uuid::from_u128(9), Uuid::from_u128(1), Uuid::from_u128(2));
        bell.ring_for(workspace, vec![one]);
        bell.ring_for(workspace, vec![other, one]);
        bell.heard().await;
        let of = HashSet::from([(workspace, one), (workspace, other)]);
        assert_eq!(bell.take(), Rung { anywhere: false, of });
        assert_eq!(bell.take(), Rung::default());
        bell.ring();
        bell.heard().await;
        assert_eq!(bell.take(), Rung { anywhere: true, of: HashSet::new() });
    }
}
