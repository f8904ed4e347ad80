//! Backups in a folder: the time in their names, and how many are kept.

use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

/// The names sort by time.
const NAME_FORMAT: &str = "creator-api-%Y-%m-%dT%H-%M-%SZ.db";

/// Returns the name of a backup that begins at this time.
pub(super) fn file_name(time: Timestamp) -> String {
    time.strftime(NAME_FORMAT).to_string()
}

/// Deletes all backups but the newest and `created`, and returns their paths. Other files are ignored.
///
/// # Errors
/// Returns the error of the system.
pub(super) fn delete_old(folder: &Path, keep: NonZeroUsize, created: &Path) -> io::Result<Vec<PathBuf>> {
    let mut backups = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_backup = entry.file_name().to_str().is_some_and(is_name);
        if is_backup && entry.file_type()?.is_file() {
            backups.push(entry.path());
        }
    }
    backups.sort_unstable();
    backups.truncate(backups.len().saturating_sub(keep.get()));
    // If the clock was set back, the names of older backups are greater.
    backups.retain(|backup| backup != created);
    for backup in &backups {
        fs::remove_file(backup)?;
    }
    Ok(backups)
}

/// Returns whether this is a name that [`file_name`] returns.
fn is_name(name: &str) -> bool {
    // The format has no offset of its own: its `Z` is a literal.
    let time = jiff::civil::DateTime::strptime(NAME_FORMAT, name);
    time.is_ok_and(|time| time.strftime(NAME_FORMAT).to_string() == name)
}
