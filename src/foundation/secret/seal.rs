//! Encryption of stored secrets with XChaCha20-Poly1305 and a derived key. Each secret is bound to the record that owns
//! it.
//!
//! The first byte of an encrypted secret is the version of its format. Version 1 continues with the nonce and the ciphertext.
//! Version 2 has the id of the key in front of these: the first bytes of its fingerprint. It is written only by a process with
//! several master keys, so that earlier releases can read what a process with one key writes.

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use rand::TryRng;
use secrecy::ExposeSecret;
use secrecy::zeroize::Zeroizing;

use super::{MasterKeys, Purpose, SecretKey};

/// The format without the id of the key.
const WITHOUT_KEY_ID: u8 = 1;
/// The format with the id of the key.
const WITH_KEY_ID: u8 = 2;
/// The length of the id of a key.
const KEY_ID_BYTES: usize = 8;
/// The length of the random nonce.
const NONCE_BYTES: usize = 24;

/// Encrypts and decrypts secrets stored in the database, for one purpose.
#[derive(Debug)]
pub struct Seal {
    /// One for each master key, in their order. The first one encrypts.
    keys: Vec<SealingKey>,
    fingerprint: String,
}

/// The key of one master key.
#[derive(Debug)]
struct SealingKey {
    id: [u8; KEY_ID_BYTES],
    key: SecretKey,
}

/// The error of encrypting or decrypting a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The secret was modified, belongs to another owner, was encrypted with another key, or has another format
    /// version.
    #[error(
        "a stored secret cannot be decrypted with this server's master key; it was modified, or encrypted with another key"
    )]
    Invalid,
    /// The secret was encrypted with a key that this process does not have.
    #[error(
        "a stored secret was encrypted with the master key whose fingerprint begins with {0}, which this server does not have"
    )]
    UnknownKey(String),
    /// The random number generator of the system failed.
    #[error("the system's random number generator failed: {0}")]
    Random(String),
}

/// The result of [`Seal::reseal`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resealed {
    /// The secret is already encrypted with the first key.
    Unchanged,
    /// The same secret, encrypted with the first key.
    New(Vec<u8>),
}

impl Seal {
    /// Creates a seal with the derived keys of this purpose.
    pub fn new(master: &MasterKeys, purpose: Purpose) -> Self {
        let ids = master.derive_all(Purpose::Fingerprint);
        let keys = ids.iter().zip(master.derive_all(purpose)).map(|(fingerprint, key)| {
            let mut id = [0; KEY_ID_BYTES];
            id.copy_from_slice(&fingerprint.expose_secret()[..KEY_ID_BYTES]);
            SealingKey { id, key }
        });
        Self { keys: keys.collect(), fingerprint: master.fingerprint() }
    }

    /// Returns the fingerprint of the master key that encrypts.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Encrypts a secret with the first key. It can only be decrypted with the same `owner`, the id of its record, so it
    /// cannot be moved to another record.
    ///
    /// # Errors
    /// Returns [`SealError::Random`] when the random number generator fails, and [`SealError::Invalid`] when the secret
    /// is longer than the cipher allows (256 GiB).
    pub fn encrypt(&self, secret: &[u8], owner: &[u8]) -> Result<Vec<u8>, SealError> {
        let mut nonce = [0; NONCE_BYTES];
        rand::rngs::SysRng
            .try_fill_bytes(&mut nonce)
            .map_err(|error| SealError::Random(error.to_string()))?;
        let payload = Payload { msg: secret, aad: owner };
        let first = &self.keys[0];
        let encrypted =
            first.cipher().encrypt(&XNonce::from(nonce), payload).map_err(|_| SealError::Invalid)?;
        Ok(match self.keys.len() {
            1 => [&[WITHOUT_KEY_ID][..], &nonce, &encrypted].concat(),
            _ => [&[WITH_KEY_ID][..], &first.id, &nonce, &encrypted].concat(),
        })
    }

    /// Decrypts a secret that [`encrypt`](Self::encrypt) returned for this owner, with any of the keys.
    ///
    /// # Errors
    /// Returns [`SealError::Invalid`] when the secret, the owner or the key is different, and [`SealError::UnknownKey`] when
    /// the key is known to be a different one.
    pub fn decrypt(&self, encrypted: &[u8], owner: &[u8]) -> Result<Zeroizing<Vec<u8>>, SealError> {
        self.open(encrypted, owner).map(|(_, secret)| secret)
    }

    /// Returns whether a secret is encrypted with the first key.
    ///
    /// # Errors
    /// Returns the errors of [`decrypt`](Self::decrypt).
    pub fn uses_first_key(&self, encrypted: &[u8], owner: &[u8]) -> Result<bool, SealError> {
        self.open(encrypted, owner).map(|(index, _)| index == 0)
    }

    /// Encrypts a secret again if it is not encrypted with the first key.
    ///
    /// # Errors
    /// Returns the errors of [`decrypt`](Self::decrypt) and [`encrypt`](Self::encrypt).
    pub fn reseal(&self, encrypted: &[u8], owner: &[u8]) -> Result<Resealed, SealError> {
        Ok(match self.open(encrypted, owner)? {
            (0, _) => Resealed::Unchanged,
            (_, secret) => Resealed::New(self.encrypt(&secret, owner)?),
        })
    }

    /// Decrypts a secret. Also returns the index of the key that it was encrypted with.
    fn open(&self, encrypted: &[u8], owner: &[u8]) -> Result<(usize, Zeroizing<Vec<u8>>), SealError> {
        let (version, content) = encrypted.split_first().ok_or(SealError::Invalid)?;
        match *version {
            WITHOUT_KEY_ID => {
                let opened = self.keys.iter().map(|key| key.open(content, owner)).enumerate();
                opened
                    .filter_map(|(index, secret)| Some((index, secret.ok()?)))
                    .next()
                    .ok_or(SealError::Invalid)
            }
            WITH_KEY_ID => {
                let (id, content) = content.split_first_chunk::<KEY_ID_BYTES>().ok_or(SealError::Invalid)?;
                let index = self.keys.iter().position(|key| key.id == *id);
                let index = index.ok_or_else(|| SealError::UnknownKey(hex::encode(id)))?;
                Ok((index, self.keys[index].open(content, owner)?))
            }
            _ => Err(SealError::Invalid),
        }
    }
}

impl SealingKey {
    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(self.key.expose_secret().into())
    }

    /// Decrypts a nonce and the ciphertext after it.
    fn open(&self, content: &[u8], owner: &[u8]) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let (nonce, ciphertext) = content.split_first_chunk::<NONCE_BYTES>().ok_or(SealError::Invalid)?;
        let payload = Payload { msg: ciphertext, aad: owner };
        let secret = self.cipher().decrypt(&XNonce::from(*nonce), payload).map_err(|_| SealError::Invalid)?;
        Ok(Zeroizing::new(secret))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a seal with these master keys, each of which repeats one byte 32 times. `bytes` are their hexadecimal digits.
    fn seal(bytes: &[&str]) -> Seal {
        let keys: Vec<String> = bytes.iter().map(|byte| byte.repeat(32)).collect();
        Seal::new(&MasterKeys::parse(&keys.join("\n"), "the test").unwrap(), Purpose::WebhookSecrets)
    }

    #[test]
    fn a_secret_can_only_be_decrypted_for_its_owner() {
        let sealer = seal(&["01"]);
        let encrypted = sealer.encrypt(b"whsec_abc", b"owner").unwrap();
        assert_eq!(sealer.decrypt(&encrypted, b"owner").unwrap().as_slice(), b"whsec_abc");
        assert!(!encrypted.windows(5).any(|part| part == b"whsec"));
        assert_ne!(
            sealer.encrypt(b"whsec_abc", b"owner").unwrap(),
            encrypted,
            "each encryption uses a new nonce"
        );
        assert_eq!(sealer.decrypt(&encrypted, b"other").unwrap_err(), SealError::Invalid);
        assert_eq!(seal(&["02"]).decrypt(&encrypted, b"owner").unwrap_err(), SealError::Invalid);
    }

    #[test]
    fn a_modified_secret_cannot_be_decrypted() {
        for sealer in [seal(&["01"]), seal(&["01", "02"])] {
            let encrypted = sealer.encrypt(b"secret", b"").unwrap();
            for position in 0..encrypted.len() {
                let mut modified = encrypted.clone();
                modified[position] ^= 1;
                assert!(sealer.decrypt(&modified, b"").is_err(), "byte {position}");
                assert!(sealer.decrypt(&encrypted[..position], b"").is_err(), "truncated at {position}");
            }
        }
    }

    #[test]
    fn the_first_key_encrypts_and_every_key_decrypts() {
        let (old, both, new) = (seal(&["01"]), seal(&["02", "01"]), seal(&["02"]));
        let by_old = old.encrypt(b"secret", b"owner").unwrap();
        assert_eq!(by_old[0], WITHOUT_KEY_ID, "earlier releases can read it");
        let Resealed::New(by_new) = both.reseal(&by_old, b"owner").unwrap() else { panic!("not resealed") };
        assert_eq!(both.reseal(&by_new, b"owner").unwrap(), Resealed::Unchanged);
        assert_eq!(both.uses_first_key(&by_old, b"owner"), Ok(false));
        assert_eq!(both.uses_first_key(&by_new, b"owner"), Ok(true));
        assert_eq!(new.decrypt(&by_new, b"owner").unwrap().as_slice(), b"secret");
        assert_eq!(seal(&["01", "02"]).decrypt(&by_new, b"owner").unwrap().as_slice(), b"secret");
        let without_key = old.decrypt(&by_new, b"owner").unwrap_err();
        assert!(matches!(&without_key, SealError::UnknownKey(id) if new.fingerprint().starts_with(id)));
        assert_eq!(both.reseal(&by_old, b"other").unwrap_err(), SealError::Invalid);
        // A process with one key again writes the first format, which the next rotation reads.
        let later = new.encrypt(b"secret", b"owner").unwrap();
        assert_eq!(seal(&["02", "03"]).reseal(&later, b"owner").unwrap(), Resealed::Unchanged);
    }
}
