//! Somebody who runs several workspaces goes from one to another, and nowhere else.

use std::time::Duration;

use domain::audit::Actor;
use domain::{sessions, users};
use secrecy::{ExposeSecret, SecretString};

use crate::dashboard_keys::told;
use crate::support::browser::{PASSWORD, csrf, html};
use crate::support::{Browser, TestApp};

const CHANGE: &str = "/dashboard/workspace";
const HOME: &str = "/dashboard";
const SETTINGS: &str = "/dashboard/settings";
const ADA: &str = "ada@example.com";

/// The name of the workspace that a page is of.
fn name(page: &str) -> String {
    crate::support::browser::first(page, "</svg><span>([^<]+)</span></a>")
}

#[tokio::test]
async fn a_person_of_two_workspaces_goes_from_one_to_the_other() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    acme.person(ADA).await;
    app.clock.advance(Duration::from_secs(1));
    let there = beta.person("Ada@Example.com").await;
    let browser = Browser::new(&app);
    browser.sign_in(ADA, PASSWORD).await.assert_status(303);
    let page = html(&browser.get(HOME).await);
    assert!(name(&page) == "acme" && page.contains("Go to </span>beta</button>"), "{page}");
    let (before, token) = (browser.cookie("session").unwrap(), csrf(&browser.get(HOME).await));

    app.clock.advance(Duration::from_secs(3600));
    let to_beta = [("workspace", beta.id.to_string())];
    let to_beta = to_beta.each_ref().map(|(field, id)| (*field, id.as_str()));
    let gone = browser.submit(HOME, CHANGE, &to_beta).await.assert_status(303);
    assert_eq!(gone.header("location"), HOME);
    let page = html(&browser.get(HOME).await);
    assert!(name(&page) == "beta" && page.contains("Go to </span>acme</button>"), "{page}");
    assert_eq!(told(&acme).await[0], "ada@example.com Went to another workspace ");
    assert_eq!(told(&beta).await[0], "ada@example.com Came from another workspace ");

    // The session has its age and a new token: the old one opens nothing, nor does a form of the old workspace.
    let viewer =
        sessions::resume(&app.app, &browser.cookie("session").unwrap(), true).await.unwrap().unwrap();
    assert_eq!((viewer.user, viewer.others.len()), (there.id, 1));
    let sessions = sessions::list(&app.app, &viewer).await.unwrap();
    assert_eq!(sessions.iter().map(|session| session.workspace).collect::<Vec<_>>(), [beta.id]);
    assert_eq!((sessions[0].seen_at - sessions[0].created_at).total(jiff::Unit::Hour).unwrap(), 1.0);
    let old = Browser::new(&app);
    old.put("session", &before);
    assert!(old.get(HOME).await.assert_status(303).header("location").starts_with("/login"));
    browser.post("/dashboard/developer/keys/new", &token, &[]).await.assert_status(403);
    // Where one is already, one stays.
    browser.submit(HOME, CHANGE, &to_beta).await.assert_status(303);
    let entries = told(&beta).await;
    assert_eq!(entries.iter().filter(|line| line.contains("workspace")).count(), 1, "{entries:?}");
}

#[tokio::test]
async fn sessions_are_ended_in_whichever_workspace_they_are() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    acme.person(ADA).await;
    app.clock.advance(Duration::from_secs(1));
    beta.link(ADA).await;
    let (desk, phone) = (Browser::new(&app), Browser::new(&app));
    let beta_s = beta.id.to_string();
    let go = [("workspace", beta_s.as_str())];
    desk.sign_in(ADA, PASSWORD).await.assert_status(303);
    for way in ["end-others", "end"] {
        phone.sign_in(ADA, PASSWORD).await.assert_status(303);
        phone.submit(HOME, CHANGE, &go).await.assert_status(303);
        let page = html(&desk.get(SETTINGS).await);
        assert!(page.contains("data-label=\"Workspace\">beta<"), "it stands among the sessions: {page}");
        let action = match way {
            "end" => crate::support::browser::first(
                &page,
                "action=\"(/dashboard/settings/sessions/ses_[^\"]+/end)\"",
            ),
            _ => format!("{SETTINGS}/sessions/{way}"),
        };
        desk.submit(SETTINGS, &action, &[]).await.assert_status(303);
        let ended = if way == "end" { "Ended a session" } else { "Ended all other sessions" };
        for workspace in [&acme, &beta] {
            assert_eq!(told(workspace).await[0], format!("ada@example.com {ended} "), "{}", workspace.name);
        }
        assert!(phone.get(HOME).await.assert_status(303).header("location").starts_with("/login"), "{way}");
        desk.get(HOME).await.assert_status(200);
    }
    // Where none was, nothing is told.
    let before = told(&beta).await;
    desk.submit(SETTINGS, &format!("{SETTINGS}/sessions/end-others"), &[]).await.assert_status(303);
    assert_eq!(told(&beta).await, before);
    // A new password ends them all, wherever they have gone.
    phone.sign_in(ADA, PASSWORD).await.assert_status(303);
    phone.submit(HOME, CHANGE, &go).await.assert_status(303);
    acme.person(ADA).await;
    phone.get(HOME).await.assert_status(303);
    desk.get(HOME).await.assert_status(303);
}

#[tokio::test]
async fn a_link_ends_those_of_all_workspaces_and_so_does_a_new_password() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    let opens = async |token: &str| users::holder(&app.app, token).await.unwrap().is_some();
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
    assert!(!opens(&third).await && opens(&eves).await, "of somebody else");
    assert_eq!(told(&acme).await[0], "ada@example.com Set a password ada@example.com");
    assert_eq!(told(&beta).await[0], "Ada@Example.com Set a password Ada@Example.com");
}

#[tokio::test]
async fn no_link_is_left_behind_by_a_password_that_is_set_meanwhile() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    let (old, token) = (beta.link(ADA).await, acme.link(ADA).await);
    assert!(users::holder(&app.app, &old).await.unwrap().is_none());
    // A link is just being made in the other workspace: the new password waits for it, and opens nothing by the old link.
    let mut write = app.write().await;
    let user = users::ensure(&app.app, &mut write, beta.id, ADA).await.unwrap();
    let new = users::link(&app.app, &mut write, &user, &Actor::operator()).await.unwrap();
    let wait = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        write.commit().await.unwrap();
    };
    let password = SecretString::from(PASSWORD);
    let set = users::set_password(&app.app, &token, &password, |_| Actor::operator());
    let ((), set) = tokio::join!(wait, set);
    assert!(set.unwrap().is_none(), "the newer link ended this one");
    assert!(users::holder(&app.app, new.expose_secret()).await.unwrap().is_some());
}

#[tokio::test]
async fn a_workspace_of_others_is_as_absent_as_none() {
    let app = TestApp::start().await;
    let (acme, theirs) = (app.workspace("acme").await, app.workspace("theirs").await);
    theirs.person("eve@example.com").await;
    acme.person(ADA).await;
    let browser = Browser::new(&app);
    browser.sign_in(ADA, PASSWORD).await.assert_status(303);
    let page = html(&browser.get(HOME).await);
    assert!(!page.contains("Go to") && !page.contains("theirs"), "{page}");
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
    assert!(told(&theirs).await.iter().all(|line| !line.contains("workspace")));
}
