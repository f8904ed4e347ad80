//! The secrets that sign deliveries: creates, rotates and decrypts them.
//!
//! A secret is `whsec_` and the base64 of 32 random bytes. It is stored encrypted, and cannot be decrypted for another
//! subscription. A request is signed with the newest secret and with all older ones that have not expired.

use std::collections::HashMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use entity::webhook_secrets::{self, Model};
use entity::webhook_subscriptions;
use jiff::Timestamp;
use rand::TryRng;
use rand::rngs::SysRng;
use sea_orm::ConnectionTrait;
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};
use uuid::Uuid;

use super::super::records::new_uuid;
use super::super::{Error, Result};
use super::row::lock;
use crate::app::App;
use crate::master_key;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{Secret as SecretIdKind, SubscriptionId, WorkspaceId};
use foundation::secret::Seal;

/// The prefix of every secret.
const PREFIX: &str = "whsec_";
/// Maximum time for which older secrets continue to sign after a rotation.
const MAX_OVERLAP: Duration = Duration::from_hours(7 * 24);
/// Maximum number of older secrets that sign at the same time. Each adds a signature to every request.
const MAX_OLDER: u64 = 4;

/// The result of a rotation.
#[derive(Debug)]
pub struct RotatedSecret {
    /// The new secret, which signs as soon as the write commits.
    pub secret: SecretString,
    /// When the older secrets expire at the latest. `None` if they expire at once.
    pub older_until: Option<Timestamp>,
}

/// Rotates a subscription's secret. The older secrets continue to sign during `overlap`, unless they expire earlier
/// because of a previous rotation. If the overlap is zero, they expire at once.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription, [`Error::Invalid`] for an overlap of more than seven days or
/// when more than four older secrets would sign, and [`Error::Internal`] when a query fails, or when the master key of the seal
/// has been replaced.
pub async fn rotate(
    app: &App,
    write: &mut Write,
    seal: &Seal,
    workspace: WorkspaceId,
    subscription: SubscriptionId,
    overlap: Duration,
) -> Result<RotatedSecret> {
    if overlap > MAX_OVERLAP {
        return Err(Error::invalid("overlap", "must be 0 to 7 days"));
    }
    let row = lock(write, workspace, subscription).await?;
    master_key::check_seal(write, seal).await?;
    let now = write.now_ms();
    let end = now.saturating_add(i64::try_from(overlap.as_millis()).unwrap_or(i64::MAX));
    let secrets = webhook_secrets::in_workspace(workspace.uuid());
    let older = secrets.expire(write.conn(), row.id, now, end).await?;
    if older > MAX_OLDER {
        let message = format!(
            "would leave {older} older secrets active; rotate without an overlap, or wait until some expire"
        );
        return Err(Error::invalid("overlap", message));
    }
    let secret = insert(app, write, seal, &row).await?;
    Ok(RotatedSecret { secret, older_until: (end > now).then(|| from_ms(end)) })
}

/// Creates and returns a secret for this subscription, which does not expire before the next rotation.
///
/// # Errors
/// Returns [`Error::Internal`] when a query fails, or when the master key of the seal has been replaced.
pub(super) async fn add(
    app: &App,
    write: &Write,
    seal: &Seal,
    subscription: &webhook_subscriptions::Model,
) -> Result<SecretString> {
    master_key::check_seal(write, seal).await?;
    insert(app, write, seal, subscription).await
}

/// Like [`add`], after the check of the master key.
async fn insert(
    app: &App,
    write: &Write,
    seal: &Seal,
    subscription: &webhook_subscriptions::Model,
) -> Result<SecretString> {
    let secret = generate()?;
    let row = Model {
        id: new_uuid::<SecretIdKind>(app, write),
        workspace_id: subscription.workspace_id,
        subscription_id: subscription.id,
        ciphertext: seal
            .encrypt(secret.expose_secret().as_bytes(), subscription.id.as_bytes())
            .map_err(anyhow::Error::from)?,
        created_at: write.now_ms(),
        expires_at: None,
    };
    webhook_secrets::in_workspace(subscription.workspace_id).insert(write.conn(), row).await?;
    Ok(secret)
}

/// Returns the secrets of each of these subscriptions that have not expired, newest first.
///
/// A secret that cannot be decrypted is omitted, so that it does not affect the deliveries of other subscriptions. A
/// subscription may therefore be missing from the result. The log contains a warning, since repeated ones are summarized.
///
/// # Errors
/// Returns [`Error::Internal`] when the query fails.
pub async fn active_secrets(
    conn: &impl ConnectionTrait,
    seal: &Seal,
    subscriptions: &[Uuid],
    now_ms: i64,
) -> Result<HashMap<Uuid, Vec<SecretString>>> {
    let mut active: HashMap<Uuid, Vec<SecretString>> = HashMap::new();
    for row in webhook_secrets::active(conn, subscriptions, now_ms).await? {
        match decrypt(seal, &row) {
            Ok(secret) => active.entry(row.subscription_id).or_default().push(secret),
            Err(error) => {
                let subscription = SubscriptionId::from_uuid(row.subscription_id);
                tracing::warn!(subscription.id = %subscription, error = %error, "a webhook secret cannot be decrypted");
            }
        }
    }
    Ok(active)
}

fn decrypt(seal: &Seal, row: &Model) -> anyhow::Result<SecretString> {
    let secret = seal.decrypt(&row.ciphertext, row.subscription_id.as_bytes())?;
    Ok(SecretString::from(std::str::from_utf8(&secret)?))
}

/// Generates a secret with the system's random number generator.
fn generate() -> anyhow::Result<SecretString> {
    let mut bytes = Zeroizing::new([0; 32]);
    SysRng.try_fill_bytes(bytes.as_mut_slice())?;
    let mut secret = String::with_capacity(PREFIX.len() + 44);
    secret.push_str(PREFIX);
    STANDARD.encode_string(bytes.as_slice(), &mut secret);
    Ok(SecretString::from(secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_32_random_bytes_in_base64() {
        let (first, second) = (generate().unwrap(), generate().unwrap());
        let text = first.expose_secret().strip_prefix("whsec_").unwrap();
        assert_eq!((text.len(), STANDARD.decode(text).unwrap().len()), (44, 32));
        assert_ne!(first.expose_secret(), second.expose_secret());
    }
}
