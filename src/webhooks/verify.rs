//! What a receiver does with a webhook before it believes it.
//!
//! Owns the reading of `X-SVC-Signature`. Needs nothing but the raw bytes, the header, the secrets and the time; never
//! reads a clock, a setting or the JSON.
//!
//! ```
//! use webhooks::verify::{Rejected, TOLERANCE, verify};
//!
//! let header = "t=1767225600,v1=4b0e50321a08b2844c01ee099f28ec7e088f866cdabb05ec9e00c267b14b3d7c";
//! let secrets = ["whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="];
//! let body = br#"{"hello":"world"}"#;
//! assert_eq!(verify(body, header, &secrets, 1_767_225_660, TOLERANCE), Ok(1_767_225_600));
//! assert_eq!(verify(b"{}", header, &secrets, 1_767_225_660, TOLERANCE), Err(Rejected::NoMatch));
//! ```

use std::time::Duration;

use hmac::Mac as _;
use subtle::ConstantTimeEq as _;

use super::sign::{hex, keyed};

/// How far `t` may be from the receiver's clock, in either direction (seed 6).
pub const TOLERANCE: Duration = Duration::from_secs(300);

/// Why a request is not to be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// The header has no `t`, more than one, or one that is no number of seconds.
    #[error("the signature header has no single `t` in Unix seconds")]
    Malformed,
    /// `t` lies too far back: an old request, sent again.
    #[error("the request is too old")]
    TooOld,
    /// `t` lies too far ahead: one of the clocks is wrong.
    #[error("the request is from the future")]
    TooNew,
    /// No signature is that of these bytes at this time with one of these secrets.
    #[error("no signature matches")]
    NoMatch,
}

/// Tells whether `header`, the value of `X-SVC-Signature`, proves that `body` comes from a holder of one of `secrets`.
///
/// `body` is the raw bytes as they came, before any parsing; a secret is the whole text as it was shown. `now` and the
/// result, `t`, are Unix seconds. Signatures are compared in constant time.
///
/// # Errors
/// [`Rejected`] says why not; answer such a request with 400 or 401 and do nothing else with it.
pub fn verify(
    body: &[u8],
    header: &str,
    secrets: &[impl AsRef<str>],
    now: i64,
    tolerance: Duration,
) -> Result<i64, Rejected> {
    let named = |wanted: &'static str| {
        header.split(',').filter_map(move |part| part.split_once('=').filter(|(name, _)| *name == wanted))
    };
    let mut stamps = named("t");
    let (Some((_, stamp)), None) = (stamps.next(), stamps.next()) else { return Err(Rejected::Malformed) };
    let at = seconds(stamp).ok_or(Rejected::Malformed)?;
    let tolerance = i64::try_from(tolerance.as_secs()).unwrap_or(i64::MAX);
    match now.saturating_sub(at) {
        late if late > tolerance => return Err(Rejected::TooOld),
        late if late < -tolerance => return Err(Rejected::TooNew),
        _ => {}
    }
    let mut matches = false;
    for secret in secrets {
        let mut mac = keyed(secret.as_ref().as_bytes());
        for part in [stamp.as_bytes(), b".", body] {
            mac.update(part);
        }
        let mut expected = String::with_capacity(64);
        hex(&mac.finalize().into_bytes(), &mut expected);
        for (_, signature) in named("v1") {
            matches |= bool::from(expected.as_bytes().ct_eq(signature.as_bytes()));
        }
    }
    if matches { Ok(at) } else { Err(Rejected::NoMatch) }
}

/// Digits and nothing else.
fn seconds(text: &str) -> Option<i64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::VECTORS;

    #[test]
    fn the_published_vectors_are_told_apart() {
        let file: Value = serde_json::from_str(VECTORS).unwrap();
        let vectors = file["vectors"].as_array().unwrap();
        assert!(vectors.len() >= 30);
        assert_eq!(file["tolerance_seconds"], TOLERANCE.as_secs());
        for vector in vectors {
            let text = |name: &str| vector[name].as_str().unwrap_or_default();
            let now = vector["now"].as_i64().unwrap();
            let told =
                verify(text("body").as_bytes(), text("x_svc_signature"), &[text("secret")], now, TOLERANCE);
            let reject = match told {
                Ok(_) => "",
                Err(Rejected::Malformed) => "malformed",
                Err(Rejected::TooOld) => "too_old",
                Err(Rejected::TooNew) => "too_new",
                Err(Rejected::NoMatch) => "no_match",
            };
            assert_eq!((told.is_ok(), reject), (vector["valid"] == true, text("reject")), "{vector}");
        }
    }

    #[test]
    fn one_of_several_secrets_is_enough_and_none_is_not() {
        let header = "t=1767225600,v1=4b0e50321a08b2844c01ee099f28ec7e088f866cdabb05ec9e00c267b14b3d7c";
        let secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
        let told = |secrets: &[&str]| {
            verify(br#"{"hello":"world"}"#, header, secrets, 1_767_225_600, Duration::ZERO)
        };
        assert_eq!(told(&["whsec_other", secret]), Ok(1_767_225_600));
        assert_eq!(told(&["whsec_other"]), Err(Rejected::NoMatch));
        assert_eq!(told(&[]), Err(Rejected::NoMatch));
    }

    #[test]
    fn times_at_the_end_of_the_range_are_judged() {
        let told = |header: &str, now| verify(b"", header, &["whsec_AA=="], now, TOLERANCE);
        assert_eq!(told("t=9223372036854775807", 0), Err(Rejected::TooNew));
        assert_eq!(told("t=9223372036854775808", 0), Err(Rejected::Malformed));
        assert_eq!(told("t=0", i64::MAX), Err(Rejected::TooOld));
        assert_eq!(told("t=0", i64::MIN), Err(Rejected::TooNew));
    }
}
