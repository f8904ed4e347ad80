//! Creates webhook subscriptions that a test can change, and sends their deliveries on demand.

use ::webhooks::{Worker, maintenance};
use domain::Result;
use domain::webhooks::controls::{self, ControlsChange};
use domain::webhooks::{self, Delivery, HeldAction, NewSubscription, Subscription};
use entity::webhook_deliveries::queue::ClaimQuery;
use foundation::id::SubscriptionId;
use secrecy::ExposeSecret;

use super::{Endpoint, TestApp, TestWorkspace, in_transaction};

/// A subscription of a test's workspace.
pub struct TestSubscription<'a> {
    pub workspace: TestWorkspace<'a>,
    pub id: SubscriptionId,
    pub secret: String,
}

impl<'a> TestWorkspace<'a> {
    /// Creates a subscription of this endpoint to these event types.
    pub async fn subscribe_endpoint(
        &self,
        endpoint: &Endpoint,
        event_types: &[&str],
    ) -> TestSubscription<'a> {
        self.subscribe_url(endpoint.url(), event_types).await
    }

    /// Creates a subscription with this URL to these event types.
    pub async fn subscribe_url(&self, url: String, event_types: &[&str]) -> TestSubscription<'a> {
        let event_types = event_types.iter().map(|&event_type| event_type.to_owned()).collect();
        let mut write = self.app.begin_write().await;
        let new = NewSubscription { url, event_types, description: None };
        let created = webhooks::create(&self.app.app, &mut write, &self.app.seal(), self.id, new).await;
        let (created, secret) = created.expect("a subscription");
        write.commit().await.expect("the commit succeeds");
        TestSubscription { workspace: *self, id: created.id, secret: secret.expose_secret().to_owned() }
    }
}

impl TestSubscription<'_> {
    /// Returns its deliveries with their attempts, oldest first.
    pub async fn deliveries(&self) -> Vec<Delivery> {
        self.workspace.deliveries(self.id).await
    }

    /// Returns the state and the number of attempts of each delivery, oldest first: `delivered 1`.
    pub async fn delivery_states(&self) -> Vec<String> {
        let deliveries = self.deliveries().await;
        deliveries.iter().map(|delivery| format!("{} {}", delivery.state, delivery.attempts.len())).collect()
    }

    /// Reads the subscription from the database.
    pub async fn reload(&self) -> Subscription {
        webhooks::get(&self.workspace.app.app, self.workspace.id, self.id)
            .await
            .expect("the subscription exists")
    }

    /// Enables the subscription, which releases its held deliveries: those that wait because it was paused or disabled.
    pub async fn enable(&self) {
        let mut write = self.workspace.app.begin_write().await;
        let app = &self.workspace.app.app;
        webhooks::enable(app, &mut write, self.workspace.id, self.id, HeldAction::Send)
            .await
            .expect("enabling succeeds");
        write.commit().await.expect("the commit succeeds");
    }

    /// Changes its delivery controls.
    pub async fn change(&self, change: ControlsChange) -> Result<()> {
        let (app, workspace) = (self.workspace.app, self.workspace.id);
        let outcome = in_transaction(app, async |write| {
            controls::change(&app.app, write, &app.seal(), workspace, self.id, change).await
        });
        outcome.await.map(drop)
    }

    /// Pauses the subscription.
    pub async fn pause(&self) {
        let mut write = self.workspace.app.begin_write().await;
        webhooks::pause(&mut write, self.workspace.id, self.id).await.expect("pausing succeeds");
        write.commit().await.expect("the commit succeeds");
    }
}

impl TestApp {
    /// Starts a server that may send webhooks to 127.0.0.0/8.
    pub async fn start_with_local_webhooks() -> Self {
        Self::start_with(&[("webhook_allow", "127.0.0.0/8")]).await
    }

    /// Creates a delivery worker.
    pub fn worker(&self) -> Worker {
        Worker::new(self.app.clone(), self.seal().into()).expect("a worker")
    }

    /// Runs the maintenance jobs, then sends all due deliveries. Returns the number of attempts. The jobs run first,
    /// because they also make deliveries due: those of fan-outs, replays and subscriptions that were enabled.
    pub async fn deliver_due(&self) -> usize {
        maintenance::run_once(&self.app).await.expect("maintenance succeeds");
        self.worker().deliver_due().await.expect("the deliveries are sent")
    }

    /// Claims due deliveries without sending them, like a worker that is killed after its claim.
    pub async fn claim_and_crash(&self) {
        let write = self.begin_write().await;
        let (now, lease_token) = (write.now_ms(), uuid::Uuid::from_u128(1));
        let claim = ClaimQuery {
            now,
            lease_until: now + 60_000,
            lease_token,
            max_in_flight_per_subscription: 64,
            per_workspace: 64,
            allowances: &[],
            limit: 64,
            last_workspace: None,
        };
        assert!(!claim.run(write.conn()).await.expect("the claim succeeds").is_empty());
        write.commit().await.expect("the commit succeeds");
    }

    /// Returns the mails of all workspaces, including sent ones, oldest first.
    pub async fn mails(&self) -> Vec<entity::mails::Model> {
        let mut mails = Vec::new();
        for workspace in domain::workspaces::list(&self.app).await.expect("the query succeeds") {
            let scope = entity::mails::in_workspace(workspace.id.uuid());
            mails.extend(scope.list(self.app.db.read(), 100).await.expect("the query succeeds"));
        }
        mails.sort_by_key(|mail| mail.id);
        mails
    }
}
