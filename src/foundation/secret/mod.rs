//! The master key of the server, and the keys derived from it.
//!
//! The master key is only used to derive keys, one for each [`Purpose`]. It is never shown, and zeroed in memory on
//! drop. Its [fingerprint](MasterKey::fingerprint), stored with the data, detects a wrong key without revealing it.

mod seal;

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit, Mac};
use rand::TryRng;
use secrecy::zeroize::{Zeroize, Zeroizing};
use secrecy::{ExposeSecret, SecretBox};
use sha2::Sha256;

pub use seal::{Seal, SealError};

/// Name of the master key file in the data folder.
pub const KEY_FILE: &str = "master.key";

/// A key of 32 bytes, zeroed in memory on drop.
pub type SecretKey = SecretBox<[u8; 32]>;

/// The purpose of a derived key. Each purpose has its own key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Authenticates list cursors.
    Cursor,
    /// Identifies the master key.
    Fingerprint,
    /// Replaces account names by digests where sign-in attempts are counted.
    SignInAttempts,
    /// Encrypts the signing secrets of webhooks.
    WebhookSecrets,
}

impl Purpose {
    /// Returns the HKDF label of this purpose. A label must not change, since that changes the derived key.
    fn label(self) -> &'static [u8] {
        match self {
            Self::Cursor => b"creator-api/v1/cursor",
            Self::Fingerprint => b"creator-api/v1/fingerprint",
            Self::SignInAttempts => b"creator-api/v1/sign-in-attempts",
            Self::WebhookSecrets => b"creator-api/v1/webhook-secrets",
        }
    }
}

/// The error of loading or creating the master key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The key is not 64 hexadecimal digits.
    #[error("{location}: expected a master key of 64 hexadecimal digits")]
    Malformed {
        /// Where the key was read from.
        location: String,
    },
    /// The file cannot be read or created.
    #[error("cannot read or create the master key file {}: {cause}; make the file readable and its folder writable, or specify another folder with --data-dir", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// The random number generator of the system failed.
    #[error("cannot generate a master key: the system's random number generator failed: {0}")]
    Random(String),
}

/// The server's master key.
#[derive(Debug)]
pub struct MasterKey(SecretKey);

impl MasterKey {
    /// Parses 64 hexadecimal digits. `location` is where they were read from, for error messages.
    ///
    /// # Errors
    /// Returns [`KeyError::Malformed`], which does not contain the text.
    pub fn from_hex(text: &str, location: &str) -> Result<Self, KeyError> {
        let malformed = || KeyError::Malformed { location: location.to_owned() };
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(malformed());
        }
        let mut key = Box::new([0; 32]);
        for (byte, digits) in key.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| malformed())?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| malformed())?;
        }
        Ok(Self(SecretBox::new(key)))
    }

    /// Reads the key in the data folder. Returns `None` if the file does not exist.
    ///
    /// # Errors
    /// Returns [`KeyError`] when the file cannot be read or does not contain a key.
    pub fn open(data_dir: &Path) -> Result<Option<Self>, KeyError> {
        let path = data_dir.join(KEY_FILE);
        match fs::read_to_string(&path) {
            Ok(text) => {
                let text = Zeroizing::new(text);
                Self::from_hex(text.trim_end(), &path.display().to_string()).map(Some)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(KeyError::File { path, cause }),
        }
    }

    /// Creates the key file in the data folder, readable only by its owner, and returns the key. Also creates the
    /// folder if it does not exist. If the file exists, for example because another process has just created it,
    /// returns the key that it contains.
    ///
    /// # Errors
    /// Returns [`KeyError`] when the folder cannot be created or is not writable, when the random number generator
    /// fails, or when an existing file cannot be read or does not contain a key.
    pub fn create(data_dir: &Path) -> Result<Self, KeyError> {
        let mut key = Zeroizing::new([0_u8; 32]);
        rand::rngs::SysRng
            .try_fill_bytes(key.as_mut_slice())
            .map_err(|error| KeyError::Random(error.to_string()))?;
        let mut text = Zeroizing::new(String::with_capacity(65));
        push_hex(key.as_slice(), &mut text);
        text.push('\n');
        let path = data_dir.join(KEY_FILE);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(data_dir)
            .map_err(|cause| KeyError::File { path: path.clone(), cause })?;
        create_private_file(&path, text.as_bytes())
            .map_err(|cause| KeyError::File { path: path.clone(), cause })?;
        Self::open(data_dir)?.ok_or_else(|| KeyError::File { path, cause: ErrorKind::NotFound.into() })
    }

    /// Derives the key for a purpose with HKDF-Expand and SHA-256 (RFC 5869, 2.3). HKDF-Extract is not needed, since
    /// the master key is already random.
    pub fn derive(&self, purpose: Purpose) -> SecretKey {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(self.0.expose_secret()).expect("HMAC accepts keys of any length");
        mac.update(purpose.label());
        mac.update(&[1]);
        let mut bytes = mac.finalize().into_bytes();
        let key = SecretBox::init_with_mut(|key: &mut [u8; 32]| key.copy_from_slice(&bytes));
        bytes.as_mut_slice().zeroize();
        key
    }

    /// Returns 32 hexadecimal digits that identify this key without revealing it.
    pub fn fingerprint(&self) -> String {
        let mut text = String::with_capacity(32);
        push_hex(&self.derive(Purpose::Fingerprint).expose_secret()[..16], &mut text);
        text
    }
}

/// Appends bytes as hexadecimal digits.
fn push_hex(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
}

/// Atomically creates a file with mode 0600 and syncs it to disk. If the file exists, it is not changed, and the call
/// succeeds.
///
/// # Errors
/// Returns the error of the system.
pub fn create_private_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}", std::process::id()));
    let created = (|| {
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(content)?;
        file.sync_all()?;
        match fs::hard_link(&temporary, path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            result => result,
        }
    })();
    let removed = fs::remove_file(&temporary);
    created?;
    removed?;
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_created_once_and_readable_only_by_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        assert!(MasterKey::open(folder.path()).unwrap().is_none());
        let created = MasterKey::create(folder.path()).unwrap();
        let mode = fs::metadata(folder.path().join(KEY_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let second = MasterKey::create(folder.path()).unwrap();
        let opened = MasterKey::open(folder.path()).unwrap().unwrap();
        assert_eq!(created.fingerprint(), second.fingerprint());
        assert_eq!(created.fingerprint(), opened.fingerprint());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn each_purpose_has_its_own_key() {
        let key = MasterKey::from_hex(&"00".repeat(32), "the test").unwrap();
        let other_key = MasterKey::from_hex(&"01".repeat(32), "the test").unwrap();
        let derived = |key: &MasterKey, purpose| *key.derive(purpose).expose_secret();
        assert_ne!(derived(&key, Purpose::Cursor), derived(&key, Purpose::Fingerprint));
        assert_ne!(derived(&key, Purpose::Cursor), derived(&other_key, Purpose::Cursor));
        insta::assert_snapshot!(key.fingerprint(), @"5186e075147b7098ca9a4977c6a4e395");
    }

    #[test]
    fn a_malformed_key_is_rejected_without_being_shown() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(KEY_FILE), "0f0f").unwrap();
        let message = MasterKey::open(folder.path()).unwrap_err().to_string();
        assert!(message.ends_with("master.key: expected a master key of 64 hexadecimal digits"));
        assert!(!message.contains("0f0f"));
    }
}
