//! The limits on open connections, in total and per client address, and the timeouts of a connection.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Resource, getrlimit};

use foundation::config::{self, Network};
use rate_limit::network;

/// The maximum number of open connections, if the limit on open files allows it.
const MAX_CONNECTIONS: usize = 8192;
/// The maximum number of open connections beyond the limits, if the limit on open files allows it.
const MAX_OVERFLOW: usize = 1024;
/// The limit of open files that is assumed if the system has none.
const ASSUMED_MAX_FILES: u64 = 65_536;

/// The limits of one listener.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// The maximum number of open connections.
    pub total: usize,
    /// The maximum number of open connections per client address (per /64 network with IPv6).
    pub per_address: usize,
    /// The networks that `per_address` does not apply to.
    pub proxies: Vec<Network>,
    /// The maximum number of open connections beyond these limits. On them, health checks are served and other requests
    /// are rejected.
    pub overflow: usize,
    /// The age from which a newer connection can replace a connection beyond the limits that is idle. If the request of
    /// a connection waits to be processed, it can be replaced earlier. At ten times this age, any can be replaced.
    pub overflow_min_age: Duration,
    /// The timeout for the request head on a connection beyond the limits, instead of [`Timeouts::head`].
    pub overflow_head_timeout: Duration,
    /// The timeouts of all connections.
    pub timeouts: Timeouts,
}

/// The timeouts of a connection.
#[derive(Debug, Clone)]
pub struct Timeouts {
    /// The timeout for receiving a request head, including the wait for its first byte.
    pub head: Duration,
    /// The time in which a client must read 16 KiB of pending data.
    pub write: Duration,
    /// The time after which the system closes a connection whose client acknowledges no sent data, for example because its machine
    /// is gone. Only Linux can be told; other systems decide themselves, after many minutes.
    pub acknowledgment: Duration,
    /// How long unread input is discarded before the connection is closed.
    pub linger: Duration,
}

impl ConnectionLimits {
    /// Returns the limits of each listener for this configuration. The listeners share the open files that the system allows, of
    /// which a quarter stays free for the database, webhooks and mail.
    pub fn new(server: &config::ServerConfig) -> Self {
        let files = getrlimit(Resource::Nofile).current.unwrap_or(ASSUMED_MAX_FILES);
        let listeners = 1 + usize::from(server.platform_listen.is_some());
        let files = usize::try_from(files).unwrap_or(usize::MAX) / listeners;
        let overflow = (files / 16).clamp(1, MAX_OVERFLOW);
        let per_address = usize::try_from(server.max_connections_per_address.get()).unwrap_or(usize::MAX);
        Self {
            total: (files / 4 * 3).saturating_sub(overflow).clamp(1, MAX_CONNECTIONS),
            per_address,
            proxies: server.trusted_proxies.clone(),
            overflow,
            overflow_min_age: Duration::from_millis(100),
            overflow_head_timeout: Duration::from_secs(2),
            timeouts: Timeouts {
                head: Duration::from_secs(60),
                write: Duration::from_secs(30),
                acknowledgment: Duration::from_secs(30),
                linger: Duration::from_secs(2),
            },
        }
    }
}

/// The limit that a connection exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExceededLimit {
    /// The limit of the server.
    Total,
    /// The limit of the client address.
    Address,
}

/// Counts the open connections within the limits.
#[derive(Debug)]
pub(super) struct ConnectionSlots {
    total: usize,
    per_address: usize,
    proxies: Vec<Network>,
    open: Mutex<OpenCounts>,
}

#[derive(Debug, Default)]
struct OpenCounts {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// The slot of an open connection, freed on drop.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    slots: Arc<ConnectionSlots>,
    /// The client address (the /64 network with IPv6) whose count includes the connection, or `None` for a proxy.
    address: Option<IpAddr>,
}

impl ConnectionSlots {
    pub(super) fn new(limits: &ConnectionLimits) -> Arc<Self> {
        Arc::new(Self {
            total: limits.total,
            per_address: limits.per_address,
            proxies: limits.proxies.clone(),
            open: Mutex::default(),
        })
    }

    /// Acquires a slot for a connection of this client.
    pub(super) fn acquire(self: &Arc<Self>, client: IpAddr) -> Result<ConnectionSlot, ExceededLimit> {
        let is_proxy = self.proxies.iter().any(|proxy_network| proxy_network.contains(client));
        let address = (!is_proxy).then(|| network(client));
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.total >= self.total {
            return Err(ExceededLimit::Total);
        }
        if let Some(address) = address {
            let count = open.by_address.entry(address).or_default();
            if *count >= self.per_address {
                return Err(ExceededLimit::Address);
            }
            *count += 1;
        }
        open.total += 1;
        Ok(ConnectionSlot { slots: Arc::clone(self), address })
    }
}

impl Drop for ConnectionSlot {
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

    fn slots(total: usize, per_address: usize) -> Arc<ConnectionSlots> {
        let proxies = vec!["10.0.0.0/8".parse().unwrap()];
        Arc::new(ConnectionSlots { total, per_address, proxies, open: Mutex::default() })
    }

    #[test]
    fn each_address_has_its_own_limit_and_a_closed_connection_frees_its_slot() {
        let slots = slots(100, 2);
        let acquire = |client: &str| slots.acquire(client.parse().unwrap());
        let first = acquire("192.0.2.1").unwrap();
        let _second = acquire("::ffff:192.0.2.1").unwrap();
        assert_eq!(acquire("192.0.2.1").unwrap_err(), ExceededLimit::Address);
        let _other = acquire("192.0.2.2").unwrap();
        drop(first);
        let _third = acquire("192.0.2.1").unwrap();
        assert_eq!(acquire("192.0.2.1").unwrap_err(), ExceededLimit::Address);
        let _v6 = [acquire("2001:db8::1").unwrap(), acquire("2001:db8::2").unwrap()];
        assert_eq!(acquire("2001:db8::3").unwrap_err(), ExceededLimit::Address);
        let _v6 = acquire("2001:db8:0:1::1").unwrap();
    }

    #[test]
    fn a_proxy_is_limited_by_the_total_alone() {
        let slots = slots(3, 1);
        let acquire = |client: &str| slots.acquire(client.parse().unwrap());
        let open =
            [acquire("10.0.0.1").unwrap(), acquire("10.0.0.1").unwrap(), acquire("192.0.2.1").unwrap()];
        assert_eq!(acquire("10.0.0.1").unwrap_err(), ExceededLimit::Total);
        assert_eq!(acquire("192.0.2.2").unwrap_err(), ExceededLimit::Total);
        drop(open);
        assert!(slots.open.lock().unwrap().by_address.is_empty());
    }
}
