//! The secret of a key: `svc_live_`, 32 letters and digits nobody can guess, and a checksum of six.
//!
//! The checksum lets a mistyped or invented secret be refused without asking anybody, and lets scanners recognise
//! a leaked one. It protects nothing by itself.

use rand::TryRng;
use rand::rngs::SysRng;
use secrecy::SecretString;
use sha2::{Digest, Sha256};

/// What every secret begins with.
const PREFIX: &str = "svc_live_";
/// Characters between the prefix and the checksum.
const RANDOM: usize = 32;
/// Characters of the checksum.
const CHECKSUM: usize = 6;
/// Characters of a whole secret.
const LENGTH: usize = PREFIX.len() + RANDOM + CHECKSUM;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A new secret, from the system's generator.
///
/// # Errors
/// When the system's generator fails.
pub(super) fn generate() -> anyhow::Result<SecretString> {
    let mut secret = String::with_capacity(LENGTH);
    secret.push_str(PREFIX);
    while secret.len() < PREFIX.len() + RANDOM {
        let mut block = [0; 64];
        SysRng.try_fill_bytes(&mut block)?;
        let missing = PREFIX.len() + RANDOM - secret.len();
        secret.extend(block.into_iter().filter_map(letter).take(missing));
    }
    let checksum = checksum(&secret);
    secret.extend(checksum.map(char::from));
    Ok(SecretString::from(secret))
}

/// The letter of a random byte. The last 8 of 256 bytes have none: they would make the first 8 letters likelier.
fn letter(byte: u8) -> Option<char> {
    (byte < 248).then(|| char::from(BASE62[usize::from(byte) % BASE62.len()]))
}

/// Whether a text has the shape of a secret and the right checksum. The database need not be asked about others.
pub(super) fn well_formed(text: &str) -> bool {
    let shaped = text.len() == LENGTH
        && text.starts_with(PREFIX)
        && text.bytes().skip(PREFIX.len()).all(|b| b.is_ascii_alphanumeric());
    shaped && text.as_bytes().ends_with(&checksum(&text[..LENGTH - CHECKSUM]))
}

/// CRC-32 over the text, in base 62 with leading zeros.
fn checksum(text: &str) -> [u8; CHECKSUM] {
    let mut rest = crc32fast::hash(text.as_bytes());
    let mut digits = [b'0'; CHECKSUM];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    digits
}

/// What is stored of a secret, and what it is recognised by: SHA-256 of the whole.
pub(super) fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;
    use secrecy::ExposeSecret;

    use super::*;

    /// Computed independently of this code.
    const KNOWN: &str = "svc_live_00000000000000000000000000000000";

    #[test]
    fn a_new_secret_is_well_formed_and_never_the_same() {
        let secrets: HashSet<String> =
            (0..200).map(|_| generate().unwrap().expose_secret().to_owned()).collect();
        assert_eq!(secrets.len(), 200);
        for secret in &secrets {
            assert!(secret.len() == 47 && well_formed(secret), "{secret}");
        }
        let letters: HashSet<char> = secrets.iter().flat_map(|secret| secret[9..41].chars()).collect();
        assert_eq!(letters.len(), 62, "every letter occurs");
    }

    #[test]
    fn every_letter_has_as_many_bytes() {
        let mut counts = std::collections::HashMap::new();
        for letter in (0..=u8::MAX).filter_map(letter) {
            *counts.entry(letter).or_insert(0) += 1;
        }
        assert!(counts.len() == 62 && counts.values().all(|count| *count == 4));
    }

    #[test]
    fn the_checksum_is_crc_32_in_base_62() {
        assert_eq!(&checksum(KNOWN), b"3uclD9");
        assert_eq!(&checksum("123456789"), b"3jZRME");
    }

    proptest! {
        #[test]
        fn one_wrong_character_is_noticed(place in 0_usize..47, other in "[0-9A-Za-z]") {
            let mut secret = format!("{KNOWN}{}", checksum(KNOWN).map(char::from).iter().collect::<String>());
            let before = secret.clone();
            secret.replace_range(place..=place, &other);
            prop_assert_eq!(well_formed(&secret), secret == before);
        }

        #[test]
        fn whatever_is_presented_is_judged_without_a_panic(text in "\\PC{0,60}") {
            prop_assert!(!well_formed(&text));
        }
    }
}
