//! The lock of the demo's data folder: a second demo would change the webhook of the first one.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::cli::outcome::CommandError;

/// Name of the file in the data folder that a running demo has locked. It contains the demo's URL.
const FILE: &str = "demo.lock";

/// The lock of a running demo. The system releases it when the process ends, also when it is killed.
pub(super) struct DemoLock(File);

impl DemoLock {
    /// Locks the data folder, which is created if it does not exist.
    ///
    /// # Errors
    /// Returns an error that contains the URL of the running demo if there is one.
    pub(super) fn acquire(data_dir: &Path) -> Result<Self, CommandError> {
        let path = data_dir.join(FILE);
        let not_writable = |error| {
            CommandError::new(format!(
                "cannot write {}: {error}; specify another folder with --data-dir",
                path.display()
            ))
        };
        fs::create_dir_all(data_dir).map_err(not_writable)?;
        let mut open = OpenOptions::new();
        let file =
            open.write(true).create(true).truncate(false).mode(0o600).open(&path).map_err(not_writable)?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => {
                let url = fs::read_to_string(&path).unwrap_or_default();
                let place = if url.is_empty() { String::new() } else { format!(", at {url}") };
                Err(CommandError::new(format!(
                    "a demo already runs on the data in {}{place}; use it, or start another one with other data and another \
                     port: `creator-api demo --data-dir DIR --listen 127.0.0.1:0`",
                    data_dir.display()
                )))
            }
            Err(TryLockError::Error(error)) => Err(not_writable(error)),
        }
    }

    /// Stores the URL of this demo, for the message of a second one.
    pub(super) fn store_url(&mut self, url: &str) -> Result<(), CommandError> {
        self.0.set_len(0)?;
        Ok(self.0.write_all(url.as_bytes())?)
    }
}
