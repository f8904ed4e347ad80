//! The tables with values that are encrypted with the master key.

use entity::{StringMap, people, webhook_keys, webhook_secrets, webhook_subscriptions};
use foundation::id::{PersonId, SubscriptionId, WorkspaceId};
use foundation::secret::{self, Purpose, Seal, SealError};
use sea_orm::{ConnectionTrait, DbErr};
use uuid::Uuid;

use super::{BATCH, UnreadableValue};
use crate::webhooks::headers;

/// A table with encrypted values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EncryptedTable {
    /// The secrets of subscriptions.
    Secrets,
    /// The private keys of workspaces.
    Keys,
    /// The custom request headers of subscriptions.
    Headers,
    /// The second factors of people.
    People,
}

/// A row with encrypted values.
pub(super) struct EncryptedRow {
    /// The id of the row.
    pub(super) id: Uuid,
    values: EncryptedValues,
}

enum EncryptedValues {
    Secret(webhook_secrets::Model),
    Key(webhook_keys::Model),
    Headers(Uuid, StringMap),
    SecondFactor(people::Model, Vec<u8>),
}

/// The values of a row, encrypted with the first key.
pub(super) enum Resealed {
    /// They are already.
    Unchanged,
    /// The new ciphertext.
    Bytes(Vec<u8>),
    /// The new headers.
    Headers(StringMap),
}

impl EncryptedTable {
    /// All tables.
    pub(super) const ALL: [Self; 4] = [Self::Secrets, Self::Keys, Self::Headers, Self::People];

    /// Returns the purpose of the key that encrypts the values.
    pub(super) const fn purpose(self) -> Purpose {
        match self {
            Self::Secrets | Self::Keys | Self::Headers => Purpose::WebhookSecrets,
            Self::People => Purpose::SecondFactors,
        }
    }

    /// Returns the name of the table.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Secrets => "webhook_secrets",
            Self::Keys => "webhook_keys",
            Self::Headers => "webhook_subscriptions",
            Self::People => "people",
        }
    }

    /// Returns the rows of a batch, by id.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub(super) async fn page(
        self,
        conn: &impl ConnectionTrait,
        after: Uuid,
    ) -> Result<Vec<EncryptedRow>, DbErr> {
        let row = |id, values| EncryptedRow { id, values };
        Ok(match self {
            Self::Secrets => {
                let rows = webhook_secrets::page(conn, after, BATCH).await?;
                rows.into_iter().map(|secret| row(secret.id, EncryptedValues::Secret(secret))).collect()
            }
            Self::Keys => {
                let rows = webhook_keys::page(conn, after, BATCH).await?;
                rows.into_iter().map(|key| row(key.id, EncryptedValues::Key(key))).collect()
            }
            Self::Headers => {
                let rows = webhook_subscriptions::with_headers(conn, after, BATCH).await?;
                let headers = |model: webhook_subscriptions::Model| {
                    row(model.id, EncryptedValues::Headers(model.id, model.headers.unwrap_or_default()))
                };
                rows.into_iter().map(headers).collect()
            }
            Self::People => {
                let second_factor = |mut person: people::Model| {
                    let sealed = person.totp_secret.take()?;
                    Some(row(person.id, EncryptedValues::SecondFactor(person, sealed)))
                };
                let rows = people::page_with_secret(conn, after, BATCH).await?;
                rows.into_iter().filter_map(second_factor).collect()
            }
        })
    }
}

impl EncryptedRow {
    /// Encrypts the values with the first key of the seal.
    ///
    /// # Errors
    /// Returns the errors of [`Seal::reseal`].
    pub(super) fn reseal(&self, seal: &Seal) -> Result<Resealed, SealError> {
        let (ciphertext, owner) = match &self.values {
            EncryptedValues::Secret(row) => (&row.ciphertext, row.subscription_id),
            EncryptedValues::Key(row) => (&row.ciphertext, row.id),
            EncryptedValues::SecondFactor(person, sealed) => (sealed, person.id),
            EncryptedValues::Headers(subscription, stored) => {
                let new = headers::reseal(seal, *subscription, stored)?;
                return Ok(new.map_or(Resealed::Unchanged, Resealed::Headers));
            }
        };
        Ok(match seal.reseal(ciphertext, owner.as_bytes())? {
            secret::Resealed::Unchanged => Resealed::Unchanged,
            secret::Resealed::New(new) => Resealed::Bytes(new),
        })
    }

    /// Stores the new values if the row still has these. Returns whether it had.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub(super) async fn replace(&self, conn: &impl ConnectionTrait, new: Resealed) -> Result<bool, DbErr> {
        match (&self.values, new) {
            (EncryptedValues::Secret(row), Resealed::Bytes(new)) => {
                webhook_secrets::replace_ciphertext(conn, row.id, row.ciphertext.clone(), new).await
            }
            (EncryptedValues::Key(row), Resealed::Bytes(new)) => {
                webhook_keys::replace_ciphertext(conn, row.id, row.ciphertext.clone(), new).await
            }
            (EncryptedValues::SecondFactor(person, sealed), Resealed::Bytes(new)) => {
                people::replace_secret(conn, person.id, sealed.clone(), new).await
            }
            (EncryptedValues::Headers(id, stored), Resealed::Headers(new)) => {
                webhook_subscriptions::replace_headers(conn, *id, stored.clone(), new).await
            }
            _ => Ok(false),
        }
    }

    /// Describes values that cannot be decrypted. Returns `None` if they have expired.
    pub(super) fn unreadable(&self, problem: &SealError, now_ms: i64) -> Option<UnreadableValue> {
        let subscription =
            |id| (format!("subscription {}", SubscriptionId::from_uuid(id)), SubscriptionId::from_uuid(id));
        let (expires_at, table, (owner, command)) = match &self.values {
            EncryptedValues::Secret(row) => {
                let (owner, id) = subscription(row.subscription_id);
                (
                    row.expires_at,
                    EncryptedTable::Secrets,
                    (owner, format!("webhooks rotate {id} --overlap 0s")),
                )
            }
            EncryptedValues::Key(row) => {
                let owner = format!("workspace {}", WorkspaceId::from_uuid(row.workspace_id));
                let command = "webhooks rotate-signing-key --workspace KEY --immediately".to_owned();
                (row.signs_until, EncryptedTable::Keys, (owner, command))
            }
            EncryptedValues::Headers(id, _) => {
                let (owner, id) = subscription(*id);
                (
                    None,
                    EncryptedTable::Headers,
                    (owner, format!("webhooks controls {id} --header 'NAME: VALUE'")),
                )
            }
            EncryptedValues::SecondFactor(person, _) => {
                let owner = format!("person {}", PersonId::from_uuid(person.id));
                let command =
                    format!("users reset-second-factor --workspace KEY --email {}", person.email_folded);
                (None, EncryptedTable::People, (owner, command))
            }
        };
        let expired = expires_at.is_some_and(|at| at <= now_ms);
        let command = format!("creator-api {command}");
        (!expired).then(|| UnreadableValue {
            table: table.name(),
            id: self.id,
            owner,
            command,
            problem: problem.to_string(),
        })
    }
}
