//! Forms and imports that PostgreSQL rolls back because of a deadlock are run again, and take effect once.
//!
//! A transaction of the test locks two rows in the opposite order, so that PostgreSQL rolls back the other side.

use std::time::Duration;

use sea_orm::{ConnectionTrait, DatabaseTransaction, Statement, TransactionTrait};
use serde_json::json;

use crate::dashboard_keys::audit_entries;
use crate::support::TestApp;
use crate::support::browser::{csrf, first, html};

async fn run(transaction: &DatabaseTransaction, sql: &str) {
    transaction.execute_unprepared(sql).await.expect("the statement runs");
}

/// Begins a transaction with a long deadlock timeout, so that PostgreSQL resolves a deadlock by rolling back the other
/// transaction.
async fn begin_with_long_deadlock_timeout(app: &TestApp) -> DatabaseTransaction {
    let transaction = app.app.db.read().begin().await.expect("a transaction");
    run(&transaction, "SET LOCAL deadlock_timeout = '60s'").await;
    transaction
}

/// Waits until a transaction of the server waits for a lock.
async fn wait_until_blocked(app: &TestApp) {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let sql = Statement::from_string(app.app.db.backend(), sql);
    loop {
        let row = app.app.db.read().query_one_raw(sql.clone()).await.expect("an answer").expect("a row");
        if row.try_get_by_index::<i64>(0).expect("a number") > 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn deadlock_count(app: &TestApp) -> i64 {
    let sql = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    let sql = Statement::from_string(app.app.db.backend(), sql);
    app.app.db.read().query_one_raw(sql).await.unwrap().unwrap().try_get_by_index(0).unwrap()
}

#[tokio::test]
async fn a_form_that_loses_a_deadlock_is_applied_once() {
    let app = TestApp::start().await;
    if !app.has_many_writers() {
        return;
    }
    let workspace = app.workspace("acme").await;
    let path = format!("/dashboard/students/{}", workspace.student("ada").await);
    workspace.course("ink", 1).await;
    workspace.change("enrollment.grant", json!({"student": "ada", "course": "ink"})).await;
    let browser = workspace.signed_in().await;
    let page = browser.get(&path).await;
    let revoke =
        first(&html(&page), "href=\"(/dashboard/students/[a-z0-9_]+/enrollments/enr_[a-z0-9]+/revoke)\"");

    let other = begin_with_long_deadlock_timeout(&app).await;
    run(&other, "SELECT id FROM enrollments FOR NO KEY UPDATE").await;
    let token = csrf(&page);
    let lock_in_opposite_order = async {
        wait_until_blocked(&app).await;
        run(&other, "SELECT id FROM students FOR NO KEY UPDATE").await;
        other.commit().await.expect("it commits");
    };
    let (response, ()) = tokio::join!(browser.post(&revoke, &token, &[]), lock_in_opposite_order);
    response.assert_status(303);
    assert_eq!(app.events_of("enrollment.revoked").await.len(), 1);
    let entries = audit_entries(&workspace).await;
    assert_eq!(entries.iter().filter(|entry| entry.contains("Revoked")).count(), 1, "{entries:?}");
    assert_eq!(deadlock_count(&app).await, 1, "the form ran into a deadlock");
}

#[tokio::test]
async fn a_group_of_changes_that_loses_a_deadlock_is_applied_one_by_one() {
    let app = TestApp::start().await;
    if !app.has_many_writers() {
        return;
    }
    let workspace = app.workspace("acme").await;
    workspace.course("ink", 1).await;
    workspace.student("ada").await;
    workspace.student("bob").await;
    let at = app.clock.now().to_string();
    let grant =
        |student: &str| workspace.line(&at, "enrollment.grant", json!({"student": student, "course": "ink"}));
    let lines = format!("{}\n{}\n", grant("ada"), grant("bob"));

    let other = begin_with_long_deadlock_timeout(&app).await;
    run(&other, "SELECT id FROM students WHERE key = 'bob' FOR NO KEY UPDATE").await;
    let lock_in_opposite_order = async {
        wait_until_blocked(&app).await;
        run(&other, "SELECT id FROM students WHERE key = 'ada' FOR NO KEY UPDATE").await;
        other.commit().await.expect("it commits");
    };
    let ((outcome, rejects), ()) = tokio::join!(app.try_apply(&lines), lock_in_opposite_order);
    assert_eq!((outcome.applied, outcome.rejected, rejects.len()), (2, 0, 0));
    assert_eq!(app.events_of("enrollment.created").await.len(), 2);
    assert_eq!(deadlock_count(&app).await, 1, "the group ran into a deadlock");
}
