//! If PostgreSQL rolls back the transaction of a form or an import because of a deadlock, the server applies the form
//! again, or the changes of the import one by one. Each takes effect once.
//!
//! A transaction of the test locks the same rows in the opposite order, which causes a deadlock. On SQLite, which has
//! no concurrent write transactions, the tests do nothing.

use sea_orm::{ConnectionTrait, DatabaseTransaction, Statement, TransactionTrait};
use serde_json::json;

use crate::support::browser::{csrf_token, first_match, html};
use crate::support::members::audit_entries;
use crate::support::{TestApp, skip, wait_until};

async fn run(transaction: &DatabaseTransaction, sql: &str) {
    transaction.execute_unprepared(sql).await.expect("the statement runs");
}

/// Begins a transaction with a long deadlock timeout. The other transaction detects the deadlock first, so PostgreSQL
/// rolls back that one.
async fn begin_with_long_deadlock_timeout(app: &TestApp) -> DatabaseTransaction {
    let connection = sea_orm::Database::connect(app.database_url()).await.expect("a connection");
    let transaction = connection.begin().await.expect("a transaction");
    run(&transaction, "SET LOCAL deadlock_timeout = '60s'").await;
    transaction
}

/// Returns the number of deadlocks in this database so far.
async fn deadlock_count(app: &TestApp) -> i64 {
    let sql = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    let sql = Statement::from_string(app.app.db.backend(), sql);
    app.app.db.read().query_one_raw(sql).await.unwrap().unwrap().try_get_by_index(0).unwrap()
}

#[tokio::test]
async fn a_form_that_loses_a_deadlock_is_applied_once() {
    let app = TestApp::start().await;
    if !app.uses_postgres() {
        return skip("PostgreSQL only");
    }
    let workspace = app.workspace("acme").await;
    let path = format!("/dashboard/students/{}", workspace.student("ada").await);
    workspace.course("ink", 1).await;
    workspace.change("enrollment.grant", json!({"student": "ada", "course": "ink"})).await;
    let browser = workspace.owner_browser().await;
    let page = browser.get(&path).await;
    let revoke = first_match(
        &html(&page),
        "href=\"(/dashboard/students/[a-z0-9_]+/enrollments/enr_[a-z0-9]+/revoke)\"",
    );

    let test_transaction = begin_with_long_deadlock_timeout(&app).await;
    run(&test_transaction, "SELECT id FROM enrollments FOR NO KEY UPDATE").await;
    let token = csrf_token(&page);
    let lock_in_opposite_order = async {
        wait_until("a session waits for a lock", async || app.has_blocked_session().await).await;
        run(&test_transaction, "SELECT id FROM students FOR NO KEY UPDATE").await;
        test_transaction.commit().await.expect("the commit succeeds");
    };
    let (response, ()) = tokio::join!(browser.post(&revoke, &token, &[]), lock_in_opposite_order);
    response.assert_status(303);
    assert_eq!(app.events_of_type("enrollment.revoked").await.len(), 1);
    let entries = audit_entries(&workspace).await;
    assert_eq!(entries.iter().filter(|entry| entry.contains("Revoked")).count(), 1, "{entries:?}");
    assert_eq!(deadlock_count(&app).await, 1, "the form ran into a deadlock");
}

#[tokio::test]
async fn a_group_of_changes_that_loses_a_deadlock_is_applied_one_by_one() {
    let app = TestApp::start().await;
    if !app.uses_postgres() {
        return skip("PostgreSQL only");
    }
    let workspace = app.workspace("acme").await;
    workspace.course("ink", 1).await;
    workspace.student("ada").await;
    workspace.student("bob").await;
    let at = app.clock.now().to_string();
    let grant = |student: &str| {
        workspace.build_change(&at, "enrollment.grant", json!({"student": student, "course": "ink"}))
    };
    let lines = format!("{}\n{}\n", grant("ada"), grant("bob"));

    let test_transaction = begin_with_long_deadlock_timeout(&app).await;
    run(&test_transaction, "SELECT id FROM students WHERE key = 'bob' FOR NO KEY UPDATE").await;
    let lock_in_opposite_order = async {
        wait_until("a session waits for a lock", async || app.has_blocked_session().await).await;
        run(&test_transaction, "SELECT id FROM students WHERE key = 'ada' FOR NO KEY UPDATE").await;
        test_transaction.commit().await.expect("the commit succeeds");
    };
    let ((outcome, rejects), ()) = tokio::join!(app.try_apply(&lines), lock_in_opposite_order);
    assert_eq!((outcome.applied, outcome.rejected, rejects.len()), (2, 0, 0));
    assert_eq!(app.events_of_type("enrollment.created").await.len(), 2);
    assert_eq!(deadlock_count(&app).await, 1, "the group ran into a deadlock");
}
