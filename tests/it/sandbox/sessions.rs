//! Sessions that show the sandbox: the data is that of the sandbox, the members are those of the live workspace.

use domain::sessions::{self, Viewer};
use secrecy::ExposeSecret;

use crate::support::browser::{PASSWORD, csrf_token, html};
use crate::support::members::{MEMBERS, audit_entries};
use crate::support::{Browser, TestApp, in_transaction};

const STUDENTS: &str = "/dashboard/students";
const NEW_KEY: &str = "/dashboard/developer/keys/new";

/// Returns the viewer of the browser's session.
async fn viewer(app: &TestApp, browser: &Browser<'_>) -> Viewer {
    let token = browser.cookie("session").expect("a session");
    sessions::resume(&app.app, &token, true).await.expect("a query").expect("the session is active")
}

/// Lets the browser's session show the sandbox or the live workspace.
async fn show(app: &TestApp, browser: &Browser<'_>, sandbox: bool) {
    let viewer = viewer(app, browser).await;
    let token = in_transaction(app, async |write| match sandbox {
        true => sessions::enter_sandbox(write, &viewer).await,
        false => sessions::leave_sandbox(write, &viewer).await,
    });
    browser.set_cookie("session", token.await.expect("the session is changed").expose_secret());
}

#[tokio::test]
async fn a_session_in_the_sandbox_shows_its_data_and_the_members_of_the_live_workspace() {
    let app = TestApp::start().await;
    let live = app.workspace("acme").await;
    live.upsert_student("live").await;
    let browser = live.owner_browser().await;
    let before = viewer(&app, &browser).await;
    let outcome = in_transaction(&app, async |write| sessions::enter_sandbox(write, &before).await).await;
    assert!(outcome.is_err(), "there is no sandbox");
    let sandbox = super::create(&app).await;
    show(&app, &browser, true).await;
    let page = html(&browser.get(STUDENTS).await.assert_status(200));
    assert!(page.contains("acme (sandbox)"), "{page}");
    assert!(page.contains("@example.com") && !page.contains("live@example.com"), "{page}");
    assert!(html(&browser.get(MEMBERS).await.assert_status(200)).contains("owner@acme.example"));

    let fields = [("name", "CI"), ("scopes", "read:courses"), ("expires", "30"), ("per_minute", "7")];
    let created = html(&browser.submit(NEW_KEY, NEW_KEY, &fields).await.assert_status(200));
    assert!(created.contains("svc_test_") && !created.contains("svc_live_"), "{created}");
    assert_eq!(audit_entries(&sandbox).await, ["owner@acme.example Created an API key CI"]);
    let invited = [("email", "grace@acme.example"), ("role", "viewer")];
    let refused = html(&browser.submit(MEMBERS, MEMBERS, &invited).await.assert_status(409));
    assert!(refused.contains("Switch to live data first"), "{refused}");
    let end_others = "/dashboard/settings/sessions/end-others";
    Browser::new(&app).sign_in("owner@acme.example", PASSWORD).await.assert_status(303);
    browser.submit(MEMBERS, end_others, &[]).await.assert_status(303);
    assert!(audit_entries(&live).await[0].contains("Signed out all other sessions"));
    assert_eq!(audit_entries(&sandbox).await.len(), 1);

    show(&app, &browser, false).await;
    assert!(html(&browser.get(STUDENTS).await).contains("live@example.com"));
}

#[tokio::test]
async fn a_session_outlives_the_sandbox_that_it_shows() {
    let app = TestApp::start().await;
    let browser = app.workspace("acme").await.owner_browser().await;
    let sandbox = super::create(&app).await;
    show(&app, &browser, true).await;
    assert_eq!(viewer(&app, &browser).await.workspace.id, sandbox.id);
    let sandbox = super::reset(&app).await;
    assert_eq!(viewer(&app, &browser).await.workspace.id, sandbox.id);
    super::delete(&app).await;
    let after = viewer(&app, &browser).await;
    assert_eq!(after.workspace, after.live_workspace);
    // A later sandbox is not entered by itself.
    super::create(&app).await;
    assert_eq!(viewer(&app, &browser).await.workspace.key, "acme");
    browser.get(STUDENTS).await.assert_status(200);
}

#[tokio::test]
async fn a_form_of_the_live_workspace_is_not_accepted_in_the_sandbox() {
    let app = TestApp::start().await;
    let browser = app.workspace("acme").await.owner_browser().await;
    let sandbox = super::create(&app).await;
    let token = csrf_token(&browser.get(NEW_KEY).await);
    show(&app, &browser, true).await;
    let fields = [("name", "CI"), ("scopes", "read:courses"), ("expires", "30")];
    let status = browser.post(NEW_KEY, &token, &fields).await.status;
    assert!(status >= 400, "{status}");
    assert!(domain::keys::list(&app.app, sandbox.id).await.expect("a query").is_empty());
}

#[tokio::test]
async fn a_form_in_progress_at_a_reset_is_refused() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = super::create(&app).await.key("read:courses").await;
    let owner = acme.owner_browser().await;
    show(&app, &owner, true).await;
    let course = key.get("/api/v1/courses").await.ids().swap_remove(0);
    let archive = format!("/dashboard/courses/{course}/archive");
    let token = csrf_token(&owner.get(&archive).await.assert_status(200));
    let write = super::begin_reset(&app).await;
    let (refused, ()) = tokio::join!(owner.post(&archive, &token, &[]), super::commit_later(&app, write));
    assert!(html(&refused.assert_status(409)).contains("This page shows other data"));
}
