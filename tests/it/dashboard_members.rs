//! The Members page: invitations, password links, removals.

use std::time::Duration;

use domain::roles::Role;
use domain::users;

use crate::support::browser::{PASSWORD, csrf_token, first_match, html};
use crate::support::mail::deliver_mail;
use crate::support::members::{MEMBERS, audit_entries, invite, member_browser, member_id, user_emails};
use crate::support::{Browser, TestApp, TestWorkspace};

const OWNER: &str = "owner@acme.example";
const ADA: &str = "ada@acme.example";
const LEAVE: &str = "/dashboard/settings/leave";

/// Returns the HTML of the Members page.
async fn members_page(browser: &Browser<'_>) -> String {
    html(&browser.get(MEMBERS).await.assert_status(200))
}

/// Adds a member, and returns a browser in which the member is signed in.
async fn add_signed_in_member<'a>(workspace: &TestWorkspace<'a>, email: &str) -> Browser<'a> {
    workspace.add_user(email).await;
    let browser = Browser::new(workspace.app);
    browser.sign_in(email, PASSWORD).await.assert_status(303);
    browser
}

async fn is_signed_in(browser: &Browser<'_>) -> bool {
    browser.get("/dashboard").await.status == 200
}

#[tokio::test]
async fn an_invited_member_sets_a_password_with_the_mailed_link() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.owner_browser().await;
    let alone = members_page(&owner).await;
    assert!(alone.contains("You are the only member of this workspace."), "{alone}");
    assert!(!alone.contains("/remove\""), "the owner cannot be removed: {alone}");

    let invited = invite(&owner, " Ada@acme.example ").await.assert_status(303);
    assert_eq!(invited.header("location"), MEMBERS);
    let mail = acme.only_mail().await;
    let token =
        first_match(&mail.text_body, "http://127.0.0.1:8080/set-password\\?token=([A-Za-z0-9_-]{43})");
    let page = members_page(&owner).await;
    assert!(
        page.contains("Ada@acme.example was invited.") && page.contains("No mail server is configured"),
        "{page}"
    );
    assert!(page.contains("invitation pending") && !page.contains(&token), "{page}");
    assert_eq!(
        audit_entries(&acme).await[0],
        "owner@acme.example Invited a member Ada@acme.example: developer, manager"
    );
    assert_eq!(deliver_mail(&app).await, 1);
    assert_eq!(std::fs::read_dir(app.folder().join("mail")).unwrap().count(), 1);

    let ada = Browser::new(&app);
    ada.get(&format!("/set-password?token={token}")).await.assert_status(303);
    let fields = [("password", PASSWORD), ("again", PASSWORD)];
    ada.submit("/set-password", "/set-password", &fields).await.assert_status(303);
    assert!(
        members_page(&owner).await.contains("invitation pending"),
        "the invitation is pending until the member signs in"
    );
    ada.sign_in(ADA, PASSWORD).await.assert_status(303);
    assert!(!members_page(&owner).await.contains("invitation pending"));
    assert!(!members_page(&ada).await.contains("Invite a member"), "only owners invite");
    assert!(html(&ada.get("/dashboard/settings").await).contains("Leave this workspace"));
}

#[tokio::test]
async fn errors_of_an_invitation_are_shown_at_the_field() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.owner_browser().await;
    let errors = [
        ("", "Email must contain one `@`"),
        ("nobody", "Email must contain one `@`"),
        ("ada..lovelace@acme.example", "Email is not a deliverable email address."),
        ("OWNER@acme.example", "Email already belongs to a member of this workspace."),
    ];
    for (email, error) in errors {
        let rejected = html(&invite(&owner, email).await.assert_status(422));
        assert!(rejected.contains(error) && rejected.contains("aria-invalid"), "{rejected}");
        assert!(rejected.contains(&format!("value=\"{email}\"")), "the input is kept: {rejected}");
    }
    assert_eq!(user_emails(&acme).await, [OWNER]);
    assert!(acme.mails().await.is_empty());
    let visitor = Browser::new(&app);
    assert!(visitor.get(MEMBERS).await.assert_status(303).header("location").starts_with("/login"));
}

#[tokio::test]
async fn a_form_that_is_sent_twice_changes_nothing_the_second_time() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.owner_browser().await;
    let token = csrf_token(&owner.get(MEMBERS).await);
    owner.post(MEMBERS, &token, &[("email", ADA), ("role", "viewer")]).await.assert_status(303);
    owner.post(MEMBERS, &token, &[("email", ADA), ("role", "viewer")]).await.assert_status(422);
    owner
        .post(MEMBERS, &token, &[("email", "eve@acme.example"), ("role", "viewer")])
        .await
        .assert_status(409);
    assert_eq!((user_emails(&acme).await.len(), acme.mails().await.len()), (2, 1));

    let link = format!("{MEMBERS}/{}/link", member_id(&acme, ADA).await);
    let token = csrf_token(&owner.get(MEMBERS).await);
    owner.post(&link, &token, &[]).await.assert_status(303);
    owner.post(&link, &token, &[]).await.assert_status(409);
    assert_eq!(acme.mails().await.len(), 2);
}

#[tokio::test]
async fn a_new_link_invalidates_the_older_link() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.owner_browser().await;
    invite(&owner, ADA).await.assert_status(303);
    let link = format!("{MEMBERS}/{}/link", member_id(&acme, ADA).await);
    owner.submit(MEMBERS, &link, &[]).await.assert_status(303);
    let page = members_page(&owner).await;
    assert!(page.contains("Created a new password link for ada@acme.example"), "{page}");
    assert_eq!(audit_entries(&acme).await[0], "owner@acme.example Created a password link ada@acme.example");
    let tokens: Vec<String> = acme
        .mails()
        .await
        .iter()
        .map(|mail| first_match(&mail.text_body, "token=([A-Za-z0-9_-]{43})"))
        .collect();
    let is_valid = async |token: &str| users::by_link(&app.app, token).await.unwrap().is_some();
    assert!(!is_valid(&tokens[0]).await && is_valid(&tokens[1]).await);
}

#[tokio::test]
async fn a_removed_member_is_signed_out_immediately() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (owner, ada) = (acme.owner_browser().await, add_signed_in_member(&acme, ADA).await);
    let link = acme.password_link_token(ADA).await;
    let path = format!("{MEMBERS}/{}/remove", member_id(&acme, ADA).await);
    let confirmation = html(&owner.get(&path).await.assert_status(200));
    assert!(
        confirmation.contains("Remove ada@acme.example?") && confirmation.contains("Remove member"),
        "{confirmation}"
    );
    assert!(is_signed_in(&ada).await, "the confirmation page removes nobody");
    // The mail that this queues must not be sent after the removal.
    owner.submit(MEMBERS, &path.replace("/remove", "/link"), &[]).await.assert_status(303);

    owner.submit(&path, &path, &[]).await.assert_status(303);
    assert!(members_page(&owner).await.contains("ada@acme.example was removed."));
    assert!(!is_signed_in(&ada).await);
    let new_browser = Browser::new(&app);
    new_browser.get(&format!("/set-password?token={link}")).await.assert_status(303);
    new_browser.get("/set-password").await.assert_status(404);
    ada.sign_in(ADA, PASSWORD).await.assert_status(422);
    assert_eq!((deliver_mail(&app).await, acme.only_mail().await.text_body.as_str()), (0, ""));
    assert_eq!(audit_entries(&acme).await[0], "owner@acme.example Removed a member ada@acme.example");
    let log = html(&owner.get("/dashboard/settings/audit").await);
    assert!(
        log.contains("<td data-label=\"Actor\">ada@acme.example</td>"),
        "entries about the removed member remain: {log}"
    );
    owner.submit(MEMBERS, &path, &[]).await.assert_status(404);

    // After a new invitation, Ada is a new member without a password.
    app.clock.advance(Duration::from_secs(1));
    invite(&owner, ADA).await.assert_status(303);
    assert!(members_page(&owner).await.contains("invitation pending"));
    ada.sign_in(ADA, PASSWORD).await.assert_status(422);
}

#[tokio::test]
async fn the_owner_cannot_be_removed() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.owner_browser().await;
    let path = format!("{MEMBERS}/{}/remove", member_id(&acme, OWNER).await);
    let second = member_browser(&acme, "second@acme.example", &[Role::Owner]).await;
    for browser in [&owner, &second] {
        browser.get(&path).await.assert_status(303);
        browser.submit(MEMBERS, &path, &[]).await.assert_status(303);
        let page = members_page(browser).await;
        assert!(
            page.contains("owner@acme.example is the owner of this workspace: this member cannot be removed"),
            "{page}"
        );
        assert!(page.contains("creator-api workspaces set-owner --workspace acme"), "{page}");
    }
    assert!(is_signed_in(&owner).await);
    assert_eq!(user_emails(&acme).await.len(), 2);
}

#[tokio::test]
async fn leaving_a_workspace_signs_out() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (owner, ada) = (acme.owner_browser().await, add_signed_in_member(&acme, ADA).await);
    owner.submit("/dashboard/settings", LEAVE, &[]).await.assert_status(303);
    assert!(html(&owner.get("/dashboard/settings").await).contains("this member cannot be removed"));
    assert!(html(&ada.get(LEAVE).await.assert_status(200)).contains("Leave this workspace?"));
    let left = ada.submit(LEAVE, LEAVE, &[]).await.assert_status(303);
    assert_eq!((left.header("location"), ada.cookie("session")), ("/login", None));
    assert!(html(&ada.get("/login").await.assert_status(200)).contains("You left the workspace."));
    assert_eq!(user_emails(&acme).await, [OWNER]);
    assert_eq!(audit_entries(&acme).await[0], "ada@acme.example Removed a member ada@acme.example");
}

#[tokio::test]
async fn members_of_other_workspaces_are_not_found() {
    let app = TestApp::start().await;
    let (acme, theirs) = (app.workspace("acme").await, app.workspace("theirs").await);
    let owner = acme.owner_browser().await;
    theirs.password_link_token("eve@theirs.example").await;
    let eve = member_id(&theirs, "eve@theirs.example").await;
    let token = csrf_token(&owner.get(MEMBERS).await);
    let before = theirs.rows().await;
    let mut responses = Vec::new();
    for member in [eve.as_str(), "usr_01h2xcejqtf2nbrexx3vqjhp41", "nonsense"] {
        let path = format!("{MEMBERS}/{member}");
        let confirmation = owner.get(&format!("{path}/remove")).await.assert_status(404);
        let removed = owner.post(&format!("{path}/remove"), &token, &[]).await.assert_status(404);
        let linked = owner.post(&format!("{path}/link"), &token, &[]).await.assert_status(404);
        let text = |response| crate::support::crawl::without_random_parts(&response).1.replace(member, "ID");
        responses.push((text(confirmation), text(removed), text(linked)));
    }
    responses.dedup();
    assert_eq!(responses.len(), 1, "{responses:#?}");
    assert_eq!(theirs.rows().await, before);
}

#[tokio::test]
async fn an_invitation_does_not_reveal_accounts_in_other_workspaces() {
    let app = TestApp::start().await;
    let (acme, other) = (app.workspace("acme").await, app.workspace("other").await);
    let ada = add_signed_in_member(&other, ADA).await;
    let owner = acme.owner_browser().await;
    let mut messages = Vec::new();
    for email in [ADA, "new@acme.example"] {
        invite(&owner, email).await.assert_status(303);
        let page = members_page(&owner).await.replace(email, "EMAIL");
        messages.push(first_match(&page, "(?s)EMAIL was invited[^<]+"));
        let path = format!("{MEMBERS}/{}/remove", member_id(&acme, email).await);
        assert!(members_page(&owner).await.contains("invitation pending"));
        owner.submit(&path, &path, &[]).await.assert_status(303);
    }
    messages.dedup();
    assert_eq!(messages.len(), 1, "{messages:?}");
    let kinds: Vec<String> = acme.mails().await.into_iter().map(|mail| mail.kind).collect();
    assert_eq!(kinds, ["access_given", "set_password"]);
    assert!(is_signed_in(&ada).await, "the user keeps access to the other workspace");
}

#[tokio::test]
async fn mails_per_hour_are_limited() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.owner_browser().await;
    for n in 0..20 {
        invite(&owner, &format!("{n}@acme.example")).await.assert_status(303);
    }
    let rejected = html(&invite(&owner, ADA).await.assert_status(422));
    assert!(rejected.contains("the limit of 20 emails per hour"), "{rejected}");
    let link = format!("{MEMBERS}/{}/link", member_id(&acme, "0@acme.example").await);
    owner.submit(MEMBERS, &link, &[]).await.assert_status(303);
    assert!(members_page(&owner).await.contains("No link can be sent now"));
    assert_eq!((user_emails(&acme).await.len(), acme.mails().await.len()), (21, 20));
    app.clock.advance(Duration::from_secs(3601));
    let owner = acme.owner_browser().await;
    invite(&owner, ADA).await.assert_status(303);
}

#[tokio::test]
async fn a_server_without_a_public_url_mails_no_link() {
    let app = TestApp::start_with(&[("listen", "0.0.0.0:8080")]).await;
    let acme = app.workspace("acme").await;
    let owner = acme.owner_browser().await;
    let form =
        owner.form(MEMBERS, &csrf_token(&owner.get(MEMBERS).await), &[("email", ADA), ("role", "viewer")]);
    let rejected = html(&owner.send(form).await.assert_status(422));
    assert!(rejected.contains("the operator can set it with --public-url"), "{rejected}");
    assert_eq!(user_emails(&acme).await, [OWNER]);
    assert!(acme.mails().await.is_empty());
}

#[tokio::test]
async fn a_link_uses_the_configured_url_whatever_the_host_header() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.owner_browser().await;
    let form =
        owner.form(MEMBERS, &csrf_token(&owner.get(MEMBERS).await), &[("email", ADA), ("role", "viewer")]);
    owner.send(form.header("host", "127.0.0.2:9999")).await.assert_status(303);
    let mail = acme.only_mail().await.text_body;
    assert!(mail.contains("http://127.0.0.1:8080/set-password") && !mail.contains("127.0.0.2"), "{mail}");
}
