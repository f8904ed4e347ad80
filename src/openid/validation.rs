//! The rules for ID tokens (OpenID Connect Core 1.0, section 3.1.3.7).

use chrono::{DateTime, Utc};
use openidconnect::EndUserEmail;
use openidconnect::core::{
    CoreIdTokenClaims, CoreIdTokenVerifier, CoreJwsSigningAlgorithm, CoreUserInfoClaims,
};

/// How long ago a token may have been issued, in milliseconds. The browser gets it right before it is validated.
const MAX_ISSUE_AGE_MS: i64 = 10 * 60_000;
/// How far the clock of the provider may be ahead or behind, in milliseconds.
pub const MAX_SKEW_MS: i64 = 60_000;

/// The accepted signature algorithms: the asymmetric ones, so that only the provider can create a token.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 5] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

/// A person, as the provider identifies them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The issuer.
    pub issuer: String,
    /// The id of the person at the issuer, which never changes.
    pub subject: String,
    /// The email address, if the provider has verified it.
    pub verified_email: Option<String>,
    /// The claim about the email address that the provider did not send: `email` or `email_verified`.
    pub missing_claim: Option<&'static str>,
    /// When the person last entered their credentials at the provider, in milliseconds since the epoch.
    pub authenticated_ms: Option<i64>,
}

impl Identity {
    /// Returns the person of a validated token.
    pub(crate) fn new(claims: &CoreIdTokenClaims) -> Self {
        let (verified_email, missing_claim) = email(claims.email(), claims.email_verified());
        Self {
            issuer: claims.issuer().as_str().to_owned(),
            subject: claims.subject().as_str().to_owned(),
            verified_email,
            missing_claim,
            authenticated_ms: claims.auth_time().map(|time| time.timestamp_millis()),
        }
    }

    /// Adds the email address of the user info response, unless the token says more about it.
    pub(crate) fn add_email(&mut self, claims: &CoreUserInfoClaims) {
        let (verified_email, missing_claim) = email(claims.email(), claims.email_verified());
        if missing_claim.is_none() || self.missing_claim.is_some() {
            (self.verified_email, self.missing_claim) = (verified_email, missing_claim);
        }
    }
}

/// Returns the email address if it is verified, and the claim that is missing.
fn email(
    address: Option<&EndUserEmail>,
    is_verified: Option<bool>,
) -> (Option<String>, Option<&'static str>) {
    match (address, is_verified) {
        (None, _) => (None, Some("email")),
        (Some(_), None) => (None, Some("email_verified")),
        (Some(_), Some(false)) => (None, None),
        (Some(address), Some(true)) => (Some(address.as_str().to_owned()), None),
    }
}

/// Adds the rules that `openidconnect` does not apply by itself. It compares signature, issuer, audience, nonce and expiry.
pub(crate) fn with_rules(verifier: CoreIdTokenVerifier<'_>, now_ms: i64) -> CoreIdTokenVerifier<'_> {
    let now = DateTime::<Utc>::from_timestamp_millis(now_ms).unwrap_or(DateTime::<Utc>::UNIX_EPOCH);
    verifier
        .set_allowed_algs(ALGORITHMS)
        .set_time_fn(move || now)
        .set_issue_time_verifier_fn(move |issued| check_issue_time(issued.timestamp_millis(), now_ms))
}

fn check_issue_time(issued_ms: i64, now_ms: i64) -> Result<(), String> {
    if issued_ms > now_ms + MAX_SKEW_MS {
        return Err("the token was issued in the future".to_owned());
    }
    if issued_ms < now_ms - MAX_ISSUE_AGE_MS {
        return Err("the token was issued too long ago".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_must_be_new_and_not_from_the_future() {
        let now = 1_000_000_000;
        for valid in [now, now + 60_000, now - 600_000] {
            assert_eq!(check_issue_time(valid, now), Ok(()), "{valid}");
        }
        assert!(
            check_issue_time(now + 60_001, now).is_err() && check_issue_time(now - 600_001, now).is_err()
        );
    }
}
