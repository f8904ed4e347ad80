//! Creates webhook subscriptions, and claims and settles their deliveries without a worker.

use domain::Result;
use domain::page::PageRequest;
use domain::webhooks::{self, Delivery, NewSubscription};
use entity::webhook_attempts;
use entity::webhook_deliveries::queue::{self, ClaimQuery, DeliveryTransition, Settlement};
use foundation::database::Write;
use foundation::id::{Attempt, SubscriptionId};
use foundation::secret::{MasterKey, Purpose, Seal};
use secrecy::ExposeSecret;
use uuid::Uuid;

use super::app::MASTER_KEY;
use super::{TestApp, Workspace};

/// Runs a function in a write transaction, and commits it on success.
pub async fn in_transaction<T>(app: &TestApp, act: impl AsyncFnOnce(&mut Write) -> Result<T>) -> Result<T> {
    let mut write = app.write().await;
    let outcome = act(&mut write).await?;
    write.commit().await.expect("the commit succeeds");
    Ok(outcome)
}

impl TestApp {
    /// The seal that encrypts webhook secrets.
    pub fn seal(&self) -> Seal {
        Seal::new(&MasterKey::from_hex(MASTER_KEY, "the test").expect("a key"), Purpose::WebhookSecrets)
    }

    /// Claims all due deliveries and settles each with one attempt of this status. Returns their number.
    pub async fn settle_due(&self, status: Option<i32>, transition: DeliveryTransition) -> usize {
        let write = self.write().await;
        let now = write.now_ms();
        let lease_token = self.app.ids.next::<Attempt>(self.clock.now()).uuid();
        let claim = ClaimQuery {
            now,
            lease_until: now + 60_000,
            lease_token,
            cap_per_subscription: 100_000,
            per_workspace: 100_000,
            allowances: &[],
            limit: 100_000,
            last_workspace: None,
        };
        let due = claim.run(write.conn()).await.expect("the claim succeeds");
        let error = status.is_none().then(|| "timeout".to_owned());
        let settlement = |id: Uuid| Settlement {
            id,
            lease_token,
            transition,
            ended_at: now,
            status,
            error: error.clone(),
        };
        let settlements: Vec<_> = due.iter().map(|delivery| settlement(delivery.id)).collect();
        assert_eq!(
            queue::settle(write.conn(), &settlements).await.expect("the update succeeds").len(),
            due.len()
        );
        let attempts = due.iter().map(|delivery| webhook_attempts::Model {
            id: self.app.ids.next::<Attempt>(self.clock.now()).uuid(),
            workspace_id: delivery.workspace_id,
            delivery_id: delivery.id,
            number: delivery.attempts + 1,
            started_at: now,
            ended_at: now,
            status,
            error: error.clone(),
            request_headers: entity::StringMap::default(),
            response_headers: None,
            response_body: None,
        });
        webhook_attempts::insert_many(write.conn(), attempts.collect())
            .await
            .expect("the attempts are inserted");
        write.commit().await.expect("the commit succeeds");
        due.len()
    }
}

impl Workspace<'_> {
    /// Creates a subscription to these event types. Returns its id and its secret.
    pub async fn subscribe(&self, kinds: &[&str]) -> (SubscriptionId, String) {
        let new = NewSubscription {
            url: format!("https://hooks.example/{}", self.name),
            event_types: kinds.iter().map(|&kind| kind.to_owned()).collect(),
        };
        let mut write = self.app.write().await;
        let created = webhooks::create(&self.app.app, &mut write, &self.app.seal(), self.id, new).await;
        let (subscription, secret) = created.expect("a subscription");
        write.commit().await.expect("the commit succeeds");
        (subscription.id, secret.expose_secret().to_owned())
    }

    /// Returns all deliveries of a subscription, oldest first.
    pub async fn deliveries(&self, of: SubscriptionId) -> Vec<Delivery> {
        let page = webhooks::deliveries(
            &self.app.app,
            self.id,
            of,
            &Default::default(),
            PageRequest::newest_first(None, 10_000),
        )
        .await
        .expect("deliveries");
        assert_eq!(page.next, None);
        page.items.into_iter().rev().collect()
    }
}
