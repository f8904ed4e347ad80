//! From a name to addresses that may be called.
//!
//! Owns the look-up of names for the client: it is asked for each new connection, and what it hands out is what is
//! connected to, so that a name cannot lead elsewhere between the check and the connection.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, ready};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use rustix::io::Errno;
use uuid::Uuid;

use super::failure::is_exhausted;
use foundation::config::Network;
use foundation::reach;

/// A look-up under way.
pub type LookingUp = BoxFuture<'static, io::Result<Vec<IpAddr>>>;
/// What finds the addresses behind a name.
pub type LookUp = Arc<dyn Fn(String) -> LookingUp + Send + Sync>;

/// The machine's own look-up, `/etc/hosts` included.
pub fn system() -> LookUp {
    Arc::new(|name| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    })
}

/// Which addresses a client may connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// What is public, and what the operator opens.
    PublicOrOpened,
    /// What the operator opens, and nothing else: for requests without TLS.
    Opened,
}

impl Rule {
    /// Why this address may not be called.
    pub(super) fn refuses(self, ip: IpAddr, allow: &[Network]) -> Option<Refused> {
        let why = match self {
            Self::PublicOrOpened => reach::forbidden(ip, allow)?,
            Self::Opened if reach::opened(ip, allow) => return None,
            Self::Opened => "not opened for `http`",
        };
        Some(Refused { ip, why })
    }
}

/// An address that may not be called.
#[derive(Debug, Clone, Copy)]
pub(super) struct Refused {
    ip: IpAddr,
    why: &'static str,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}", self.ip, self.why)
    }
}

impl std::error::Error for Refused {}

/// Why a name leads nowhere; cloned to everybody who waits for it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{why}")]
pub(super) struct Nowhere {
    why: Arc<str>,
    /// Since this machine had nothing left to look with.
    pub(super) exhausted: bool,
}

impl From<io::Error> for Nowhere {
    fn from(error: io::Error) -> Self {
        Self { exhausted: is_exhausted(&error), why: error.to_string().into() }
    }
}

/// What everybody who asks for one name at one time waits for.
type Found = Shared<BoxFuture<'static, Result<Arc<[IpAddr]>, Nowhere>>>;

/// Names looked up at once. Each takes one of the process's threads for work that blocks, which passwords need as well.
const AT_ONCE: usize = 256;
/// Those that one workspace asked for first: a few workspaces whose names hang leave room for the others.
const OF_ONE_WORKSPACE: usize = 32;

tokio::task_local! {
    /// The workspace that the request of this task is sent for. The client passes only a name to its resolver.
    static WORKSPACE: Uuid;
}

/// Sends a request for a workspace. A look-up that a new connection needs counts against the share of that workspace.
pub(super) fn on_behalf_of<F: Future>(workspace: Uuid, request: F) -> impl Future<Output = F::Output> {
    WORKSPACE.scope(workspace, request)
}

/// The names that are being looked up, each once however many ask: a name server that hangs takes one thread a name,
/// and not one an attempt.
pub(super) struct Names {
    look_up: LookUp,
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    names: HashMap<String, Found>,
    /// How many of them each workspace asked for first.
    shares: HashMap<Uuid, usize>,
}

impl Running {
    /// Whether one more look-up may begin for a workspace, which then has it in its share.
    fn begin(&mut self, workspace: Uuid) -> bool {
        let share = self.shares.get(&workspace).copied().unwrap_or_default();
        let room = self.names.len() < AT_ONCE && share < OF_ONE_WORKSPACE;
        if room {
            self.shares.insert(workspace, share + 1);
        }
        room
    }

    fn end(&mut self, name: &str, workspace: Uuid) {
        self.names.remove(name);
        if let Some(share) = self.shares.get_mut(&workspace) {
            *share -= 1;
            if *share == 0 {
                self.shares.remove(&workspace);
            }
        }
    }
}

impl Names {
    pub(super) fn new(look_up: LookUp) -> Self {
        Self { look_up, running: Mutex::default() }
    }

    /// The look-up of this name that is under way, or a new one. It goes on when nobody waits any longer.
    fn find(self: &Arc<Self>, name: &str, workspace: Uuid) -> Found {
        let mut running = self.running();
        if let Some(found) = running.names.get(name) {
            return found.clone();
        }
        if !running.begin(workspace) {
            // Fails at once: an attempt that waited here would be recorded as a timeout of its own receiver.
            return ready(Err(io::Error::from(Errno::NOBUFS).into())).boxed().shared();
        }
        let (names, owned) = (Arc::clone(self), name.to_owned());
        let task = tokio::spawn(async move {
            let found = (names.look_up)(owned.clone()).await;
            names.running().end(&owned, workspace);
            found
        });
        let found = async move {
            match task.await {
                Ok(Ok(addresses)) if !addresses.is_empty() => Ok(addresses.into()),
                Ok(Ok(_)) => Err(io::Error::other("there is no address").into()),
                Ok(Err(error)) => Err(error.into()),
                Err(error) => Err(io::Error::other(error).into()),
            }
        };
        let found = found.boxed().shared();
        running.names.insert(name.to_owned(), found.clone());
        found
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands out checked addresses alone.
pub(super) struct Checked {
    pub(super) names: Arc<Names>,
    pub(super) allow: Arc<[Network]>,
    pub(super) rule: Rule,
}

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        // The task that sends also connects. A connection that another task makes counts against no workspace.
        let workspace = WORKSPACE.try_with(|workspace| *workspace).unwrap_or_default();
        let found = self.names.find(name.as_str(), workspace);
        let (allow, rule) = (Arc::clone(&self.allow), self.rule);
        Box::pin(async move {
            let addresses = found.await?;
            // One address that is not to be called makes the whole name suspect.
            if let Some(refused) = addresses.iter().find_map(|ip| rule.refuses(*ip, &allow)) {
                return Err(refused.into());
            }
            let addresses: Vec<SocketAddr> = addresses.iter().map(|ip| SocketAddr::new(*ip, 0)).collect();
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
