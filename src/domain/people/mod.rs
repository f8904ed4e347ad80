//! How people prove who they are besides their password: a second factor, recovery codes, and an account at an OpenID Connect
//! provider.
//!
//! A person is identified by the comparison key of their email address, like the users of all workspaces that belong to them. A
//! transaction locks the person after their users.

mod codes;
mod provider;
mod second_factor;

use entity::people::{self, ActiveModel, Model};
use entity::{sessions, sign_in_links};
use foundation::database::Write;
use foundation::id::Person;

use crate::app::App;
use crate::error::Error;
use crate::records::new_uuid;
use crate::{Result, email};

pub use codes::{NewSecret, RECOVERY_CODES, STEP_SECONDS};
pub use provider::{ProviderAccount, ProviderSignIn, sign_in_with_provider, unlink_provider};
pub(crate) use second_factor::has_second_factor_in;
pub use second_factor::{
    CodeCheck, SecondFactor, check_code, has_second_factor, remove_own_second_factor, replace_recovery_codes,
    reset_second_factor, second_factor, set_up_second_factor,
};

/// What a person can prove their identity with, besides the password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Factors {
    /// Whether the person has a second factor.
    pub has_second_factor: bool,
    /// Whether the person has linked an account at an OpenID Connect provider.
    pub has_linked_account: bool,
}

/// Returns what the person with this email address can prove their identity with.
///
/// # Errors
/// Returns [`Error::Internal`] when the query fails.
pub async fn factors(app: &App, address: &str) -> Result<Factors> {
    let person = people::by_email_folded(app.db.read(), &email::comparison_key(address)).await?;
    Ok(Factors {
        has_second_factor: person.as_ref().is_some_and(|person| person.totp_secret.is_some()),
        has_linked_account: person.is_some_and(|person| person.subject.is_some()),
    })
}

/// Locks and returns the person with this email address. Inserts the person if there is none. The caller has locked their users,
/// so that no other transaction inserts the person.
async fn lock_or_insert(app: &App, write: &Write, address: &str) -> Result<Model> {
    let email_folded = email::comparison_key(address);
    if let Some(person) = people::lock(write.conn(), &email_folded).await? {
        return Ok(person);
    }
    let person = Model {
        id: new_uuid::<Person>(app, write),
        email_folded,
        totp_secret: None,
        totp_step: None,
        totp_set_up_at: None,
        issuer: None,
        subject: None,
        created_at: write.recorded_ms(),
        updated_at: write.recorded_ms(),
    };
    match people::insert(write.conn(), person.clone()).await {
        // Without users, nothing is locked.
        Err(error) if foundation::database::is_unique_violation(&error) => Err(Error::lost_race()),
        result => Ok(result.map(|()| person)?),
    }
}

/// Ends all sessions of these users of a person, and deletes their sign-in links.
async fn end_sessions(write: &Write, users: &[entity::users::Model]) -> Result<()> {
    for user in users {
        sessions::in_workspace(user.workspace_id).end_others(write.conn(), user.id, None).await?;
        sign_in_links::in_workspace(user.workspace_id).delete_for_user(write.conn(), user.id).await?;
    }
    Ok(())
}

/// Updates the columns that are `Set`, and the time of the update.
async fn update(write: &Write, person: &Model, changes: ActiveModel) -> Result<()> {
    let changes = ActiveModel { updated_at: entity::Set(write.recorded_ms()), ..changes };
    Ok(people::update(write.conn(), person.id, changes).await?)
}
