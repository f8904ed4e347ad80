//! Forgotten passwords: a person requests a link by mail, and nobody learns which accounts exist.

use std::time::Duration;

use entity::mails::Model;
use entity::users;

use crate::support::browser::{PASSWORD, csrf_token, first_match, html};
use crate::support::members::{MEMBERS, audit_entries, member_id};
use crate::support::{Browser, TestApp, TestResponse, TestWorkspace, wait_until};

const RESET: &str = "/reset-password";
const ADA: &str = "ada@acme.example";
const NEW_PASSWORD: &str = "a new long password";
const HOUR: Duration = Duration::from_secs(3600);

/// Requests a link for this email address, in a new browser at this address.
async fn request_link(app: &TestApp, client: &str, email: &str) -> TestResponse {
    let browser = Browser::new(app);
    let token = csrf_token(&browser.get(RESET).await.assert_status(200));
    browser.send(browser.form(RESET, &token, &[("email", email)]).header("x-forwarded-for", client)).await
}

/// Starts a server behind a proxy, so that requests can come from any address.
async fn start() -> TestApp {
    TestApp::start_with(&[("trusted_proxies", "127.0.0.1")]).await
}

/// Waits until the workspace has this number of mails, and returns them, oldest first.
async fn mails(workspace: &TestWorkspace<'_>, count: usize) -> Vec<Model> {
    wait_until("the mails are queued", async || workspace.mails().await.len() >= count).await;
    let mut mails = workspace.mails().await;
    assert_eq!(mails.len(), count);
    mails.sort_by_key(|mail| mail.id);
    mails
}

fn token(mail: &Model) -> String {
    first_match(&mail.text_body, "http://127.0.0.1:8080/set-password\\?token=([A-Za-z0-9_-]{43})")
}

/// Opens a link in a new browser, and returns the browser.
async fn open<'a>(app: &'a TestApp, token: &str) -> Browser<'a> {
    let browser = Browser::new(app);
    browser.get(&format!("/set-password?token={token}")).await.assert_status(303);
    browser
}

#[tokio::test]
async fn a_person_sets_a_forgotten_password_with_a_mailed_link() {
    let app = start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    acme.add_user(ADA).await;
    app.clock.advance(Duration::from_secs(1));
    beta.add_user("Ada@acme.example").await;
    let sign_in = html(&Browser::new(&app).get("/login").await);
    assert!(sign_in.contains("href=\"/reset-password\""), "{sign_in}");

    let response = request_link(&app, "192.0.2.1", " ADA@Acme.example ").await.assert_status(303);
    assert_eq!(response.header("location"), "/login");
    let mail = mails(&acme, 1).await.remove(0);
    assert_eq!((mail.recipient.as_str(), mail.kind.as_str()), (ADA, "password_reset"));
    let is_reset = |mail: &Model| mail.kind == "password_reset";
    assert!(!beta.mails().await.iter().any(is_reset), "one mail for the person");
    let entries = [audit_entries(&acme).await, audit_entries(&beta).await];

    let browser = open(&app, &token(&mail)).await;
    let fields = [("password", NEW_PASSWORD), ("again", NEW_PASSWORD)];
    browser.submit("/set-password", "/set-password", &fields).await.assert_status(303);
    assert_eq!([audit_entries(&acme).await, audit_entries(&beta).await], entries, "no workspace sees it");
    browser.sign_in(ADA, PASSWORD).await.assert_status(422);
    browser.sign_in(ADA, NEW_PASSWORD).await.assert_status(303);
    open(&app, &token(&mail)).await.get("/set-password").await.assert_status(404);
}

#[tokio::test]
async fn the_answer_is_the_same_for_every_address() {
    let app = start().await;
    let acme = app.workspace("acme").await;
    acme.add_user(ADA).await;
    let invited = "invited@acme.example";
    acme.password_link_token(invited).await;
    let mut answers = Vec::new();
    for email in ["nobody@acme.example", "", "not an address", "\u{212a}ate@acme.example", ADA, invited] {
        let browser = Browser::new(&app);
        let answer = browser.submit(RESET, RESET, &[("email", email)]).await;
        let location = answer.header("location").to_owned();
        let names: Vec<String> = answer.headers.keys().map(ToString::to_string).collect();
        let page = html(&browser.get("/login").await);
        let message = first_match(&page, "<p class=\"flash[^>]*>([^<]+)</p>");
        answers.push((answer.status, location, names, answer.body.len(), message));
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:#?}");
    assert!(answers[0].4.contains("a link to set a password"), "{answers:?}");
    let mails = mails(&acme, 2).await;
    let mut recipients: Vec<&str> = mails.iter().map(|mail| mail.recipient.as_str()).collect();
    recipients.sort_unstable();
    assert_eq!(recipients, [ADA, invited]);
}

#[tokio::test]
async fn the_answer_does_not_wait_for_the_account() {
    let app = start().await;
    let acme = app.workspace("acme").await;
    let ada = acme.add_user(ADA).await;
    // The link cannot be stored until this transaction ends.
    let write = app.begin_write().await;
    users::in_workspace(acme.id.uuid()).lock(write.conn(), ada.id.uuid()).await.unwrap();
    for email in [ADA, "nobody@acme.example"] {
        request_link(&app, "192.0.2.1", email).await.assert_status(303);
    }
    assert!(acme.mails().await.is_empty());
    drop(write);
    mails(&acme, 1).await;
}

#[tokio::test]
async fn a_requested_link_is_valid_for_an_hour_and_replaces_no_other() {
    let app = start().await;
    let acme = app.workspace("acme").await;
    let invitation = acme.password_link_token(ADA).await;
    request_link(&app, "192.0.2.1", ADA).await.assert_status(303);
    let first = token(&mails(&acme, 1).await[0]);
    request_link(&app, "192.0.2.1", ADA).await.assert_status(303);
    let second = mails(&acme, 2).await.iter().map(token).find(|token| *token != first).expect("a token");

    // A stranger who requests links invalidates none.
    for token in [&invitation, &first, &second] {
        open(&app, token).await.get("/set-password").await.assert_status(200);
    }
    // A new link of the workspace replaces its earlier one only.
    let owner = acme.owner_browser().await;
    let path = format!("{MEMBERS}/{}/link", member_id(&acme, ADA).await);
    owner.submit(MEMBERS, &path, &[]).await.assert_status(303);
    let new = mails(&acme, 3).await.iter().map(token).find(|token| ![&first, &second].contains(&token));
    let new = new.expect("a token");
    for (token, status) in [(&invitation, 404), (&first, 200), (&second, 200), (&new, 200)] {
        open(&app, token).await.get("/set-password").await.assert_status(status);
    }
    app.clock.advance(HOUR - Duration::from_secs(1));
    open(&app, &first).await.get("/set-password").await.assert_status(200);
    app.clock.advance(Duration::from_secs(1));
    let expired = open(&app, &first).await.get("/set-password").await.assert_status(404);
    assert!(html(&expired).contains("href=\"/reset-password\""));
    let fields = [("password", PASSWORD), ("again", PASSWORD)];
    open(&app, &new).await.submit("/set-password", "/set-password", &fields).await.assert_status(303);
    let entries = audit_entries(&acme).await;
    assert!(entries.iter().any(|entry| entry.starts_with("ada@acme.example Set a password")), "{entries:?}");
}

#[tokio::test]
async fn links_are_limited_per_address_and_per_network() {
    let app = start().await;
    let acme = app.workspace("acme").await;
    for email in [ADA, "bo@acme.example"] {
        acme.add_user(email).await;
    }
    // The fourth request for one address gets the same answer, but no mail.
    for n in 0..4 {
        request_link(&app, &format!("192.0.2.{n}"), ADA).await.assert_status(303);
    }
    request_link(&app, "192.0.2.1", "bo@acme.example").await.assert_status(303);
    let to_ada = mails(&acme, 4).await.iter().filter(|mail| mail.recipient == ADA).count();
    assert_eq!(to_ada, 3);
    for n in 0..10 {
        request_link(&app, "198.51.100.1", &format!("{n}@acme.example")).await.assert_status(303);
    }
    let rejected = request_link(&app, "198.51.100.1", "10@acme.example").await.assert_status(429);
    assert!(html(&rejected).contains("Too many attempts. Try again in 15 minutes."), "{}", html(&rejected));
    request_link(&app, "198.51.100.2", "10@acme.example").await.assert_status(303);

    app.clock.advance(Duration::from_secs(15 * 60));
    request_link(&app, "198.51.100.1", ADA).await.assert_status(303);
    mails(&acme, 5).await;
    // Requested links do not use up the invitations of the workspace.
    let owner = acme.owner_browser().await;
    crate::support::members::invite(&owner, "eve@acme.example").await.assert_status(303);
}

#[tokio::test]
async fn without_a_public_url_no_link_can_be_requested() {
    let app = TestApp::start_with(&[("listen", "0.0.0.0:8080")]).await;
    let acme = app.workspace("acme").await;
    acme.add_user(ADA).await;
    let browser = Browser::new(&app);
    let page = html(&browser.get(RESET).await.assert_status(200));
    assert!(page.contains("--public-url") && !page.contains("<form method=\"post\""), "{page}");
    let token = csrf_token(&browser.get("/login").await);
    browser.post(RESET, &token, &[("email", ADA)]).await.assert_status(422);
    assert!(acme.mails().await.is_empty());
}
