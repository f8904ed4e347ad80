//! The identity of this process, and what its last heartbeat returned.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use entity::processes::{self, Roles, Servers};
use foundation::secret::MasterKeys;
use tokio::sync::watch;
use uuid::Uuid;

/// The identity of this process, which creates the tokens of its leases and claims.
#[derive(Debug)]
pub struct Process {
    pub(super) id: i64,
    next_token: AtomicU64,
    pub(super) heartbeat_succeeded: AtomicBool,
    leads_servers: AtomicBool,
    leads_workers: AtomicBool,
    pub(super) servers: watch::Sender<Servers>,
    /// The fingerprints of the master keys, separated by commas.
    master_keys: OnceLock<String>,
}

impl Default for Process {
    fn default() -> Self {
        Self {
            id: rand::random(),
            next_token: AtomicU64::new(rand::random()),
            heartbeat_succeeded: AtomicBool::new(true),
            leads_servers: AtomicBool::new(true),
            leads_workers: AtomicBool::new(true),
            servers: watch::Sender::default(),
            master_keys: OnceLock::new(),
        }
    }
}

impl Process {
    /// Returns a unique token for a lease or a claim. On PostgreSQL, another process releases the lease or claim early
    /// if this process dies.
    pub fn next_token(&self) -> Uuid {
        processes::token(self.id, self.next_token.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns whether the last heartbeat succeeded. True before the first one, and always on SQLite.
    pub fn heartbeat_succeeded(&self) -> bool {
        self.heartbeat_succeeded.load(Ordering::Relaxed)
    }

    /// Returns whether this process runs the maintenance jobs of servers. On PostgreSQL, one server does; when it ends, none or
    /// two may for a few seconds, so the jobs must tolerate both. Without heartbeats, as on SQLite, every process does.
    pub fn leads_servers(&self) -> bool {
        self.leads_servers.load(Ordering::Relaxed)
    }

    /// Returns whether this process runs the maintenance jobs of workers, like [`leads_servers`](Self::leads_servers).
    pub fn leads_workers(&self) -> bool {
        self.leads_workers.load(Ordering::Relaxed)
    }

    /// Returns a receiver of the servers that run, as of the last successful heartbeat of this server. It is the only one before
    /// the first heartbeat, and always on SQLite.
    pub fn servers(&self) -> watch::Receiver<Servers> {
        self.servers.subscribe()
    }

    /// Sets the master keys that [`register`](super::register) stores. Later calls have no effect.
    pub fn set_master_keys(&self, keys: &MasterKeys) {
        self.master_keys.get_or_init(|| keys.fingerprints().join(","));
    }

    pub(super) fn master_keys(&self) -> &str {
        self.master_keys.get().map_or("", String::as_str)
    }

    pub(super) fn set_leads(&self, leads: Roles) {
        self.leads_servers.store(leads.serves, Ordering::Relaxed);
        self.leads_workers.store(leads.runs_worker, Ordering::Relaxed);
    }
}
