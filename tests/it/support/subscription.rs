//! Webhook subscriptions of a story, and their deliveries taken and settled without a worker.

use domain::Result;
use domain::page::PageRequest;
use domain::webhooks::{self, Delivery, NewSubscription};
use entity::webhook_attempts;
use entity::webhook_deliveries::queue::{self, Claim, Next, Settlement};
use foundation::database::Write;
use foundation::id::{Attempt, SubscriptionId};
use foundation::secret::{MasterKey, Purpose, Seal};
use secrecy::ExposeSecret;
use uuid::Uuid;

use super::app::MASTER_KEY;
use super::{TestApp, Workspace};

/// Does this in a write of its own, which is kept when it succeeds.
pub async fn done<T>(app: &TestApp, act: impl AsyncFnOnce(&mut Write) -> Result<T>) -> Result<T> {
    let mut write = app.write().await;
    let outcome = act(&mut write).await?;
    write.commit().await.expect("it commits");
    Ok(outcome)
}

impl TestApp {
    /// What the secrets of webhooks are sealed with.
    pub fn seal(&self) -> Seal {
        Seal::new(&MasterKey::from_hex(MASTER_KEY, "the test").expect("a key"), Purpose::WebhookSecrets)
    }

    /// Takes all that is due, makes one attempt at each with this status, and settles it so. Says how many there were.
    pub async fn settle_due(&self, status: Option<i32>, next: Next) -> usize {
        let write = self.write().await;
        let now = write.now_ms();
        let lease_token = self.app.ids.next::<Attempt>(self.clock.now()).uuid();
        let claim = Claim {
            now,
            lease_until: now + 60_000,
            lease_token,
            cap_per_subscription: 100_000,
            per_workspace: 100_000,
            shares: &[],
            batch: 100_000,
            after: None,
        };
        let due = claim.take(write.conn()).await.expect("the queue is read");
        let error = status.is_none().then(|| "timeout".to_owned());
        let settlement =
            |id: Uuid| Settlement { id, lease_token, next, at: now, status, error: error.clone() };
        let settlements: Vec<_> = due.iter().map(|one| settlement(one.id)).collect();
        assert_eq!(queue::settle(write.conn(), &settlements).await.expect("it settles").len(), due.len());
        let attempts = due.iter().map(|one| webhook_attempts::Model {
            id: self.app.ids.next::<Attempt>(self.clock.now()).uuid(),
            workspace_id: one.workspace_id,
            delivery_id: one.id,
            number: one.attempts + 1,
            started_at: now,
            ended_at: now,
            status,
            error: error.clone(),
            request_headers: entity::StringMap::default(),
            response_headers: None,
            response_body: None,
        });
        webhook_attempts::insert_many(write.conn(), attempts.collect()).await.expect("the log is written");
        write.commit().await.expect("it commits");
        due.len()
    }
}

impl Workspace<'_> {
    /// A subscription to these types of event, and its secret.
    pub async fn subscribe(&self, kinds: &[&str]) -> (SubscriptionId, String) {
        let new = NewSubscription {
            url: format!("https://hooks.example/{}", self.name),
            event_types: kinds.iter().map(|&kind| kind.to_owned()).collect(),
        };
        let mut write = self.app.write().await;
        let made = webhooks::create(&self.app.app, &mut write, &self.app.seal(), self.id, new).await;
        let (subscription, secret) = made.expect("a subscription");
        write.commit().await.expect("it commits");
        (subscription.id, secret.expose_secret().to_owned())
    }

    /// All deliveries of a subscription, oldest first.
    pub async fn deliveries(&self, of: SubscriptionId) -> Vec<Delivery> {
        let page = webhooks::deliveries(
            &self.app.app,
            self.id,
            of,
            &Default::default(),
            PageRequest::newest(None, 10_000),
        )
        .await
        .expect("deliveries");
        assert_eq!(page.next, None);
        page.items.into_iter().rev().collect()
    }
}
