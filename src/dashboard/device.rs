//! Recognizes a browser that signed in to an account before, by a cookie.
//!
//! The cookie contains a random id and its MAC, which is bound to the account and its password. It is not a credential: attempts
//! to sign in with it only have a limit of their own, so that strangers cannot lock the browser out.

use anyhow::Context;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use domain::users::PasswordVersion;
use foundation::secret::SecretKey;
use hmac::{Hmac, KeyInit, Mac};
use rand::TryRng;
use rand::rngs::SysRng;
use secrecy::ExposeSecret;
use sha2::Sha256;

/// Size in bytes of the id in front of the MAC.
const ID_BYTES: usize = 16;
/// Size in bytes of the id and the MAC together.
const BYTES: usize = ID_BYTES + 32;
/// Length of the cookie in characters.
const COOKIE_LENGTH: usize = BYTES / 3 * 4;

/// Returns the cookie of a new device.
///
/// # Errors
/// Returns an error when the system provides no random bytes.
pub(super) fn new_cookie(key: &SecretKey, version: &PasswordVersion) -> anyhow::Result<String> {
    let mut bytes = vec![0; ID_BYTES];
    SysRng.try_fill_bytes(&mut bytes).context("the system's random number generator failed")?;
    let tag = mac(key, version, &bytes).finalize().into_bytes();
    bytes.extend_from_slice(&tag);
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// The decoded content of a cookie, which [`id`] verifies.
pub(super) struct DeviceCookie([u8; BYTES]);

impl DeviceCookie {
    /// Decodes a cookie. `None` if it has another length or is not Base64.
    pub(super) fn decode(cookie: &str) -> Option<Self> {
        if cookie.len() != COOKIE_LENGTH {
            return None;
        }
        BASE64_URL_SAFE_NO_PAD.decode(cookie).ok()?.try_into().ok().map(Self)
    }
}

/// Returns the id of the device in a cookie that was created for this account and password. `None` if the cookie is not valid.
pub(super) fn id(key: &SecretKey, version: &PasswordVersion, cookie: &DeviceCookie) -> Option<u128> {
    let (id, tag) = cookie.0.split_first_chunk::<ID_BYTES>()?;
    mac(key, version, id).verify_slice(tag).ok()?;
    Some(u128::from_be_bytes(*id))
}

fn mac(key: &SecretKey, version: &PasswordVersion, id: &[u8]) -> Hmac<Sha256> {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(key.expose_secret()).expect("HMAC accepts keys of any length");
    mac.update(version.as_bytes());
    mac.update(id);
    mac
}
