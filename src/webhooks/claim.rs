//! Takes due deliveries under a lease, with all that sending them needs.

use std::sync::Arc;

use bytes::Bytes;
use entity::webhook_deliveries::queue::{Claim, Claimed};
use tokio::time::Instant;
use uuid::Uuid;

use super::route::{Route, routes};
use super::schedule::LEASE;
use crate::app::App;
use crate::clock::from_ms;
use crate::database::Write;
use crate::id::Delivery;
use crate::secret::Seal;

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

/// Whose turn it is.
#[derive(Debug, Default)]
pub(super) struct Turns {
    last: Option<Uuid>,
}

impl Turns {
    /// Takes up to `most` due deliveries; of one subscription no more than `cap` are then in flight. They are taken once
    /// the write commits.
    ///
    /// # Errors
    /// When the database fails; nothing is taken then, or given back when its lease ends.
    pub(super) async fn take(
        &mut self,
        app: &App,
        seal: &Seal,
        write: &Write,
        most: usize,
        cap: usize,
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
            cap_per_subscription: i64::try_from(cap)?,
            batch: i64::try_from(most)?,
            after: self.last,
        };
        let at = Instant::now();
        let mut claimed = claim.take(write.conn()).await?;
        let Some(last) = claimed.last() else { return Ok(Vec::new()) };
        self.last = Some(last.subscription_id);
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
}
