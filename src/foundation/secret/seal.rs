//! Encryption of stored secrets with XChaCha20-Poly1305 and a derived key. Each secret is bound to the record that owns
//! it.

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use rand::TryRng;
use secrecy::ExposeSecret;
use secrecy::zeroize::Zeroizing;

use super::{MasterKey, Purpose, SecretKey};

/// The version of the format, which is the first byte of an encrypted secret.
const FORMAT_VERSION: u8 = 1;
/// The length of the random nonce.
const NONCE_BYTES: usize = 24;

/// Encrypts and decrypts secrets stored in the database, for one purpose.
#[derive(Debug)]
pub struct Seal(SecretKey);

/// The error of encrypting or decrypting a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The secret was modified, belongs to another owner, was encrypted with another key, or has another format
    /// version.
    #[error(
        "a stored secret cannot be decrypted with this server's master key; it was modified, or encrypted with another key"
    )]
    Invalid,
    /// The random number generator of the system failed.
    #[error("the system's random number generator failed: {0}")]
    Random(String),
}

impl Seal {
    /// Creates a seal with the derived key of this purpose.
    pub fn new(master: &MasterKey, purpose: Purpose) -> Self {
        Self(master.derive(purpose))
    }

    /// Encrypts a secret. It can only be decrypted with the same `owner`, the id of its record, so it cannot be moved
    /// to another record.
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
        let encrypted =
            self.cipher().encrypt(&XNonce::from(nonce), payload).map_err(|_| SealError::Invalid)?;
        Ok([&[FORMAT_VERSION][..], &nonce, &encrypted].concat())
    }

    /// Decrypts a secret that [`encrypt`](Self::encrypt) returned for this owner.
    ///
    /// # Errors
    /// Returns [`SealError::Invalid`] when the secret, the owner or the key is different.
    pub fn decrypt(&self, encrypted: &[u8], owner: &[u8]) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let (&FORMAT_VERSION, nonce_and_ciphertext) = encrypted.split_first().ok_or(SealError::Invalid)?
        else {
            return Err(SealError::Invalid);
        };
        let (nonce, ciphertext) =
            nonce_and_ciphertext.split_first_chunk::<NONCE_BYTES>().ok_or(SealError::Invalid)?;
        let payload = Payload { msg: ciphertext, aad: owner };
        let secret = self.cipher().decrypt(&XNonce::from(*nonce), payload).map_err(|_| SealError::Invalid)?;
        Ok(Zeroizing::new(secret))
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(self.0.expose_secret().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a seal whose master key repeats one byte 32 times. `byte` is its two hexadecimal digits.
    fn seal(byte: &str) -> Seal {
        Seal::new(&MasterKey::from_hex(&byte.repeat(32), "the test").unwrap(), Purpose::WebhookSecrets)
    }

    #[test]
    fn a_secret_can_only_be_decrypted_for_its_owner() {
        let sealer = seal("01");
        let encrypted = sealer.encrypt(b"whsec_abc", b"owner").unwrap();
        assert_eq!(sealer.decrypt(&encrypted, b"owner").unwrap().as_slice(), b"whsec_abc");
        assert!(!encrypted.windows(5).any(|part| part == b"whsec"));
        assert_ne!(
            sealer.encrypt(b"whsec_abc", b"owner").unwrap(),
            encrypted,
            "each encryption uses a new nonce"
        );
        assert_eq!(sealer.decrypt(&encrypted, b"other").unwrap_err(), SealError::Invalid);
        assert_eq!(seal("02").decrypt(&encrypted, b"owner").unwrap_err(), SealError::Invalid);
    }

    #[test]
    fn a_modified_secret_cannot_be_decrypted() {
        let sealer = seal("01");
        let encrypted = sealer.encrypt(b"secret", b"").unwrap();
        for position in 0..encrypted.len() {
            let mut modified = encrypted.clone();
            modified[position] ^= 1;
            assert_eq!(sealer.decrypt(&modified, b"").unwrap_err(), SealError::Invalid, "byte {position}");
            assert_eq!(
                sealer.decrypt(&encrypted[..position], b"").unwrap_err(),
                SealError::Invalid,
                "truncated at {position}"
            );
        }
    }
}
