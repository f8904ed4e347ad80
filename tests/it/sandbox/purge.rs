//! The rows of a workspace that was reset or deleted are deleted later, and no others.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::sandbox;
use entity::workspace_rows::TABLES;
use sea_orm::{ConnectionTrait, Statement};
use serde_json::json;

use crate::support::{Endpoint, TestApp};

/// How long the rows of a deleted workspace stay.
const PURGE_AFTER: Duration = Duration::from_hours(1);

/// Returns the values of a query's first column.
async fn texts(app: &TestApp, sql: &str) -> BTreeSet<String> {
    let statement = Statement::from_string(app.app.db.backend(), sql);
    let rows = app.app.db.read().query_all_raw(statement).await.expect("the query succeeds");
    rows.iter().map(|row| row.try_get_by_index(0).expect("a text")).collect()
}

#[tokio::test]
async fn every_table_with_rows_of_workspaces_is_purged() {
    let app = TestApp::start().await;
    let sql = if app.uses_postgres() {
        "SELECT table_name::text FROM information_schema.columns WHERE column_name = 'workspace_id'
         AND table_schema = 'public' AND NOT (SELECT relispartition FROM pg_class WHERE oid = to_regclass(table_name))"
    } else {
        "SELECT t.name FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table' AND c.name = 'workspace_id'"
    };
    let purged: BTreeSet<String> = TABLES.iter().map(|rows| rows.table.to_owned()).collect();
    let missing: Vec<String> =
        texts(&app, sql).await.into_iter().filter(|table| !purged.contains(table)).collect();
    assert_eq!(missing, [""; 0], "add these tables to `entity::workspace_rows::TABLES`");
}

#[tokio::test]
async fn the_rows_of_former_sandboxes_are_deleted_and_no_others() {
    let app = TestApp::start_with_local_webhooks().await;
    let live = app.workspace("acme").await;
    live.course("rust", 1).await;
    let first = super::create(&app).await;
    let key = first.key_with_all_scopes().await;
    let endpoint = Endpoint::start().await;
    first.subscribe_endpoint(&endpoint, &["student.created"]).await;
    let body = json!({"email": "new@example.com"});
    key.post_idempotent("/api/v1/students", "one", &body).await.assert_status(201);
    assert_eq!(app.deliver_due().await, 1);
    domain::requests::flush(&app.app).await.expect("the request log is written");
    let second = super::reset(&app).await;
    super::delete(&app).await;
    let third = super::create(&app).await;
    domain::requests::flush(&app.app).await.expect("the request log is written");

    let kept = [live.rows().await, third.rows().await];
    sandbox::purge(&app.app).await.expect("nothing is due");
    assert!(first.rows().await.len() > 1_000 && second.rows().await.len() > 1_000);
    app.clock.advance(PURGE_AFTER + Duration::from_secs(1));
    // Each call deletes a limited number of rows.
    for _ in 0..5 {
        sandbox::purge(&app.app).await.expect("the rows are deleted");
    }
    assert_eq!((first.rows().await, second.rows().await), (Vec::new(), Vec::new()));
    assert_eq!([live.rows().await, third.rows().await], kept);
    let keys = texts(&app, "SELECT DISTINCT workspace_key FROM applied_changes").await;
    let of_third = format!("sandbox-{}", third.id.uuid().simple());
    assert_eq!(keys, BTreeSet::from(["acme".to_owned(), of_third]));
}

#[tokio::test]
async fn a_workspace_that_is_never_finished_is_deleted() {
    let app = TestApp::start().await;
    let live = super::live(&app).await;
    drop(sandbox::seed(&app.app, &live, false).await.expect("the demo data"));
    let workspaces = async || texts(&app, "SELECT key FROM workspaces").await.len();
    assert_eq!(workspaces().await, 2);
    assert_eq!(domain::workspaces::list(&app.app).await.expect("the query succeeds"), [live]);
    app.clock.advance(PURGE_AFTER + Duration::from_secs(1));
    sandbox::purge(&app.app).await.expect("the rows are deleted");
    assert_eq!(workspaces().await, 1);
}
