//! The server's master key, what is derived from it, and what is encrypted with that.
//!
//! Owns the key's file in the data folder and the list of purposes. The key itself is never used directly, never shown
//! and wiped from memory when dropped. Whether it is the key that the data was made with is asked by its
//! [fingerprint](MasterKey::fingerprint), which reveals nothing of it.

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

pub use seal::{Broken, Seal};

/// The key's file in the data folder.
pub const KEY_FILE: &str = "master.key";

/// Thirty-two secret bytes, wiped from memory when dropped.
pub type Key = SecretBox<[u8; 32]>;

/// What a derived key is for; one key never serves two purposes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Authenticates the cursors of lists.
    Cursor,
    /// Tells one master key from another.
    Fingerprint,
    /// Encrypts the secrets that webhooks are signed with.
    WebhookSecrets,
}

impl Purpose {
    /// The text that sets this purpose apart; never changed once keys were derived with it.
    fn label(self) -> &'static [u8] {
        match self {
            Self::Cursor => b"creator-api/v1/cursor",
            Self::Fingerprint => b"creator-api/v1/fingerprint",
            Self::WebhookSecrets => b"creator-api/v1/webhook-secrets",
        }
    }
}

/// Why there is no master key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The text is not 64 hexadecimal digits.
    #[error("{place} does not hold 64 hexadecimal digits; put the right key there")]
    Malformed {
        /// Where the text stands.
        place: String,
    },
    /// The file cannot be read or made.
    #[error("cannot use the master key's file {}: {cause}; make its folder writable, or name another with --data-dir", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// The system's generator gives nothing.
    #[error("the system gives no random bytes for a master key: {0}")]
    Random(String),
}

/// The server's master key.
#[derive(Debug)]
pub struct MasterKey(Key);

impl MasterKey {
    /// Reads 64 hexadecimal digits; `place` names where they stand.
    ///
    /// # Errors
    /// [`KeyError::Malformed`], which does not repeat the text.
    pub fn from_hex(text: &str, place: &str) -> Result<Self, KeyError> {
        let malformed = || KeyError::Malformed { place: place.to_owned() };
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

    /// The key in the data folder; `None` when there is none yet.
    ///
    /// # Errors
    /// A file that cannot be read or holds something else.
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

    /// Makes a key and keeps it in the data folder, readable by its owner alone. When another process makes one at the
    /// same time, both get the same.
    ///
    /// # Errors
    /// A folder that cannot be written, or no random bytes.
    pub fn create(data_dir: &Path) -> Result<Self, KeyError> {
        let mut key = Zeroizing::new([0_u8; 32]);
        rand::rngs::SysRng
            .try_fill_bytes(key.as_mut_slice())
            .map_err(|error| KeyError::Random(error.to_string()))?;
        let mut text = Zeroizing::new(String::with_capacity(65));
        hex(key.as_slice(), &mut text);
        text.push('\n');
        let path = data_dir.join(KEY_FILE);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(data_dir)
            .map_err(|cause| KeyError::File { path: path.clone(), cause })?;
        write_private(&path, text.as_bytes())
            .map_err(|cause| KeyError::File { path: path.clone(), cause })?;
        Self::open(data_dir)?.ok_or_else(|| KeyError::File { path, cause: ErrorKind::NotFound.into() })
    }

    /// The key for one purpose: HKDF-Expand with SHA-256 (RFC 5869, 2.3), the master key being random already.
    pub fn derive(&self, purpose: Purpose) -> Key {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(self.0.expose_secret()).expect("a MAC takes a key of any length");
        mac.update(purpose.label());
        mac.update(&[1]);
        let mut bytes = mac.finalize().into_bytes();
        let key = SecretBox::init_with_mut(|key: &mut [u8; 32]| key.copy_from_slice(&bytes));
        bytes.as_mut_slice().zeroize();
        key
    }

    /// Names this key without revealing it: 32 hexadecimal digits, kept with the data.
    pub fn fingerprint(&self) -> String {
        let mut text = String::with_capacity(32);
        hex(&self.derive(Purpose::Fingerprint).expose_secret()[..16], &mut text);
        text
    }
}

/// Appends the bytes as hexadecimal digits.
fn hex(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
}

/// Puts a file of mode 0600 in place, whole and on disk, or not at all. A file that stands there already is left.
///
/// # Errors
/// What the system says.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.join(format!(".{name}.{}", std::process::id()));
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        file.write_all(content)?;
        file.sync_all()?;
        match fs::hard_link(&draft, path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        }
    })();
    let removed = fs::remove_file(&draft);
    written?;
    removed?;
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_kept_for_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        assert!(MasterKey::open(folder.path()).unwrap().is_none());
        let made = MasterKey::create(folder.path()).unwrap();
        let mode = fs::metadata(folder.path().join(KEY_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let again = MasterKey::create(folder.path()).unwrap();
        let opened = MasterKey::open(folder.path()).unwrap().unwrap();
        assert_eq!(made.fingerprint(), again.fingerprint());
        assert_eq!(made.fingerprint(), opened.fingerprint());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn each_purpose_has_a_key_of_its_own() {
        let key = MasterKey::from_hex(&"00".repeat(32), "the test").unwrap();
        let other = MasterKey::from_hex(&"01".repeat(32), "the test").unwrap();
        let derived = |key: &MasterKey, purpose| *key.derive(purpose).expose_secret();
        assert_ne!(derived(&key, Purpose::Cursor), derived(&key, Purpose::Fingerprint));
        assert_ne!(derived(&key, Purpose::Cursor), derived(&other, Purpose::Cursor));
        insta::assert_snapshot!(key.fingerprint(), @"5186e075147b7098ca9a4977c6a4e395");
    }

    #[test]
    fn a_damaged_key_is_refused_and_not_repeated() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(KEY_FILE), "0f0f").unwrap();
        let message = MasterKey::open(folder.path()).unwrap_err().to_string();
        assert!(message.ends_with("master.key does not hold 64 hexadecimal digits; put the right key there"));
        assert!(!message.contains("0f0f"));
    }
}
