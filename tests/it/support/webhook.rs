//! Webhooks of a story: subscriptions, and a worker that sends when the story says so.

use ::webhooks::{Worker, upkeep};
use domain::webhooks::{self, Delivery, Held, NewSubscription, Subscription};
use entity::webhook_deliveries::queue::Claim;
use foundation::id::SubscriptionId;
use secrecy::ExposeSecret;

use super::{Endpoint, TestApp, Workspace};

/// A subscription of a workspace.
pub struct Subscribed<'a> {
    pub workspace: Workspace<'a>,
    pub id: SubscriptionId,
    pub secret: String,
}

impl<'a> Workspace<'a> {
    /// Subscribes an endpoint to these types of events.
    pub async fn subscribe_at(&self, endpoint: &Endpoint, event_types: &[&str]) -> Subscribed<'a> {
        self.subscribe_to(endpoint.url(), event_types).await
    }

    /// Subscribes a URL to these types of events.
    pub async fn subscribe_to(&self, url: String, event_types: &[&str]) -> Subscribed<'a> {
        let event_types = event_types.iter().map(|&kind| kind.to_owned()).collect();
        let mut write = self.app.write().await;
        let new = NewSubscription { url, event_types };
        let made = webhooks::create(&self.app.app, &mut write, &self.app.seal(), self.id, new).await;
        let (made, secret) = made.expect("a subscription");
        write.commit().await.expect("it is kept");
        Subscribed { workspace: *self, id: made.id, secret: secret.expose_secret().to_owned() }
    }
}

impl Subscribed<'_> {
    /// Its deliveries with their attempts, oldest first.
    pub async fn deliveries(&self) -> Vec<Delivery> {
        self.workspace.deliveries(self.id).await
    }

    /// How its deliveries stand, oldest first: `delivered 1` after one attempt.
    pub async fn standing(&self) -> Vec<String> {
        let deliveries = self.deliveries().await;
        deliveries.iter().map(|one| format!("{} {}", one.state, one.attempts.len())).collect()
    }

    /// What is known of it.
    pub async fn shown(&self) -> Subscription {
        webhooks::get(&self.workspace.app.app, self.workspace.id, self.id).await.expect("it is there")
    }

    /// Enables it, and sends what it held.
    pub async fn enable(&self) {
        let mut write = self.workspace.app.write().await;
        let app = &self.workspace.app.app;
        webhooks::enable(app, &mut write, self.workspace.id, self.id, Held::Send)
            .await
            .expect("it is enabled");
        write.commit().await.expect("it is kept");
    }

    /// Pauses it.
    pub async fn pause(&self) {
        let mut write = self.workspace.app.write().await;
        webhooks::pause(&mut write, self.workspace.id, self.id).await.expect("it is paused");
        write.commit().await.expect("it is kept");
    }
}

impl TestApp {
    /// A server whose operator lets webhooks go to this machine.
    pub async fn start_beside_receivers() -> Self {
        Self::start_with(&[("webhook_allow", "127.0.0.0/8")]).await
    }

    /// A worker of its own.
    pub fn worker(&self) -> Worker {
        Worker::new(self.app.clone(), self.seal().into()).expect("a worker")
    }

    /// Sends what is due, once; says how many attempts that were.
    pub async fn deliver_due(&self) -> usize {
        upkeep::go_on(&self.app).await.expect("the upkeep");
        self.worker().deliver_due().await.expect("what is due is sent")
    }

    /// A worker takes what is due and is gone before it sends any of it.
    pub async fn take_and_die(&self) {
        let write = self.write().await;
        let (now, lease_token) = (write.now_ms(), uuid::Uuid::from_u128(1));
        let claim = Claim {
            now,
            lease_until: now + 60_000,
            lease_token,
            cap_per_subscription: 64,
            per_workspace: 64,
            shares: &[],
            batch: 64,
            after: None,
        };
        assert!(!claim.take(write.conn()).await.expect("a claim").is_empty());
        write.commit().await.expect("it is kept");
    }

    /// All mail in the queue of a workspace, oldest first.
    pub async fn mails(&self) -> Vec<entity::mails::Model> {
        let mut mails = Vec::new();
        for workspace in domain::workspaces::list(&self.app).await.expect("workspaces") {
            let scope = entity::mails::in_workspace(workspace.id.uuid());
            mails.extend(scope.list(self.app.db.read(), 100).await.expect("its mail"));
        }
        mails.sort_by_key(|mail| mail.id);
        mails
    }
}
