//! How many connections may be open, in all and for each client address, and how long each step may take.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Resource, getrlimit};

use foundation::config::{self, Network};
use rate_limit::memory::network;

/// Connections open at once, where the limit of open files allows so many.
const MAX_CONNECTIONS: usize = 8192;
/// Connections beyond the limits, where the limit of open files allows so many.
const MAX_OVERFLOW: usize = 1024;
/// Open files that are assumed when the system has no limit.
const UNLIMITED: u64 = 65_536;

/// The limits of one listener.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// Connections open at once.
    pub total: usize,
    /// Connections of one client address (of one /64 network with IPv6).
    pub per_address: usize,
    /// Addresses that `per_address` does not apply to.
    pub proxies: Vec<Network>,
    /// Connections beyond these limits that may be open at once: health checks are answered, other requests are refused.
    pub overflow: usize,
    /// The time in which such a connection may send its request before a newer one replaces it.
    pub overflow_age: Duration,
    /// The time that the head of a request may take, on such a connection.
    pub overflow_head: Duration,
    /// How long each step of other connections may take.
    pub timeouts: Timeouts,
}

/// How long each step of a connection may take.
#[derive(Debug, Clone)]
pub struct Timeouts {
    /// The wait for a request, and its head.
    pub head: Duration,
    /// The time in which a client must read 16 KiB while more waits for it.
    pub write: Duration,
    /// How long unread input is discarded before the connection is closed.
    pub linger: Duration,
}

impl ConnectionLimits {
    /// The limits for this configuration, within the limit of open files: a quarter of these stays free for the database,
    /// webhooks and mail.
    pub fn new(server: &config::Server) -> Self {
        let files = getrlimit(Resource::Nofile).current.unwrap_or(UNLIMITED);
        let files = usize::try_from(files).unwrap_or(usize::MAX);
        let overflow = (files / 16).clamp(1, MAX_OVERFLOW);
        let most = usize::try_from(server.max_connections_per_address.get()).unwrap_or(usize::MAX);
        Self {
            total: (files / 4 * 3).saturating_sub(overflow).clamp(1, MAX_CONNECTIONS),
            per_address: most,
            proxies: server.trusted_proxies.clone(),
            overflow,
            overflow_age: Duration::from_millis(100),
            overflow_head: Duration::from_secs(2),
            timeouts: Timeouts {
                head: Duration::from_secs(60),
                write: Duration::from_secs(30),
                linger: Duration::from_secs(2),
            },
        }
    }
}

/// Which limit a connection exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exceeded {
    /// The one of the whole server.
    Total,
    /// The one of its client address.
    Address,
}

/// The connections that are open within the limits.
#[derive(Debug)]
pub(super) struct Slots {
    total: usize,
    per_address: usize,
    proxies: Vec<Network>,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// The place of one open connection; dropping it frees the place.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Arc<Slots>,
    /// The address that it counts for; `None` for a proxy.
    address: Option<IpAddr>,
}

impl Slots {
    pub(super) fn new(limits: &ConnectionLimits) -> Arc<Self> {
        Arc::new(Self {
            total: limits.total,
            per_address: limits.per_address,
            proxies: limits.proxies.clone(),
            open: Mutex::default(),
        })
    }

    /// A place for a connection of this client.
    pub(super) fn take(self: &Arc<Self>, client: IpAddr) -> Result<Slot, Exceeded> {
        let is_proxy = self.proxies.iter().any(|proxies| proxies.contains(client));
        let address = (!is_proxy).then(|| network(client));
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.total >= self.total {
            return Err(Exceeded::Total);
        }
        if let Some(address) = address {
            let count = open.by_address.entry(address).or_default();
            if *count >= self.per_address {
                return Err(Exceeded::Address);
            }
            *count += 1;
        }
        open.total += 1;
        Ok(Slot { slots: Arc::clone(self), address })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut open = self.slots.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.total -= 1;
        if let Some(address) = self.address
            && let Entry::Occupied(mut count) = open.by_address.entry(address)
        {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(total: usize, per_address: usize) -> Arc<Slots> {
        let proxies = vec!["10.0.0.0/8".parse().unwrap()];
        Arc::new(Slots { total, per_address, proxies, open: Mutex::default() })
    }

    #[test]
    fn each_address_has_its_own_limit_and_a_closed_connection_frees_its_place() {
        let slots = slots(100, 2);
        let take = |client: &str| slots.take(client.parse().unwrap());
        let first = take("192.0.2.1").unwrap();
        let _second = take("::ffff:192.0.2.1").unwrap();
        assert_eq!(take("192.0.2.1").unwrap_err(), Exceeded::Address);
        let _other = take("192.0.2.2").unwrap();
        drop(first);
        let _third = take("192.0.2.1").unwrap();
        assert_eq!(take("192.0.2.1").unwrap_err(), Exceeded::Address);
        let _v6 = [take("2001:db8::1").unwrap(), take("2001:db8::2").unwrap()];
        assert_eq!(take("2001:db8::3").unwrap_err(), Exceeded::Address);
        let _v6 = take("2001:db8:0:1::1").unwrap();
    }

    #[test]
    fn a_proxy_is_limited_by_the_total_alone() {
        let slots = slots(3, 1);
        let take = |client: &str| slots.take(client.parse().unwrap());
        let _open = [take("10.0.0.1").unwrap(), take("10.0.0.1").unwrap(), take("192.0.2.1").unwrap()];
        assert_eq!(take("10.0.0.1").unwrap_err(), Exceeded::Total);
        assert_eq!(take("192.0.2.2").unwrap_err(), Exceeded::Total);
        drop(_open);
        assert!(slots.open.lock().unwrap().by_address.is_empty());
    }
}
