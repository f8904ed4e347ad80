//! Creates webhook subscriptions, and claims and settles their deliveries without a worker. Settling a delivery stores
//! the outcome of an attempt and the next state of the delivery.

use domain::Result;
use domain::page::PageRequest;
use domain::webhooks::{self, Delivery, NewSubscription};
use entity::webhook_attempts;
use entity::webhook_deliveries::queue::{self, ClaimQuery, DeliveryTransition, Settlement};
use foundation::database::Write;
use foundation::id::{Attempt, SubscriptionId};
use foundation::secret::{MasterKeys, Purpose, Seal};
use secrecy::ExposeSecret;
use uuid::Uuid;

use super::app::MASTER_KEY;
use super::{TestApp, TestWorkspace};

/// Runs `operation` in a write transaction, and commits the transaction on success.
pub async fn in_transaction<T>(
    app: &TestApp,
    operation: impl AsyncFnOnce(&mut Write) -> Result<T>,
) -> Result<T> {
    let mut write = app.begin_write().await;
    let outcome = operation(&mut write).await?;
    write.commit().await.expect("the commit succeeds");
    Ok(outcome)
}

impl TestApp {
    /// Returns the seal that encrypts webhook secrets.
    pub fn seal(&self) -> Seal {
        Seal::new(&MasterKeys::parse(MASTER_KEY, "the test").expect("a key"), Purpose::WebhookSecrets)
    }

    /// Claims all due deliveries, records one attempt with this status for each, and settles them with this
    /// transition. A `status` of `None` records a timeout. Returns the number of deliveries.
    pub async fn settle_due(&self, status: Option<i32>, transition: DeliveryTransition) -> usize {
        let times = [self.clock.now().as_millisecond()];
        self.app.db.ensure_partitions(webhook_attempts::TABLE, &times).await.expect("the partitions exist");
        let write = self.begin_write().await;
        let now = write.now_ms();
        // Any unique value is a lease token.
        let lease_token = self.app.ids.next::<Attempt>(self.clock.now()).uuid();
        let claim = ClaimQuery {
            now,
            lease_until: now + 60_000,
            lease_token,
            max_in_flight_per_subscription: 100_000,
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

impl TestWorkspace<'_> {
    /// Creates a subscription to these event types with a URL that does not exist. Returns its id and its secret.
    pub async fn subscribe(&self, event_types: &[&str]) -> (SubscriptionId, String) {
        let new = NewSubscription {
            url: format!("https://hooks.example/{}", self.name),
            event_types: event_types.iter().map(|&event_type| event_type.to_owned()).collect(),
            description: None,
        };
        let mut write = self.app.begin_write().await;
        let created = webhooks::create(&self.app.app, &mut write, &self.app.seal(), self.id, new).await;
        let (subscription, secret) = created.expect("a subscription");
        write.commit().await.expect("the commit succeeds");
        (subscription.id, secret.expose_secret().to_owned())
    }

    /// Returns all deliveries of a subscription, oldest first.
    pub async fn deliveries(&self, subscription_id: SubscriptionId) -> Vec<Delivery> {
        let page = webhooks::deliveries(
            &self.app.app,
            self.id,
            subscription_id,
            &Default::default(),
            PageRequest::newest_first(None, 10_000),
        )
        .await
        .expect("the query succeeds");
        assert_eq!(page.next, None);
        page.items.into_iter().rev().collect()
    }
}
