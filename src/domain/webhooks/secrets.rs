//! The secrets that deliveries are signed with: made, rotated, and opened for signing.
//!
//! A secret is `whsec_` and the base64 of 32 random bytes. It is kept encrypted, bound to its subscription.

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

use super::super::find::fresh;
use super::super::{Error, Result};
use super::subscriptions;
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{Secret as SecretKind, SubscriptionId, WorkspaceId};
use foundation::secret::Seal;

/// What every secret begins with.
const PREFIX: &str = "whsec_";
/// For how long older secrets may go on signing.
const LONGEST_OVERLAP: Duration = Duration::from_hours(7 * 24);
/// Older secrets that sign at once, at most: each adds a signature to every request.
const OLDER: u64 = 4;

/// What came of a rotation.
#[derive(Debug)]
pub struct Rotated {
    /// The new secret, which signs from the commit on.
    pub secret: SecretString,
    /// When the older ones stop signing; `None` when they have stopped.
    pub older_until: Option<Timestamp>,
}

/// Gives a subscription a new secret. The older ones sign beside it for the overlap, and stop at once without one.
///
/// # Errors
/// [`Error::NotFound`] for an absent subscription, [`Error::Invalid`] for an overlap of more than seven days, or with
/// too many secrets that still sign.
pub async fn rotate(
    app: &App,
    write: &mut Write,
    seal: &Seal,
    workspace: WorkspaceId,
    subscription: SubscriptionId,
    overlap: Duration,
) -> Result<Rotated> {
    if overlap > LONGEST_OVERLAP {
        return Err(Error::invalid("overlap", "must be 0 to 7 days"));
    }
    let row = subscriptions::lock(write, workspace, subscription).await?;
    let now = write.now_ms();
    let end = now.saturating_add(i64::try_from(overlap.as_millis()).unwrap_or(i64::MAX));
    let secrets = webhook_secrets::in_workspace(workspace.uuid());
    let older = secrets.expire(write.conn(), row.id, now, end).await?;
    if older > OLDER {
        let message = format!(
            "would let {older} older secrets sign; rotate without an overlap, or wait until some end"
        );
        return Err(Error::invalid("overlap", message));
    }
    let secret = add(app, write, seal, &row).await?;
    Ok(Rotated { secret, older_until: (end > now).then(|| from_ms(end)) })
}

/// Makes a secret for this subscription.
pub(super) async fn add(
    app: &App,
    write: &Write,
    seal: &Seal,
    subscription: &webhook_subscriptions::Model,
) -> Result<SecretString> {
    let secret = generate()?;
    let row = Model {
        id: fresh::<SecretKind>(app, write),
        workspace_id: subscription.workspace_id,
        subscription_id: subscription.id,
        ciphertext: seal
            .close(secret.expose_secret().as_bytes(), subscription.id.as_bytes())
            .map_err(anyhow::Error::from)?,
        created_at: write.now_ms(),
        expires_at: None,
    };
    webhook_secrets::in_workspace(subscription.workspace_id).insert(write.conn(), row).await?;
    Ok(secret)
}

/// The secrets that sign for these subscriptions at this moment, newest first, for the worker.
///
/// One that cannot be opened is left out and told in the log, so that it holds up nobody else's deliveries; a
/// subscription may therefore be missing.
///
/// # Errors
/// [`Error::Internal`] when the database fails.
pub async fn live(
    conn: &impl ConnectionTrait,
    seal: &Seal,
    subscriptions: &[Uuid],
    now_ms: i64,
) -> Result<HashMap<Uuid, Vec<SecretString>>> {
    let mut live: HashMap<Uuid, Vec<SecretString>> = HashMap::new();
    for row in webhook_secrets::live(conn, subscriptions, now_ms).await? {
        match open(seal, &row) {
            Ok(secret) => live.entry(row.subscription_id).or_default().push(secret),
            Err(error) => {
                let subscription = SubscriptionId::from_uuid(row.subscription_id);
                tracing::error!(subscription.id = %subscription, error = %error, "a webhook secret cannot be opened");
            }
        }
    }
    Ok(live)
}

fn open(seal: &Seal, row: &Model) -> anyhow::Result<SecretString> {
    let secret = seal.open(&row.ciphertext, row.subscription_id.as_bytes())?;
    Ok(SecretString::from(std::str::from_utf8(&secret)?))
}

/// A new secret, from the system's generator.
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
    fn a_secret_is_32_bytes_in_base64_and_never_the_same() {
        let (one, other) = (generate().unwrap(), generate().unwrap());
        let text = one.expose_secret().strip_prefix("whsec_").unwrap();
        assert_eq!((text.len(), STANDARD.decode(text).unwrap().len()), (44, 32));
        assert_ne!(one.expose_secret(), other.expose_secret());
    }
}
