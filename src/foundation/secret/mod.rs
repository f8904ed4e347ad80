//! The master keys of the server, and the keys derived from them.
//!
//! A master key is only used to derive keys, one for each [`Purpose`], which lists everything that depends on it. It is never
//! shown, and zeroed in memory on drop. Its fingerprint, stored with the data, detects a wrong key without revealing it.
//!
//! A server has one master key, or several while it is rotated, see [`MasterKeys`].

mod master_keys;
mod seal;

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use hkdf::Hkdf;
use secrecy::{ExposeSecret, ExposeSecretMut, SecretBox};
use sha2::Sha256;
use tempfile::NamedTempFile;

use crate::data_folder::{FolderError, folder_of};
pub use master_keys::MasterKeys;
pub use seal::{Resealed, Seal, SealError};

/// Name of the master key file in the data folder.
pub const KEY_FILE: &str = "master.key";

/// A key of 32 bytes, zeroed in memory on drop.
pub type SecretKey = SecretBox<[u8; 32]>;

/// The purpose of a derived key. Each purpose has its own key.
///
/// Nothing else depends on the master key: API keys, sessions, password links, recovery codes and the fingerprints of idempotent
/// requests are stored as SHA-256 digests, passwords as Argon2 hashes, and the tokens of forms are authenticated with the session's token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Authenticates list cursors. A cursor is valid while the server has the key that it was issued with.
    Cursor,
    /// Identifies the master key, in the database and in backups.
    Fingerprint,
    /// Authenticates the cookies of devices that signed in before. With another first key, they are strangers until they sign in
    /// again.
    KnownDevices,
    /// Replaces account names by digests where sign-in attempts are counted, for 15 minutes. With another first key, the count
    /// of each account starts again.
    SignInAttempts,
    /// Encrypts the secrets of second factors, in `people.totp_secret`. They are encrypted again when the key is rotated.
    SecondFactors,
    /// Encrypts the cookies of a sign-in with several steps. With another key, the person starts again.
    SignInSteps,
    /// Encrypts stored responses that contain secrets, in `idempotency_records.body`, for 24 hours. They are not encrypted again when
    /// the key is rotated: without the key, a repeated request gets a 500 until the response expires.
    IdempotentResponses,
    /// Encrypts the signing secrets of webhooks in `webhook_secrets.ciphertext`, their private keys in
    /// `webhook_keys.ciphertext`, and their custom request headers in `webhook_subscriptions.headers`. All are encrypted again
    /// when the key is rotated.
    WebhookSecrets,
}

impl Purpose {
    /// All purposes.
    pub const ALL: [Self; 8] = [
        Self::Cursor,
        Self::Fingerprint,
        Self::KnownDevices,
        Self::SignInAttempts,
        Self::SecondFactors,
        Self::SignInSteps,
        Self::IdempotentResponses,
        Self::WebhookSecrets,
    ];

    /// Returns the HKDF label of this purpose. A label must not change, since that changes the derived key.
    fn label(self) -> &'static [u8] {
        match self {
            Self::Cursor => b"creator-api/v1/cursor",
            Self::Fingerprint => b"creator-api/v1/fingerprint",
            Self::KnownDevices => b"creator-api/v1/known-devices",
            Self::SignInAttempts => b"creator-api/v1/sign-in-attempts",
            Self::SecondFactors => b"creator-api/v1/second-factors",
            Self::SignInSteps => b"creator-api/v1/sign-in-steps",
            Self::IdempotentResponses => b"creator-api/v1/idempotent-responses",
            Self::WebhookSecrets => b"creator-api/v1/webhook-secrets",
        }
    }
}

/// The error of loading or creating the master key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The key is not 64 hexadecimal digits.
    #[error(
        "{location}: expected a master key of 64 hexadecimal digits, or several different ones, one per line"
    )]
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
    /// The data folder cannot be created.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The random number generator of the system failed.
    #[error("cannot generate a master key: the system's random number generator failed: {0}")]
    Random(String),
}

/// One master key.
#[derive(Debug)]
struct MasterKey(SecretKey);

impl MasterKey {
    /// Parses 64 hexadecimal digits. Returns `None` if the text is anything else.
    fn from_hex(text: &str) -> Option<Self> {
        let mut key: SecretKey = SecretBox::new(Box::new([0; 32]));
        hex::decode_to_slice(text, key.expose_secret_mut()).ok()?;
        Some(Self(key))
    }

    /// Derives the key for a purpose with HKDF-Expand and SHA-256 (RFC 5869, 2.3). HKDF-Extract is not needed, since
    /// the master key is already random.
    fn derive(&self, purpose: Purpose) -> SecretKey {
        let hkdf =
            Hkdf::<Sha256>::from_prk(self.0.expose_secret()).expect("as many bytes as SHA-256 returns");
        SecretBox::init_with_mut(|key: &mut [u8; 32]| {
            hkdf.expand(purpose.label(), key).expect("as many bytes as SHA-256 returns");
        })
    }

    /// Returns 32 hexadecimal digits that identify this key without revealing it.
    fn fingerprint(&self) -> String {
        hex::encode(&self.derive(Purpose::Fingerprint).expose_secret()[..16])
    }
}

/// Atomically creates a file with mode 0600 and syncs it to disk. If the file exists, it is not changed, and the call
/// succeeds.
///
/// # Errors
/// Returns the error of the system.
pub fn create_private_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = folder_of(path);
    // Its mode is 0600.
    let mut temporary = NamedTempFile::new_in(folder)?;
    temporary.write_all(content)?;
    temporary.as_file().sync_all()?;
    if let Err(error) = temporary.persist_noclobber(path)
        && error.error.kind() != ErrorKind::AlreadyExists
    {
        return Err(error.error);
    }
    File::open(folder)?.sync_all()
}
