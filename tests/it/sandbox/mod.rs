//! Sandboxes: workspaces with test data, which are created, reset and deleted.

mod commands;
mod in_flight;
mod isolation;
mod platform;
mod purge;
mod reset;
mod sessions;

use std::time::Duration;

use contract_runtime::payload::InputLine;
use domain::sandbox;
use domain::workspaces::{self, Workspace};
use foundation::database::Write;

use serde_json::{Value, json};

use crate::support::{TestApp, TestKey, TestWorkspace, in_transaction, wait_until};

/// The key of the sandbox of `acme`.
const KEY: &str = "acme-sandbox";

/// Returns the live workspace `acme`. Creates it if it does not exist.
async fn live(app: &TestApp) -> Workspace {
    app.workspace("acme").await;
    workspaces::by_key(&app.app, "acme").await.expect("the workspace exists")
}

/// Creates the sandbox of `acme`.
pub(crate) async fn create(app: &TestApp) -> TestWorkspace<'_> {
    let live = live(app).await;
    let seeded = sandbox::seed(&app.app, &live, false).await.expect("the demo data");
    let created = in_transaction(app, async |write| sandbox::create(write, &live, seeded).await).await;
    TestWorkspace { app, name: KEY, id: created.expect("a sandbox").id }
}

/// Resets the sandbox of `acme`.
pub(crate) async fn reset(app: &TestApp) -> TestWorkspace<'_> {
    let live = live(app).await;
    let seeded = sandbox::seed(&app.app, &live, true).await.expect("the demo data");
    let reset = in_transaction(app, async |write| sandbox::reset(&app.app, write, &live, seeded).await).await;
    TestWorkspace { app, name: KEY, id: reset.expect("a sandbox").id }
}

/// Resets the sandbox of `acme` in a transaction that is still open.
async fn begin_reset(app: &TestApp) -> Write {
    let live = live(app).await;
    let seeded = sandbox::seed(&app.app, &live, true).await.expect("the demo data");
    let mut write = app.begin_write().await;
    sandbox::reset(&app.app, &mut write, &live, seeded).await.expect("a sandbox");
    write
}

/// Commits a transaction when another one has had the time to wait for it.
async fn commit_later(app: &TestApp, write: Write) {
    if app.uses_postgres() {
        wait_until("a session waits for a lock", async || app.has_blocked_session().await).await;
    } else {
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    write.commit().await.expect("the transaction is committed");
}

/// Deletes the sandbox of `acme`.
async fn delete(app: &TestApp) {
    let live = live(app).await;
    let deleted = in_transaction(app, async |write| sandbox::delete(&app.app, write, &live).await).await;
    assert_eq!(deleted.expect("the sandbox").key, KEY);
}

/// Returns the recipient and the kind of each mail, oldest first.
async fn mails(app: &TestApp) -> Vec<String> {
    app.mails().await.into_iter().map(|mail| format!("{} {}", mail.recipient, mail.kind)).collect()
}

/// Returns all events of a list of events, page by page. `path` has parameters.
async fn events(app: &TestApp, key: &TestKey, path: &str) -> Vec<Value> {
    // Events can be read in the millisecond after their commit.
    app.clock.advance(Duration::from_millis(1));
    let (mut events, mut next) = (Vec::new(), path.to_owned());
    loop {
        let page = key.get(&next).await.assert_status(200).json();
        events.extend(page["data"].as_array().expect("`data` is a list").clone());
        if page["pagination"]["has_more"] == false {
            return events;
        }
        next = format!("{path}&cursor={}", page["pagination"]["cursor"].as_str().expect("a cursor"));
    }
}

/// Imports new students with these names into the sandbox, which applies all changes.
async fn import(app: &TestApp, importer: &mut feed::Importer, names: &[&str]) {
    let lines = names.iter().map(|name| {
        let data = json!({"key": name, "email": format!("{name}@example.com")});
        let id = format!("c-{}", app.next_change_number());
        json!({"change": "student.upsert", "id": id, "workspace": KEY, "at": "2026-03-01T09:00:00Z", "data": data})
    });
    let batch: Vec<_> = (1..)
        .zip(lines)
        .map(|(number, line)| InputLine { number, bytes: line.to_string().into_bytes(), truncated: false })
        .collect();
    let (results, outcome) = importer.import(&batch).await;
    outcome.expect("the database works");
    let is_applied =
        |result: &Option<feed::LineResult>| matches!(result, Some(feed::LineResult::Applied { .. }));
    assert!(results.iter().all(is_applied), "{results:?}");
}
