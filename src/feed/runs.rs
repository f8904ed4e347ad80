//! Runs of changes: consecutive changes of a transaction that share the records that they need in memory.

use std::collections::{BTreeMap, HashMap};

use super::actions;
use super::importer::ParsedChange;
use domain::locks::{self, LockSet};
use domain::workspaces::Mode;
use domain::{Error, Result};
use foundation::database::Write;
use foundation::id::WorkspaceId;

/// Returns how many of the first changes can share records in memory.
pub(super) fn run_length(changes: &[ParsedChange]) -> usize {
    let ends_before = |parsed: &ParsedChange| actions::runs_alone(&parsed.change.action);
    let ends_after = |parsed: &ParsedChange| actions::deletes_records(&parsed.change.action);
    let before = changes.iter().position(ends_before).unwrap_or(changes.len());
    let after = changes.iter().position(ends_after).map_or(changes.len(), |index| index + 1);
    before.min(after).max(1)
}

/// Acquires the locks of a run of changes before the first one is applied, and reads their records. Does nothing for a
/// single change, which reads what it needs. Adds the workspaces that it finds to `workspaces`.
pub(super) async fn acquire_locks(
    write: &Write,
    mode: Mode,
    workspaces: &mut HashMap<String, WorkspaceId>,
    changes: &[ParsedChange],
) -> Result<()> {
    if changes.len() == 1 {
        return locks::forget(write).await;
    }
    let mut locks_by_workspace = BTreeMap::<WorkspaceId, LockSet<'_>>::new();
    for ParsedChange { change, .. } in changes {
        let id = match workspaces.get(&change.workspace) {
            Some(id) => *id,
            None => match actions::find_workspace(write, mode, &change.workspace).await {
                Ok(id) => id,
                Err(Error::NotFound(_)) => continue,
                Err(error) => return Err(error),
            },
        };
        workspaces.insert(change.workspace.clone(), id);
        actions::add_locks(&change.action, locks_by_workspace.entry(id).or_default());
    }
    locks::acquire(write, &locks_by_workspace).await
}
