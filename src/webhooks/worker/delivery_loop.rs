//! A worker's delivery loop: records completed attempts, claims due deliveries, and waits for more.
//!
//! Owns the worker's transactions, and releases unsent deliveries when the worker stops. Never sends anything itself. A
//! delivery in flight occupies a slot of the worker; see [`in_flight`](crate::in_flight).

use std::collections::HashSet;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use entity::webhook_deliveries::queue;
use futures_util::FutureExt as _;
use sea_orm::DbBackend;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use uuid::Uuid;

use super::Worker;
use crate::claim::{ClaimLimits, LeasedDelivery, MAX_PER_CLAIM, MAX_PER_SUBSCRIPTION, RoundRobin};
use crate::in_flight::{Completion, InFlight};
use crate::poll_policy::{MAX_COMPLETIONS_BETWEEN_POLLS, PollPolicy};
use crate::recording::{commit_claim, record, release, report_all};
use crate::settle::ensure_partitions;
use domain::outbox::Capacity;

/// The in-flight limit of a subscription is the number of free slots divided by this.
/// It is at least 1 and at most [`MAX_PER_SUBSCRIPTION`].
const FREE_SLOTS_DIVISOR: usize = 8;
/// Maximum number of completions recorded by one transaction, except when the worker stops.
const MAX_RECORDED: usize = 256;
/// How long the loop collects completions before it records them, while other attempts are still in flight and fewer
/// than [`MAX_COMPLETIONS_BETWEEN_POLLS`] have completed.
const COLLECT_WINDOW: Duration = Duration::from_millis(5);
/// With an in-flight limit below this, completions are recorded before the claim, so that the claim of the same
/// tick can use the capacity that they free.
const MIN_IN_FLIGHT_LIMIT_FOR_CONCURRENT_CLAIM: usize = 64;
/// How long the loop waits after a database error before it records completions again. It polls again after twice this
/// time.
const ERROR_PAUSE: Duration = Duration::from_millis(250);
/// The part of the shutdown timeout that is reserved for recording attempts and releasing leases.
const SHUTDOWN_RESERVE: Duration = Duration::from_secs(2);

/// The delivery loop of one worker. Each tick records completed attempts and claims deliveries for the free slots.
pub(super) struct DeliveryLoop {
    worker: Worker,
    in_flight: InFlight,
    completions: UnboundedReceiver<Completion>,
    /// Completions that are not recorded yet.
    unrecorded: Vec<Completion>,
    round_robin: RoundRobin,
    poll_policy: PollPolicy,
    /// How far the clock of the most recent write transaction was ahead of this process's clock, in milliseconds.
    clock_offset_ms: i64,
    /// Workspaces whose capacity is 0 (see [`Capacity::by_workspace`]), because they have used up most of their share
    /// of the slots. Their deliveries are not claimed, even if they are due.
    full_workspaces: HashSet<Uuid>,
    /// Whether the worker is stopping. If so, nothing is claimed.
    draining: bool,
}

impl DeliveryLoop {
    /// Creates a loop that polls the queue in its first tick.
    pub(super) fn new(
        worker: Worker,
        in_flight: InFlight,
        completions: UnboundedReceiver<Completion>,
    ) -> Self {
        Self {
            worker,
            in_flight,
            completions,
            unrecorded: Vec::with_capacity(MAX_RECORDED),
            round_robin: RoundRobin::default(),
            poll_policy: PollPolicy::new(Instant::now()),
            clock_offset_ms: 0,
            full_workspaces: HashSet::new(),
            draining: false,
        }
    }

    /// Waits until the next tick has work. Returns false when the worker must stop.
    pub(super) async fn wait(&mut self, mut stopped: impl Future<Output = ()> + Unpin) -> bool {
        if !self.unrecorded.is_empty() {
            // The previous tick failed to record these.
            return tokio::select! { biased; () = &mut stopped => false, () = sleep(ERROR_PAUSE) => true };
        }
        let app = self.worker.app.clone();
        tokio::select! {
            biased;
            () = &mut stopped => return false,
            _ = self.completions.recv_many(&mut self.unrecorded, MAX_RECORDED) => {}
            () = app.fast_path().wake_signal().notified() => {}
            () = sleep_until(self.poll_policy.next_poll_at()) => {}
        }
        self.collect_completions().await;
        self.apply_wakes();
        true
    }

    /// Passes pending wake signals to the poll policy. Runs before each tick, because under a constant load of
    /// completions the `select!` in [`wait`](Self::wait) never reaches the wake signal.
    fn apply_wakes(&mut self) {
        let (wakes, now) = (self.worker.app.fast_path().wake_signal().take(), Instant::now());
        if wakes.any_subscription {
            self.poll_policy.wake(now);
        }
        for (workspace, subscription) in wakes.subscriptions {
            // A full workspace is polled again once it has capacity.
            if self.full_workspaces.contains(&workspace) {
                continue;
            }
            // A subscription whose rate is used up is polled when its rate allows more.
            if let Some(until) = self.round_robin.rate_pause(subscription, now) {
                self.poll_policy.poll_at(until);
            } else {
                self.poll_policy.wake_for(subscription, self.in_flight.count_of(subscription), now);
            }
        }
    }

    /// Once an attempt has completed, waits briefly for more, so that one transaction records many of them.
    async fn collect_completions(&mut self) {
        let deadline = Instant::now() + COLLECT_WINDOW;
        while (1..MAX_COMPLETIONS_BETWEEN_POLLS).contains(&self.unrecorded.len())
            && self.unrecorded.len() < self.in_flight.occupied_slots()
        {
            let limit = MAX_RECORDED - self.unrecorded.len();
            if timeout_at(deadline, self.completions.recv_many(&mut self.unrecorded, limit)).await.is_err() {
                return;
            }
        }
    }

    /// Records completed attempts and claims deliveries for the free slots. After an error, the next tick tries again.
    /// After a panic, deliveries that were not recorded are sent again when their leases expire.
    pub(super) async fn tick(&mut self) {
        self.in_flight.clean_up();
        let outcome = AssertUnwindSafe(self.try_tick()).catch_unwind().await;
        match outcome {
            Ok(Ok(())) => self.worker.progress.record_tick(),
            Ok(Err(error)) => {
                let error = format!("{error:#}");
                tracing::warn!(
                    error,
                    attempts = self.unrecorded.len(),
                    "updating the webhook queue failed; retrying"
                );
                self.discard_expired();
                // The next tick records completions without polling, so that an unreadable queue does not block them.
                self.poll_policy.pause(Instant::now() + 2 * ERROR_PAUSE);
            }
            Err(_) => {
                tracing::error!(
                    "the delivery loop panicked; deliveries that were not recorded are sent again when their leases expire"
                );
                self.unrecorded.clear();
                self.poll_policy.pause(Instant::now() + ERROR_PAUSE);
            }
        }
    }

    async fn try_tick(&mut self) -> anyhow::Result<()> {
        // The slots of unrecorded completions count as free, since this tick records them.
        let capacity = self.in_flight.capacity_after(&self.unrecorded);
        self.update_full_workspaces(&capacity);
        if self.poll_policy.should_read_next_due(Instant::now())
            && self.read_next_due().await?.is_none()
            && self.unrecorded.is_empty()
        {
            return Ok(());
        }
        if self.unrecorded.iter().any(|completion| completion.outcome.is_err()) {
            self.poll_policy.record_unsent();
        }
        // For each completion: the subscription, and whether the delivery was claimed from the queue.
        let completed: Vec<(Uuid, bool)> = self
            .unrecorded
            .iter()
            .map(|completion| (completion.subscription(), completion.was_claimed()))
            .collect();
        self.poll_policy.record_completions(&completed);
        let should_poll = !self.draining && self.poll_policy.should_poll(Instant::now());
        // The fewer slots are free, the lower the in-flight limit. Endpoints that hang therefore leave slots for
        // others, regardless of their number.
        let in_flight_limit = (capacity.free / FREE_SLOTS_DIVISOR).clamp(1, MAX_PER_SUBSCRIPTION);
        let limits = ClaimLimits {
            total: if should_poll { capacity.free.min(MAX_PER_CLAIM) } else { 0 },
            per_subscription: in_flight_limit,
            per_workspace: capacity.per_workspace,
            by_workspace: capacity.by_workspace,
        };
        let limit = limits.total;
        let concurrent = self.should_claim_concurrently(in_flight_limit, &completed);
        let mut claimed = 0;
        if limit > 0 || !self.unrecorded.is_empty() {
            let (recorded, deliveries) = self.record_and_claim(&limits, concurrent).await;
            let deliveries = deliveries.map(|deliveries| {
                claimed = deliveries.len();
                deliveries.into_iter().for_each(|delivery| self.in_flight.start(delivery, None));
            });
            recorded?;
            deliveries?;
        }
        if should_poll {
            let unseen = if concurrent { completed } else { Vec::new() };
            self.update_poll_policy((limit, in_flight_limit), claimed, &unseen).await?;
            if let Some(until) = self.round_robin.first_rate_pause(Instant::now()) {
                self.poll_policy.poll_at(until);
            }
        }
        Ok(())
    }

    /// Updates the set of full workspaces. Requests a poll of the queue if one of them has capacity again.
    fn update_full_workspaces(&mut self, capacity: &Capacity) {
        let by_workspace = capacity.by_workspace.iter();
        let full: HashSet<Uuid> =
            by_workspace.filter(|(_, limit)| **limit == 0).map(|(&workspace, _)| workspace).collect();
        if self.full_workspaces.iter().any(|workspace| !full.contains(workspace)) {
            self.poll_policy.wake(Instant::now());
        }
        self.full_workspaces = full;
    }

    /// Passes the result of a poll to the poll policy: the limit of the claim, the in-flight limit, the number of
    /// deliveries claimed, and the completions whose effect the poll did not see, because they were recorded
    /// concurrently.
    async fn update_poll_policy(
        &mut self,
        (limit, in_flight_limit): (usize, usize),
        claimed: usize,
        unseen: &[(Uuid, bool)],
    ) -> anyhow::Result<()> {
        if claimed > 0 || limit == 0 {
            self.poll_policy.record_claim(limit, claimed, Instant::now());
        } else if let Some(due_for) = self.read_next_due().await? {
            self.poll_policy.record_empty_poll(in_flight_limit, due_for, Instant::now());
            self.poll_policy.record_completions(unseen);
        }
        Ok(())
    }

    /// Returns whether completions are recorded concurrently with the claim: on PostgreSQL, if the in-flight limit is
    /// not too low. If all completions belong to one subscription, they are recorded first, since the claim may need
    /// the capacity that they free.
    fn should_claim_concurrently(&self, in_flight_limit: usize, completed: &[(Uuid, bool)]) -> bool {
        let has_several_subscriptions = completed.windows(2).any(|pair| pair[0].0 != pair[1].0);
        let is_postgres = self.worker.app.db.backend() == DbBackend::Postgres;
        is_postgres
            && in_flight_limit >= MIN_IN_FLIGHT_LIMIT_FOR_CONCURRENT_CLAIM
            && has_several_subscriptions
    }

    /// Records completions and claims deliveries. Uses one transaction, or if `concurrent`, two concurrent
    /// transactions, so that two server processes of PostgreSQL share the work. SQLite has only one writer at a time.
    /// Returns the result of recording and the result of claiming. With one transaction, the second covers both.
    async fn record_and_claim(
        &mut self,
        limits: &ClaimLimits,
        concurrent: bool,
    ) -> (anyhow::Result<()>, anyhow::Result<Vec<LeasedDelivery>>) {
        let Worker { app, seal, .. } = &self.worker;
        let attempts = self.unrecorded.iter().filter_map(|completion| completion.outcome.as_ref().ok());
        let ended_ms = attempts.map(|attempt| attempt.ended_ms() + self.clock_offset_ms).collect();
        if let Err(error) = ensure_partitions(app, ended_ms).await {
            return (Err(error), Ok(Vec::new()));
        }
        // Deliveries whose claim may have been committed although an error was returned. Their leases are released.
        let mut uncertain = Vec::new();
        if concurrent {
            let claim = async {
                if limits.total == 0 {
                    return anyhow::Ok(Vec::new());
                }
                let write = app.begin_write().await?;
                self.clock_offset_ms = write.now_ms() - app.clock.now_ms();
                let deliveries = self.round_robin.claim(app, seal, &write, limits).await?;
                commit_claim(write, deliveries, &mut uncertain).await
            };
            let record = async {
                if self.unrecorded.is_empty() {
                    return anyhow::Ok(());
                }
                let mut write = app.begin_write().await?;
                let settled = record(app, &mut write, &mut self.unrecorded).await?;
                write.commit().await?;
                report_all(&mut self.unrecorded, &settled);
                anyhow::Ok(())
            };
            let outcome = tokio::join!(record, claim);
            self.unrecorded.extend(uncertain.into_iter().map(Completion::unsent));
            return outcome;
        }
        let record_then_claim = async {
            let mut write = app.begin_write().await?;
            self.clock_offset_ms = write.now_ms() - app.clock.now_ms();
            let settled = record(app, &mut write, &mut self.unrecorded).await?;
            let deliveries = match limits.total {
                0 => Vec::new(),
                _ => self.round_robin.claim(app, seal, &write, limits).await?,
            };
            let deliveries = commit_claim(write, deliveries, &mut uncertain).await?;
            report_all(&mut self.unrecorded, &settled);
            anyhow::Ok(deliveries)
        };
        let claimed = record_then_claim.await;
        self.unrecorded.extend(uncertain.into_iter().map(Completion::unsent));
        (Ok(()), claimed)
    }

    /// Reads when the first delivery without a lease is due, among the enabled subscriptions of workspaces that are not
    /// full, and passes the result to the poll policy. Returns how long the delivery has been due, or `None` if it is due
    /// later or nothing is queued. A delivery that is due cannot be claimed while its subscription is at its in-flight limit.
    async fn read_next_due(&mut self) -> anyhow::Result<Option<Duration>> {
        let app = &self.worker.app;
        let now = app.clock.now_ms() + self.clock_offset_ms;
        let excluded: Vec<Uuid> = self.full_workspaces.iter().copied().collect();
        let due_at = queue::earliest_due_at(app.db.read(), now, &excluded).await?;
        let until_due = |due_at| Duration::from_millis(u64::try_from(due_at - now).unwrap_or(0));
        let is_woken_remotely = self.worker.app.fast_path().wake_signal().is_woken_remotely();
        let is_due =
            self.poll_policy.record_next_due(due_at.map(until_due), is_woken_remotely, Instant::now());
        let due_for = |due_at| Duration::from_millis(u64::try_from(now - due_at).unwrap_or(0));
        Ok(due_at.filter(|_| is_due).map(due_for))
    }

    /// Discards completions that could not be recorded before their leases expired: other workers may have claimed
    /// them.
    fn discard_expired(&mut self) {
        let now = self.worker.app.clock.now_ms();
        self.unrecorded.retain(|completion| completion.lease().ends_ms >= now);
    }

    /// Stops claiming, waits for the attempts in flight, records them, and releases the remaining leases. Takes at most
    /// about `timeout`, or half of it plus [`SHUTDOWN_RESERVE`] if that is longer. `pre_leased` is the token of the
    /// fast path's lease, and the task that receives its deliveries.
    pub(super) async fn drain(mut self, pre_leased: Option<(Uuid, JoinHandle<()>)>, timeout: Duration) {
        self.draining = true;
        let mut fast_path_lease = None;
        if let Some((token, task)) = pre_leased {
            self.worker.app.fast_path().unregister();
            task.abort();
            let _ = task.await;
            fast_path_lease = Some(token);
        }
        let deadline = Instant::now() + timeout.saturating_sub(SHUTDOWN_RESERVE).max(timeout / 2);
        let mut running = self.in_flight.drain();
        while !running.is_empty() {
            tokio::select! {
                biased;
                _ = self.completions.recv_many(&mut self.unrecorded, MAX_RECORDED) => self.record_until(deadline).await,
                _ = running.join_next() => {}
                () = sleep_until(deadline) => break,
            }
        }
        let shutdown_deadline = deadline + SHUTDOWN_RESERVE;
        running.shutdown().await;
        while let Ok(completion) = self.completions.try_recv() {
            self.unrecorded.push(completion);
        }
        self.record_until(shutdown_deadline).await;
        let unfinished = self.in_flight.take_unfinished();
        let released =
            timeout_at(shutdown_deadline, release(&self.worker.app, &unfinished, fast_path_lease)).await;
        if let Err(error) = released.map_err(anyhow::Error::from).flatten() {
            let error = format!("{error:#}");
            tracing::warn!(
                error,
                "releasing unsent webhooks failed; they are sent again when their leases expire"
            );
        }
    }

    /// Records completions until none are left or the deadline has passed. Retries after an error.
    async fn record_until(&mut self, deadline: Instant) {
        while !self.unrecorded.is_empty() && timeout_at(deadline, self.tick()).await.is_ok() {
            if !self.unrecorded.is_empty() {
                sleep(ERROR_PAUSE).await;
            }
        }
    }
}
