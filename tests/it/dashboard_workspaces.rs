//! Switching between the workspaces of one user.

use std::time::Duration;

use domain::audit::Actor;
use domain::{sessions, users};
use secrecy::{ExposeSecret, SecretString};

use crate::dashboard_keys::audit_entries;
use crate::support::browser::{PASSWORD, csrf, html};
use crate::support::{Browser, TestApp};

const CHANGE: &str = "/dashboard/workspace";
const HOME: &str = "/dashboard";
const SETTINGS: &str = "/dashboard/settings";
const ADA: &str = "ada@example.com";

/// Returns the name of a page's workspace.
fn name(page: &str) -> String {
    crate::support::browser::first(page, "</svg><span>([^<]+)</span></a>")
}

#[tokio::test]
async fn a_user_of_two_workspaces_switches_between_them() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    acme.person(ADA).await;
    app.clock.advance(Duration::from_secs(1));
    let there = beta.person("Ada@Example.com").await;
    let browser = Browser::new(&app);
    browser.sign_in(ADA, PASSWORD).await.assert_status(303);
    let page = html(&browser.get(HOME).await);
    assert!(name(&page) == "acme" && page.contains("Switch to </span>beta</button>"), "{page}");
    let (before, token) = (browser.cookie("session").unwrap(), csrf(&browser.get(HOME).await));

    app.clock.advance(Duration::from_secs(3600));
    let to_beta = [("workspace", beta.id.to_string())];
    let to_beta = to_beta.each_ref().map(|(field, id)| (*field, id.as_str()));
    let gone = browser.submit(HOME, CHANGE, &to_beta).await.assert_status(303);
    assert_eq!(gone.header("location"), HOME);
    let page = html(&browser.get(HOME).await);
    assert!(name(&page) == "beta" && page.contains("Switch to </span>acme</button>"), "{page}");
    assert_eq!(audit_entries(&acme).await[0], "ada@example.com Switched to another workspace ");
    assert_eq!(audit_entries(&beta).await[0], "ada@example.com Switched from another workspace ");

    // The session keeps its age and gets a new token. The old token and forms of the old workspace are no longer valid.
    let viewer =
        sessions::resume(&app.app, &browser.cookie("session").unwrap(), true).await.unwrap().unwrap();
    assert_eq!((viewer.user, viewer.other_workspaces.len()), (there.id, 1));
    let sessions = sessions::list(&app.app, &viewer).await.unwrap();
    assert_eq!(sessions.iter().map(|session| session.workspace).collect::<Vec<_>>(), [beta.id]);
    assert_eq!((sessions[0].seen_at - sessions[0].created_at).total(jiff::Unit::Hour).unwrap(), 1.0);
    let old = Browser::new(&app);
    old.put("session", &before);
    assert!(old.get(HOME).await.assert_status(303).header("location").starts_with("/login"));
    browser.post("/dashboard/developer/keys/new", &token, &[]).await.assert_status(403);
    // Switching to the current workspace changes nothing.
    browser.submit(HOME, CHANGE, &to_beta).await.assert_status(303);
    let entries = audit_entries(&beta).await;
    assert_eq!(entries.iter().filter(|line| line.contains("workspace")).count(), 1, "{entries:?}");
}

#[tokio::test]
async fn sessions_are_ended_in_all_workspaces() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    acme.person(ADA).await;
    app.clock.advance(Duration::from_secs(1));
    beta.link(ADA).await;
    let (desktop, phone) = (Browser::new(&app), Browser::new(&app));
    let beta_s = beta.id.to_string();
    let go = [("workspace", beta_s.as_str())];
    desktop.sign_in(ADA, PASSWORD).await.assert_status(303);
    for way in ["end-others", "end"] {
        phone.sign_in(ADA, PASSWORD).await.assert_status(303);
        phone.submit(HOME, CHANGE, &go).await.assert_status(303);
        let page = html(&desktop.get(SETTINGS).await);
        assert!(page.contains("data-label=\"Workspace\">beta<"), "the list shows the session: {page}");
        let action = match way {
            "end" => crate::support::browser::first(
                &page,
                "action=\"(/dashboard/settings/sessions/ses_[^\"]+/end)\"",
            ),
            _ => format!("{SETTINGS}/sessions/{way}"),
        };
        desktop.submit(SETTINGS, &action, &[]).await.assert_status(303);
        let ended = if way == "end" { "Ended a session" } else { "Ended all other sessions" };
        for workspace in [&acme, &beta] {
            assert_eq!(
                audit_entries(workspace).await[0],
                format!("ada@example.com {ended} "),
                "{}",
                workspace.name
            );
        }
        assert!(phone.get(HOME).await.assert_status(303).header("location").starts_with("/login"), "{way}");
        desktop.get(HOME).await.assert_status(200);
    }
    // Nothing is logged in a workspace without ended sessions.
    let before = audit_entries(&beta).await;
    desktop.submit(SETTINGS, &format!("{SETTINGS}/sessions/end-others"), &[]).await.assert_status(303);
    assert_eq!(audit_entries(&beta).await, before);
    // A new password ends the sessions of all workspaces.
    phone.sign_in(ADA, PASSWORD).await.assert_status(303);
    phone.submit(HOME, CHANGE, &go).await.assert_status(303);
    acme.person(ADA).await;
    phone.get(HOME).await.assert_status(303);
    desktop.get(HOME).await.assert_status(303);
}

#[tokio::test]
async fn a_new_link_or_password_invalidates_links_of_all_workspaces() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    let opens = async |token: &str| users::by_link(&app.app, token).await.unwrap().is_some();
    let first = acme.link(ADA).await;
    app.clock.advance(Duration::from_secs(1));
    let second = beta.link("Ada@Example.com").await;
    assert!(!opens(&first).await && opens(&second).await, "the link of the other workspace is the newer one");
    let eves = beta.link("eve@example.com").await;

    let third = acme.link(ADA).await;
    assert!(!opens(&second).await);
    let browser = Browser::new(&app);
    browser.get(&format!("/set-password?token={third}")).await.assert_status(303);
    let fields = [("password", PASSWORD), ("again", PASSWORD)];
    browser.submit("/login", "/set-password", &fields).await.assert_status(303);
    assert!(!opens(&third).await && opens(&eves).await, "the link of another user stays valid");
    assert_eq!(audit_entries(&acme).await[0], "ada@example.com Set a password ada@example.com");
    assert_eq!(audit_entries(&beta).await[0], "Ada@Example.com Set a password Ada@Example.com");
}

#[tokio::test]
async fn a_link_created_during_a_password_change_invalidates_the_older_one() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    let (old, token) = (beta.link(ADA).await, acme.link(ADA).await);
    assert!(users::by_link(&app.app, &old).await.unwrap().is_none());
    // A link is being created in the other workspace: setting the password waits for it, and the old link is no longer valid.
    let mut write = app.write().await;
    let user = users::ensure(&app.app, &mut write, beta.id, ADA).await.unwrap();
    let new = users::create_link(&app.app, &mut write, &user, &Actor::operator()).await.unwrap();
    let wait = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        write.commit().await.unwrap();
    };
    let password = SecretString::from(PASSWORD);
    let set = users::set_password(&app.app, &token, &password, |_| Actor::operator());
    let ((), set) = tokio::join!(wait, set);
    assert!(set.unwrap().is_none(), "the newer link invalidated this one");
    assert!(users::by_link(&app.app, new.expose_secret()).await.unwrap().is_some());
}

#[tokio::test]
async fn workspaces_of_other_users_are_not_found() {
    let app = TestApp::start().await;
    let (acme, theirs) = (app.workspace("acme").await, app.workspace("theirs").await);
    theirs.person("eve@example.com").await;
    acme.person(ADA).await;
    let browser = Browser::new(&app);
    browser.sign_in(ADA, PASSWORD).await.assert_status(303);
    let page = html(&browser.get(HOME).await);
    assert!(!page.contains("Switch to") && !page.contains("theirs"), "{page}");
    let token = csrf(&browser.get(HOME).await);
    let absent = "wks_01h2xcejqtf2nbrexx3vqjhp41".to_owned();
    for id in [theirs.id.to_string(), absent, String::new(), "nonsense".to_owned()] {
        browser.post(CHANGE, &token, &[("workspace", &id)]).await.assert_status(404);
    }
    let id = theirs.id.to_string();
    browser.post(CHANGE, "", &[("workspace", &id)]).await.assert_status(403);
    Browser::new(&app).post(CHANGE, "", &[("workspace", &id)]).await.assert_status(403);
    browser.get(CHANGE).await.assert_status(405);
    assert_eq!(name(&html(&browser.get(HOME).await)), "acme");
    assert!(audit_entries(&theirs).await.iter().all(|line| !line.contains("workspace")));
}
