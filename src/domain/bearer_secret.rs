//! Generates and checks the secrets that clients send as bearer tokens: a prefix, 32 random letters and digits, and a checksum of
//! six characters.
//!
//! Because of the checksum, mistyped and random strings are rejected without a database query, and secret scanners can
//! detect a leaked secret. The checksum is not a security feature.

use rand::TryRng;
use rand::rngs::SysRng;
use secrecy::SecretString;
use sha2::{Digest, Sha256};

/// The prefix of the secrets of API keys of live workspaces.
pub(super) const LIVE_KEY: &str = "svc_live_";
/// The prefix of the secrets of API keys of test workspaces. It tells people what a key is for; what it can reach depends on its
/// workspace.
pub(super) const TEST_KEY: &str = "svc_test_";
/// The prefix of the secrets of platform tokens.
pub(super) const PLATFORM_TOKEN: &str = "svc_plat_";
/// Number of characters between the prefix and the checksum.
const RANDOM_LENGTH: usize = 32;
/// Number of characters of the checksum.
const CHECKSUM_LENGTH: usize = 6;

/// The base 62 digits by value.
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Generates a secret with this prefix, with the operating system's random generator.
///
/// # Errors
/// Returns an error when the random generator fails.
pub(super) fn generate(prefix: &str) -> anyhow::Result<SecretString> {
    let mut secret = String::with_capacity(prefix.len() + RANDOM_LENGTH + CHECKSUM_LENGTH);
    secret.push_str(prefix);
    while secret.len() < prefix.len() + RANDOM_LENGTH {
        let mut block = [0; 64];
        SysRng.try_fill_bytes(&mut block)?;
        let missing = prefix.len() + RANDOM_LENGTH - secret.len();
        secret.extend(block.into_iter().filter_map(base62_digit).take(missing));
    }
    let checksum = checksum(&secret);
    secret.extend(checksum.map(char::from));
    Ok(SecretString::from(secret))
}

/// Returns the base 62 digit of a random byte. `None` for the bytes from 248, which would make the first 8 digits more
/// likely than the others.
fn base62_digit(byte: u8) -> Option<char> {
    (byte < 248).then(|| char::from(BASE62[usize::from(byte) % BASE62.len()]))
}

/// Returns whether a string has the format of a secret with this prefix and a correct checksum.
pub(super) fn is_well_formed(prefix: &str, text: &str) -> bool {
    let length = prefix.len() + RANDOM_LENGTH + CHECKSUM_LENGTH;
    let has_format = text.len() == length
        && text.starts_with(prefix)
        && text.bytes().skip(prefix.len()).all(|b| b.is_ascii_alphanumeric());
    has_format && text.as_bytes().ends_with(&checksum(&text[..length - CHECKSUM_LENGTH]))
}

/// Returns the CRC-32 of a string, in base 62 with leading zeros.
fn checksum(text: &str) -> [u8; CHECKSUM_LENGTH] {
    let mut remaining = crc32fast::hash(text.as_bytes());
    let mut digits = [b'0'; CHECKSUM_LENGTH];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[(remaining % 62) as usize];
        remaining /= 62;
    }
    digits
}

/// Returns the SHA-256 digest of a secret, which is stored and used to find its record.
pub(super) fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;
    use secrecy::ExposeSecret;

    use super::*;

    /// The prefix and random part of a secret, whose checksum was computed independently of this code.
    const WITHOUT_CHECKSUM: &str = "svc_live_00000000000000000000000000000000";

    #[test]
    fn generated_secrets_are_well_formed_and_unique() {
        let secrets: HashSet<String> =
            (0..200).map(|_| generate(LIVE_KEY).unwrap().expose_secret().to_owned()).collect();
        assert_eq!(secrets.len(), 200);
        for secret in &secrets {
            assert!(secret.len() == 47 && is_well_formed(LIVE_KEY, secret), "{secret}");
        }
        let characters: HashSet<char> = secrets.iter().flat_map(|secret| secret[9..41].chars()).collect();
        assert_eq!(characters.len(), 62, "every letter and digit occurs");
    }

    #[test]
    fn a_secret_is_well_formed_for_its_prefix_only() {
        let token = generate(PLATFORM_TOKEN).unwrap();
        assert!(is_well_formed(PLATFORM_TOKEN, token.expose_secret()));
        assert!(!is_well_formed(LIVE_KEY, token.expose_secret()));
        let test = generate(TEST_KEY).unwrap();
        assert!(
            is_well_formed(TEST_KEY, test.expose_secret()) && !is_well_formed(LIVE_KEY, test.expose_secret())
        );
    }

    #[test]
    fn every_digit_is_equally_likely() {
        let mut counts = std::collections::HashMap::new();
        for base62_digit in (0..=u8::MAX).filter_map(base62_digit) {
            *counts.entry(base62_digit).or_insert(0) += 1;
        }
        assert!(counts.len() == 62 && counts.values().all(|count| *count == 4));
    }

    #[test]
    fn the_checksum_is_crc_32_in_base_62() {
        assert_eq!(&checksum(WITHOUT_CHECKSUM), b"3uclD9");
        assert_eq!(&checksum("123456789"), b"3jZRME");
    }

    proptest! {
        #[test]
        fn one_wrong_character_is_detected(position in 0_usize..47, replacement in "[0-9A-Za-z]") {
            let checksum = checksum(WITHOUT_CHECKSUM).map(char::from).iter().collect::<String>();
            let secret = format!("{WITHOUT_CHECKSUM}{checksum}");
            let mut changed = secret.clone();
            changed.replace_range(position..=position, &replacement);
            prop_assert_eq!(is_well_formed(LIVE_KEY, &changed), changed == secret);
        }

        #[test]
        fn arbitrary_input_is_rejected_without_a_panic(text in "\\PC{0,60}") {
            prop_assert!(!is_well_formed(LIVE_KEY, &text));
        }
    }
}
