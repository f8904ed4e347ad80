//! Takes due deliveries under a lease, with all that sending them needs.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use entity::webhook_deliveries::queue::{Claim, Claimed, Share};
use tokio::time::Instant;
use uuid::Uuid;

use super::route::{Route, routes};
use super::schedule::LEASE;
use super::worker::{BATCH, PER_SUBSCRIPTION};
use domain::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::Delivery;
use foundation::secret::Seal;

/// A delivery in hand: until its lease ends nobody else sends it.
#[derive(Debug)]
pub(super) struct Task {
    /// The delivery; its URL and its body have moved on.
    pub(super) claimed: Claimed,
    /// The event's body, to the byte.
    pub(super) body: Bytes,
    /// The lease; shared by all that were taken with it.
    pub(super) lease: Arc<Lease>,
    /// Where it goes.
    pub(super) route: Arc<Route>,
}

/// The right to send what was taken with it.
#[derive(Debug)]
pub(super) struct Lease {
    /// Its name.
    pub(super) token: Uuid,
    /// When it ends by the clock of this process, in milliseconds since the epoch; rather too early than too late.
    pub(super) ends_ms: i64,
}

/// How much is taken.
#[derive(Debug)]
pub(super) struct Wanted {
    /// In all.
    pub(super) most: usize,
    /// Of one subscription, with what is in flight of it.
    pub(super) per_subscription: usize,
    /// Of one workspace.
    pub(super) per_workspace: usize,
    /// Of these workspaces in place of that; those with none are passed over.
    pub(super) of: HashMap<Uuid, usize>,
}

impl Wanted {
    /// A batch of whatever is due.
    pub(super) fn batch() -> Self {
        Self { most: BATCH, per_subscription: PER_SUBSCRIPTION, per_workspace: BATCH, of: HashMap::new() }
    }
}

/// Workspaces whose last subscription is remembered, at most: all are forgotten when they are more.
const REMEMBERED: usize = 4_096;

/// Whose turn it is.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// The workspace that was last.
    last: Option<Uuid>,
    /// The subscription of each workspace that was last.
    last_of: HashMap<Uuid, Uuid>,
}

impl Turns {
    /// Takes what is wanted of what is due. It is taken once the write commits.
    ///
    /// # Errors
    /// When the database fails; nothing is taken then, or given back when its lease ends.
    pub(super) async fn take(
        &mut self,
        app: &App,
        seal: &Seal,
        write: &Write,
        wanted: &Wanted,
    ) -> anyhow::Result<Vec<Task>> {
        let now = write.now_ms();
        let lease_ms = i64::try_from(LEASE.as_millis())?;
        let lease = Lease {
            token: app.ids.next::<Delivery>(from_ms(now)).uuid(),
            ends_ms: write.began_ms() + lease_ms,
        };
        let claim = Claim {
            now,
            lease_until: now + lease_ms,
            lease_token: lease.token,
            cap_per_subscription: i64::try_from(wanted.per_subscription)?,
            per_workspace: i64::try_from(wanted.per_workspace)?,
            shares: &self.shares(wanted),
            batch: i64::try_from(wanted.most)?,
            after: self.last,
        };
        let at = Instant::now();
        let mut claimed = claim.take(write.conn()).await?;
        let Some(last) = claimed.last() else { return Ok(Vec::new()) };
        self.last = Some(last.workspace_id);
        if self.last_of.len() > REMEMBERED {
            self.last_of.clear();
        }
        self.last_of.extend(claimed.iter().map(|one| (one.workspace_id, one.subscription_id)));
        let url = |claimed: &mut Claimed| (claimed.subscription_id, std::mem::take(&mut claimed.url));
        let routes = routes(write.conn(), seal, claimed.iter_mut().map(url).collect(), now, at).await?;
        let lease = Arc::new(lease);
        let task = |mut claimed: Claimed| {
            let body = std::mem::take(&mut claimed.body).into();
            let route = routes.get(&claimed.subscription_id).cloned().unwrap_or_else(Route::nowhere);
            Task { claimed, body, lease: Arc::clone(&lease), route }
        };
        Ok(claimed.into_iter().map(task).collect())
    }

    /// What is known of workspaces: what may be taken of them, and whose turn it is there.
    fn shares(&self, wanted: &Wanted) -> Vec<Share> {
        let room = |workspace: &Uuid| wanted.of.get(workspace).copied().unwrap_or(wanted.per_workspace);
        let share = |workspace: &Uuid| Share {
            workspace: *workspace,
            room: i64::try_from(room(workspace)).unwrap_or(i64::MAX),
            after: self.last_of.get(workspace).copied(),
        };
        let others = wanted.of.keys().filter(|workspace| !self.last_of.contains_key(*workspace));
        self.last_of.keys().chain(others).map(share).collect()
    }
}
