//! Verifies the signature of a webhook. Requires `hmac = "0.13"` and `sha2 = "0.11"`.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const TOLERANCE_SECONDS: u64 = 300;

/// Returns whether the signature is valid. `header` is X-SVC-Signature, `body` the raw bytes of the body, `secret` the
/// whole secret as it was shown, and `now` the Unix time in seconds.
pub fn verify(secret: &str, header: &str, body: &[u8], now: i64) -> bool {
    let values = |name: &'static str| {
        header.split(',').filter_map(move |part| part.strip_prefix(name)?.strip_prefix('='))
    };
    let mut timestamps = values("t");
    let (Some(timestamp), None) = (timestamps.next(), timestamps.next()) else { return false };
    let digits = timestamp.bytes().all(|byte| byte.is_ascii_digit());
    let Some(at) = timestamp.parse::<i64>().ok().filter(|_| digits) else { return false };
    if now.abs_diff(at) > TOLERANCE_SECONDS {
        return false;
    }
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC accepts keys of any length");
    mac.update(timestamp.as_bytes());
    mac.update(b".");
    mac.update(body);
    // `verify_slice` compares in constant time.
    values("v1").filter_map(decode_hex).any(|signature| mac.clone().verify_slice(&signature).is_ok())
}

/// Decodes lowercase hexadecimal digits.
fn decode_hex(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let pair = |pair: &[u8]| Some(digit(pair.first()?)? << 4 | digit(pair.get(1)?)?);
    hex.as_bytes().chunks(2).map(pair).collect()
}
