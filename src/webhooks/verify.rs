//! Verifies the signature of a webhook, as its receiver does.
//!
//! Parses `X-SVC-Signature`. Needs only the raw bytes, the header, the secrets and the time; never reads a clock or a
//! setting, and never parses JSON.
//!
//! ```
//! use webhooks::verify::{TOLERANCE, VerifyError, verify};
//!
//! let header = "t=1767225600,v1=4b0e50321a08b2844c01ee099f28ec7e088f866cdabb05ec9e00c267b14b3d7c";
//! let secrets = ["whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="];
//! let body = br#"{"hello":"world"}"#;
//! assert_eq!(verify(body, header, &secrets, 1_767_225_660, TOLERANCE), Ok(1_767_225_600));
//! assert_eq!(verify(b"{}", header, &secrets, 1_767_225_660, TOLERANCE), Err(VerifyError::NoMatch));
//! ```

use std::time::Duration;

use hmac::Mac as _;
use subtle::ConstantTimeEq as _;

use super::sign::new_hmac;

/// The maximum difference between `t` and the receiver's clock, in either direction.
pub const TOLERANCE: Duration = Duration::from_secs(300);

/// Why a request was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The header has no `t`, more than one, or one that is not a number of seconds.
    #[error("the signature header must have one `t` in Unix seconds")]
    Malformed,
    /// `t` is too far in the past: an old request, sent again.
    #[error("the request is too old")]
    TooOld,
    /// `t` is too far in the future: one of the clocks is wrong.
    #[error("the request is from the future")]
    TooNew,
    /// No signature matches these bytes at this time with one of these secrets.
    #[error("no signature matches")]
    NoMatch,
}

/// Verifies that `header`, the value of `X-SVC-Signature`, proves that `body` comes from a holder of one of `secrets`.
///
/// `body` is the raw bytes as received, before any parsing; a secret is the whole string, including `whsec_`; it is not
/// decoded. `now` and the returned `t` are Unix seconds. Signatures are compared in constant time.
///
/// # Errors
/// Returns [`VerifyError`] when the request must be rejected: respond with 400 or 401 and do not process it.
pub fn verify(
    body: &[u8],
    header: &str,
    secrets: &[impl AsRef<str>],
    now: i64,
    tolerance: Duration,
) -> Result<i64, VerifyError> {
    let values = |expected: &'static str| {
        let fields = header.split(',').filter_map(|part| part.split_once('='));
        fields.filter(move |(name, _)| *name == expected).map(|(_, value)| value)
    };
    let mut timestamps = values("t");
    let (Some(timestamp), None) = (timestamps.next(), timestamps.next()) else {
        return Err(VerifyError::Malformed);
    };
    let signed_at = seconds(timestamp).ok_or(VerifyError::Malformed)?;
    let tolerance = i64::try_from(tolerance.as_secs()).unwrap_or(i64::MAX);
    match now.saturating_sub(signed_at) {
        age if age > tolerance => return Err(VerifyError::TooOld),
        age if age < -tolerance => return Err(VerifyError::TooNew),
        _ => {}
    }
    let mut matches = false;
    for secret in secrets {
        let mut mac = new_hmac(secret.as_ref().as_bytes());
        for part in [timestamp.as_bytes(), b".", body] {
            mac.update(part);
        }
        let expected = hex::encode(mac.finalize().into_bytes());
        for signature in values("v1") {
            matches |= bool::from(expected.as_bytes().ct_eq(signature.as_bytes()));
        }
    }
    if matches { Ok(signed_at) } else { Err(VerifyError::NoMatch) }
}

/// Parses digits only: no sign and no spaces.
fn seconds(text: &str) -> Option<i64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::TEST_VECTORS;

    #[test]
    fn the_published_vectors_are_accepted_or_rejected_as_stated() {
        let file: Value = serde_json::from_str(TEST_VECTORS).unwrap();
        let vectors = file["vectors"].as_array().unwrap();
        assert!(vectors.len() >= 30);
        assert_eq!(file["tolerance_seconds"], TOLERANCE.as_secs());
        for vector in vectors {
            let text = |name: &str| vector[name].as_str().unwrap_or_default();
            let now = vector["now"].as_i64().unwrap();
            let result =
                verify(text("body").as_bytes(), text("x_svc_signature"), &[text("secret")], now, TOLERANCE);
            let reason = match result {
                Ok(_) => "",
                Err(VerifyError::Malformed) => "malformed",
                Err(VerifyError::TooOld) => "too_old",
                Err(VerifyError::TooNew) => "too_new",
                Err(VerifyError::NoMatch) => "no_match",
            };
            assert_eq!((result.is_ok(), reason), (vector["valid"] == true, text("reject")), "{vector}");
        }
    }

    #[test]
    fn one_matching_secret_is_enough_and_an_empty_list_is_rejected() {
        let header = "t=1767225600,v1=4b0e50321a08b2844c01ee099f28ec7e088f866cdabb05ec9e00c267b14b3d7c";
        let secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
        let result = |secrets: &[&str]| {
            verify(br#"{"hello":"world"}"#, header, secrets, 1_767_225_600, Duration::ZERO)
        };
        assert_eq!(result(&["whsec_other", secret]), Ok(1_767_225_600));
        assert_eq!(result(&["whsec_other"]), Err(VerifyError::NoMatch));
        assert_eq!(result(&[]), Err(VerifyError::NoMatch));
    }

    #[test]
    fn extreme_times_are_rejected() {
        let result = |header: &str, now| verify(b"", header, &["whsec_AA=="], now, TOLERANCE);
        assert_eq!(result("t=9223372036854775807", 0), Err(VerifyError::TooNew));
        assert_eq!(result("t=9223372036854775808", 0), Err(VerifyError::Malformed));
        assert_eq!(result("t=0", i64::MAX), Err(VerifyError::TooOld));
        assert_eq!(result("t=0", i64::MIN), Err(VerifyError::TooNew));
    }
}
