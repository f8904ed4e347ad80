//! The second factor of a person: an authenticator app, and recovery codes for when it is lost.
//!
//! It belongs to the person, not to the password: setting another password, or removing and inviting the person again, does not
//! remove it.

use entity::people::{self, ActiveModel, Model};
use entity::{Connection, Set, recovery_codes};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::secret::Seal;
use jiff::Timestamp;
use secrecy::SecretString;

use super::codes::{self, NewSecret};
use super::{end_sessions, lock_or_insert, update};
use crate::app::App;
use crate::sessions::{self, Viewer};
use crate::{Error, Result, email, master_key, users};

/// The second factor of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondFactor {
    /// When it was set up.
    pub set_up_at: Timestamp,
    /// Number of unused recovery codes.
    pub recovery_codes: u64,
}

/// The result of checking a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeCheck {
    /// The code is wrong, or was used before, or the person has no second factor.
    Wrong,
    /// The code is that of the authenticator app.
    Right,
    /// The code is a recovery code, which was used up.
    Recovery {
        /// Number of unused recovery codes.
        left: u64,
    },
}

/// Returns the second factor of the person with this email address.
///
/// # Errors
/// Returns [`Error::Internal`] when a query fails.
pub async fn second_factor(app: &App, address: &str) -> Result<Option<SecondFactor>> {
    let person = people::by_email_folded(app.db.read(), &email::comparison_key(address)).await?;
    let Some(person) = person else { return Ok(None) };
    let Some(set_up_at) = person.totp_set_up_at.map(from_ms) else { return Ok(None) };
    let recovery_codes = recovery_codes::count(app.db.read(), person.id).await?;
    Ok(Some(SecondFactor { set_up_at, recovery_codes }))
}

/// Returns whether the person with this email address has a second factor.
///
/// # Errors
/// Returns [`Error::Internal`] when the query fails.
pub async fn has_second_factor(app: &App, address: &str) -> Result<bool> {
    read_has_second_factor(app.db.read(), address).await
}

/// Returns the same as [`has_second_factor`], read in an open transaction.
pub(crate) async fn has_second_factor_in(write: &Write, address: &str) -> Result<bool> {
    read_has_second_factor(write.conn(), address).await
}

async fn read_has_second_factor(conn: &impl Connection, address: &str) -> Result<bool> {
    let person = people::by_email_folded(conn, &email::comparison_key(address)).await?;
    Ok(person.is_some_and(|person| person.totp_secret.is_some()))
}

/// Sets up a second factor for the user, proved by its first code. Ends the user's other sessions, and returns the recovery codes and
/// the new token of the session, whose old one is no longer valid. `None` if the code is wrong.
///
/// # Errors
/// Returns [`Error::Invalid`] when the user has a second factor already, and [`Error::Internal`] when a query fails, or when the
/// master key of the seal has been replaced.
pub async fn set_up_second_factor(
    app: &App,
    write: &mut Write,
    seal: &Seal,
    viewer: &Viewer,
    secret: &NewSecret,
    code: &str,
) -> Result<Option<(Vec<SecretString>, SecretString)>> {
    let now_ms = write.now_ms();
    let code = without_spaces(code);
    let Some(step) = codes::accepted_step(secret.bytes(), &code, now_ms, None) else { return Ok(None) };
    users::lock_rows(write, &[&viewer.email]).await?;
    let person = lock_or_insert(app, write, &viewer.email).await?;
    if person.totp_secret.is_some() {
        return Err(Error::invalid("code", "A second factor is set up already; remove it first"));
    }
    master_key::check_seal(write, seal).await?;
    let sealed = seal.encrypt(secret.bytes(), person.id.as_bytes()).map_err(anyhow::Error::from)?;
    let changes = ActiveModel {
        totp_secret: Set(Some(sealed)),
        totp_step: Set(Some(step)),
        totp_set_up_at: Set(Some(now_ms)),
        ..Default::default()
    };
    update(write, &person, changes).await?;
    sessions::end_others(write, viewer).await?;
    let token = sessions::confirm(write, viewer, true).await?;
    Ok(Some((new_recovery_codes(write, &person).await?, token)))
}

/// Checks a code of the authenticator app, or a recovery code, of the person with this email address, and uses it up.
///
/// # Errors
/// Returns [`Error::Internal`] when a query fails, or the stored secret cannot be decrypted.
pub async fn check_code(write: &Write, seal: &Seal, address: &str, code: &str) -> Result<CodeCheck> {
    let person = people::lock(write.conn(), &email::comparison_key(address)).await?;
    let Some((person, sealed)) = person.and_then(|person| Some((person.clone(), person.totp_secret?))) else {
        return Ok(CodeCheck::Wrong);
    };
    let code = without_spaces(code);
    if codes::is_time_based(&code) {
        let secret = seal.decrypt(&sealed, person.id.as_bytes()).map_err(anyhow::Error::from)?;
        let step = codes::accepted_step(&secret, &code, write.now_ms(), person.totp_step);
        let Some(step) = step else { return Ok(CodeCheck::Wrong) };
        update(write, &person, ActiveModel { totp_step: Set(Some(step)), ..Default::default() }).await?;
        return Ok(CodeCheck::Right);
    }
    let Some(hash) = codes::recovery_hash(person.id, &code) else { return Ok(CodeCheck::Wrong) };
    if !recovery_codes::delete(write.conn(), person.id, &hash).await? {
        return Ok(CodeCheck::Wrong);
    }
    Ok(CodeCheck::Recovery { left: recovery_codes::count(write.conn(), person.id).await? })
}

/// Replaces the recovery codes of the person with this email address, and returns the new ones. `None` if the person has no second
/// factor.
///
/// # Errors
/// Returns [`Error::Internal`] when a query or the operating system's random generator fails.
pub async fn replace_recovery_codes(write: &Write, address: &str) -> Result<Option<Vec<SecretString>>> {
    let person = people::lock(write.conn(), &email::comparison_key(address)).await?;
    match person.filter(|person| person.totp_secret.is_some()) {
        Some(person) => new_recovery_codes(write, &person).await.map(Some),
        None => Ok(None),
    }
}

async fn new_recovery_codes(write: &Write, person: &Model) -> Result<Vec<SecretString>> {
    let codes = codes::generate_recovery_codes()?;
    let hashes: Vec<[u8; 32]> =
        codes.iter().filter_map(|code| codes::recovery_hash(person.id, code)).collect();
    recovery_codes::replace(write.conn(), person.id, &hashes).await?;
    Ok(codes.into_iter().map(SecretString::from).collect())
}

/// Removes the second factor of the user if the code is right, and ends the user's other sessions. If the code is wrong, the caller
/// must roll the transaction back.
///
/// # Errors
/// Returns [`Error::Internal`] when a query fails, or the stored secret cannot be decrypted.
pub async fn remove_own_second_factor(
    write: &mut Write,
    seal: &Seal,
    viewer: &Viewer,
    code: &str,
) -> Result<CodeCheck> {
    // Locks the users before the person.
    sessions::end_others(write, viewer).await?;
    let checked = check_code(write, seal, &viewer.email, code).await?;
    if checked != CodeCheck::Wrong {
        remove_second_factor(write, &viewer.email).await?;
        sessions::remove_second_factor(write, viewer).await?;
    }
    Ok(checked)
}

/// Removes the second factor and the recovery codes of the person with this email address. Returns whether there was one.
async fn remove_second_factor(write: &Write, address: &str) -> Result<bool> {
    let person = people::lock(write.conn(), &email::comparison_key(address)).await?;
    let Some(person) = person.filter(|person| person.totp_secret.is_some()) else { return Ok(false) };
    let changes = ActiveModel {
        totp_secret: Set(None),
        totp_step: Set(None),
        totp_set_up_at: Set(None),
        ..Default::default()
    };
    update(write, &person, changes).await?;
    recovery_codes::replace(write.conn(), person.id, &[]).await?;
    Ok(true)
}

/// Removes the second factor of the person with this email address, and ends all of their sessions and sign-in links. Returns
/// whether there was one.
///
/// # Errors
/// Returns [`Error::Internal`] when a query fails.
pub async fn reset_second_factor(write: &Write, address: &str) -> Result<bool> {
    let rows = users::lock_rows(write, &[address]).await?;
    let is_removed = remove_second_factor(write, address).await?;
    end_sessions(write, &rows).await?;
    Ok(is_removed)
}

fn without_spaces(code: &str) -> String {
    code.split_whitespace().collect()
}
