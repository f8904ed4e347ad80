//! Resolves names to IP addresses that may be called.
//!
//! Performs the DNS lookups of the HTTP client. The client connects to exactly the addresses that were checked here, so
//! that a name cannot resolve to another address between the check and the connection.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::vec;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, ready};
use hyper_util::client::legacy::connect::dns::Name;
use rustix::io::Errno;
use tower_service::Service;
use uuid::Uuid;

use super::failure::{ForbiddenAddress, LookupError};
use foundation::address_policy;
use foundation::config::Network;

/// A running DNS lookup.
pub type ResolveFuture = BoxFuture<'static, io::Result<Vec<IpAddr>>>;
/// A function that resolves a name to its IP addresses.
pub type ResolveFunction = Arc<dyn Fn(String) -> ResolveFuture + Send + Sync>;

/// Returns the function that resolves names as the system does, including `/etc/hosts`.
pub fn system_resolve() -> ResolveFunction {
    Arc::new(|name| {
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(addresses.map(|address| address.ip()).collect())
        })
    })
}

/// Which IP addresses a client may connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AddressRule {
    /// Public addresses, and those that the operator allows.
    PublicOrAllowed,
    /// Only addresses that the operator allows: the rule for requests without TLS.
    Allowed,
}

impl AddressRule {
    /// Returns an error when this address may not be called.
    pub(super) fn check(self, ip: IpAddr, allowed_networks: &[Network]) -> Result<(), ForbiddenAddress> {
        let reason = match self {
            Self::PublicOrAllowed => address_policy::denial_reason(ip, allowed_networks),
            Self::Allowed if address_policy::is_allowed(ip, allowed_networks) => None,
            Self::Allowed => Some("not allowed for `http`"),
        };
        reason.map_or(Ok(()), |reason| Err(ForbiddenAddress { ip, reason }))
    }
}

/// A lookup shared by all requests that wait for the same name.
type SharedLookup = Shared<BoxFuture<'static, Result<Arc<[IpAddr]>, LookupError>>>;

/// Maximum number of concurrent lookups. Each occupies a thread.
const MAX_LOOKUPS: usize = 256;
/// Maximum number of concurrent lookups started by one workspace, so that a few workspaces whose name servers hang do
/// not block the others.
const MAX_LOOKUPS_PER_WORKSPACE: usize = 32;

tokio::task_local! {
    /// The workspace for which this task sends a request. The HTTP client passes only the name to its resolver.
    static WORKSPACE: Uuid;
}

/// Sends a request for a workspace. A DNS lookup that a new connection needs counts against the limit of that
/// workspace.
pub(super) fn on_behalf_of<F: Future>(workspace: Uuid, request: F) -> impl Future<Output = F::Output> {
    WORKSPACE.scope(workspace, request)
}

/// The running lookups, one for each name, shared by all requests to it. A name server that hangs occupies one thread
/// per name, not one per attempt.
pub(super) struct SharedLookups {
    resolve: ResolveFunction,
    running: Mutex<RunningLookups>,
}

#[derive(Default)]
struct RunningLookups {
    by_name: HashMap<String, SharedLookup>,
    /// The number of lookups that each workspace has started.
    by_workspace: HashMap<Uuid, usize>,
}

impl RunningLookups {
    /// Counts a new lookup for a workspace. Returns false when a limit is reached.
    fn begin(&mut self, workspace: Uuid) -> bool {
        let count = self.by_workspace.get(&workspace).copied().unwrap_or_default();
        let is_allowed = self.by_name.len() < MAX_LOOKUPS && count < MAX_LOOKUPS_PER_WORKSPACE;
        if is_allowed {
            self.by_workspace.insert(workspace, count + 1);
        }
        is_allowed
    }

    /// Removes a lookup that has ended.
    fn end(&mut self, name: &str, workspace: Uuid) {
        self.by_name.remove(name);
        if let Some(count) = self.by_workspace.get_mut(&workspace) {
            *count -= 1;
            if *count == 0 {
                self.by_workspace.remove(&workspace);
            }
        }
    }
}

impl SharedLookups {
    pub(super) fn new(resolve: ResolveFunction) -> Self {
        Self { resolve, running: Mutex::default() }
    }

    /// Returns the running lookup of this name, or starts one. Returns a lookup that fails if a limit is reached. A
    /// lookup continues even if no request waits for it anymore.
    fn find_or_start(self: &Arc<Self>, name: &str, workspace: Uuid) -> SharedLookup {
        let mut running = self.running();
        if let Some(lookup) = running.by_name.get(name) {
            return lookup.clone();
        }
        if !running.begin(workspace) {
            // Fails immediately: an attempt that waited here would be recorded as a timeout of its receiver.
            return ready(Err(io::Error::from(Errno::NOBUFS).into())).boxed().shared();
        }
        let (lookups, owned_name) = (Arc::clone(self), name.to_owned());
        let task = tokio::spawn(async move {
            let result = (lookups.resolve)(owned_name.clone()).await;
            lookups.running().end(&owned_name, workspace);
            result
        });
        let lookup = async move {
            match task.await {
                Ok(Ok(addresses)) if !addresses.is_empty() => Ok(addresses.into()),
                Ok(Ok(_)) => Err(io::Error::other("the name has no address").into()),
                Ok(Err(error)) => Err(error.into()),
                Err(error) => Err(io::Error::other(error).into()),
            }
        };
        let lookup = lookup.boxed().shared();
        running.by_name.insert(name.to_owned(), lookup.clone());
        lookup
    }

    fn running(&self) -> MutexGuard<'_, RunningLookups> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The resolver of the HTTP client, which returns only addresses that the rule allows.
#[derive(Clone)]
pub(super) struct CheckedResolver {
    pub(super) lookups: Arc<SharedLookups>,
    pub(super) allowed_networks: Arc<[Network]>,
    pub(super) rule: AddressRule,
}

impl Service<Name> for CheckedResolver {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        // Usually the task that sends a request also opens its connection. Lookups of other tasks count against the nil
        // UUID.
        let workspace = WORKSPACE.try_with(|workspace| *workspace).unwrap_or_default();
        let lookup = self.lookups.find_or_start(name.as_str(), workspace);
        let (allowed_networks, rule) = (Arc::clone(&self.allowed_networks), self.rule);
        Box::pin(async move {
            let addresses = lookup.await?;
            // A name with one forbidden address is rejected, even if its other addresses are allowed.
            if let Some(forbidden) = addresses.iter().find_map(|ip| rule.check(*ip, &allowed_networks).err())
            {
                return Err(forbidden.into());
            }
            let addresses: Vec<SocketAddr> = addresses.iter().map(|ip| SocketAddr::new(*ip, 0)).collect();
            Ok(addresses.into_iter())
        })
    }
}
