//! Secrets encrypted for keeping: XChaCha20-Poly1305 under a derived key, each bound to what it belongs to.

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use rand::TryRng;
use secrecy::ExposeSecret;
use secrecy::zeroize::Zeroizing;

use super::{Key, MasterKey, Purpose};

/// The first byte of what is sealed this way.
const FORM: u8 = 1;
/// Bytes of the nonce, random each time: long enough that none comes twice.
const NONCE: usize = 24;

/// Encrypts and decrypts what is kept in the database, for one purpose.
#[derive(Debug)]
pub struct Seal(Key);

/// Why a sealed secret cannot be opened, or nothing be sealed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// It was changed, belongs elsewhere, or was sealed under another key.
    #[error(
        "a stored secret does not open with this server's master key; it was changed, or moved from elsewhere"
    )]
    Sealed,
    /// The system's generator gives nothing.
    #[error("the system gives no random bytes: {0}")]
    Random(String),
}

impl Seal {
    /// Seals with the master key's part for this purpose.
    pub fn new(master: &MasterKey, purpose: Purpose) -> Self {
        Self(master.derive(purpose))
    }

    /// Encrypts a secret; it opens only with the same `owner`, so that it cannot be put in another's place.
    ///
    /// # Errors
    /// [`Broken::Random`] when the system's generator fails.
    pub fn close(&self, secret: &[u8], owner: &[u8]) -> Result<Vec<u8>, Broken> {
        let mut nonce = [0; NONCE];
        rand::rngs::SysRng.try_fill_bytes(&mut nonce).map_err(|error| Broken::Random(error.to_string()))?;
        let payload = Payload { msg: secret, aad: owner };
        let sealed = self.cipher().encrypt(&XNonce::from(nonce), payload).map_err(|_| Broken::Sealed)?;
        Ok([&[FORM][..], &nonce, &sealed].concat())
    }

    /// Decrypts what [`close`](Self::close) made for this owner.
    ///
    /// # Errors
    /// [`Broken::Sealed`] when it is anything else.
    pub fn open(&self, sealed: &[u8], owner: &[u8]) -> Result<Zeroizing<Vec<u8>>, Broken> {
        let (&FORM, rest) = sealed.split_first().ok_or(Broken::Sealed)? else { return Err(Broken::Sealed) };
        let (nonce, rest) = rest.split_first_chunk::<NONCE>().ok_or(Broken::Sealed)?;
        let payload = Payload { msg: rest, aad: owner };
        let secret = self.cipher().decrypt(&XNonce::from(*nonce), payload).map_err(|_| Broken::Sealed)?;
        Ok(Zeroizing::new(secret))
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(self.0.expose_secret().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seal(byte: &str) -> Seal {
        Seal::new(&MasterKey::from_hex(&byte.repeat(32), "the test").unwrap(), Purpose::WebhookSecrets)
    }

    #[test]
    fn what_is_closed_opens_for_its_owner_alone() {
        let one = seal("01");
        let closed = one.close(b"whsec_abc", b"owner").unwrap();
        assert_eq!(one.open(&closed, b"owner").unwrap().as_slice(), b"whsec_abc");
        assert!(!closed.windows(5).any(|part| part == b"whsec"));
        assert_ne!(one.close(b"whsec_abc", b"owner").unwrap(), closed, "each time another nonce");
        assert_eq!(one.open(&closed, b"other").unwrap_err(), Broken::Sealed);
        assert_eq!(seal("02").open(&closed, b"owner").unwrap_err(), Broken::Sealed);
    }

    #[test]
    fn whatever_was_changed_does_not_open() {
        let one = seal("01");
        let closed = one.close(b"secret", b"").unwrap();
        for place in 0..closed.len() {
            let mut changed = closed.clone();
            changed[place] ^= 1;
            assert_eq!(one.open(&changed, b"").unwrap_err(), Broken::Sealed, "byte {place}");
            assert_eq!(one.open(&closed[..place], b"").unwrap_err(), Broken::Sealed, "cut at {place}");
        }
    }
}
