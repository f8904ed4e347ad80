//! The codes of a second factor: time-based ones (TOTP, RFC 6238), and recovery codes.

use rand::TryRng;
use rand::rngs::SysRng;
use secrecy::zeroize::Zeroizing;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use totp_rs::{Algorithm, Secret, TOTP};
use uuid::Uuid;

/// The length of a time step, in seconds.
pub const STEP_SECONDS: u64 = 30;
/// Number of recovery codes of a person.
pub const RECOVERY_CODES: usize = 10;

/// Number of digits of a code.
const DIGITS: usize = 6;
/// Number of steps by which the clock of the person's device may differ.
const TOLERATED_STEPS: u8 = 1;
/// Size of a secret: the length that RFC 4226, section 4, recommends.
const SECRET_BYTES: usize = 20;
/// Size of a recovery code. Its 80 random bits need no slow hash.
const RECOVERY_BYTES: usize = 10;
/// Number of characters of a recovery code, without its dashes.
const RECOVERY_CHARACTERS: usize = 16;

/// The secret of a second factor that is being set up.
pub struct NewSecret(Zeroizing<Vec<u8>>);

impl NewSecret {
    /// Generates a secret.
    ///
    /// # Errors
    /// Returns an error when the operating system's random generator fails.
    pub fn generate() -> anyhow::Result<Self> {
        Ok(Self(Zeroizing::new(random_bytes(SECRET_BYTES)?)))
    }

    /// Returns the secret with these bytes. `None` if a secret has another length.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        (bytes.len() == SECRET_BYTES).then(|| Self(Zeroizing::new(bytes.to_vec())))
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the secret as text that a person can type, in groups of four characters.
    pub fn text(&self) -> String {
        in_groups(&totp(&self.0, "", "").get_secret_base32(), " ")
    }

    /// Returns the `otpauth` URL that authenticator apps read from a QR code.
    pub fn url(&self, issuer: &str, account: &str) -> String {
        totp(&self.0, issuer, account).get_url()
    }

    /// Returns the code of the secret at this time, as an authenticator app shows it.
    pub fn code_at(&self, now_ms: i64) -> String {
        totp(&self.0, "", "").generate(u64::try_from(now_ms / 1000).unwrap_or(0))
    }
}

fn totp(secret: &[u8], issuer: &str, account: &str) -> TOTP {
    // Authenticator apps support nothing but SHA-1, six digits and 30 seconds everywhere.
    let (issuer, account) = (issuer.replace(':', " "), account.replace(':', " "));
    let algorithm = Algorithm::SHA1;
    let secret = secret.to_vec();
    TOTP::new_unchecked(algorithm, DIGITS, TOLERATED_STEPS, STEP_SECONDS, secret, Some(issuer), account)
}

/// Returns the step of a time-based code that is valid now. `None` if the code is wrong, or belongs to the last accepted step or an
/// earlier one, so that nobody can use a code twice.
pub(super) fn accepted_step(secret: &[u8], code: &str, now_ms: i64, last_step: Option<i64>) -> Option<i64> {
    let totp = totp(secret, "", "");
    let current = now_ms.div_euclid(1000).div_euclid(STEP_SECONDS.cast_signed());
    let tolerated = i64::from(TOLERATED_STEPS);
    let mut accepted = None;
    for step in current - tolerated..=current + tolerated {
        let expected = totp.generate(u64::try_from(step).unwrap_or(0) * STEP_SECONDS);
        let is_equal = bool::from(expected.as_bytes().ct_eq(code.as_bytes()));
        if is_equal && last_step.is_none_or(|last| step > last) {
            accepted.get_or_insert(step);
        }
    }
    accepted
}

/// Returns whether this is a time-based code, not a recovery code.
pub(super) fn is_time_based(code: &str) -> bool {
    code.len() == DIGITS && code.bytes().all(|digit| digit.is_ascii_digit())
}

/// Generates recovery codes, such as `ABCD-EFGH-IJKL-MNOP`.
pub(super) fn generate_recovery_codes() -> anyhow::Result<Vec<String>> {
    let code = || -> anyhow::Result<String> {
        let random = Secret::Raw(random_bytes(RECOVERY_BYTES)?);
        Ok(in_groups(&random.to_encoded().to_string(), "-"))
    };
    (0..RECOVERY_CODES).map(|_| code()).collect()
}

/// Returns the hash of a person's recovery code, regardless of case, spaces and dashes. `None` if it does not have the format of one.
pub(super) fn recovery_hash(person: Uuid, code: &str) -> Option<[u8; 32]> {
    let code: String = code.chars().filter(|c| !c.is_whitespace() && *c != '-').collect();
    let is_well_formed = code.len() == RECOVERY_CHARACTERS && code.bytes().all(|b| b.is_ascii_alphanumeric());
    let digest = || Sha256::new_with_prefix(person.as_bytes()).chain_update(code.to_ascii_uppercase());
    is_well_formed.then(|| digest().finalize().into())
}

fn in_groups(text: &str, separator: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(4).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join(separator)
}

fn random_bytes(count: usize) -> anyhow::Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    SysRng.try_fill_bytes(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secret of the test vectors of RFC 6238, appendix B.
    const SECRET: &[u8; 20] = b"12345678901234567890";

    #[test]
    fn codes_are_those_of_rfc_6238() {
        let secret = NewSecret::from_bytes(SECRET).unwrap();
        for (seconds, code) in [(59, "287082"), (1_111_111_109, "081804"), (20_000_000_000, "353130")] {
            assert_eq!(secret.code_at(seconds * 1000), code);
        }
        assert!(NewSecret::from_bytes(b"short").is_none());
        assert_eq!(secret.text(), "GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ");
        let url = secret.url("school.example", "ada@acme.example");
        assert!(url.starts_with("otpauth://totp/school.example:ada%40acme.example?secret=GEZDGNBV"), "{url}");
    }

    #[test]
    fn a_code_is_valid_for_one_step_before_and_after_and_only_once() {
        let secret = NewSecret::from_bytes(SECRET).unwrap();
        for start in [1_000_000_000_000, 1_000_000_009_000, 1_000_000_019_999] {
            for (offset_s, is_valid) in [(0, true), (29, true), (-29, true), (61, false), (-61, false)] {
                let code = secret.code_at(start + offset_s * 1000);
                assert_eq!(accepted_step(SECRET, &code, start, None).is_some(), is_valid, "{offset_s}");
            }
            let code = secret.code_at(start);
            let step = accepted_step(SECRET, &code, start, None);
            assert_eq!(accepted_step(SECRET, &code, start, step), None, "the code was used");
            let next = secret.code_at(start + 30_000);
            assert_eq!(accepted_step(SECRET, &next, start, step), step.map(|step| step + 1));
        }
    }

    #[test]
    fn recovery_codes_have_eighty_random_bits_and_one_hash_per_person() {
        let codes = generate_recovery_codes().unwrap();
        assert_eq!((codes.len(), codes[0].len()), (RECOVERY_CODES, 19));
        assert_ne!(codes[0], codes[1]);
        let (ada, eve) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let typed = codes[0].to_lowercase().replace('-', " ");
        assert!(recovery_hash(ada, &codes[0]).is_some());
        assert_eq!(recovery_hash(ada, &codes[0]), recovery_hash(ada, &typed));
        assert_ne!(recovery_hash(ada, &codes[0]), recovery_hash(eve, &codes[0]));
        assert!(!is_time_based(&codes[0]) && is_time_based("000000") && !is_time_based("00000a"));
        assert_eq!(recovery_hash(ada, "ABCD"), None);
    }
}
