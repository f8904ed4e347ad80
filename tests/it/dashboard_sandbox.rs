//! The sandbox on the dashboard: switching to it and back, and what forms and pages do when it is gone.

use std::time::Duration;

use domain::roles::{Permission, Role, Roles};
use domain::workspaces;
use regex::Regex;
use reqwest::Method;

use crate::support::browser::{PASSWORD, csrf_token, first_match, html, partial_update};
use crate::support::members::{MEMBERS, audit_entries, member_browser};
use crate::support::sandbox::{ENTER, LEAVE, SANDBOX, sandbox_browser, sandbox_of};
use crate::support::{Browser, TestApp, TestWorkspace};

const HOME: &str = "/dashboard";
const KEYS: &str = "/dashboard/developer";
const NEW_KEY: &str = "/dashboard/developer/keys/new";
const RESET: &str = "/dashboard/sandbox/reset";
const DELETE: &str = "/dashboard/sandbox/delete";
/// The fields of a valid form for a new API key.
const FIELDS: [(&str, &str); 3] = [("name", "CRM"), ("scopes", "read:courses"), ("expires", "")];
const BANNER: &str = "demo data, nothing here is real.";

/// Returns whether the page of the browser shows the sandbox.
async fn is_in_sandbox(browser: &Browser<'_>) -> bool {
    let page = html(&browser.get(HOME).await.assert_status(200));
    assert_eq!(page.contains("<body class=\"sandbox\""), page.contains(BANNER), "{page}");
    page.contains(BANNER)
}

/// Returns another browser in which the owner of `acme` is signed in.
async fn second_device(app: &TestApp) -> Browser<'_> {
    let browser = Browser::new(app);
    browser.sign_in("owner@acme.example", PASSWORD).await.assert_status(303);
    browser
}

/// Returns the number of API keys of a workspace.
async fn key_count(workspace: &TestWorkspace<'_>) -> u64 {
    let app = &workspace.app.app;
    entity::api_keys::in_workspace(workspace.id.uuid()).count(app.db.read()).await.unwrap()
}

#[tokio::test]
async fn a_member_creates_a_sandbox_and_switches_to_it_and_back() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let live_key = acme.key("read:courses").await;
    let browser = acme.owner_browser().await;
    assert!(!is_in_sandbox(&browser).await);
    let first = browser.submit(HOME, ENTER, &[]).await.assert_status(303);
    assert_eq!(first.header("location"), SANDBOX, "there is none yet");
    let page = html(&browser.get(SANDBOX).await.assert_status(200));
    assert!(page.contains("Create sandbox") && !page.contains(RESET), "{page}");

    let created = browser.submit(SANDBOX, SANDBOX, &[]).await.assert_status(303);
    assert_eq!(created.header("location"), HOME);
    let page = html(&browser.get(HOME).await.assert_status(200));
    assert!(page.contains("The sandbox was created.") && page.contains("acme (sandbox)"), "{page}");
    let sandbox = sandbox_of(&acme).await;
    let courses = html(&browser.get("/dashboard/courses").await.assert_status(200));
    assert!(courses.contains("/dashboard/courses/crs_"), "it has the demo data: {courses}");
    let created = html(&browser.submit(NEW_KEY, NEW_KEY, &FIELDS).await.assert_status(200));
    let secret = first_match(&created, "(svc_test_[0-9A-Za-z]{38})");
    let test_key = app.key_with_secret(String::new(), secret);
    let test_courses = test_key.get("/api/v1/courses").await.assert_status(200).ids();
    assert!(!test_courses.is_empty());
    assert_eq!(live_key.get("/api/v1/courses").await.assert_status(200).ids(), Vec::<String>::new());
    assert_eq!((key_count(&acme).await, key_count(&sandbox).await), (1, 1));

    let left = browser.submit(HOME, LEAVE, &[]).await.assert_status(303);
    assert_eq!(left.header("location"), HOME);
    assert!(!is_in_sandbox(&browser).await);
    assert!(!html(&browser.get(KEYS).await).contains("CRM"));
    browser.submit(HOME, ENTER, &[]).await.assert_status(303);
    assert!(is_in_sandbox(&browser).await && html(&browser.get(KEYS).await).contains("CRM"));
    assert_eq!(
        audit_entries(&acme).await[..3],
        [
            "owner@acme.example Switched to the sandbox ",
            "owner@acme.example Switched from the sandbox ",
            "owner@acme.example Created the sandbox acme-sandbox",
        ]
    );
    assert_eq!(audit_entries(&sandbox).await, ["owner@acme.example Created an API key CRM"]);
}

#[tokio::test]
async fn a_form_acts_only_on_the_data_for_which_it_was_loaded() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (browser, other) = (acme.owner_browser().await, second_device(&app).await);
    browser.submit(SANDBOX, SANDBOX, &[]).await.assert_status(303);
    let sandbox = sandbox_of(&acme).await;
    let old = csrf_token(&browser.get(NEW_KEY).await);
    browser.submit(HOME, LEAVE, &[]).await.assert_status(303);
    browser.post(NEW_KEY, &old, &FIELDS).await.assert_status(403);
    let live = csrf_token(&browser.get(NEW_KEY).await);
    browser.submit(HOME, ENTER, &[]).await.assert_status(303);
    browser.post(NEW_KEY, &live, &FIELDS).await.assert_status(403);
    assert_eq!((key_count(&acme).await, key_count(&sandbox).await), (0, 0));

    // After a reset, the records that the page shows do not exist any longer.
    let before = csrf_token(&browser.get(NEW_KEY).await);
    other.submit(RESET, RESET, &[]).await.assert_status(303);
    let refused = html(&browser.post(NEW_KEY, &before, &FIELDS).await.assert_status(409));
    assert!(refused.contains("This page shows other data") && refused.contains(BANNER), "{refused}");
    let sandbox = sandbox_of(&acme).await;
    browser.submit(NEW_KEY, NEW_KEY, &FIELDS).await.assert_status(200);
    assert_eq!((key_count(&acme).await, key_count(&sandbox).await), (0, 1));

    // When somebody else deletes the sandbox, the forms of its pages do not act on live data.
    let before = csrf_token(&browser.get(NEW_KEY).await);
    other.submit(DELETE, DELETE, &[]).await.assert_status(303);
    let refused = html(&browser.post(NEW_KEY, &before, &FIELDS).await.assert_status(409));
    assert!(refused.contains("This page shows other data") && !refused.contains(BANNER), "{refused}");
    assert_eq!(key_count(&acme).await, 0);
    // Signing out concerns no data.
    browser.post("/logout", &before, &[]).await.assert_status(303);
    assert!(browser.get(HOME).await.assert_status(303).header("location").starts_with("/login"));
}

#[tokio::test]
async fn pages_of_a_deleted_sandbox_show_live_data_and_say_so_once() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (browser, other) = (acme.owner_browser().await, second_device(&app).await);
    browser.submit(SANDBOX, SANDBOX, &[]).await.assert_status(303);
    let students = html(&browser.get("/dashboard/students").await);
    let student = first_match(&students, "/dashboard/students/stu_[a-z0-9]{26}");
    let deleted = other.submit(DELETE, DELETE, &[]).await.assert_status(303);
    assert_eq!(deleted.header("location"), HOME);
    assert!(html(&other.get(HOME).await).contains("The sandbox was deleted. You see live data."));

    // A partial update cannot show the message.
    partial_update(&browser, &app, KEYS).await;
    let page = html(&browser.get(&student).await.assert_status(404));
    assert!(
        page.contains("The sandbox was deleted. You see live data now.") && !page.contains(BANNER),
        "{page}"
    );
    let page = html(&browser.get(HOME).await.assert_status(200));
    assert!(!page.contains("was deleted") && !page.contains(BANNER), "{page}");
    // A new sandbox is entered only on request.
    other.submit(SANDBOX, SANDBOX, &[]).await.assert_status(303);
    assert!(!is_in_sandbox(&browser).await && is_in_sandbox(&other).await);
    let page = html(&browser.get(SANDBOX).await.assert_status(200));
    assert!(page.contains("Open the sandbox") && page.contains("acme-sandbox"), "{page}");
}

#[tokio::test]
async fn a_reset_keeps_keys_and_a_deletion_ends_them() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let browser = acme.owner_browser().await;
    browser.submit(SANDBOX, SANDBOX, &[]).await.assert_status(303);
    let again = browser.submit(SANDBOX, SANDBOX, &[]).await.assert_status(303);
    assert_eq!(again.header("location"), SANDBOX);
    assert!(html(&browser.get(SANDBOX).await).contains("This workspace has a sandbox already; reset it"));
    let key = sandbox_of(&acme).await.key("read:students write:students").await;
    let before = key.get("/api/v1/students?limit=100").await.assert_status(200).ids();
    let body = serde_json::json!({"email": "new@example.com"});
    key.post("/api/v1/students", body).await.assert_status(201);

    let page = html(&browser.get(RESET).await.assert_status(200));
    assert!(page.contains("Reset the sandbox?") && page.contains("API keys, webhooks"), "{page}");
    let reset = browser.submit(RESET, RESET, &[]).await.assert_status(303);
    assert_eq!(reset.header("location"), SANDBOX);
    assert!(html(&browser.get(SANDBOX).await).contains("The sandbox has the demo data again."));
    assert!(is_in_sandbox(&browser).await);
    app.clock.advance(Duration::from_secs(3));
    let after = key.get("/api/v1/students?limit=100").await.assert_status(200).ids();
    assert_eq!(after.len(), before.len());
    assert!(after.iter().all(|id| !before.contains(id)));

    browser.submit(DELETE, DELETE, &[]).await.assert_status(303);
    assert!(!is_in_sandbox(&browser).await);
    app.clock.advance(Duration::from_secs(3));
    key.get("/api/v1/students").await.assert_status(401);
    for path in [RESET, DELETE] {
        browser.submit(path, path, &[]).await.assert_status(303);
        assert!(
            html(&browser.get(SANDBOX).await).contains("This workspace has no sandbox; create one first.")
        );
    }
    assert_eq!(
        audit_entries(&acme).await[..3],
        [
            "owner@acme.example Deleted the sandbox acme-sandbox",
            "owner@acme.example Reset the sandbox acme-sandbox",
            "owner@acme.example Created the sandbox acme-sandbox",
        ]
    );
}

#[tokio::test]
async fn the_same_roles_apply_in_the_sandbox_and_members_are_managed_with_live_data() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    acme.owner_browser().await;
    let parameter = Regex::new(":([a-z]{3})[a-z_]*").unwrap();
    let id = |captures: &regex::Captures<'_>| format!("{}_01h2xcejqtf2nbrexx3vqjhp41", &captures[1]);
    let routes = dashboard::routes().into_iter().enumerate();
    let routes =
        routes.filter_map(|(number, (method, route, permission))| Some((number, method, route, permission?)));
    for (number, method, route, permission) in routes {
        for role in [Role::Owner, Role::Developer] {
            let email = format!("{role}-{number}@acme.example");
            let browser = sandbox_browser(&acme, &email, role).await;
            let path = parameter.replace_all(route, id);
            let response = match method {
                Method::POST => browser.submit("/dashboard/settings", &path, &[]).await,
                _ => browser.get(&path).await,
            };
            let roles: Roles = [role].into_iter().collect();
            let expected = match roles.allow(permission) {
                false => Some((403, "Your role does not allow this")),
                true if permission.needs_live_data() || route == "/dashboard/settings/leave" => {
                    Some((409, "Switch to live data first"))
                }
                true => None,
            };
            match expected {
                Some((status, text)) => {
                    assert_eq!(response.status, status, "{role}: {method} {route}");
                    assert!(html(&response).contains(text), "{role}: {method} {route}");
                }
                None => assert!(
                    ![403, 409].contains(&response.status) && response.status < 500,
                    "{role}: {method} {route}: {response:?}"
                ),
            }
        }
    }
}

#[tokio::test]
async fn members_without_the_role_do_not_enter_and_who_loses_it_can_leave() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.owner_browser().await;
    owner.submit(SANDBOX, SANDBOX, &[]).await.assert_status(303);
    let manager = member_browser(&acme, "manager@acme.example", &[Role::Manager]).await;
    let page = html(&manager.get("/dashboard/settings").await.assert_status(200));
    assert!(!page.contains(SANDBOX), "{page}");
    manager.submit(HOME, ENTER, &[]).await.assert_status(403);
    assert!(!is_in_sandbox(&manager).await);

    let ada = sandbox_browser(&acme, "ada@acme.example", Role::Developer).await;
    let page = html(&ada.get(MEMBERS).await.assert_status(200));
    assert!(page.contains("owner@acme.example") && page.contains("switch to live data"), "{page}");
    let write = app.begin_write().await;
    let member = domain::users::by_email_in(&write, acme.id, "ada@acme.example").await.unwrap().unwrap();
    let viewer: Roles = [Role::Viewer].into_iter().collect();
    domain::users::set_roles(&write, acme.id, member.id, viewer).await.unwrap();
    write.commit().await.unwrap();
    assert!(is_in_sandbox(&ada).await);
    ada.get(RESET).await.assert_status(403);
    ada.submit(HOME, LEAVE, &[]).await.assert_status(303);
    assert!(!is_in_sandbox(&ada).await);
    assert!(!viewer.allow(Permission::UseSandbox));
}

#[tokio::test]
async fn a_required_second_factor_is_required_in_the_sandbox() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let browser = acme.owner_browser().await;
    browser.submit(SANDBOX, SANDBOX, &[]).await.assert_status(303);
    let mut write = app.begin_write().await;
    workspaces::require_second_factor(&app.app, &mut write, acme.id, true).await.unwrap();
    write.commit().await.unwrap();
    let refused = browser.get(KEYS).await.assert_status(303);
    assert_eq!(refused.header("location"), "/dashboard/settings/security");
    let page = html(&browser.get("/dashboard/settings/security").await.assert_status(200));
    assert!(page.contains("This workspace requires a second factor."), "{page}");
}
