//! Rows are deleted when they are past their retention: on PostgreSQL, attempts and logged requests by dropping the partition of
//! their day.

use std::time::Duration;

use ::webhooks::maintenance;
use domain::audit;
use domain::requests::{self, RequestFilter};
use domain::webhooks::{DeadFilter, replays};
use entity::webhook_attempts;
use entity::webhook_deliveries::queue::DeliveryTransition;
use foundation::clock::Clock;
use sea_orm::{ConnectionTrait, Statement};
use serde_json::json;

use crate::support::members::audit_entries;
use crate::support::{Endpoint, TestApp, in_transaction};

const DAY: Duration = Duration::from_secs(86_400);
const SECOND: Duration = Duration::from_secs(1);

impl TestApp {
    /// Advances the clock to a day whose rows are not stored in the first partition.
    fn advance_past_first_partition(&self) {
        let later = Clock::system().now() + 10 * DAY;
        let by = later.duration_since(self.clock.now());
        self.clock.advance(by.try_into().expect("the test begins before today"));
    }

    /// Returns the number of partitions of a table for single days; `None` on SQLite.
    async fn day_partitions(&self, table: &str) -> Option<i64> {
        let query = format!(
            "SELECT count(*) FROM pg_inherits
             WHERE inhparent = '{table}'::regclass AND inhrelid::regclass::text NOT LIKE '%_history'"
        );
        if !self.uses_postgres() {
            return None;
        }
        let query = Statement::from_string(self.app.db.backend(), query);
        let row = self.app.db.read().query_one_raw(query).await.expect("the query succeeds");
        Some(row.expect("a row").try_get_by_index(0).expect("a number"))
    }
}

#[tokio::test]
async fn attempts_are_deleted_with_their_day() {
    let app = TestApp::start_with_local_webhooks().await;
    app.advance_past_first_partition();
    let endpoint = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
    let attempts = async || {
        webhook_attempts::in_workspace(workspace.id.uuid()).count(app.app.db.read()).await.expect("a count")
    };
    workspace.student("first").await;
    app.deliver_due().await;
    app.clock.advance(5 * DAY);
    workspace.student("second").await;
    app.deliver_due().await;
    assert_eq!((attempts().await, subscription.delivery_states().await.len()), (2, 2));
    // Each attempt has a partition, and so have the days before and after.
    assert!(app.day_partitions(webhook_attempts::TABLE).await.is_none_or(|count| count == 6));

    app.clock.advance(24 * DAY);
    maintenance::prune(&app.app).await.expect("the jobs succeed");
    assert_eq!((attempts().await, subscription.delivery_states().await.len()), (2, 2));
    app.clock.advance(2 * DAY);
    maintenance::prune(&app.app).await.expect("the jobs succeed");
    assert_eq!((attempts().await, subscription.delivery_states().await.len()), (1, 1));
    assert!(app.day_partitions(webhook_attempts::TABLE).await.is_none_or(|count| count < 6));
    workspace.student("third").await;
    assert_eq!(app.deliver_due().await, 1);
    app.clock.advance(32 * DAY);
    maintenance::prune(&app.app).await.expect("the jobs succeed");
    assert_eq!((attempts().await, subscription.delivery_states().await.len()), (0, 0));
}

#[tokio::test]
async fn logged_requests_are_deleted_with_their_day() {
    let app = TestApp::start().await;
    app.advance_past_first_partition();
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    let logged = async || app.log(workspace.id, RequestFilter::default()).await.len();
    key.get("/api/v1/courses").await.assert_status(200);
    assert_eq!(logged().await, 1);
    app.clock.advance(6 * DAY);
    key.get("/api/v1/courses").await.assert_status(200);
    requests::prune(&app.app).await.expect("the job succeeds");
    assert_eq!(logged().await, 2);
    app.clock.advance(2 * DAY);
    requests::prune(&app.app).await.expect("the job succeeds");
    assert_eq!(logged().await, 1);
    assert!(app.day_partitions(entity::api_requests::TABLE).await.is_none_or(|count| count < 6));
}

#[tokio::test]
async fn ended_replays_are_deleted_after_thirty_days() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    workspace.subscribe(&["student.created"]).await;
    workspace.student("ada").await;
    app.settle_due(Some(404), DeliveryTransition::Dead).await;
    app.clock.advance(SECOND);
    let preview = replays::preview(&app.app, workspace.id, &DeadFilter::default()).await.expect("a preview");
    let job = in_transaction(&app, async |write| replays::start(&app.app, write, &preview).await).await;
    let job = job.expect("the job starts").id;
    let exists = async || {
        maintenance::prune(&app.app).await.expect("the jobs succeed");
        replays::get(&app.app, Some(workspace.id), job).await.is_ok()
    };
    app.clock.advance(31 * DAY);
    assert!(exists().await, "a running job remains");
    replays::advance(&app.app, workspace.id, job).await.expect("the job advances");
    app.clock.advance(30 * DAY - SECOND);
    assert!(exists().await, "the job ended less than 30 days ago");
    app.clock.advance(2 * SECOND);
    assert!(!exists().await);
}

#[tokio::test]
async fn audit_entries_are_deleted_after_400_days() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    workspace.owner_browser().await;
    let before = audit_entries(&workspace).await;
    assert!(before.iter().any(|entry| entry.contains("Signed in")), "{before:?}");
    app.clock.advance(400 * DAY - SECOND);
    assert_eq!(audit::prune(&app.app).await.expect("the job succeeds"), 0);
    app.clock.advance(2 * SECOND);
    assert_eq!(audit::prune(&app.app).await.expect("the job succeeds"), before.len() as u64);
    assert!(audit_entries(&workspace).await.is_empty());
}

#[tokio::test]
async fn a_change_is_skipped_when_repeated_within_ninety_days() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let at = "2026-03-01T10:00:00Z";
    let data = json!({"key": "ada", "email": "ada@example.com"});
    let line = format!("{}\n", workspace.build_change(at, "student.upsert", data));
    let (first, _) = app.try_apply(&line).await;
    app.clock.advance(90 * DAY - SECOND);
    feed::prune(&app.app).await.expect("the job succeeds");
    let (repeated, _) = app.try_apply(&line).await;
    app.clock.advance(2 * SECOND);
    // The server's own job may have deleted the row already.
    feed::prune(&app.app).await.expect("the job succeeds");
    let (later, _) = app.try_apply(&line).await;
    assert_eq!([first.repeated, repeated.repeated, later.repeated], [0, 1, 0]);
}
