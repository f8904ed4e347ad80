//! Writes mail to `.eml` files, for installations without an SMTP server. Mail programs can open these files.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::SendFailure;
use super::encoding::EncodedMail;
use foundation::secret::create_private_file;

/// The name of the mail folder in the data folder.
const FOLDER: &str = "mail";

/// A transport that writes mail to a folder.
#[derive(Debug)]
pub(super) struct FileTransport {
    folder: PathBuf,
}

impl FileTransport {
    /// Returns the transport for the mail folder in this data folder. The folder is created when the first mail is written.
    pub(super) fn new(data_dir: &Path) -> Self {
        Self { folder: data_dir.join(FOLDER) }
    }

    /// Writes a mail to its file atomically and syncs it to disk. If an earlier attempt has written the file, keeps
    /// that file and succeeds.
    pub(super) async fn write(&self, mail: EncodedMail) -> Result<(), SendFailure> {
        let folder = self.folder.clone();
        let write = move || {
            DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
            create_private_file(&folder.join(format!("{}.eml", mail.id)), &mail.bytes)
        };
        let written =
            tokio::task::spawn_blocking(write).await.unwrap_or_else(|error| Err(io::Error::other(error)));
        written.map_err(|error| SendFailure {
            permanent: false,
            class: format!("file {:?}", error.kind()),
            detail: error.to_string(),
        })
    }
}
