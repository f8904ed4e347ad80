//! The accounts of people at an OpenID Connect provider.
//!
//! The email address matches an invited person only once, and only if the provider has verified it. From then on, the id of the
//! account decides, whatever its email address becomes.

use entity::Set;
use entity::people::{self, ActiveModel};
use foundation::database::Write;

use super::{end_sessions, lock_or_insert, update};
use crate::app::App;
use crate::users::{self, User};
use crate::{Error, Result, email};

/// An account at the provider, whose owner has just signed in there.
#[derive(Debug, Clone, Copy)]
pub struct ProviderAccount<'a> {
    /// The URL that identifies the provider.
    pub issuer: &'a str,
    /// The id of the account, which never changes.
    pub subject: &'a str,
    /// The email address, if the provider has verified it.
    pub verified_email: Option<&'a str>,
    /// The claim about the email address that the provider did not send.
    pub missing_claim: Option<&'static str>,
}

/// The result of [`sign_in_with_provider`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderSignIn {
    /// The account belongs to a member.
    Member {
        /// The user, in the workspace that they joined first.
        user: User,
        /// Whether the account was linked to the person just now.
        is_new: bool,
    },
    /// The provider has not verified the email address of the account.
    EmailNotVerified,
    /// The provider did not send this claim, and so no verified email address.
    ClaimMissing(&'static str),
    /// Addresses of this domain may not sign in with the provider.
    DomainNotAllowed(String),
    /// Nobody with this email address is a member of a workspace.
    NoAccess(String),
    /// The person with this email address has another account at a provider.
    OtherAccount(String),
    /// The person with this email address has a second factor, and has not used it in this browser. Otherwise, who controls the
    /// mailbox could link an account, which replaces the second factor.
    SecondFactor(String),
}

impl ProviderSignIn {
    /// Returns a name without the address, for logs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Member { .. } => "member",
            Self::EmailNotVerified => "email_not_verified",
            Self::ClaimMissing(_) => "claim_missing",
            Self::DomainNotAllowed(_) => "domain_not_allowed",
            Self::NoAccess(_) => "no_access",
            Self::OtherAccount(_) => "other_account",
            Self::SecondFactor(_) => "second_factor",
        }
    }
}

/// Returns the member to whom an account belongs. Links the account to the invited person with its email address if it belongs to
/// nobody. `used_second_factor` is whether the browser is signed in with a second factor. Locks the person's users until the
/// transaction ends.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn sign_in_with_provider(
    app: &App,
    write: &Write,
    account: ProviderAccount<'_>,
    used_second_factor: bool,
) -> Result<ProviderSignIn> {
    let ProviderAccount { issuer, subject, verified_email, missing_claim } = account;
    let known = people::by_subject(write.conn(), issuer, subject).await?;
    let was_linked = known.is_some();
    let address = match (known, verified_email) {
        (Some(person), _) => person.email_folded,
        (None, Some(address)) => email::comparison_key(address),
        (None, None) => {
            return Ok(missing_claim.map_or(ProviderSignIn::EmailNotVerified, ProviderSignIn::ClaimMissing));
        }
    };
    if !is_domain_allowed(app, &address) {
        return Ok(ProviderSignIn::DomainNotAllowed(address));
    }
    let rows = users::lock_rows(write, &[&address]).await?;
    let oldest = rows.into_iter().min_by_key(|row| (row.created_at, row.id));
    let Some(user) = oldest.map(users::to_user) else { return Ok(ProviderSignIn::NoAccess(address)) };
    let person = lock_or_insert(app, write, &address).await?;
    match (person.issuer.as_deref(), person.subject.as_deref()) {
        // The account was removed since it was read, and so was the proof that the address belongs to it.
        (None, _) if was_linked => Err(Error::lost_race()),
        (None, _) if person.totp_secret.is_some() && !used_second_factor => {
            Ok(ProviderSignIn::SecondFactor(address))
        }
        (None, _) => {
            let changes = ActiveModel {
                issuer: Set(Some(issuer.to_owned())),
                subject: Set(Some(subject.to_owned())),
                ..Default::default()
            };
            update(write, &person, changes).await?;
            Ok(ProviderSignIn::Member { user, is_new: true })
        }
        (Some(known_issuer), Some(known_subject)) if (known_issuer, known_subject) == (issuer, subject) => {
            Ok(ProviderSignIn::Member { user, is_new: false })
        }
        (Some(_), _) => Ok(ProviderSignIn::OtherAccount(address)),
    }
}

/// Removes the account of the person with this email address, and ends their sessions. The next sign-in with the provider links an
/// account again. Returns whether there was one.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn unlink_provider(write: &Write, address: &str) -> Result<bool> {
    let rows = users::lock_rows(write, &[address]).await?;
    let person = people::lock(write.conn(), &email::comparison_key(address)).await?;
    let Some(person) = person.filter(|person| person.issuer.is_some()) else { return Ok(false) };
    let changes = ActiveModel { issuer: Set(None), subject: Set(None), ..Default::default() };
    update(write, &person, changes).await?;
    end_sessions(write, &rows).await?;
    Ok(true)
}

/// Returns whether people with this folded email address may sign in with the provider.
fn is_domain_allowed(app: &App, folded: &str) -> bool {
    let domains = &app.config.sign_in.oidc_email_domains;
    let folded_domain = |domain: &str| email::comparison_key(&format!("@{domain}"));
    let is_domain = |domain: &str| folded.ends_with(&folded_domain(domain));
    domains.is_empty() || domains.iter().any(|domain| is_domain(domain.as_str()))
}
