//! Applies changes from a stream: each one completely or not at all, and only once, even if the stream is applied again.
//!
//! A change and the record that it was applied are written in one transaction. After an interruption, even by a kill, apply the
//! stream again: changes that were applied are skipped. Because every commit waits for the disk, consecutive changes share a
//! transaction, as many as fit into [`TARGET_GROUP_TIME`]; after an interruption, all changes of the last transaction are
//! applied again. When the domain rejects a change of a group, the transaction is rolled back, and the changes before it are
//! applied again without it. A rejected change therefore leaves no trace and needs no savepoint.
//!
//! On PostgreSQL, a group first locks all records that its changes need, in the order of [`retry`](domain::retry). A change of
//! a workspace or a course runs in a separate transaction. A group that loses a conflict with another transaction is applied
//! change by change, and a single change that loses one is retried.
//!
//! An invalid line is reported, and the following lines are applied. A database error ends the import.

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
use super::lines::{InputLine, LineReader, MAX_BYTES};
use super::reject::{self, RejectedLine, field_error};
use domain::app::App;
use domain::locks::{self, LockSet};
use domain::retry::{Conflict as _, retry_on_conflict};
use domain::{Error, FieldError, Result, workspaces};
use foundation::database::Write;
use foundation::id::WorkspaceId;

/// Maximum number of changes per transaction.
const MAX_GROUP_CHANGES: usize = 256;
/// Target duration of a transaction, so that requests that write do not wait longer.
const TARGET_GROUP_TIME: Duration = Duration::from_millis(100);
/// Time to wait for a line before the lines read so far are applied.
const LINE_TIMEOUT: Duration = Duration::from_millis(50);
/// Maximum time by which a change can be ahead of the server's clock.
const MAX_CLOCK_SKEW: jiff::SignedDuration = jiff::SignedDuration::from_mins(5);

/// The outcome of a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ApplyOutcome {
    /// Number of changes applied now.
    pub applied: u64,
    /// Number of changes that were applied before and skipped now.
    pub repeated: u64,
    /// Number of lines that were rejected.
    pub rejected: u64,
}

/// The progress of a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ApplyProgress {
    /// Number of bytes read.
    pub bytes: u64,
    /// The outcome so far.
    pub outcome: ApplyOutcome,
}

/// Callbacks and outputs for the caller of [`apply`].
pub struct ApplyOptions<'a> {
    /// Called after each transaction.
    pub progress: Box<dyn FnMut(ApplyProgress) + Send + 'a>,
    /// Called for each rejected line.
    pub rejected: Box<dyn FnMut(&RejectedLine) + Send + 'a>,
    /// Receives the rejected lines unchanged, so that they can be corrected and applied again.
    pub rejects: Option<Box<dyn Sink + Send + 'a>>,
}

impl Default for ApplyOptions<'_> {
    fn default() -> Self {
        Self { progress: Box::new(|_| ()), rejected: Box::new(|_| ()), rejects: None }
    }
}

/// Applies the changes of `reader`, one per line.
///
/// # Errors
/// Returns an error when the reader, the output for rejected lines or the database fails. Changes that were applied before stay
/// applied, and the stream can be applied again.
pub async fn apply(
    app: &App,
    reader: impl AsyncBufRead + Unpin,
    options: ApplyOptions<'_>,
) -> anyhow::Result<ApplyOutcome> {
    let (outcome, workspaces) = (ApplyOutcome::default(), HashMap::new());
    let mut feed = FeedImport {
        app,
        options,
        outcome,
        workspaces,
        rejected_lines: Vec::new(),
        group_size: MAX_GROUP_CHANGES / 8,
    };
    let mut lines = LineReader::new(reader);
    loop {
        let (batch, ended) = read_batch(&mut lines).await.context("cannot read the changes")?;
        let result = feed.apply_batch(batch).await;
        feed.report_rejects()?;
        result?;
        feed.save_truncated_line(&mut lines).await?;
        (feed.options.progress)(ApplyProgress { bytes: lines.bytes_read, outcome: feed.outcome });
        if ended {
            break;
        }
    }
    if let Some(rejects) = &mut feed.options.rejects {
        rejects.flush().context("cannot write the rejected lines")?;
    }
    Ok(feed.outcome)
}

/// Reads the next lines: up to a group of them, fewer if the stream ends or pauses, or if a line is truncated. Returns true at
/// the end.
async fn read_batch<R: AsyncBufRead + Unpin>(
    lines: &mut LineReader<R>,
) -> std::io::Result<(Vec<InputLine>, bool)> {
    let mut batch = Vec::with_capacity(MAX_GROUP_CHANGES);
    let mut bytes = 0;
    // A truncated line alone reaches the limit of bytes, so no line follows it before its rest was read.
    while batch.len() < MAX_GROUP_CHANGES && bytes < MAX_BYTES {
        let line = if batch.is_empty() {
            lines.next().await?
        } else {
            match tokio::time::timeout(LINE_TIMEOUT, lines.next()).await {
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

/// The state of an import.
struct FeedImport<'a> {
    app: &'a App,
    options: ApplyOptions<'a>,
    outcome: ApplyOutcome,
    /// Committed workspaces by key. They are never deleted.
    workspaces: HashMap<String, WorkspaceId>,
    /// Rejected lines of this batch that are not reported yet.
    rejected_lines: Vec<(InputLine, RejectedLine)>,
    /// Maximum number of changes of the next transaction.
    group_size: usize,
}

/// A parsed change with its line.
struct ParsedChange {
    line: InputLine,
    change: Change,
}

/// The outcome of a transaction.
enum GroupOutcome {
    /// The group was committed. `repeated` of its changes had been applied before and were skipped.
    Committed { repeated: u64 },
    /// The change at this index was rejected. Nothing was committed.
    Rejected { index: usize, errors: Vec<FieldError> },
}

impl FeedImport<'_> {
    /// Applies a batch of lines.
    async fn apply_batch(&mut self, batch: Vec<InputLine>) -> anyhow::Result<()> {
        let mut changes = Vec::with_capacity(batch.len());
        for line in batch {
            match read(&line, self.app.clock.now()) {
                Ok(change) => changes.push(ParsedChange { line, change }),
                Err(reject) => self.reject(&line, reject),
            }
        }
        let applied = applied_before(self.app, &changes).await?;
        let before = changes.len();
        changes.retain(|ParsedChange { change, .. }| {
            !applied.contains(&(change.workspace.clone(), change.id.clone()))
        });
        self.outcome.repeated += (before - changes.len()) as u64;
        self.apply_changes(&changes).await
    }

    /// Applies changes in order, in as few transactions as possible.
    async fn apply_changes(&mut self, mut changes: &[ParsedChange]) -> anyhow::Result<()> {
        // After a rejection, the changes before the rejected one are applied first, then the rest.
        let mut valid_prefix = usize::MAX;
        // Number of changes that are applied one by one, because a group of them lost a conflict.
        let mut single_left = 0;
        while !changes.is_empty() {
            let size = match single_left {
                0 => valid_prefix.min(self.group_size).min(self.group_end(changes)),
                _ => 1,
            };
            let applied = match self.apply_group(&changes[..size]).await {
                Err(error) if size > 1 && error.is_conflict() => {
                    single_left = size;
                    continue;
                }
                group => match group? {
                    GroupOutcome::Committed { repeated } => {
                        self.outcome.applied += size as u64 - repeated;
                        self.outcome.repeated += repeated;
                        size
                    }
                    GroupOutcome::Rejected { index: 0, errors } => {
                        let ParsedChange { line, change } = &changes[0];
                        self.reject(
                            line,
                            RejectedLine { line: line.number, id: Some(change.id.clone()), errors },
                        );
                        1
                    }
                    GroupOutcome::Rejected { index, .. } => {
                        valid_prefix = index;
                        continue;
                    }
                },
            };
            changes = &changes[applied..];
            valid_prefix = usize::MAX;
            single_left = single_left.saturating_sub(applied);
        }
        Ok(())
    }

    /// Returns how many of the first changes can share a transaction. On PostgreSQL, a change of a workspace or a course runs
    /// in a separate transaction, because the rows that it locks are only known while it is applied.
    fn group_end(&self, changes: &[ParsedChange]) -> usize {
        if self.app.db.backend() != DbBackend::Postgres {
            return changes.len();
        }
        let runs_alone = |ParsedChange { change, .. }: &ParsedChange| {
            matches!(change.action, Action::WorkspaceUpsert(_) | Action::CourseUpsert(_))
        };
        changes.iter().position(runs_alone).unwrap_or(changes.len()).max(1)
    }

    /// Applies changes in one transaction. Retries a single change that loses a conflict; the caller applies the changes of a
    /// group one by one instead.
    async fn apply_group(&mut self, changes: &[ParsedChange]) -> anyhow::Result<GroupOutcome> {
        let started = Instant::now();
        let (group, workspaces) = match changes {
            [_] => retry_on_conflict(|| transaction(self.app, &self.workspaces, changes)).await?,
            _ => transaction(self.app, &self.workspaces, changes).await?,
        };
        self.workspaces.extend(workspaces);
        // Adapts the size of the next group to the duration of this one.
        if started.elapsed() > TARGET_GROUP_TIME {
            self.group_size = (self.group_size / 2).max(1);
        } else if changes.len() == self.group_size && started.elapsed() < TARGET_GROUP_TIME / 3 {
            self.group_size = (self.group_size * 2).min(MAX_GROUP_CHANGES);
        }
        Ok(group)
    }

    fn reject(&mut self, line: &InputLine, reject: RejectedLine) {
        self.outcome.rejected += 1;
        self.rejected_lines.push((line.clone(), reject));
    }

    /// Reports the rejected lines of a batch in their order, because corrected lines are applied in that order.
    fn report_rejects(&mut self) -> anyhow::Result<()> {
        self.rejected_lines.sort_by_key(|(_, reject)| reject.line);
        for (line, reject) in self.rejected_lines.drain(..) {
            (self.options.rejected)(&reject);
            write_reject(&mut self.options.rejects, &line.bytes)?;
            if !line.truncated {
                write_reject(&mut self.options.rejects, b"\n")?;
            }
        }
        Ok(())
    }

    /// Writes the rest of a truncated line to the rejected lines, so that the line can be corrected.
    async fn save_truncated_line<R: AsyncBufRead + Unpin>(
        &mut self,
        lines: &mut LineReader<R>,
    ) -> anyhow::Result<()> {
        if !lines.is_truncated() {
            return Ok(());
        }
        while let Some(piece) = lines.read_rest().await.context("cannot read the changes")? {
            write_reject(&mut self.options.rejects, &piece)?;
        }
        write_reject(&mut self.options.rejects, b"\n")
    }
}

/// Applies changes in one transaction. Also returns the workspaces that it found or created.
async fn transaction(
    app: &App,
    known: &HashMap<String, WorkspaceId>,
    changes: &[ParsedChange],
) -> anyhow::Result<(GroupOutcome, HashMap<String, WorkspaceId>)> {
    let mut write = app.begin_write().await?;
    let mut new_ids = HashSet::new();
    for (workspace, ids) in by_workspace(changes) {
        let new = applied_changes::insert_new(write.conn(), workspace, &ids, write.now_ms()).await?;
        new_ids.extend(new.into_iter().map(|id| (workspace, id)));
    }
    let mut workspaces = known.clone();
    acquire_locks(app, &write, &mut workspaces, changes).await?;
    let mut repeated = 0;
    for (index, ParsedChange { line, change }) in changes.iter().enumerate() {
        // Removed from the set, so that a change that occurs twice in the group is applied once.
        if !new_ids.remove(&(change.workspace.as_str(), change.id.clone())) {
            repeated += 1;
            continue;
        }
        if let Err(error) = actions::apply(app, &mut write, &mut workspaces, change).await {
            let errors = reject::errors(error).with_context(|| format!("line {}", line.number))?;
            write.rollback().await?;
            return Ok((GroupOutcome::Rejected { index, errors }, HashMap::new()));
        }
    }
    write.commit().await?;
    Ok((GroupOutcome::Committed { repeated }, workspaces))
}

/// Writes bytes of a rejected line, if there is an output for them.
fn write_reject(rejects: &mut Option<Box<dyn Sink + Send + '_>>, bytes: &[u8]) -> anyhow::Result<()> {
    match rejects {
        Some(rejects) => rejects.write_all(bytes).context("cannot write the rejected lines"),
        None => Ok(()),
    }
}

/// Parses the change of a line, and checks that its time is not in the future.
fn read(line: &InputLine, now: Timestamp) -> std::result::Result<Change, RejectedLine> {
    let reject = |id, errors| RejectedLine { line: line.number, id, errors };
    if line.truncated {
        return Err(reject(
            None,
            vec![field_error("", format!("the line is longer than {MAX_BYTES} bytes"))],
        ));
    }
    let change = change::parse(&line.bytes).map_err(|(id, errors)| reject(id, errors))?;
    if change.at > now + MAX_CLOCK_SKEW {
        let message = format!("is in the future: the server time is {now}");
        return Err(reject(Some(change.id), vec![field_error("at", message)]));
    }
    Ok(change)
}

/// Returns the ids of the changes by workspace, sorted.
fn by_workspace(changes: &[ParsedChange]) -> BTreeMap<&str, Vec<&str>> {
    let mut ids = BTreeMap::<&str, Vec<&str>>::new();
    for ParsedChange { change, .. } in changes {
        ids.entry(&change.workspace).or_default().push(&change.id);
    }
    ids.values_mut().for_each(|ids| ids.sort_unstable());
    ids
}

/// Returns the changes that were applied before. When a stream is applied again, these are most of its changes.
async fn applied_before(app: &App, changes: &[ParsedChange]) -> Result<HashSet<(String, String)>> {
    let mut known = HashSet::new();
    for (workspace, ids) in by_workspace(changes) {
        let applied = applied_changes::applied(app.db.read(), workspace, &ids).await?;
        known.extend(applied.into_iter().map(|id| (workspace.to_owned(), id)));
    }
    Ok(known)
}

/// Acquires the locks of all changes of a group, before the first one is applied.
async fn acquire_locks(
    app: &App,
    write: &Write,
    workspaces: &mut HashMap<String, WorkspaceId>,
    changes: &[ParsedChange],
) -> Result<()> {
    if changes.len() == 1 || app.db.backend() != DbBackend::Postgres {
        return Ok(());
    }
    let mut locks_by_workspace = BTreeMap::<WorkspaceId, LockSet<'_>>::new();
    for ParsedChange { change, .. } in changes {
        let id = match workspaces.get(&change.workspace) {
            Some(id) => *id,
            None => match workspaces::by_key_in(write, &change.workspace).await {
                Ok(workspace) => workspace.id,
                Err(Error::NotFound(_)) => continue,
                Err(error) => return Err(error),
            },
        };
        workspaces.insert(change.workspace.clone(), id);
        actions::add_locks(&change.action, locks_by_workspace.entry(id).or_default());
    }
    locks::acquire(write, &locks_by_workspace).await
}
