//! Which copy of a rollup row a transaction adds to, so that concurrent writers do not queue on one row.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many copies a rollup row may have on PostgreSQL. SQLite has one writer and needs one.
pub const SHARDS: u32 = 16;

/// The shards that running transactions of this process add to.
///
/// A transaction takes the lowest free one, so a quiet workspace keeps one copy of each row and only a busy one
/// spreads. Different processes begin at different places.
#[derive(Debug, Default)]
pub struct Shards {
    /// One bit for each shard in use.
    used: AtomicU32,
    /// Where this process begins to look.
    first: u32,
}

impl Shards {
    /// Shards of a process that looks from `first` on.
    pub fn beginning_at(first: u32) -> Self {
        Self { used: AtomicU32::new(0), first: first % SHARDS }
    }

    /// Takes a free shard until the lease is dropped; when none is free, one in use is shared.
    pub fn lease(self: &Arc<Self>) -> Lease {
        let mut used = self.used.load(Ordering::Relaxed);
        loop {
            let free = (!used & ((1 << SHARDS) - 1)).trailing_zeros();
            if free >= SHARDS {
                return Lease { shards: Arc::clone(self), shard: 0, owned: false };
            }
            match self.used.compare_exchange_weak(
                used,
                used | 1 << free,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Lease { shards: Arc::clone(self), shard: free, owned: true },
                Err(now) => used = now,
            }
        }
    }
}

/// A shard, taken until this is dropped: after the commit, not before.
#[derive(Debug)]
pub struct Lease {
    shards: Arc<Shards>,
    shard: u32,
    owned: bool,
}

impl Lease {
    /// The number that the rows carry.
    #[allow(clippy::cast_possible_truncation, reason = "below SHARDS")]
    pub fn shard(&self) -> i16 {
        ((self.shard + self.shards.first) % SHARDS) as i16
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.owned {
            self.shards.used.fetch_and(!(1 << self.shard), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concurrent_writers_get_different_shards_and_give_them_back() {
        let shards = Arc::new(Shards::beginning_at(3));
        let (a, b) = (shards.lease(), shards.lease());
        assert_eq!((a.shard(), b.shard()), (3, 4));
        drop(a);
        assert_eq!(shards.lease().shard(), 3);
        let all: Vec<Lease> = (0..SHARDS).map(|_| shards.lease()).collect();
        assert_eq!(all.last().map(|lease| lease.owned), Some(false));
    }
}
