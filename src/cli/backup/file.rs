//! The format of a backup file: an SQLite database, followed by a line with the manifest in JSON.
//!
//! SQLite ignores what follows the database, so its tools can open the file. A file that was cut short has no manifest.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The version of the format.
pub(super) const FORMAT: u32 = 1;
/// Maximum length of the manifest, with its line breaks.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// What a backup contains.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// The version of the format.
    pub format: u32,
    /// The version of the program that wrote the backup.
    pub program: String,
    /// When the backup was made, in RFC 3339.
    pub created_at: String,
    /// The names of the migrations that were applied to the database.
    pub migrations: Vec<String>,
    /// The fingerprint of the master key; `None` if the database was never used by a server.
    pub master_key_fingerprint: Option<String>,
    /// The fingerprint of the master key that was about to replace it, while the key was rotated.
    #[serde(default)]
    pub next_master_key_fingerprint: Option<String>,
    /// The number of rows of each table.
    pub rows: Vec<(String, i64)>,
    /// The length of the database in bytes.
    pub database_bytes: u64,
    /// The SHA-256 of the database, in hexadecimal digits.
    pub database_sha256: String,
}

/// Why a file is not a backup.
#[derive(Debug, thiserror::Error)]
pub(super) enum BackupFileError {
    #[error("is not a backup, or was cut short: it has no manifest")]
    NoManifest,
    #[error("has the format {0}, which this version does not know; use a newer version")]
    Format(u32),
    #[error("is damaged: the length of its database differs from that in the manifest")]
    Length,
    #[error("is damaged: the checksum of its database differs from that in the manifest")]
    Checksum,
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// Why a database cannot be copied from a backup.
pub(super) enum ExtractError {
    /// The backup is damaged or cannot be read.
    Backup(BackupFileError),
    /// The copy cannot be written.
    Target(io::Error),
}

/// Returns the length and the SHA-256 of a file.
///
/// # Errors
/// Returns the error of the system.
pub(super) fn digest(path: &Path) -> io::Result<(u64, String)> {
    let (mut file, mut hash) = (File::open(path)?, Sha256::new());
    let (mut bytes, mut buffer) = (0, vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok((bytes, hex::encode(hash.finalize()))),
            read => {
                hash.update(&buffer[..read]);
                bytes += read as u64;
            }
        }
    }
}

/// Appends the manifest to the copy of the database, and waits until the file is on disk.
///
/// # Errors
/// Returns the error of the system.
pub(super) fn append_manifest(path: &Path, manifest: &Manifest) -> io::Result<()> {
    let mut file = File::options().append(true).open(path)?;
    let line = format!("\n{}\n", serde_json::to_string(manifest)?);
    file.write_all(line.as_bytes())?;
    file.sync_all()
}

/// Reads the manifest at the end of a backup.
///
/// # Errors
/// Returns an error when the file cannot be read, is no backup, or has another length than the manifest says.
pub(super) fn read_manifest(file: &mut File) -> Result<Manifest, BackupFileError> {
    let length = file.metadata()?.len();
    let start = length.saturating_sub(MAX_MANIFEST_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut end = Vec::new();
    file.take(MAX_MANIFEST_BYTES).read_to_end(&mut end)?;
    let text = end.strip_suffix(b"\n").ok_or(BackupFileError::NoManifest)?;
    let line = text.iter().rposition(|byte| *byte == b'\n').ok_or(BackupFileError::NoManifest)?;
    let json: serde_json::Value =
        serde_json::from_slice(&text[line + 1..]).map_err(|_| BackupFileError::NoManifest)?;
    // Another format may have other fields.
    let format = json["format"].as_u64().and_then(|format| u32::try_from(format).ok());
    match format {
        Some(FORMAT) => {}
        Some(other) => return Err(BackupFileError::Format(other)),
        None => return Err(BackupFileError::NoManifest),
    }
    let manifest: Manifest = serde_json::from_value(json).map_err(|_| BackupFileError::NoManifest)?;
    if start + line as u64 != manifest.database_bytes {
        return Err(BackupFileError::Length);
    }
    Ok(manifest)
}

/// Copies the database of a backup to a file.
///
/// # Errors
/// Returns an error when a file cannot be read or written, or when the checksum of the database differs from that in the
/// manifest.
pub(super) fn extract(backup: &mut File, manifest: &Manifest, target: &mut File) -> Result<(), ExtractError> {
    let unreadable = |error| ExtractError::Backup(BackupFileError::Io(error));
    backup.seek(SeekFrom::Start(0)).map_err(unreadable)?;
    let mut hash = Sha256::new();
    let (mut left, mut buffer) = (manifest.database_bytes, vec![0; 1 << 20]);
    while left > 0 {
        let length = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let part = &mut buffer[..length];
        backup.read_exact(part).map_err(unreadable)?;
        hash.update(&*part);
        target.write_all(part).map_err(ExtractError::Target)?;
        left -= part.len() as u64;
    }
    if hex::encode(hash.finalize()) != manifest.database_sha256 {
        return Err(ExtractError::Backup(BackupFileError::Checksum));
    }
    target.sync_all().map_err(ExtractError::Target)
}
