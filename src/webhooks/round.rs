//! A worker's round: records what ended, takes what there is room for, waits for more.
//!
//! Owns when the queue is looked at, and how a stop gives back what is in hand. Never sends anything itself.

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

use super::claim::{Task, Turns};
use super::flight::{Ended, Flight};
use super::settle::{settle, tell};
use super::worker::{BATCH, PER_SUBSCRIPTION, Worker};
use crate::app::App;
use crate::database::Write;

/// What is free in parts of which one subscription may take one.
const SHARES: usize = 8;
/// Attempts recorded by one transaction, at most.
const RECORDED: usize = 256;
/// Attempts that are worth a transaction: so many are gathered, or what ends within [`GATHER`].
const WORTH: usize = 128;
/// How long attempts that end are gathered while others are under way.
const GATHER: Duration = Duration::from_millis(5);
/// How often the queue is looked at when nothing says that there is something.
const POLL: Duration = Duration::from_millis(500);
/// How soon it is looked at again when some may be left, though few attempts end.
const SOON: Duration = Duration::from_millis(20);
/// How soon it is looked at again for what may not be taken yet.
const BARREN: Duration = Duration::from_millis(100);
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
    /// Whether something may be due that was not taken.
    more: bool,
    /// So many attempts have to end before what may be due is worth a look.
    worth: usize,
    /// When to look at the queue whatever happens.
    look_at: Instant,
    /// Whether the last look found what is due and may not be taken yet.
    barren: bool,
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
            more: true,
            worth: 0,
            look_at: Instant::now(),
            barren: false,
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
            () = app.deliveries_due().notified() => self.hear(),
            () = sleep_until(self.look_at) => {}
        }
        self.gather().await;
        // Under a load of endings a bell would not be heard.
        if app.deliveries_due().notified().now_or_never().is_some() {
            self.hear();
        }
        true
    }

    /// Something is due: looks at once, or later when the last look was for nothing. What rings may be of a subscription that
    /// has as much in flight as it may have.
    fn hear(&mut self) {
        let wait = if self.barren { BARREN } else { Duration::ZERO };
        self.more = true;
        self.look_at = self.look_at.min(Instant::now() + wait);
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
                (self.more, self.look_at) = (false, Instant::now() + 2 * PAUSE);
            }
            Err(_) => {
                tracing::error!(
                    "a turn of the worker panicked; what it had in hand is sent again in a minute"
                );
                self.ended.clear();
                self.look_at = Instant::now() + PAUSE;
            }
        }
    }

    async fn try_turn(&mut self) -> anyhow::Result<()> {
        let time = Instant::now() >= self.look_at;
        if !self.more && time && !self.look().await? && self.ended.is_empty() {
            return Ok(());
        }
        // What comes back unsent is due at once.
        self.more |= self.ended.iter().any(|ended| ended.outcome.is_err());
        self.worth = self.worth.saturating_sub(self.ended.len());
        let looked = !self.landing && self.more && (time || self.worth == 0);
        if !looked && self.ended.is_empty() {
            return Ok(());
        }
        // The places of what ended are free once it is recorded.
        let free = self.flight.free() + self.ended.iter().filter(|ended| ended.has_place()).count();
        // The fuller it is, the smaller everybody's share: receivers that hang, however many, leave room for others.
        let (room, cap) = (free.min(BATCH), (free / SHARES).clamp(1, PER_SUBSCRIPTION));
        let room = if looked { room } else { 0 };
        let (recorded, taken) = self.write(room, cap).await;
        let taken = taken.map(|tasks| {
            let taken = tasks.len();
            tasks.into_iter().for_each(|task| self.flight.start(task, None));
            taken
        });
        recorded?;
        let taken = taken?;
        if looked {
            self.looked(room, taken).await?;
        }
        Ok(())
    }

    /// Decides, after a look that had room for so many and took so many, when there is another.
    async fn looked(&mut self, room: usize, taken: usize) -> anyhow::Result<()> {
        // A look costs as much as is in hand: as many have to go first as came.
        (self.barren, self.worth) = (false, taken.min(WORTH));
        if taken == 0 && room > 0 {
            self.barren = self.look().await?;
            if self.barren {
                (self.worth, self.look_at) = (WORTH, Instant::now() + BARREN);
            }
            return Ok(());
        }
        // Some may be left; if all that there was room for came, certainly.
        let wait = match taken {
            0 => POLL,
            _ if taken == room => Duration::ZERO,
            _ => SOON,
        };
        (self.more, self.look_at) = (true, Instant::now() + wait);
        Ok(())
    }

    /// Records what ended and takes up to `room`. On SQLite, where one writes at a time, in one transaction; on PostgreSQL
    /// in two at once, which share the work among its processes, unless the taking has to see what the recording frees.
    async fn write(&mut self, room: usize, cap: usize) -> (anyhow::Result<()>, anyhow::Result<Vec<Task>>) {
        let Worker { app, seal, .. } = &self.worker;
        if app.db.backend() == DbBackend::Postgres && cap >= SMALL {
            let take = async {
                if room == 0 {
                    return anyhow::Ok(Vec::new());
                }
                let write = app.begin_write().await?;
                let tasks = self.turns.take(app, seal, &write, room, cap).await?;
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
            let settled = record(app, &mut write, &mut self.ended).await?;
            let tasks = match room {
                0 => Vec::new(),
                room => self.turns.take(app, seal, &write, room, cap).await?,
            };
            write.commit().await?;
            told(&mut self.ended, &settled);
            anyhow::Ok(tasks)
        };
        (Ok(()), both.await)
    }

    /// Looks when something is due, and decides when to look again. True when something is due already: it may be that
    /// others of its subscription have to end first.
    async fn look(&mut self) -> anyhow::Result<bool> {
        let app = &self.worker.app;
        let now = app.clock.now_ms();
        let left = queue::oldest_due(app.db.read(), now).await?.map(|due| due - now);
        let wait =
            left.filter(|left| *left > 0).map_or(POLL, |left| Duration::from_millis(left.unsigned_abs()));
        self.more = left.is_some_and(|left| left <= 0);
        self.look_at = Instant::now() + wait.min(POLL);
        Ok(self.more)
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

/// Records the attempts among what ended, and gives back what was not sent; says whose leases still held.
async fn record(app: &App, write: &mut Write, ended: &mut [Ended]) -> anyhow::Result<HashSet<Uuid>> {
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
fn told(ended: &mut Vec<Ended>, settled: &HashSet<Uuid>) {
    for ended in ended.drain(..) {
        if let Ok(attempt) = &ended.outcome {
            tell(attempt, settled.contains(&attempt.task.claimed.id));
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
