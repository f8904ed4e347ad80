//! A worker's round: records what ended, takes what there is room for, waits for more.
//!
//! Owns the worker's transactions, and how a stop gives back what is in hand. Never sends anything itself.

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

use super::claim::{Task, Turns, Wanted};
use super::flight::{Ended, Flight};
use super::outlook::{Outlook, WORTH};
use super::settle::{Settled, settle, tell};
use super::worker::{BATCH, PER_SUBSCRIPTION, Worker};
use domain::app::App;
use domain::outbox::Room;
use foundation::database::Write;

/// What is free in parts of which one subscription may take one.
const SHARES: usize = 8;
/// Attempts recorded by one transaction, at most.
const RECORDED: usize = 256;
/// How long attempts that end are gathered while others are under way, unless as many ended as are worth a transaction.
const GATHER: Duration = Duration::from_millis(5);
/// A share below which what ended is recorded before anything is taken, so that it makes room in the same turn.
const SMALL: usize = 64;
/// The wait after a failure of the database.
const PAUSE: Duration = Duration::from_millis(250);
/// What is left of the patience of a stop for recording and giving back.
const FAREWELL: Duration = Duration::from_secs(2);

/// One worker's going round: each turn records what ended and takes what there is room for.
pub(super) struct Round {
    worker: Worker,
    flight: Flight,
    endings: UnboundedReceiver<Ended>,
    /// What ended and is not recorded yet.
    ended: Vec<Ended>,
    turns: Turns,
    outlook: Outlook,
    /// How far the clock of the queue was ahead of this process's, in milliseconds.
    ahead_ms: i64,
    /// Workspaces whose share of the places is used up: what they have due is passed over, and does not count as due.
    full: HashSet<Uuid>,
    /// Whether nothing may be taken any more.
    landing: bool,
}

impl Round {
    /// A round that begins with a look at the queue.
    pub(super) fn new(worker: Worker, flight: Flight, endings: UnboundedReceiver<Ended>) -> Self {
        Self {
            worker,
            flight,
            endings,
            ended: Vec::with_capacity(RECORDED),
            turns: Turns::default(),
            outlook: Outlook::new(Instant::now()),
            ahead_ms: 0,
            full: HashSet::new(),
            landing: false,
        }
    }

    /// Waits until there is something to do; false when it is time to stop.
    pub(super) async fn wait(&mut self, mut stopped: impl Future<Output = ()> + Unpin) -> bool {
        if !self.ended.is_empty() {
            // It could not be recorded the last time.
            return tokio::select! { biased; () = &mut stopped => false, () = sleep(PAUSE) => true };
        }
        let app = self.worker.app.clone();
        tokio::select! {
            biased;
            () = &mut stopped => return false,
            _ = self.endings.recv_many(&mut self.ended, RECORDED) => {}
            () = app.handoff().bell().heard() => {}
            () = sleep_until(self.outlook.at()) => {}
        }
        self.gather().await;
        self.hear();
        true
    }

    /// Hears what the bell rang for: also under a load of endings, which leaves no time to wait for it.
    fn hear(&mut self) {
        let (rung, now) = (self.worker.app.handoff().bell().take(), Instant::now());
        if rung.anywhere {
            self.outlook.rung(now);
        }
        // Of a workspace whose share is used up nothing may be taken; it is looked for once there is room.
        for (_, subscription) in rung.of.into_iter().filter(|(workspace, _)| !self.full.contains(workspace)) {
            self.outlook.rung_for(subscription, self.flight.of(subscription), now);
        }
    }

    /// Waits a moment for more attempts to end, once one has, so that a transaction records many of them.
    async fn gather(&mut self) {
        let until = Instant::now() + GATHER;
        while (1..WORTH).contains(&self.ended.len()) && self.ended.len() < self.flight.in_hand() {
            let room = RECORDED - self.ended.len();
            if timeout_at(until, self.endings.recv_many(&mut self.ended, room)).await.is_err() {
                return;
            }
        }
    }

    /// Records what ended and takes what there is room for. What fails is tried again; what panics is left to the ends
    /// of its leases.
    pub(super) async fn turn(&mut self) {
        self.flight.tidy();
        let outcome = AssertUnwindSafe(self.try_turn()).catch_unwind().await;
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                let error = format!("{error:#}");
                tracing::warn!(
                    error,
                    attempts = self.ended.len(),
                    "the queue of webhooks could not be written"
                );
                self.forget_lost();
                // What ended is recorded first, so that a queue that cannot be read does not keep it from that.
                self.outlook.pause(Instant::now() + 2 * PAUSE);
            }
            Err(_) => {
                tracing::error!(
                    "a turn of the worker panicked; what it had in hand is sent again in a minute"
                );
                self.ended.clear();
                self.outlook.pause(Instant::now() + PAUSE);
            }
        }
    }

    async fn try_turn(&mut self) -> anyhow::Result<()> {
        // The places of what ended are free once it is recorded.
        let room = self.flight.room(&self.ended);
        self.notice_room(&room);
        if self.outlook.is_to_be_asked(Instant::now()) && !self.ask().await? && self.ended.is_empty() {
            return Ok(());
        }
        if self.ended.iter().any(|ended| ended.outcome.is_err()) {
            self.outlook.came_back();
        }
        let freed: Vec<(Uuid, bool)> =
            self.ended.iter().map(|ended| (ended.subscription(), ended.was_taken())).collect();
        self.outlook.ended(&freed);
        let looked = !self.landing && self.outlook.is_worth_a_look(Instant::now());
        // The fuller it is, the smaller everybody's share: receivers that hang, however many, leave room for others.
        let cap = (room.free / SHARES).clamp(1, PER_SUBSCRIPTION);
        let wanted = Wanted {
            most: if looked { room.free.min(BATCH) } else { 0 },
            per_subscription: cap,
            per_workspace: room.each,
            of: room.of,
        };
        let room = wanted.most;
        let apart = self.is_apart(cap, &freed);
        let mut taken = 0;
        if room > 0 || !self.ended.is_empty() {
            let (recorded, tasks) = self.write(&wanted, apart).await;
            let tasks = tasks.map(|tasks| {
                taken = tasks.len();
                tasks.into_iter().for_each(|task| self.flight.start(task, None));
            });
            recorded?;
            tasks?;
        }
        if looked {
            let unseen = if apart { freed } else { Vec::new() };
            self.looked((room, cap), taken, &unseen).await?;
        }
        Ok(())
    }

    /// Remembers which workspaces have their share used up; one that had and has room again may have something due.
    fn notice_room(&mut self, room: &Room) {
        let full: HashSet<Uuid> =
            room.of.iter().filter(|(_, room)| **room == 0).map(|(&workspace, _)| workspace).collect();
        if self.full.iter().any(|workspace| !full.contains(workspace)) {
            self.outlook.rung(Instant::now());
        }
        self.full = full;
    }

    /// Tells what a look found that had room for so many, under this cap, and did not see that these attempts ended.
    async fn looked(
        &mut self,
        (room, cap): (usize, usize),
        taken: usize,
        unseen: &[(Uuid, bool)],
    ) -> anyhow::Result<()> {
        if taken > 0 || room == 0 {
            self.outlook.took(room, taken, Instant::now());
        } else if self.ask().await? {
            self.outlook.was_barren(cap, Instant::now());
            self.outlook.ended(unseen);
        }
        Ok(())
    }

    /// Whether what ended is recorded beside the look, which then does not see what that makes free. Not where all of it is of
    /// one subscription: there that is all that a look may find.
    fn is_apart(&self, cap: usize, freed: &[(Uuid, bool)]) -> bool {
        let of_several = freed.windows(2).any(|two| two[0].0 != two[1].0);
        self.worker.app.db.backend() == DbBackend::Postgres && cap >= SMALL && of_several
    }

    /// Records what ended and takes what is wanted. On SQLite, where one writes at a time, in one transaction; on PostgreSQL
    /// in two at once, which share the work among its processes, unless the taking has to see what the recording frees.
    async fn write(
        &mut self,
        wanted: &Wanted,
        apart: bool,
    ) -> (anyhow::Result<()>, anyhow::Result<Vec<Task>>) {
        let Worker { app, seal, .. } = &self.worker;
        if apart {
            let take = async {
                if wanted.most == 0 {
                    return anyhow::Ok(Vec::new());
                }
                let write = app.begin_write().await?;
                self.ahead_ms = write.now_ms() - app.clock.now_ms();
                let tasks = self.turns.take(app, seal, &write, wanted).await?;
                write.commit().await?;
                anyhow::Ok(tasks)
            };
            let record = async {
                if self.ended.is_empty() {
                    return anyhow::Ok(());
                }
                let mut write = app.begin_write().await?;
                let settled = record(app, &mut write, &mut self.ended).await?;
                write.commit().await?;
                told(&mut self.ended, &settled);
                anyhow::Ok(())
            };
            return tokio::join!(record, take);
        }
        let both = async {
            let mut write = app.begin_write().await?;
            self.ahead_ms = write.now_ms() - app.clock.now_ms();
            let settled = record(app, &mut write, &mut self.ended).await?;
            let tasks = match wanted.most {
                0 => Vec::new(),
                _ => self.turns.take(app, seal, &write, wanted).await?,
            };
            write.commit().await?;
            told(&mut self.ended, &settled);
            anyhow::Ok(tasks)
        };
        (Ok(()), both.await)
    }

    /// Reads when the first delivery without a lease is due, of workspaces that have room. True when it is due already; others of
    /// its subscription may have to end first.
    async fn ask(&mut self) -> anyhow::Result<bool> {
        let app = &self.worker.app;
        let now = app.clock.now_ms() + self.ahead_ms;
        let without: Vec<Uuid> = self.full.iter().copied().collect();
        let due = queue::oldest_due(app.db.read(), now, &without).await?;
        let due_in = due.map(|due| Duration::from_millis(u64::try_from(due - now).unwrap_or(0)));
        Ok(self.outlook.found(due_in, Instant::now()))
    }

    /// Forgets what ended and could not be recorded before its lease ended: others may send it by now.
    fn forget_lost(&mut self) {
        let now = self.worker.app.clock.now_ms();
        self.ended.retain(|ended| ended.lease().ends_ms >= now);
    }

    /// Lets what is in flight end, records it, and gives the rest back, all within `patience` or a little more.
    pub(super) async fn land(mut self, born: Option<(Uuid, JoinHandle<()>)>, patience: Duration) {
        self.landing = true;
        let mut lost = None;
        if let Some((token, lane)) = born {
            self.worker.app.handoff().close();
            lane.abort();
            let _ = lane.await;
            lost = Some(token);
        }
        let until = Instant::now() + patience.saturating_sub(FAREWELL).max(patience / 2);
        let mut running = self.flight.land();
        while !running.is_empty() {
            tokio::select! {
                biased;
                _ = self.endings.recv_many(&mut self.ended, RECORDED) => self.settle_ended(until).await,
                _ = running.join_next() => {}
                () = sleep_until(until) => break,
            }
        }
        let last = until + FAREWELL;
        running.shutdown().await;
        while let Ok(ended) = self.endings.try_recv() {
            self.ended.push(ended);
        }
        self.settle_ended(last).await;
        let given = timeout_at(last, give_back(&self.worker.app, &self.flight.left(), lost)).await;
        if let Err(error) = given.map_err(anyhow::Error::from).flatten() {
            let error = format!("{error:#}");
            tracing::warn!(
                error,
                "webhooks in hand could not be given back; they are sent again in a minute"
            );
        }
    }

    /// Records what ended, until then.
    async fn settle_ended(&mut self, until: Instant) {
        while !self.ended.is_empty() && timeout_at(until, self.turn()).await.is_ok() {
            if !self.ended.is_empty() {
                sleep(PAUSE).await;
            }
        }
    }
}

/// Records the attempts among what ended, and gives back what was not sent; says what became of those whose leases still held.
async fn record(app: &App, write: &mut Write, ended: &mut [Ended]) -> anyhow::Result<Settled> {
    let ahead_ms = write.now_ms() - app.clock.now_ms();
    let (mut attempts, mut unsent) = (Vec::with_capacity(ended.len()), Vec::new());
    for ended in ended {
        match &mut ended.outcome {
            Ok(attempt) => {
                attempt.ahead_ms = ahead_ms;
                attempts.push(&*attempt);
            }
            Err(task) => unsent.push((task.claimed.id, task.lease.token)),
        }
    }
    let settled = settle(app, write, &attempts).await?;
    queue::give_back_some(write.conn(), &unsent).await?;
    Ok(settled)
}

/// Tells of what is recorded, and forgets it.
fn told(ended: &mut Vec<Ended>, settled: &Settled) {
    for ended in ended.drain(..) {
        if let Ok(attempt) = &ended.outcome {
            tell(attempt, settled);
        }
    }
}

/// Gives back what is left in hand; then what was handed over under this lease and never came to hand, for which all that is
/// pending has to be read.
async fn give_back(app: &App, left: &[(Uuid, Uuid)], lost: Option<Uuid>) -> anyhow::Result<()> {
    if !left.is_empty() {
        let write = app.begin_write().await?;
        queue::give_back_some(write.conn(), left).await?;
        write.commit().await?;
    }
    if let Some(token) = lost {
        let write = app.begin_write().await?;
        queue::give_back(write.conn(), token).await?;
        write.commit().await?;
    }
    Ok(())
}
