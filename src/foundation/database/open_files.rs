//! The files of an SQLite database that this process has open, and whether they are still at their paths.
//!
//! After a file was moved, replaced or deleted, SQLite continues to use the open one. Writes would succeed, but be lost for
//! every later process, which opens the file at the path. Other processes that use another journal or lock file would
//! damage the database.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use sea_orm::DbErr;

/// The suffixes of the files of a database: the database itself, the journal, and the index of the journal with the locks.
const SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

/// The open files of an SQLite database. There are none on PostgreSQL.
#[derive(Debug, Default)]
pub(super) struct OpenFiles(Vec<OpenFile>);

#[derive(Debug)]
struct OpenFile {
    path: PathBuf,
    /// The device and the inode. Unknown until SQLite has created the file.
    identity: OnceLock<(u64, u64)>,
}

impl OpenFiles {
    /// Records the identities of the files of a database that was opened just now.
    pub(super) fn of(database: &Path) -> Self {
        let files = SUFFIXES.map(|suffix| {
            let mut path = database.as_os_str().to_owned();
            path.push(suffix);
            OpenFile { path: path.into(), identity: OnceLock::new() }
        });
        let files = Self(files.into());
        // A file that cannot be read is reported by the first write.
        let _ = files.check();
        files
    }

    /// Checks that each path is still that of the open file. Costs a system call for each.
    ///
    /// # Errors
    /// Returns [`DbErr`] with a remedy when a file was moved, replaced or deleted.
    pub(super) fn check(&self) -> Result<(), DbErr> {
        self.0.iter().try_for_each(OpenFile::check)
    }
}

impl OpenFile {
    fn check(&self) -> Result<(), DbErr> {
        let problem = match self.path.metadata() {
            Ok(found) => {
                let found = (found.dev(), found.ino());
                if *self.identity.get_or_init(|| found) == found {
                    return Ok(());
                }
                "was replaced".to_owned()
            }
            // SQLite has not created it yet.
            Err(error) if error.kind() == ErrorKind::NotFound && self.identity.get().is_none() => {
                return Ok(());
            }
            Err(error) if error.kind() == ErrorKind::NotFound => "was moved or deleted".to_owned(),
            Err(error) => format!("cannot be accessed ({error})"),
        };
        Err(DbErr::Custom(format!(
            "{} {problem} while this process uses it; stop the process, put the file back, and start it again",
            self.path.display()
        )))
    }
}
