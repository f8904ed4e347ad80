//! Takes due deliveries under a lease, with all that sending them needs.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use entity::webhook_deliveries::queue::{Claim, Claimed};
use sea_orm::ConnectionTrait;
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

use super::schedule::LEASE;
use super::sign::SigningKey;
use crate::app::App;
use crate::clock::from_ms;
use crate::database::Write;
use crate::domain::webhooks;
use crate::id::Delivery;
use crate::secret::Seal;

/// A delivery in hand: until its lease ends nobody else sends it.
#[derive(Debug)]
pub(super) struct Task {
    /// The delivery; its body has moved on.
    pub(super) claimed: Claimed,
    /// The event's body, to the byte.
    pub(super) body: Bytes,
    /// The lease; shared by all that were taken with it.
    pub(super) lease: Arc<Lease>,
    /// The live secrets, newest first; none when they cannot be opened.
    pub(super) keys: Arc<[SigningKey]>,
}

/// The right to send what was taken with it.
#[derive(Debug)]
pub(super) struct Lease {
    /// Its name.
    pub(super) token: Uuid,
    /// When it ends by the clock of this process, in milliseconds since the epoch; rather too early than too late.
    pub(super) ends_ms: i64,
}

/// Whose turn it is.
#[derive(Debug, Default)]
pub(super) struct Turns {
    last: Option<Uuid>,
}

impl Turns {
    /// Takes up to `most` due deliveries; of one subscription no more than `cap` are then in flight. They are taken once
    /// the write commits.
    ///
    /// # Errors
    /// When the database fails; nothing is taken then, or given back when its lease ends.
    pub(super) async fn take(
        &mut self,
        app: &App,
        seal: &Seal,
        write: &Write,
        most: usize,
        cap: usize,
    ) -> anyhow::Result<Vec<Task>> {
        let now = write.now_ms();
        let lease_ms = i64::try_from(LEASE.as_millis())?;
        let lease = Lease {
            token: app.ids.next::<Delivery>(from_ms(now)).uuid(),
            ends_ms: write.began_ms() + lease_ms,
        };
        let claim = Claim {
            now,
            lease_until: now + lease_ms,
            lease_token: lease.token,
            cap_per_subscription: i64::try_from(cap)?,
            batch: i64::try_from(most)?,
            after: self.last,
        };
        let claimed = claim.take(write.conn()).await?;
        let Some(last) = claimed.last() else { return Ok(Vec::new()) };
        self.last = Some(last.subscription_id);
        let subscriptions: Vec<Uuid> = claimed.iter().map(|claimed| claimed.subscription_id).collect();
        let keys = keys(write.conn(), seal, subscriptions, now).await?;
        let lease = Arc::new(lease);
        let task = |mut claimed: Claimed| {
            let body = std::mem::take(&mut claimed.body).into();
            let keys = keys.get(&claimed.subscription_id).cloned().unwrap_or_else(|| Arc::new([]));
            Task { claimed, body, lease: Arc::clone(&lease), keys }
        };
        Ok(claimed.into_iter().map(task).collect())
    }
}

/// The keys of these subscriptions, ready for signing. One whose secrets cannot be opened is missing.
///
/// # Errors
/// When the database fails.
pub(super) async fn keys(
    conn: &impl ConnectionTrait,
    seal: &Seal,
    mut subscriptions: Vec<Uuid>,
    now: i64,
) -> anyhow::Result<HashMap<Uuid, Arc<[SigningKey]>>> {
    subscriptions.sort_unstable();
    subscriptions.dedup();
    let live = webhooks::live(conn, seal, &subscriptions, now).await?;
    // One that is no secret holds up nobody else: without any, nothing is sent and the log says why.
    let keys = |secrets: Vec<SecretString>| {
        secrets.iter().filter_map(|secret| SigningKey::new(secret.expose_secret()).ok()).collect()
    };
    Ok(live.into_iter().map(|(subscription, secrets)| (subscription, keys(secrets))).collect())
}
