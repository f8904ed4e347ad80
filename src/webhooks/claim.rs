//! Claims due deliveries under a lease, with everything that is needed to send them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use entity::webhook_deliveries::queue::{self, ClaimQuery, ClaimedDelivery, WorkspaceAllowance};
use entity::webhook_rates;
use tokio::time::Instant;
use uuid::Uuid;

use super::schedule::LEASE;
use super::target::{Target, build_targets};
use domain::app::App;
use foundation::database::Write;
use foundation::secret::Seal;

/// Claims lease deliveries of a subscription only up to this number in flight, in all workers together. A worker sends
/// only some of them at a time; the others wait. Fewer are leased for a subscription with a rate.
pub(super) const MAX_PER_SUBSCRIPTION: usize = 256;
/// Maximum number of deliveries claimed by one transaction.
pub(super) const MAX_PER_CLAIM: usize = 256;

/// A delivery under a lease of this worker. No other worker sends it until the lease expires.
#[derive(Debug)]
pub(super) struct LeasedDelivery {
    /// The delivery. Without its endpoint and body: they were moved to `target` and to the field below.
    pub(super) delivery: ClaimedDelivery,
    /// The exact bytes of the event's body.
    pub(super) body: Bytes,
    /// The lease. All deliveries of one claim share it.
    pub(super) lease: Arc<Lease>,
    /// The URL, the signing keys and the custom headers.
    pub(super) target: Arc<Target>,
}

/// The exclusive right to send deliveries: all of one claim, or a pre-leased one.
#[derive(Debug)]
pub(super) struct Lease {
    /// Identifies the lease. All pre-leased deliveries of a worker have the same token.
    pub(super) token: Uuid,
    /// When it expires by the clock of this process, in milliseconds since the epoch. Never later than in the database.
    pub(super) ends_ms: i64,
}

/// The limits of one claim, as numbers of deliveries.
#[derive(Debug)]
pub(super) struct ClaimLimits {
    /// The maximum in total.
    pub(super) total: usize,
    /// The maximum per subscription, including its deliveries in flight.
    pub(super) per_subscription: usize,
    /// The maximum per workspace.
    pub(super) per_workspace: usize,
    /// The maximum of individual workspaces, which replaces `per_workspace`. A workspace with a limit of 0 is skipped.
    pub(super) by_workspace: HashMap<Uuid, usize>,
}

impl ClaimLimits {
    /// Returns the limits of a full batch, which may come from a single workspace.
    pub(super) fn batch() -> Self {
        Self {
            total: MAX_PER_CLAIM,
            per_subscription: MAX_PER_SUBSCRIPTION,
            per_workspace: MAX_PER_CLAIM,
            by_workspace: HashMap::new(),
        }
    }
}

/// Maximum number of workspaces whose most recently claimed subscription is stored. Beyond it, all entries are removed.
const MAX_STORED_WORKSPACES: usize = 4_096;

/// The round-robin order of workspaces, and of the subscriptions of each.
#[derive(Debug, Default)]
pub(super) struct RoundRobin {
    /// The last workspace of the previous claim.
    last_workspace: Option<Uuid>,
    /// The most recently claimed subscription of each workspace.
    last_subscriptions: HashMap<Uuid, Uuid>,
    /// When the rates of claimed subscriptions allow more deliveries.
    rate_pauses: HashMap<Uuid, Instant>,
}

impl RoundRobin {
    /// Claims due deliveries within the limits, and deletes those that are [left behind](ClaimedDelivery::is_left_behind). Both take
    /// effect when the caller commits `write`.
    ///
    /// # Errors
    /// Returns an error when a query fails. If the caller commits `write` nevertheless, claimed deliveries are sent
    /// after their leases have expired.
    pub(super) async fn claim(
        &mut self,
        app: &App,
        seal: &Seal,
        write: &Write,
        limits: &ClaimLimits,
    ) -> anyhow::Result<Vec<LeasedDelivery>> {
        let now = write.now_ms();
        let lease_ms = i64::try_from(LEASE.as_millis())?;
        let lease = Lease { token: app.process().next_token(), ends_ms: write.began_ms() + lease_ms };
        let query = ClaimQuery {
            now,
            lease_until: now + lease_ms,
            lease_token: lease.token,
            max_in_flight_per_subscription: i64::try_from(limits.per_subscription)?,
            per_workspace: i64::try_from(limits.per_workspace)?,
            allowances: &self.allowances(limits),
            limit: i64::try_from(limits.total)?,
            last_workspace: self.last_workspace,
        };
        let read_at = Instant::now();
        let claimed = query.run(write.conn()).await?;
        let Some(last) = claimed.last() else { return Ok(Vec::new()) };
        self.last_workspace = Some(last.workspace_id);
        if self.last_subscriptions.len() > MAX_STORED_WORKSPACES {
            self.last_subscriptions.clear();
        }
        let subscriptions = claimed.iter().map(|delivery| (delivery.workspace_id, delivery.subscription_id));
        self.last_subscriptions.extend(subscriptions);
        for delivery in &claimed {
            if let Some(rate) = delivery.rate {
                let pause_ms = webhook_rates::Model::new(delivery.subscription_id, rate.into()).pause_ms();
                let pause = Duration::from_millis(u64::try_from(pause_ms)?);
                self.rate_pauses.insert(delivery.subscription_id, read_at + pause);
            }
        }
        let (left_behind, mut claimed): (Vec<_>, Vec<_>) =
            claimed.into_iter().partition(ClaimedDelivery::is_left_behind);
        let left_behind: Vec<Uuid> = left_behind.iter().map(|delivery| delivery.id).collect();
        queue::delete(write.conn(), &left_behind).await?;
        let take_endpoint =
            |delivery: &mut ClaimedDelivery| Some((delivery.subscription_id, delivery.endpoint.take()?));
        let endpoints = claimed.iter_mut().filter_map(take_endpoint).collect();
        let targets = build_targets(write.conn(), seal, endpoints, now, read_at).await?;
        let lease = Arc::new(lease);
        let leased = |mut delivery: ClaimedDelivery| {
            let body = std::mem::take(&mut delivery.body).into();
            let target = targets.get(&delivery.subscription_id).cloned().unwrap_or_else(Target::empty);
            LeasedDelivery { delivery, body, lease: Arc::clone(&lease), target }
        };
        Ok(claimed.into_iter().map(leased).collect())
    }

    /// Returns until when the rate of a subscription allows no further deliveries, as far as this worker has used it.
    pub(super) fn rate_pause(&self, subscription: Uuid, now: Instant) -> Option<Instant> {
        self.rate_pauses.get(&subscription).copied().filter(|until| *until > now)
    }

    /// Returns when the first of these pauses ends. Forgets those that have ended.
    pub(super) fn first_rate_pause(&mut self, now: Instant) -> Option<Instant> {
        self.rate_pauses.retain(|_, until| *until > now);
        self.rate_pauses.values().min().copied()
    }

    /// Returns an allowance, which is the limit and the position of the round-robin, for each workspace that has an
    /// individual limit or a stored subscription.
    fn allowances(&self, limits: &ClaimLimits) -> Vec<WorkspaceAllowance> {
        let limit =
            |workspace: &Uuid| limits.by_workspace.get(workspace).copied().unwrap_or(limits.per_workspace);
        let allowance = |workspace: &Uuid| WorkspaceAllowance {
            workspace: *workspace,
            limit: i64::try_from(limit(workspace)).unwrap_or(i64::MAX),
            last_subscription: self.last_subscriptions.get(workspace).copied(),
        };
        let never_claimed =
            limits.by_workspace.keys().filter(|workspace| !self.last_subscriptions.contains_key(*workspace));
        self.last_subscriptions.keys().chain(never_claimed).map(allowance).collect()
    }
}
