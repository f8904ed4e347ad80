//! Creates the data folder, and explains why it cannot be used.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The data folder cannot be created, read or written. The message contains the cause and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the data folder {}: {problem}", path.display())]
pub struct FolderError {
    path: PathBuf,
    problem: String,
    #[source]
    cause: io::Error,
}

impl FolderError {
    /// Creates the error from that of the system, by looking at the folder and the folders above it.
    pub fn new(path: &Path, cause: io::Error) -> Self {
        // A link without a target exists here, but not as a folder.
        let existing = path.ancestors().find(|path| path.symlink_metadata().is_ok());
        let existing = existing.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let problem = match cause.kind() {
            _ if !existing.is_dir() && existing == path => {
                "it is not a folder; specify a folder with --data-dir".to_owned()
            }
            _ if !existing.is_dir() => {
                format!("{} is not a folder; specify another one with --data-dir", existing.display())
            }
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                let existing = existing.display();
                format!(
                    "no access to {existing}: {cause}; correct its permissions, or specify another one with --data-dir"
                )
            }
            // The system says that the file to be created does not exist.
            ErrorKind::NotFound => format!(
                "the file system of {} does not allow new files and folders; specify another one with --data-dir",
                existing.display()
            ),
            _ => format!("{cause}; specify another one with --data-dir"),
        };
        Self { path: path.to_owned(), problem, cause }
    }
}

/// Returns the folder of a file, which is the current one if the path is only a name.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates the folder and those above it, unless they exist.
///
/// # Errors
/// Returns [`FolderError`] when a folder cannot be created, or when one of them is not a folder.
pub fn create(path: &Path) -> Result<(), FolderError> {
    fs::create_dir_all(path).map_err(|cause| FolderError::new(path, cause))
}
