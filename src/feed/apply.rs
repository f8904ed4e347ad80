//! Applies changes: each one wholly or not at all, each once, however often the stream is read.
//!
//! A change and the record that it was applied are written in one transaction, so a stream that was cut short (by
//! a kill too) is simply applied again: what was applied is passed over. Since every commit waits for the disk,
//! consecutive changes share a transaction, as many as fit into [`GROUP_TIME`]; when it is cut short, all of its
//! changes are applied the next time. When the domain refuses one of a group, the transaction is rolled
//! back and the changes before it are applied again without it: so a refused change leaves no trace, and needs no
//! savepoint in the others' way.
//!
//! On PostgreSQL a group first locks all the records that its changes need, in the order of [`retry`](domain::retry). A
//! change of a workspace or a course has a transaction of its own. A group that loses a conflict with another transaction is
//! applied change by change, and a single change that loses one is tried again.
//!
//! A bad line is reported and the rest goes on; a failure of the database ends the whole.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write as Sink;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use entity::applied_changes;
use jiff::Timestamp;
use sea_orm::DbBackend;
use tokio::io::AsyncBufRead;

use super::actions;
use super::change::{self, Action, Change};
use super::lines::{Line, Lines, MAX_BYTES};
use super::reject::{self, Reject, fault};
use domain::app::App;
use domain::locks::{self, Records};
use domain::retry::{Conflict as _, retrying};
use domain::{Error, Fault, Result, workspaces};
use foundation::database::Write;
use foundation::id::WorkspaceId;

/// Changes of one transaction at most.
const GROUP: usize = 256;
/// How long a transaction should take at most, so that requests which write need not wait for longer.
const GROUP_TIME: Duration = Duration::from_millis(100);
/// How long a line is waited for before what has come is applied.
const PATIENCE: Duration = Duration::from_millis(50);
/// How far ahead of the server's clock a change may claim to be.
const SKEW: jiff::SignedDuration = jiff::SignedDuration::from_mins(5);

/// What came of a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Changes applied now.
    pub applied: u64,
    /// Changes that were applied before: nothing was done.
    pub repeated: u64,
    /// Lines that were not applied.
    pub rejected: u64,
}

/// How far a stream is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read.
    pub bytes: u64,
    /// What came of them so far.
    pub outcome: Outcome,
}

/// What the caller wants to hear.
pub struct Options<'a> {
    /// Called after each transaction.
    pub progress: Box<dyn FnMut(Progress) + Send + 'a>,
    /// Called for each line that is not applied.
    pub rejected: Box<dyn FnMut(&Reject) + Send + 'a>,
    /// Takes the lines that are not applied, as they came, to be corrected and applied again.
    pub rejects: Option<Box<dyn Sink + Send + 'a>>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { progress: Box::new(|_| ()), rejected: Box::new(|_| ()), rejects: None }
    }
}

/// Applies the changes that `reader` holds, one a line.
///
/// # Errors
/// When the reader, the sink of rejected lines or the database fails. What was applied before stays applied, and
/// the stream can be applied again.
pub async fn apply(
    app: &App,
    reader: impl AsyncBufRead + Unpin,
    options: Options<'_>,
) -> anyhow::Result<Outcome> {
    let (outcome, workspaces) = (Outcome::default(), HashMap::new());
    let mut feed = Feed { app, options, outcome, workspaces, refused: Vec::new(), size: GROUP / 8 };
    let mut lines = Lines::new(reader);
    loop {
        let (batch, ended) = batch(&mut lines).await.context("cannot read the changes")?;
        let taken = feed.take(batch).await;
        feed.tell()?;
        taken?;
        feed.pass(&mut lines).await?;
        (feed.options.progress)(Progress { bytes: lines.taken, outcome: feed.outcome });
        if ended {
            break;
        }
    }
    if let Some(rejects) = &mut feed.options.rejects {
        rejects.flush().context("cannot write the rejected lines")?;
    }
    Ok(feed.outcome)
}

/// The next lines: a group of them, or fewer when the stream ends or pauses, or one is cut. True at the end.
async fn batch<R: AsyncBufRead + Unpin>(lines: &mut Lines<R>) -> std::io::Result<(Vec<Line>, bool)> {
    let mut batch = Vec::with_capacity(GROUP);
    let mut bytes = 0;
    // A line that is cut has so many bytes alone: none follows it before its rest was read.
    while batch.len() < GROUP && bytes < MAX_BYTES {
        let line = if batch.is_empty() {
            lines.next().await?
        } else {
            match tokio::time::timeout(PATIENCE, lines.next()).await {
                Ok(line) => line?,
                Err(_paused) => return Ok((batch, false)),
            }
        };
        let Some(line) = line else { return Ok((batch, true)) };
        bytes += line.bytes.len();
        batch.push(line);
    }
    Ok((batch, false))
}

/// A stream in the course of being applied.
struct Feed<'a> {
    app: &'a App,
    options: Options<'a>,
    outcome: Outcome,
    /// Committed workspaces by their key: they are never deleted.
    workspaces: HashMap<String, WorkspaceId>,
    /// Lines of this batch that are not applied, still to be told of.
    refused: Vec<(Line, Reject)>,
    /// Changes of the next transaction at most.
    size: usize,
}

/// A change that was read, with its line.
struct Parsed {
    line: Line,
    change: Change,
}

/// How a transaction went.
enum Group {
    /// All of the group was committed; so many of its changes had been applied before and did nothing.
    Committed { repeated: u64 },
    /// The change at this place was refused; nothing was committed.
    Refused { place: usize, faults: Vec<Fault> },
}

impl Feed<'_> {
    /// Applies a batch of lines.
    async fn take(&mut self, batch: Vec<Line>) -> anyhow::Result<()> {
        let mut changes = Vec::with_capacity(batch.len());
        for line in batch {
            match read(&line, self.app.clock.now()) {
                Ok(change) => changes.push(Parsed { line, change }),
                Err(reject) => self.reject(&line, reject),
            }
        }
        let known = known(self.app, &changes).await?;
        let before = changes.len();
        changes
            .retain(|Parsed { change, .. }| !known.contains(&(change.workspace.clone(), change.id.clone())));
        self.outcome.repeated += (before - changes.len()) as u64;
        self.apply(&changes).await
    }

    /// Applies changes in order, in as few transactions as possible.
    async fn apply(&mut self, mut changes: &[Parsed]) -> anyhow::Result<()> {
        // Of a group in which one was refused, the changes before it are applied first, and then the rest.
        let mut sound = usize::MAX;
        // How many changes are applied one by one, since a group of them lost a conflict.
        let mut single = 0;
        while !changes.is_empty() {
            let size = match single {
                0 => sound.min(self.size).min(self.group_end(changes)),
                _ => 1,
            };
            let applied = match self.group(&changes[..size]).await {
                Err(error) if size > 1 && error.is_conflict() => {
                    single = size;
                    continue;
                }
                group => match group? {
                    Group::Committed { repeated } => {
                        self.outcome.applied += size as u64 - repeated;
                        self.outcome.repeated += repeated;
                        size
                    }
                    Group::Refused { place: 0, faults } => {
                        let Parsed { line, change } = &changes[0];
                        self.reject(line, Reject { line: line.number, id: Some(change.id.clone()), faults });
                        1
                    }
                    Group::Refused { place, .. } => {
                        sound = place;
                        continue;
                    }
                },
            };
            changes = &changes[applied..];
            sound = usize::MAX;
            single = single.saturating_sub(applied);
        }
        Ok(())
    }

    /// How many of the first changes may share a transaction. On PostgreSQL a change of a workspace or a course has one of its
    /// own: which rows it locks is known only while it is applied.
    fn group_end(&self, changes: &[Parsed]) -> usize {
        if self.app.db.backend() != DbBackend::Postgres {
            return changes.len();
        }
        let is_alone = |Parsed { change, .. }: &Parsed| {
            matches!(change.action, Action::WorkspaceUpsert(_) | Action::CourseUpsert(_))
        };
        changes.iter().position(is_alone).unwrap_or(changes.len()).max(1)
    }

    /// Applies changes in one transaction. A single one is tried again when it loses a conflict with another transaction; of a
    /// group, the caller applies one after the other.
    async fn group(&mut self, changes: &[Parsed]) -> anyhow::Result<Group> {
        let begun = Instant::now();
        let (group, workspaces) = match changes {
            [_] => retrying(|| transaction(self.app, &self.workspaces, changes)).await?,
            _ => transaction(self.app, &self.workspaces, changes).await?,
        };
        self.workspaces.extend(workspaces);
        // A group that took long makes the next one shorter, and the other way round.
        if begun.elapsed() > GROUP_TIME {
            self.size = (self.size / 2).max(1);
        } else if changes.len() == self.size && begun.elapsed() < GROUP_TIME / 3 {
            self.size = (self.size * 2).min(GROUP);
        }
        Ok(group)
    }

    fn reject(&mut self, line: &Line, reject: Reject) {
        self.outcome.rejected += 1;
        self.refused.push((line.clone(), reject));
    }

    /// Tells of the lines of a batch that were not applied, in their order: what is corrected is applied again in it.
    fn tell(&mut self) -> anyhow::Result<()> {
        self.refused.sort_by_key(|(_, reject)| reject.line);
        for (line, reject) in self.refused.drain(..) {
            (self.options.rejected)(&reject);
            keep(&mut self.options.rejects, &line.bytes)?;
            if !line.cut {
                keep(&mut self.options.rejects, b"\n")?;
            }
        }
        Ok(())
    }

    /// Keeps the rest of a line that was cut, behind its beginning: whoever corrects the line needs all of it.
    async fn pass<R: AsyncBufRead + Unpin>(&mut self, lines: &mut Lines<R>) -> anyhow::Result<()> {
        if !lines.is_cut() {
            return Ok(());
        }
        while let Some(piece) = lines.rest().await.context("cannot read the changes")? {
            keep(&mut self.options.rejects, &piece)?;
        }
        keep(&mut self.options.rejects, b"\n")
    }
}

/// Applies changes in one transaction. The workspaces that it found or made come out as well.
async fn transaction(
    app: &App,
    known: &HashMap<String, WorkspaceId>,
    changes: &[Parsed],
) -> anyhow::Result<(Group, HashMap<String, WorkspaceId>)> {
    let mut write = app.begin_write().await?;
    let mut fresh = HashSet::new();
    for (workspace, ids) in by_workspace(changes) {
        let new = applied_changes::insert_new(write.conn(), workspace, &ids, write.now_ms()).await?;
        fresh.extend(new.into_iter().map(|id| (workspace, id)));
    }
    let mut workspaces = known.clone();
    lock(app, &write, &mut workspaces, changes).await?;
    let mut repeated = 0;
    for (place, Parsed { line, change }) in changes.iter().enumerate() {
        // Removed, because a change that stands twice in the group is applied once.
        if !fresh.remove(&(change.workspace.as_str(), change.id.clone())) {
            repeated += 1;
            continue;
        }
        if let Err(error) = actions::apply(app, &mut write, &mut workspaces, change).await {
            let faults = reject::faults(error).with_context(|| format!("line {}", line.number))?;
            write.rollback().await?;
            return Ok((Group::Refused { place, faults }, HashMap::new()));
        }
    }
    write.commit().await?;
    Ok((Group::Committed { repeated }, workspaces))
}

/// Keeps bytes of a line that is not applied, where such lines are kept.
fn keep(rejects: &mut Option<Box<dyn Sink + Send + '_>>, bytes: &[u8]) -> anyhow::Result<()> {
    match rejects {
        Some(rejects) => rejects.write_all(bytes).context("cannot write the rejected lines"),
        None => Ok(()),
    }
}

/// The change that a line holds, if it could be applied now.
fn read(line: &Line, now: Timestamp) -> std::result::Result<Change, Reject> {
    let reject = |id, faults| Reject { line: line.number, id, faults };
    if line.cut {
        return Err(reject(None, vec![fault("", format!("the line is longer than {MAX_BYTES} bytes"))]));
    }
    let change = change::parse(&line.bytes).map_err(|(id, faults)| reject(id, faults))?;
    if change.at > now + SKEW {
        let message = format!("lies in the future: the server's clock says {now}");
        return Err(reject(Some(change.id), vec![fault("at", message)]));
    }
    Ok(change)
}

/// The ids of the changes, sorted, by workspace.
fn by_workspace(changes: &[Parsed]) -> BTreeMap<&str, Vec<&str>> {
    let mut ids = BTreeMap::<&str, Vec<&str>>::new();
    for Parsed { change, .. } in changes {
        ids.entry(&change.workspace).or_default().push(&change.id);
    }
    ids.values_mut().for_each(|ids| ids.sort_unstable());
    ids
}

/// Which of the changes were applied before: most of a stream that is applied again.
async fn known(app: &App, changes: &[Parsed]) -> Result<HashSet<(String, String)>> {
    let mut known = HashSet::new();
    for (workspace, ids) in by_workspace(changes) {
        let applied = applied_changes::applied(app.db.read(), workspace, &ids).await?;
        known.extend(applied.into_iter().map(|id| (workspace.to_owned(), id)));
    }
    Ok(known)
}

/// Locks what the changes of a group will change, before the first of them is applied.
async fn lock(
    app: &App,
    write: &Write,
    workspaces: &mut HashMap<String, WorkspaceId>,
    changes: &[Parsed],
) -> Result<()> {
    if changes.len() == 1 || app.db.backend() != DbBackend::Postgres {
        return Ok(());
    }
    let mut wanted = BTreeMap::<WorkspaceId, Records<'_>>::new();
    for Parsed { change, .. } in changes {
        let id = match workspaces.get(&change.workspace) {
            Some(id) => *id,
            None => match workspaces::by_key_in(write, &change.workspace).await {
                Ok(workspace) => workspace.id,
                Err(Error::NotFound(_)) => continue,
                Err(error) => return Err(error),
            },
        };
        workspaces.insert(change.workspace.clone(), id);
        actions::name_records(&change.action, wanted.entry(id).or_default());
    }
    locks::take(write, &wanted).await
}
