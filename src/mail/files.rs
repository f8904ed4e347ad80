//! Mail without a mail server: `.eml` files that any mail program opens.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::letter::Letter;
use super::transport::Failure;
use foundation::secret::write_private;

/// The folder inside the data folder.
const FOLDER: &str = "mail";

/// A folder of mail.
#[derive(Debug)]
pub(super) struct Files {
    folder: PathBuf,
}

impl Files {
    /// The folder inside this data folder. It is made when the first mail is written.
    pub(super) fn new(data_dir: &Path) -> Self {
        Self { folder: data_dir.join(FOLDER) }
    }

    /// Puts the letter there, whole and on disk, or not at all. A repeat leaves the first as it is.
    pub(super) async fn write(&self, letter: Letter) -> Result<(), Failure> {
        let folder = self.folder.clone();
        let write = move || {
            DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
            write_private(&folder.join(format!("{}.eml", letter.id)), &letter.bytes)
        };
        let written =
            tokio::task::spawn_blocking(write).await.unwrap_or_else(|ended| Err(io::Error::other(ended)));
        written.map_err(|error| Failure {
            permanent: false,
            class: format!("file {:?}", error.kind()),
            text: error.to_string(),
        })
    }
}
