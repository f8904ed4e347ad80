//! Forms that need a recent proof of identity.

use std::time::Duration;

use domain::roles::Role;

use crate::support::browser::{PASSWORD, WEBHOOKS, csrf_token, first_match, html};
use crate::support::members::{MEMBERS, audit_entries, invite, member_browser, member_id};
use crate::support::second_factor::{SECURITY, set_up};
use crate::support::{Browser, TestApp};

const KEYS: &str = "/dashboard/developer/keys/new";
const CONFIRM: &str = "/dashboard/confirm";

#[tokio::test]
async fn ten_minutes_after_signing_in_secrets_and_members_need_the_password() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.owner_browser().await;
    let (subscription, _) = acme.subscribe(&["student.created"]).await;
    member_browser(&acme, "ada@acme.example", &[Role::Viewer]).await;
    let ada = member_id(&acme, "ada@acme.example").await;
    app.clock.advance(Duration::from_secs(599));
    let token = csrf_token(&owner.get(KEYS).await.assert_status(200));
    app.clock.advance(Duration::from_secs(1));

    let (new, rotate) = (format!("{WEBHOOKS}/new"), format!("{WEBHOOKS}/{subscription}/rotate"));
    let key = acme.key("read:courses").await;
    let [edit_key, rotate_key] =
        ["edit", "rotate"].map(|form| format!("/dashboard/developer/keys/{}/{form}", key.id));
    for path in [KEYS, &new, &rotate, &edit_key, &rotate_key] {
        let asked = owner.get(path).await.assert_status(303);
        assert!(asked.header("location").starts_with("/dashboard/confirm?next=%2Fdashboard%2F"), "{path}");
    }
    let roles = format!("{MEMBERS}/{ada}/roles");
    let (link, remove) = (format!("{MEMBERS}/{ada}/link"), format!("{MEMBERS}/{ada}/remove"));
    for path in [KEYS, &new, &rotate, &edit_key, &rotate_key, MEMBERS, &roles, &link, &remove] {
        let fields =
            [("name", "CRM"), ("scopes", "read:courses"), ("role", "owner"), ("email", "eve@acme.example")];
        let page = html(&owner.post(path, &token, &fields).await.assert_status(403));
        assert!(page.contains("Confirm your identity"), "{path}: {page}");
    }
    // A webhook can be edited without the password, but its events do not go to another address.
    let edit = format!("{WEBHOOKS}/{subscription}/edit");
    let page = html(&owner.get(&edit).await.assert_status(200));
    let url = first_match(&page, "name=\"url\"[^>]* value=\"([^\"]+)\"");
    for (url, status) in [("https://attacker.example/hooks", 403), (&*url, 303)] {
        let fields = [("url", url), ("event_types", "student.created"), ("description", "Sync")];
        owner.post(&edit, &token, &fields).await.assert_status(status);
    }
    owner.get(MEMBERS).await.assert_status(200);
    owner.get("/dashboard/developer").await.assert_status(200);

    let form = format!("{CONFIRM}?next=/dashboard/developer/keys/new");
    let fields = [("password", "a wrong password"), ("next", KEYS)];
    let page = html(&owner.submit(&form, CONFIRM, &fields).await.assert_status(422));
    assert!(page.contains("Incorrect password or code."), "{page}");
    owner.get(KEYS).await.assert_status(303);
    let old = owner.cookie("session").expect("a session");
    let fields = [("password", PASSWORD), ("next", "https://evil.example/")];
    let confirmed = owner.submit(&form, CONFIRM, &fields).await.assert_status(303);
    assert_eq!(confirmed.header("location"), "/dashboard", "only to the dashboard");
    assert!(audit_entries(&acme).await[0].starts_with("owner@acme.example Confirmed their identity"));
    owner.get(KEYS).await.assert_status(200);
    // Who knew the token of the session gains nothing.
    let thief = Browser::new(&app);
    thief.set_cookie("session", &old);
    thief.get(KEYS).await.assert_status(303);
    assert_ne!(owner.cookie("session"), Some(old));
    invite(&owner, "eve@acme.example").await.assert_status(303);
}

#[tokio::test]
async fn a_member_with_a_second_factor_needs_it_too() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.owner_browser().await;
    let factor = set_up(&app, &owner).await;
    app.clock.advance(Duration::from_secs(600));
    let confirm = async |code: &str| {
        owner.submit(CONFIRM, CONFIRM, &[("password", PASSWORD), ("code", code), ("next", SECURITY)]).await
    };
    confirm("").await.assert_status(422);
    confirm("000000").await.assert_status(422);
    owner.get(KEYS).await.assert_status(303);
    confirm(&factor.code(&app, 0)).await.assert_status(303);
    owner.get(KEYS).await.assert_status(200);
    let mails = acme.mails().await.len();
    confirm(&factor.recovery_codes[0]).await.assert_status(303);
    confirm(&factor.recovery_codes[0]).await.assert_status(422);
    let entries = audit_entries(&acme).await;
    assert!(entries[0].contains("Entered an incorrect code of the second factor"), "{entries:?}");
    assert!(entries[1].ends_with("with a recovery code, 9 left"), "{entries:?}");
    assert_eq!(acme.mails().await.len(), mails + 1, "its use is notified");
}

#[tokio::test]
async fn guesses_of_the_password_are_limited() {
    let app = TestApp::start().await;
    let owner = app.workspace("acme").await.owner_browser().await;
    let token = csrf_token(&owner.get(CONFIRM).await.assert_status(200));
    for _ in 0..10 {
        owner.post(CONFIRM, &token, &[("password", "a wrong password")]).await;
    }
    owner.post(CONFIRM, &token, &[("password", PASSWORD)]).await.assert_status(429);
}
