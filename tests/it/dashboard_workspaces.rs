//! Users of several workspaces: switching between workspaces, sessions, and password links.

use std::time::Duration;

use domain::audit::Actor;
use domain::{sessions, users};
use secrecy::{ExposeSecret, SecretString};

use crate::support::browser::{PASSWORD, csrf_token, html};
use crate::support::members::audit_entries;
use crate::support::{Browser, TestApp};

const SWITCH: &str = "/dashboard/workspace";
const HOME: &str = "/dashboard";
const SETTINGS: &str = "/dashboard/settings";
const ADA: &str = "ada@example.com";

/// Returns the name of the workspace that a page shows.
fn workspace_name(page: &str) -> String {
    crate::support::browser::first_match(page, "</svg><span>([^<]+)</span></a>")
}

#[tokio::test]
async fn a_user_of_two_workspaces_switches_between_them() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    acme.add_user(ADA).await;
    app.clock.advance(Duration::from_secs(1));
    let beta_user = beta.add_user("Ada@Example.com").await;
    let browser = Browser::new(&app);
    browser.sign_in(ADA, PASSWORD).await.assert_status(303);
    let page = html(&browser.get(HOME).await);
    assert!(workspace_name(&page) == "acme" && page.contains("Switch to </span>beta</button>"), "{page}");
    let (old_session, token) = (browser.cookie("session").unwrap(), csrf_token(&browser.get(HOME).await));

    app.clock.advance(Duration::from_secs(3600));
    let to_beta = [("workspace", beta.id.to_string())];
    let to_beta = to_beta.each_ref().map(|(field, id)| (*field, id.as_str()));
    let switched = browser.submit(HOME, SWITCH, &to_beta).await.assert_status(303);
    assert_eq!(switched.header("location"), HOME);
    let page = html(&browser.get(HOME).await);
    assert!(workspace_name(&page) == "beta" && page.contains("Switch to </span>acme</button>"), "{page}");
    assert_eq!(audit_entries(&acme).await[0], "ada@example.com Switched to another workspace ");
    assert_eq!(audit_entries(&beta).await[0], "ada@example.com Switched from another workspace ");

    // The session keeps its age and gets a new token. The old token and forms of the old workspace are no longer valid.
    let viewer =
        sessions::resume(&app.app, &browser.cookie("session").unwrap(), true).await.unwrap().unwrap();
    assert_eq!((viewer.user, viewer.other_workspaces.len()), (beta_user.id, 1));
    let sessions = sessions::list(&app.app, &viewer).await.unwrap();
    assert_eq!(sessions.iter().map(|session| session.workspace).collect::<Vec<_>>(), [beta.id]);
    assert_eq!((sessions[0].seen_at - sessions[0].created_at).total(jiff::Unit::Hour).unwrap(), 1.0);
    let old_browser = Browser::new(&app);
    old_browser.set_cookie("session", &old_session);
    assert!(old_browser.get(HOME).await.assert_status(303).header("location").starts_with("/login"));
    browser.post("/dashboard/developer/keys/new", &token, &[]).await.assert_status(403);
    // Switching to the current workspace changes nothing.
    browser.submit(HOME, SWITCH, &to_beta).await.assert_status(303);
    let entries = audit_entries(&beta).await;
    assert_eq!(entries.iter().filter(|line| line.contains("workspace")).count(), 1, "{entries:?}");
}

#[tokio::test]
async fn sessions_are_ended_in_all_workspaces() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    acme.add_user(ADA).await;
    app.clock.advance(Duration::from_secs(1));
    beta.password_link_token(ADA).await;
    let (desktop, phone) = (Browser::new(&app), Browser::new(&app));
    let beta_id = beta.id.to_string();
    let to_beta = [("workspace", beta_id.as_str())];
    desktop.sign_in(ADA, PASSWORD).await.assert_status(303);
    for form in ["end-others", "end"] {
        phone.sign_in(ADA, PASSWORD).await.assert_status(303);
        phone.submit(HOME, SWITCH, &to_beta).await.assert_status(303);
        let page = html(&desktop.get(SETTINGS).await);
        assert!(page.contains("data-label=\"Workspace\">beta<"), "the list shows the session: {page}");
        let action = match form {
            "end" => crate::support::browser::first_match(
                &page,
                "action=\"(/dashboard/settings/sessions/ses_[^\"]+/end)\"",
            ),
            _ => format!("{SETTINGS}/sessions/{form}"),
        };
        desktop.submit(SETTINGS, &action, &[]).await.assert_status(303);
        let ended = if form == "end" { "Signed out a session" } else { "Signed out all other sessions" };
        for workspace in [&acme, &beta] {
            assert_eq!(
                audit_entries(workspace).await[0],
                format!("ada@example.com {ended} "),
                "{}",
                workspace.name
            );
        }
        assert!(phone.get(HOME).await.assert_status(303).header("location").starts_with("/login"), "{form}");
        desktop.get(HOME).await.assert_status(200);
    }
    // Nothing is logged if there are no other sessions.
    let before = [audit_entries(&acme).await, audit_entries(&beta).await];
    desktop.submit(SETTINGS, &format!("{SETTINGS}/sessions/end-others"), &[]).await.assert_status(303);
    assert_eq!([audit_entries(&acme).await, audit_entries(&beta).await], before);
    assert!(html(&desktop.get(SETTINGS).await).contains("There are no other sessions."));
    // A new password ends the sessions of all workspaces.
    phone.sign_in(ADA, PASSWORD).await.assert_status(303);
    phone.submit(HOME, SWITCH, &to_beta).await.assert_status(303);
    acme.add_user(ADA).await;
    phone.get(HOME).await.assert_status(303);
    desktop.get(HOME).await.assert_status(303);
}

#[tokio::test]
async fn a_password_belongs_to_the_person_and_to_the_workspace_of_the_link() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    let is_valid = async |token: &str| users::by_link(&app.app, token).await.unwrap().is_some();
    let first = acme.password_link_token(ADA).await;
    app.clock.advance(Duration::from_secs(1));
    let second = beta.password_link_token("Ada@Example.com").await;
    assert!(is_valid(&first).await && is_valid(&second).await, "another workspace cannot invalidate a link");
    let eve_link = beta.password_link_token("eve@example.com").await;

    let third = acme.password_link_token(ADA).await;
    assert!(!is_valid(&first).await && is_valid(&second).await, "a new link replaces that of its workspace");
    let beta_entries = audit_entries(&beta).await;
    let browser = Browser::new(&app);
    browser.get(&format!("/set-password?token={third}")).await.assert_status(303);
    let fields = [("password", PASSWORD), ("again", PASSWORD)];
    browser.submit("/login", "/set-password", &fields).await.assert_status(303);
    assert!(!is_valid(&third).await && !is_valid(&second).await, "a new password invalidates all links");
    assert!(is_valid(&eve_link).await, "the link of another user stays valid");
    assert_eq!(audit_entries(&acme).await[0], "ada@example.com Set a password ada@example.com");
    assert_eq!(audit_entries(&beta).await, beta_entries, "the other workspace does not see it");
}

#[tokio::test]
async fn a_password_change_waits_for_a_link_that_is_being_created_and_invalidates_it() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    let (_, link) = (beta.password_link_token(ADA).await, acme.password_link_token(ADA).await);
    // While a link is created in the other workspace, the password is set with the link of `acme`.
    let mut write = app.begin_write().await;
    let user = users::ensure(&app.app, &mut write, beta.id, ADA).await.unwrap();
    let new = users::create_link(&app.app, &mut write, &user, &Actor::operator()).await.unwrap();
    let commit_later = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        write.commit().await.unwrap();
    };
    let password = SecretString::from(PASSWORD);
    let set = users::set_password(&app.app, &link, &password, |_| Actor::operator());
    let ((), set) = tokio::join!(commit_later, set);
    assert!(set.unwrap().is_some());
    assert!(users::by_link(&app.app, new.expose_secret()).await.unwrap().is_none());
}

#[tokio::test]
async fn workspaces_of_other_users_are_not_found() {
    let app = TestApp::start().await;
    let (acme, theirs) = (app.workspace("acme").await, app.workspace("theirs").await);
    theirs.add_user("eve@example.com").await;
    acme.add_user(ADA).await;
    let browser = Browser::new(&app);
    browser.sign_in(ADA, PASSWORD).await.assert_status(303);
    let page = html(&browser.get(HOME).await);
    assert!(!page.contains("Switch to") && !page.contains("theirs"), "{page}");
    let token = csrf_token(&browser.get(HOME).await);
    let absent = "wks_01h2xcejqtf2nbrexx3vqjhp41".to_owned();
    for id in [theirs.id.to_string(), absent, String::new(), "nonsense".to_owned()] {
        browser.post(SWITCH, &token, &[("workspace", &id)]).await.assert_status(404);
    }
    let id = theirs.id.to_string();
    browser.post(SWITCH, "", &[("workspace", &id)]).await.assert_status(403);
    Browser::new(&app).post(SWITCH, "", &[("workspace", &id)]).await.assert_status(403);
    browser.get(SWITCH).await.assert_status(405);
    assert_eq!(workspace_name(&html(&browser.get(HOME).await)), "acme");
    assert!(audit_entries(&theirs).await.iter().all(|line| !line.contains("workspace")));
}
