//! The lock of the demo's data folder: a second demo would change the webhook of the first one.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::not_written;
use crate::cli::outcome::CommandError;
use foundation::data_folder::{self, FolderError};

/// Name of the file in the data folder that a running demo has locked. It contains the demo's URL.
const FILE: &str = "demo.lock";

/// The lock of a running demo. The system releases it when the process ends, also when it is killed.
pub(super) struct DemoLock {
    file: File,
    path: PathBuf,
}

impl DemoLock {
    /// Locks the data folder, which is created if it does not exist.
    ///
    /// # Errors
    /// Returns an error that contains the URL of the running demo if there is one.
    pub(super) fn acquire(data_dir: &Path) -> Result<Self, CommandError> {
        data_folder::create(data_dir)?;
        let path = data_dir.join(FILE);
        let mut open = OpenOptions::new();
        open.write(true).create(true).truncate(false).mode(0o600);
        let file = open.open(&path).map_err(|cause| FolderError::new(data_dir, cause))?;
        match file.try_lock() {
            Ok(()) => {
                // The URL of an earlier demo, which was killed or has ended.
                file.set_len(0).map_err(|error| not_written(&path, &error))?;
                Ok(Self { file, path })
            }
            Err(TryLockError::WouldBlock) => {
                let url = fs::read_to_string(&path).unwrap_or_default();
                let place = if url.is_empty() { String::new() } else { format!(", at {url}") };
                Err(CommandError::new(format!(
                    "a demo already runs on the data in {}{place}; use it, or start another one with other data and another \
                     port: `creator-api demo --data-dir DIR --listen 127.0.0.1:0`",
                    data_dir.display()
                )))
            }
            Err(TryLockError::Error(error)) => Err(not_written(&path, &error)),
        }
    }

    /// Stores the URL of this demo, for the message of a second one.
    pub(super) fn store_url(&mut self, url: &str) -> Result<(), CommandError> {
        self.file.write_all(url.as_bytes()).map_err(|error| not_written(&self.path, &error))
    }
}
