//! A worker's delivery loop: records completed attempts, claims due deliveries while slots are free, and waits for more.
//!
//! Owns the worker's transactions, and releases unsent deliveries when the worker stops. Never sends anything itself.

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

use super::claim::{ClaimLimits, LeasedDelivery, RoundRobin};
use super::in_flight::{Completion, InFlight};
use super::poll_policy::{MAX_COMPLETIONS_BETWEEN_POLLS, PollPolicy};
use super::settle::{SettledDeliveries, report, settle};
use super::worker::{MAX_PER_CLAIM, MAX_PER_SUBSCRIPTION, Worker};
use domain::app::App;
use domain::outbox::Capacity;
use foundation::database::Write;

/// One subscription may claim at most this fraction of the free slots: one eighth.
const FREE_SLOTS_DIVISOR: usize = 8;
/// Attempts recorded by one transaction, at most.
const MAX_RECORDED: usize = 256;
/// How long the loop collects completions before it records them, while other attempts are still in flight and fewer than
/// [`MAX_COMPLETIONS_BETWEEN_POLLS`] have completed.
const COLLECT_WINDOW: Duration = Duration::from_millis(5);
/// With a cap per subscription below this, completions are recorded before the claim, so that the slots they free can be
/// claimed in the same tick.
const MIN_CAP_FOR_CONCURRENT_CLAIM: usize = 64;
/// The wait after a database error.
const ERROR_PAUSE: Duration = Duration::from_millis(250);
/// The part of the shutdown timeout that is reserved for recording attempts and releasing leases.
const SHUTDOWN_RESERVE: Duration = Duration::from_secs(2);

/// The delivery loop of one worker. Each tick records completed attempts and claims as many deliveries as there are free slots.
pub(super) struct DeliveryLoop {
    worker: Worker,
    in_flight: InFlight,
    completions: UnboundedReceiver<Completion>,
    /// Completions that are not recorded yet.
    unrecorded: Vec<Completion>,
    round_robin: RoundRobin,
    poll_policy: PollPolicy,
    /// How far the clock of write transactions was last ahead of this process's clock, in milliseconds.
    clock_offset_ms: i64,
    /// Workspaces that have used up their share of the slots. Their due deliveries are skipped, and do not count as due.
    full_workspaces: HashSet<Uuid>,
    /// Whether the worker is stopping: nothing is claimed any more.
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

    /// Passes pending wakes to the poll policy. Runs before each tick, because under a constant load of completions
    /// [`wait`](Self::wait) never reaches the wake signal.
    fn apply_wakes(&mut self) {
        let (wakes, now) = (self.worker.app.fast_path().wake_signal().take(), Instant::now());
        if wakes.any {
            self.poll_policy.wake(now);
        }
        // Nothing may be claimed of a full workspace; it is polled again once it has capacity.
        let woken = wakes.subscriptions.into_iter();
        for (_, subscription) in woken.filter(|(workspace, _)| !self.full_workspaces.contains(workspace)) {
            self.poll_policy.wake_for(subscription, self.in_flight.count_of(subscription), now);
        }
    }

    /// Once an attempt has completed, waits briefly for more, so that one transaction records many of them.
    async fn collect_completions(&mut self) {
        let until = Instant::now() + COLLECT_WINDOW;
        while (1..MAX_COMPLETIONS_BETWEEN_POLLS).contains(&self.unrecorded.len())
            && self.unrecorded.len() < self.in_flight.occupied_slots()
        {
            let limit = MAX_RECORDED - self.unrecorded.len();
            if timeout_at(until, self.completions.recv_many(&mut self.unrecorded, limit)).await.is_err() {
                return;
            }
        }
    }

    /// Records completed attempts and claims deliveries for the free slots. An error is retried in the next tick. After a
    /// panic, deliveries that were not recorded are sent again when their leases expire.
    pub(super) async fn tick(&mut self) {
        self.in_flight.clean_up();
        let outcome = AssertUnwindSafe(self.try_tick()).catch_unwind().await;
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                let error = format!("{error:#}");
                tracing::warn!(error, attempts = self.unrecorded.len(), "writing the webhook queue failed");
                self.discard_expired();
                // The next tick records completions without polling, so that a queue that cannot be read does not block them.
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
        // The slots of completions are free once they are recorded.
        let capacity = self.in_flight.capacity_after(&self.unrecorded);
        self.update_full_workspaces(&capacity);
        if self.poll_policy.should_read_next_due(Instant::now())
            && !self.read_next_due().await?
            && self.unrecorded.is_empty()
        {
            return Ok(());
        }
        if self.unrecorded.iter().any(|completion| completion.outcome.is_err()) {
            self.poll_policy.record_unsent();
        }
        let completed: Vec<(Uuid, bool)> = self
            .unrecorded
            .iter()
            .map(|completion| (completion.subscription(), completion.was_claimed()))
            .collect();
        self.poll_policy.record_completions(&completed);
        let polls = !self.draining && self.poll_policy.should_poll(Instant::now());
        // The fewer slots are free, the smaller the cap: any number of endpoints that hang leave slots for others.
        let cap = (capacity.free / FREE_SLOTS_DIVISOR).clamp(1, MAX_PER_SUBSCRIPTION);
        let limits = ClaimLimits {
            total: if polls { capacity.free.min(MAX_PER_CLAIM) } else { 0 },
            per_subscription: cap,
            per_workspace: capacity.per_workspace,
            by_workspace: capacity.by_workspace,
        };
        let limit = limits.total;
        let concurrent = self.claims_concurrently(cap, &completed);
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
        if polls {
            let unseen = if concurrent { completed } else { Vec::new() };
            self.update_poll_policy((limit, cap), claimed, &unseen).await?;
        }
        Ok(())
    }

    /// Updates the set of full workspaces. Wakes the poll policy when one of them has capacity again, since it may have due
    /// deliveries.
    fn update_full_workspaces(&mut self, capacity: &Capacity) {
        let by_workspace = capacity.by_workspace.iter();
        let full: HashSet<Uuid> =
            by_workspace.filter(|(_, limit)| **limit == 0).map(|(&workspace, _)| workspace).collect();
        if self.full_workspaces.iter().any(|workspace| !full.contains(workspace)) {
            self.poll_policy.wake(Instant::now());
        }
        self.full_workspaces = full;
    }

    /// Passes the result of a poll to the poll policy: its limit, the cap per subscription, the number of deliveries claimed,
    /// and the completions that were recorded concurrently, whose effect the poll did not see.
    async fn update_poll_policy(
        &mut self,
        (limit, cap): (usize, usize),
        claimed: usize,
        unseen: &[(Uuid, bool)],
    ) -> anyhow::Result<()> {
        if claimed > 0 || limit == 0 {
            self.poll_policy.record_claim(limit, claimed, Instant::now());
        } else if self.read_next_due().await? {
            self.poll_policy.record_empty_poll(cap, Instant::now());
            self.poll_policy.record_completions(unseen);
        }
        Ok(())
    }

    /// Whether completions are recorded concurrently with the claim, which then does not see the capacity that they free. Not
    /// when all of them are of one subscription, since that capacity may be all that the claim can use.
    fn claims_concurrently(&self, cap: usize, completed: &[(Uuid, bool)]) -> bool {
        let of_several = completed.windows(2).any(|pair| pair[0].0 != pair[1].0);
        let postgres = self.worker.app.db.backend() == DbBackend::Postgres;
        postgres && cap >= MIN_CAP_FOR_CONCURRENT_CLAIM && of_several
    }

    /// Records completions and claims deliveries. SQLite has one writer at a time, so there it is one transaction. On
    /// PostgreSQL, unless the claim must see what the recording frees, two concurrent transactions share the work among server
    /// processes.
    async fn record_and_claim(
        &mut self,
        limits: &ClaimLimits,
        concurrent: bool,
    ) -> (anyhow::Result<()>, anyhow::Result<Vec<LeasedDelivery>>) {
        let Worker { app, seal, .. } = &self.worker;
        if concurrent {
            let claim = async {
                if limits.total == 0 {
                    return anyhow::Ok(Vec::new());
                }
                let write = app.begin_write().await?;
                self.clock_offset_ms = write.now_ms() - app.clock.now_ms();
                let deliveries = self.round_robin.claim(app, seal, &write, limits).await?;
                write.commit().await?;
                anyhow::Ok(deliveries)
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
            return tokio::join!(record, claim);
        }
        let both = async {
            let mut write = app.begin_write().await?;
            self.clock_offset_ms = write.now_ms() - app.clock.now_ms();
            let settled = record(app, &mut write, &mut self.unrecorded).await?;
            let deliveries = match limits.total {
                0 => Vec::new(),
                _ => self.round_robin.claim(app, seal, &write, limits).await?,
            };
            write.commit().await?;
            report_all(&mut self.unrecorded, &settled);
            anyhow::Ok(deliveries)
        };
        (Ok(()), both.await)
    }

    /// Reads when the first delivery without a lease is due, in workspaces that are not full. Returns true when it is due
    /// already; it may still have to wait for other deliveries of its subscription to complete.
    async fn read_next_due(&mut self) -> anyhow::Result<bool> {
        let app = &self.worker.app;
        let now = app.clock.now_ms() + self.clock_offset_ms;
        let excluded: Vec<Uuid> = self.full_workspaces.iter().copied().collect();
        let due = queue::oldest_due(app.db.read(), now, &excluded).await?;
        let due_in = due.map(|due| Duration::from_millis(u64::try_from(due - now).unwrap_or(0)));
        Ok(self.poll_policy.record_next_due(due_in, Instant::now()))
    }

    /// Discards completions that could not be recorded before their leases expired: other workers may have claimed them.
    fn discard_expired(&mut self) {
        let now = self.worker.app.clock.now_ms();
        self.unrecorded.retain(|completion| completion.lease().ends_ms >= now);
    }

    /// Stops claiming, waits for the attempts in flight, records them, and releases the remaining leases. Takes `timeout` or
    /// slightly longer.
    pub(super) async fn drain(mut self, pre_leased: Option<(Uuid, JoinHandle<()>)>, timeout: Duration) {
        self.draining = true;
        let mut fast_path_lease = None;
        if let Some((token, task)) = pre_leased {
            self.worker.app.fast_path().unregister();
            task.abort();
            let _ = task.await;
            fast_path_lease = Some(token);
        }
        let until = Instant::now() + timeout.saturating_sub(SHUTDOWN_RESERVE).max(timeout / 2);
        let mut running = self.in_flight.drain();
        while !running.is_empty() {
            tokio::select! {
                biased;
                _ = self.completions.recv_many(&mut self.unrecorded, MAX_RECORDED) => self.record_until(until).await,
                _ = running.join_next() => {}
                () = sleep_until(until) => break,
            }
        }
        let deadline = until + SHUTDOWN_RESERVE;
        running.shutdown().await;
        while let Ok(completion) = self.completions.try_recv() {
            self.unrecorded.push(completion);
        }
        self.record_until(deadline).await;
        let unfinished = self.in_flight.take_unfinished();
        let released = timeout_at(deadline, release(&self.worker.app, &unfinished, fast_path_lease)).await;
        if let Err(error) = released.map_err(anyhow::Error::from).flatten() {
            let error = format!("{error:#}");
            tracing::warn!(
                error,
                "releasing unsent webhooks failed; they are sent again when their leases expire"
            );
        }
    }

    /// Records completions, and retries errors, until the deadline.
    async fn record_until(&mut self, deadline: Instant) {
        while !self.unrecorded.is_empty() && timeout_at(deadline, self.tick()).await.is_ok() {
            if !self.unrecorded.is_empty() {
                sleep(ERROR_PAUSE).await;
            }
        }
    }
}

/// Records the completed attempts and releases unsent deliveries. Returns the deliveries whose leases were still valid, with
/// their new states.
async fn record(
    app: &App,
    write: &mut Write,
    completions: &mut [Completion],
) -> anyhow::Result<SettledDeliveries> {
    let clock_offset_ms = write.now_ms() - app.clock.now_ms();
    let (mut attempts, mut unsent) = (Vec::with_capacity(completions.len()), Vec::new());
    for completion in completions {
        match &mut completion.outcome {
            Ok(attempt) => {
                attempt.clock_offset_ms = clock_offset_ms;
                attempts.push(&*attempt);
            }
            Err(leased) => unsent.push((leased.delivery.id, leased.lease.token)),
        }
    }
    let settled = settle(app, write, &attempts).await?;
    queue::release_deliveries(write.conn(), &unsent).await?;
    Ok(settled)
}

/// Logs and counts the attempts that are recorded, and removes all completions.
fn report_all(completions: &mut Vec<Completion>, settled: &SettledDeliveries) {
    for completion in completions.drain(..) {
        if let Ok(attempt) = &completion.outcome {
            report(attempt, settled);
        }
    }
}

/// Releases the leases of unfinished deliveries. Then releases all deliveries under the lease of the fast path, for those that
/// were handed over but never received. That query reads all pending deliveries.
async fn release(
    app: &App,
    unfinished: &[(Uuid, Uuid)],
    fast_path_lease: Option<Uuid>,
) -> anyhow::Result<()> {
    if !unfinished.is_empty() {
        let write = app.begin_write().await?;
        queue::release_deliveries(write.conn(), unfinished).await?;
        write.commit().await?;
    }
    if let Some(token) = fast_path_lease {
        let write = app.begin_write().await?;
        queue::release_lease(write.conn(), token).await?;
        write.commit().await?;
    }
    Ok(())
}
