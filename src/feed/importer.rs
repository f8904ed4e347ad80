//! Applies batches of lines: each change completely or not at all, and only once.
//!
//! A change and the record that it was applied are written in one transaction. After an interruption, even by a kill,
//! import the lines again: changes that were applied are skipped. Because every commit waits for the disk, a group of
//! consecutive changes shares a transaction. The size of the groups is adapted to the time that a transaction takes, see
//! [`GROUP_TIME_SQLITE`] and [`GROUP_TIME_POSTGRES`]. An interruption rolls back the whole group that is being applied.
//! When the domain rejects a change of a group, the transaction is rolled back, and the changes before the rejected one
//! are applied again without it. A rejected change therefore leaves no trace and needs no savepoint.
//!
//! A group first reads all records that its changes need, and on PostgreSQL locks them, in the order of
//! [`retry`](domain::retry). It keeps them in memory and writes them together, see [`locks`](domain::locks). On
//! PostgreSQL, a change of a workspace or a course runs in a separate transaction. A group that fails, such as in a conflict with
//! another transaction, is applied change by change, and a single change that loses a conflict is retried.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use entity::applied_changes;
use jiff::Timestamp;
use sea_orm::DbBackend;

use super::actions;
use super::change::{self, Change};
use super::reject::{self, RejectedLine, field_error};
use super::runs::{acquire_locks, run_length};
use contract_runtime::payload::{InputLine, MAX_LINE_BYTES};
use domain::app::App;
use domain::retry::retry_on_conflict;
use domain::workspaces::Mode;
use domain::{FieldError, Result};
use foundation::id::WorkspaceId;

/// Maximum number of changes per transaction.
pub(super) const MAX_GROUP_CHANGES: usize = 256;
/// Duration of a transaction on SQLite, where requests that write wait for the import. If a group takes less, the next one is
/// larger, and if it takes more, smaller.
const GROUP_TIME_SQLITE: Range<Duration> = Duration::from_millis(33)..Duration::from_millis(100);
/// The same on PostgreSQL, where only requests that write the same records or courses wait. Until the transaction ends, the
/// [event feed](domain::event_feed) and lists of changed records do not reach later changes. A group takes about 30 round trips,
/// however many changes it has, so with less time it would have few changes if the database is far away.
const GROUP_TIME_POSTGRES: Range<Duration> = Duration::from_millis(150)..Duration::from_millis(300);
/// After a transaction on SQLite, the import pauses for its duration divided by this. Another process that waits for the lock of
/// the file asks for it up to 100 ms apart. Without a pause, the import would usually hold the lock again, and the other process
/// could fail after 10 s.
const PAUSE_DIVISOR: u32 = 10;
/// Maximum time by which a change can be ahead of the server's clock.
const MAX_CLOCK_SKEW: jiff::SignedDuration = jiff::SignedDuration::from_mins(5);

/// The result of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineResult {
    /// The change was applied and committed.
    Applied {
        /// The id of the change.
        id: String,
    },
    /// The change had been applied before, or occurs twice.
    Repeated {
        /// The id of the change.
        id: String,
    },
    /// The change was not applied.
    Rejected(RejectedLine),
}

/// Applies batches of lines, one after the other.
pub struct Importer {
    app: App,
    /// The mode of the workspaces. Changes of other workspaces are rejected.
    mode: Mode,
    /// Committed live workspaces by key, which are never deleted. Also the workspace of [`into_sandbox`](Self::into_sandbox).
    workspaces: HashMap<String, WorkspaceId>,
    /// The results of the current batch, one for each line. `None` until the line is applied or rejected.
    results: Vec<Option<LineResult>>,
    /// Maximum number of changes of the next transaction.
    group_size: usize,
}

/// A parsed change with its line.
pub(super) struct ParsedChange {
    /// The number of the line.
    line: u64,
    /// The index of the line in its batch.
    index: usize,
    pub(super) change: Change,
}

/// The outcome of a transaction.
enum GroupOutcome {
    /// The group was committed. `repeated` contains the indexes of changes that had been applied before and were skipped.
    Committed { repeated: Vec<usize> },
    /// The change at this index was rejected. Nothing was committed.
    Rejected { index: usize, errors: Vec<FieldError> },
}

impl Importer {
    /// Creates an importer of changes of workspaces with this mode.
    pub fn new(app: App, mode: Mode) -> Self {
        let (workspaces, results) = (HashMap::new(), Vec::new());
        Self { app, mode, workspaces, results, group_size: MAX_GROUP_CHANGES / 8 }
    }

    /// Creates an importer of changes of a test workspace that cannot be found by its key yet.
    pub(super) fn into_sandbox(app: App, workspace: WorkspaceId, key: &str) -> Self {
        let workspaces = HashMap::from([(key.to_owned(), workspace)]);
        Self { workspaces, ..Self::new(app, Mode::Test) }
    }

    /// Applies a batch of lines. Returns a result for each line that was applied or rejected, and the error that ended the
    /// import, if any. After an error, lines without a result were not applied.
    pub async fn import(&mut self, batch: &[InputLine]) -> (Vec<Option<LineResult>>, anyhow::Result<()>) {
        self.results = vec![None; batch.len()];
        let outcome = self.apply_batch(batch).await;
        (std::mem::take(&mut self.results), outcome)
    }

    async fn apply_batch(&mut self, batch: &[InputLine]) -> anyhow::Result<()> {
        let mut changes = Vec::with_capacity(batch.len());
        for (index, line) in batch.iter().enumerate() {
            match read(line, self.app.clock.now()) {
                Ok(change) => changes.push(ParsedChange { line: line.number, index, change }),
                Err(rejected) => self.results[index] = Some(LineResult::Rejected(rejected)),
            }
        }
        let applied = applied_before(&self.app, &changes).await?;
        changes.retain(|ParsedChange { index, change, .. }| {
            let is_repeated = applied.contains(&(change.workspace.clone(), change.id.clone()));
            if is_repeated {
                self.results[*index] = Some(LineResult::Repeated { id: change.id.clone() });
            }
            !is_repeated
        });
        self.apply_changes(&changes).await
    }

    /// Applies changes in order, in as few transactions as possible.
    async fn apply_changes(&mut self, mut changes: &[ParsedChange]) -> anyhow::Result<()> {
        // The number of changes before the rejected one, after a rejection. They are applied again without it.
        let mut valid_prefix = usize::MAX;
        // The number of changes that are still to be applied one by one, because they cannot be applied together.
        let mut single_left = 0;
        while !changes.is_empty() {
            let size = match single_left {
                0 => valid_prefix.min(self.group_size).min(self.max_group_size(changes)),
                _ => 1,
            };
            let applied = match self.apply_group(&changes[..size]).await {
                // Changes that cannot be applied together can be applied one by one: after a conflict, or if they need more
                // records than a statement has parameters. Another error occurs again, with the number of its line.
                Err(error) if size > 1 => {
                    let error = format!("{error:#}");
                    tracing::debug!(error, changes = size, "applying changes one by one");
                    single_left = size;
                    continue;
                }
                group => match group? {
                    GroupOutcome::Committed { repeated } => {
                        for (position, ParsedChange { index, change, .. }) in
                            changes[..size].iter().enumerate()
                        {
                            let id = change.id.clone();
                            self.results[*index] = Some(match repeated.contains(&position) {
                                true => LineResult::Repeated { id },
                                false => LineResult::Applied { id },
                            });
                        }
                        size
                    }
                    GroupOutcome::Rejected { index: 0, errors } => {
                        let ParsedChange { line, index, change } = &changes[0];
                        let rejected = RejectedLine { line: *line, id: Some(change.id.clone()), errors };
                        self.results[*index] = Some(LineResult::Rejected(rejected));
                        // Others may be rejected for the same reason. Each rejection repeats the work for its group.
                        self.group_size = (self.group_size / 2).max(1);
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

    /// Returns how many of the first changes can share a transaction. On PostgreSQL, these share records in memory, because a
    /// transaction that has applied changes must not acquire the locks of others.
    fn max_group_size(&self, changes: &[ParsedChange]) -> usize {
        match self.app.db.backend() {
            DbBackend::Postgres => run_length(changes),
            _ => changes.len(),
        }
    }

    /// Applies changes in one transaction. Retries a single change that loses a conflict; the caller applies the
    /// changes of a group one by one instead.
    async fn apply_group(&mut self, changes: &[ParsedChange]) -> anyhow::Result<GroupOutcome> {
        let started = Instant::now();
        let (group, workspaces) = match changes {
            [_] => retry_on_conflict(|| self.apply_in_transaction(changes)).await?,
            _ => self.apply_in_transaction(changes).await?,
        };
        // A test workspace can be replaced by another one with its key.
        if self.mode == Mode::Live {
            self.workspaces.extend(workspaces);
        }
        // Adapts the size of the next group to the duration of this one.
        let elapsed = started.elapsed();
        let is_sqlite = self.app.db.backend() == DbBackend::Sqlite;
        let group_time = if is_sqlite { GROUP_TIME_SQLITE } else { GROUP_TIME_POSTGRES };
        if elapsed > group_time.end {
            self.group_size = (self.group_size / 2).max(1);
        } else if changes.len() == self.group_size
            && elapsed < group_time.start
            && matches!(group, GroupOutcome::Committed { .. })
        {
            self.group_size = (self.group_size * 2).min(MAX_GROUP_CHANGES);
        }
        if is_sqlite {
            tokio::time::sleep(elapsed / PAUSE_DIVISOR).await;
        }
        Ok(group)
    }

    /// Applies changes in one transaction. Also returns the workspaces of the changes, by key.
    /// The map is empty if a change was rejected.
    async fn apply_in_transaction(
        &self,
        changes: &[ParsedChange],
    ) -> anyhow::Result<(GroupOutcome, HashMap<String, WorkspaceId>)> {
        let app = &self.app;
        let mut write = app.begin_write().await?;
        let mut new_ids = HashSet::new();
        for (workspace, ids) in by_workspace(changes) {
            let new = applied_changes::insert_new(write.conn(), workspace, &ids, write.now_ms()).await?;
            new_ids.extend(new.into_iter().map(|id| (workspace, id)));
        }
        let known = |key| self.workspaces.get_key_value(key).map(|(key, id)| (key.clone(), *id));
        let mut workspaces: HashMap<_, _> =
            changes.iter().filter_map(|change| known(&change.change.workspace)).collect();
        let (mut repeated, mut run_end) = (Vec::new(), 0);
        for (index, ParsedChange { line, change, .. }) in changes.iter().enumerate() {
            if index == run_end {
                run_end = index + run_length(&changes[index..]);
                acquire_locks(&write, self.mode, &mut workspaces, &changes[index..run_end]).await?;
            }
            // Removed from the set, so that a change that occurs twice in the group is applied once.
            if !new_ids.remove(&(change.workspace.as_str(), change.id.clone())) {
                repeated.push(index);
                continue;
            }
            if let Err(error) = actions::apply(app, &mut write, self.mode, &mut workspaces, change).await {
                let errors = reject::errors(error).with_context(|| format!("line {line}"))?;
                write.rollback().await?;
                return Ok((GroupOutcome::Rejected { index, errors }, HashMap::new()));
            }
        }
        write.commit().await?;
        Ok((GroupOutcome::Committed { repeated }, workspaces))
    }
}

/// Checks the form of a line without applying its change. Returns the id of the change.
///
/// # Errors
/// Returns the errors of the line.
pub fn validate(line: &InputLine, now: Timestamp) -> std::result::Result<String, RejectedLine> {
    Ok(read(line, now)?.id)
}

/// Parses the change of a line, and checks that its time is not in the future.
fn read(line: &InputLine, now: Timestamp) -> std::result::Result<Change, RejectedLine> {
    let rejected = |id, errors| RejectedLine { line: line.number, id, errors };
    if line.truncated {
        return Err(rejected(
            None,
            vec![field_error("", format!("the line is longer than {MAX_LINE_BYTES} bytes"))],
        ));
    }
    let change = change::parse(&line.bytes).map_err(|(id, errors)| rejected(id, errors))?;
    if change.at > now + MAX_CLOCK_SKEW {
        let message = format!("is in the future: the server time is {now}");
        return Err(rejected(Some(change.id), vec![field_error("at", message)]));
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

/// Returns the changes that were applied before, each as workspace key and change id. These are most of the changes
/// when a stream is applied again, and this query skips them without a write transaction.
async fn applied_before(app: &App, changes: &[ParsedChange]) -> Result<HashSet<(String, String)>> {
    let mut all_applied = HashSet::new();
    for (workspace, ids) in by_workspace(changes) {
        let applied = applied_changes::applied(app.db.read(), workspace, &ids).await?;
        all_applied.extend(applied.into_iter().map(|id| (workspace.to_owned(), id)));
    }
    Ok(all_applied)
}
