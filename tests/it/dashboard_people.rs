//! The People page: invitations, password links, removals.

use std::time::Duration;

use domain::users;

use crate::dashboard_keys::audit_entries;
use crate::people::user_emails;
use crate::support::browser::{PASSWORD, csrf, first, html};
use crate::support::mail::deliver_mail;
use crate::support::{Browser, TestApp, Workspace};

const PEOPLE: &str = "/dashboard/settings/people";
const OWNER: &str = "owner@acme.example";
const ADA: &str = "ada@acme.example";

/// Submits the invitation form.
async fn invite(browser: &Browser<'_>, email: &str) -> crate::support::TestResponse {
    browser.submit(PEOPLE, PEOPLE, &[("email", email)]).await
}

/// Returns the page without a flash message.
async fn page(browser: &Browser<'_>) -> String {
    html(&browser.get(PEOPLE).await.assert_status(200))
}

/// Returns the id of a person.
async fn id(workspace: &Workspace<'_>, email: &str) -> String {
    let people = users::list(&workspace.app.app, workspace.id).await.unwrap();
    people.into_iter().find(|person| person.email == email).expect("the person is there").id.to_string()
}

/// Returns a browser in which a person with a password is signed in.
async fn signed_in<'a>(workspace: &Workspace<'a>, email: &str) -> Browser<'a> {
    workspace.person(email).await;
    let browser = Browser::new(workspace.app);
    browser.sign_in(email, PASSWORD).await.assert_status(303);
    browser
}

async fn is_signed_in(browser: &Browser<'_>) -> bool {
    browser.get("/dashboard").await.status == 200
}

#[tokio::test]
async fn an_invited_person_sets_a_password_with_the_mailed_link() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.signed_in().await;
    let alone = page(&owner).await;
    assert!(alone.contains("You are the only person in this workspace."), "{alone}");
    assert!(!alone.contains("/remove\""), "the owner cannot be removed: {alone}");

    let invited = invite(&owner, " Ada@acme.example ").await.assert_status(303);
    assert_eq!(invited.header("location"), PEOPLE);
    let mail = acme.only_mail().await;
    let token = first(&mail.text_body, "http://127.0.0.1:8080/set-password\\?token=([A-Za-z0-9_-]{43})");
    let shown = page(&owner).await;
    assert!(
        shown.contains("Ada@acme.example was invited.") && shown.contains("No mail server is configured"),
        "{shown}"
    );
    assert!(shown.contains("invitation pending") && !shown.contains(&token), "{shown}");
    assert_eq!(audit_entries(&acme).await[0], "owner@acme.example Invited a user Ada@acme.example");
    assert_eq!(deliver_mail(&app).await, 1);
    assert_eq!(std::fs::read_dir(app.folder().join("mail")).unwrap().count(), 1);

    let ada = Browser::new(&app);
    ada.get(&format!("/set-password?token={token}")).await.assert_status(303);
    let fields = [("password", PASSWORD), ("again", PASSWORD)];
    ada.submit("/set-password", "/set-password", &fields).await.assert_status(303);
    assert!(page(&owner).await.contains("invitation pending"), "a password alone is no sign-in");
    ada.sign_in(ADA, PASSWORD).await.assert_status(303);
    assert!(!page(&owner).await.contains("invitation pending"));
    assert!(page(&ada).await.contains("Leave this workspace"));
}

#[tokio::test]
async fn errors_of_an_invitation_are_shown_at_the_field() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.signed_in().await;
    let errors = [
        ("", "Email must contain one `@`"),
        ("nobody", "Email must contain one `@`"),
        ("ada..lovelace@acme.example", "Email is not a deliverable email address."),
        ("OWNER@acme.example", "Email already belongs to a person in this workspace."),
    ];
    for (email, error) in errors {
        let refused = html(&invite(&owner, email).await.assert_status(422));
        assert!(refused.contains(error) && refused.contains("aria-invalid"), "{refused}");
        assert!(refused.contains(&format!("value=\"{email}\"")), "the input is kept: {refused}");
    }
    assert_eq!(user_emails(&acme).await, [OWNER]);
    assert!(acme.mails().await.is_empty());
    let visitor = Browser::new(&app);
    assert!(visitor.get(PEOPLE).await.assert_status(303).header("location").starts_with("/login"));
}

#[tokio::test]
async fn a_form_that_is_sent_twice_changes_nothing_the_second_time() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.signed_in().await;
    let token = csrf(&owner.get(PEOPLE).await);
    owner.post(PEOPLE, &token, &[("email", ADA)]).await.assert_status(303);
    owner.post(PEOPLE, &token, &[("email", ADA)]).await.assert_status(422);
    owner.post(PEOPLE, &token, &[("email", "eve@acme.example")]).await.assert_status(409);
    assert_eq!((user_emails(&acme).await.len(), acme.mails().await.len()), (2, 1));

    let link = format!("{PEOPLE}/{}/link", id(&acme, ADA).await);
    let token = csrf(&owner.get(PEOPLE).await);
    owner.post(&link, &token, &[]).await.assert_status(303);
    owner.post(&link, &token, &[]).await.assert_status(409);
    assert_eq!(acme.mails().await.len(), 2);
}

#[tokio::test]
async fn a_new_link_ends_the_one_before() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.signed_in().await;
    invite(&owner, ADA).await.assert_status(303);
    let link = format!("{PEOPLE}/{}/link", id(&acme, ADA).await);
    owner.submit(PEOPLE, &link, &[]).await.assert_status(303);
    let shown = page(&owner).await;
    assert!(shown.contains("Created a new password link for ada@acme.example"), "{shown}");
    assert_eq!(audit_entries(&acme).await[0], "owner@acme.example Created a password link ada@acme.example");
    let tokens: Vec<String> =
        acme.mails().await.iter().map(|mail| first(&mail.text_body, "token=([A-Za-z0-9_-]{43})")).collect();
    let opens = async |token: &str| users::by_link(&app.app, token).await.unwrap().is_some();
    assert!(!opens(&tokens[0]).await && opens(&tokens[1]).await);
}

#[tokio::test]
async fn a_removed_person_is_signed_out_immediately() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (owner, ada) = (acme.signed_in().await, signed_in(&acme, ADA).await);
    let link = acme.link(ADA).await;
    let path = format!("{PEOPLE}/{}/remove", id(&acme, ADA).await);
    let asked = html(&owner.get(&path).await.assert_status(200));
    assert!(asked.contains("Remove ada@acme.example?") && asked.contains("Remove person"), "{asked}");
    assert!(is_signed_in(&ada).await, "the confirmation removes nobody");
    // The queued email must not be sent.
    owner.submit(PEOPLE, &path.replace("/remove", "/link"), &[]).await.assert_status(303);

    owner.submit(&path, &path, &[]).await.assert_status(303);
    assert!(page(&owner).await.contains("ada@acme.example was removed."));
    assert!(!is_signed_in(&ada).await);
    let opened = Browser::new(&app);
    opened.get(&format!("/set-password?token={link}")).await.assert_status(303);
    opened.get("/set-password").await.assert_status(404);
    ada.sign_in(ADA, PASSWORD).await.assert_status(422);
    assert_eq!((deliver_mail(&app).await, acme.only_mail().await.text_body.as_str()), (0, ""));
    assert_eq!(audit_entries(&acme).await[0], "owner@acme.example Removed a user ada@acme.example");
    let log = html(&owner.get("/dashboard/settings/audit").await);
    assert!(log.contains("<td data-label=\"User\">ada@acme.example</td>"), "her entries remain: {log}");
    owner.submit(PEOPLE, &path, &[]).await.assert_status(404);

    // After a new invitation, she is a new person without a password.
    app.clock.advance(Duration::from_secs(1));
    invite(&owner, ADA).await.assert_status(303);
    assert!(page(&owner).await.contains("invitation pending"));
    ada.sign_in(ADA, PASSWORD).await.assert_status(422);
}

#[tokio::test]
async fn the_owner_cannot_be_removed() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (owner, ada) = (acme.signed_in().await, signed_in(&acme, ADA).await);
    let path = format!("{PEOPLE}/{}/remove", id(&acme, OWNER).await);
    for browser in [&owner, &ada] {
        browser.get(&path).await.assert_status(303);
        browser.submit(PEOPLE, &path, &[]).await.assert_status(303);
        let shown = page(browser).await;
        assert!(
            shown.contains("owner@acme.example is the owner of this workspace and cannot be removed."),
            "{shown}"
        );
        assert!(shown.contains("creator-api workspaces set-owner --workspace acme"), "{shown}");
    }
    assert!(is_signed_in(&owner).await);
    assert_eq!(user_emails(&acme).await.len(), 2);
}

#[tokio::test]
async fn leaving_a_workspace_signs_out() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let ada = signed_in(&acme, ADA).await;
    let path = format!("{PEOPLE}/{}/remove", id(&acme, ADA).await);
    assert!(html(&ada.get(&path).await.assert_status(200)).contains("Leave this workspace?"));
    let left = ada.submit(&path, &path, &[]).await.assert_status(303);
    assert_eq!((left.header("location"), ada.cookie("session")), ("/login", None));
    assert!(html(&ada.get("/login").await.assert_status(200)).contains("You left the workspace."));
    assert_eq!(user_emails(&acme).await, [OWNER]);
    assert_eq!(audit_entries(&acme).await[0], "ada@acme.example Removed a user ada@acme.example");
}

#[tokio::test]
async fn people_of_other_workspaces_are_not_found() {
    let app = TestApp::start().await;
    let (acme, theirs) = (app.workspace("acme").await, app.workspace("theirs").await);
    let owner = acme.signed_in().await;
    theirs.link("eve@theirs.example").await;
    let eve = id(&theirs, "eve@theirs.example").await;
    let token = csrf(&owner.get(PEOPLE).await);
    let before = theirs.rows().await;
    let mut answers = Vec::new();
    for person in [eve.as_str(), "usr_01h2xcejqtf2nbrexx3vqjhp41", "nonsense"] {
        let path = format!("{PEOPLE}/{person}");
        let asked = owner.get(&format!("{path}/remove")).await.assert_status(404);
        let removed = owner.post(&format!("{path}/remove"), &token, &[]).await.assert_status(404);
        let linked = owner.post(&format!("{path}/link"), &token, &[]).await.assert_status(404);
        let plain = |answer| crate::dashboard_crawl::plain(&answer).1.replace(person, "ID");
        answers.push((plain(asked), plain(removed), plain(linked)));
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:#?}");
    assert_eq!(theirs.rows().await, before);
}

#[tokio::test]
async fn an_invitation_does_not_reveal_accounts_in_other_workspaces() {
    let app = TestApp::start().await;
    let (acme, other) = (app.workspace("acme").await, app.workspace("other").await);
    let ada = signed_in(&other, ADA).await;
    let owner = acme.signed_in().await;
    let mut shown = Vec::new();
    for email in [ADA, "new@acme.example"] {
        invite(&owner, email).await.assert_status(303);
        let rest = page(&owner).await.replace(email, "EMAIL");
        shown.push(first(&rest, "(?s)EMAIL was invited[^<]+"));
        let path = format!("{PEOPLE}/{}/remove", id(&acme, email).await);
        assert!(page(&owner).await.contains("invitation pending"));
        owner.submit(&path, &path, &[]).await.assert_status(303);
    }
    shown.dedup();
    assert_eq!(shown.len(), 1, "{shown:?}");
    let kinds: Vec<String> = acme.mails().await.into_iter().map(|mail| mail.kind).collect();
    assert_eq!(kinds, ["access_given", "set_password"]);
    assert!(is_signed_in(&ada).await, "she keeps access to the other workspace");
}

#[tokio::test]
async fn mails_per_hour_are_limited() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.signed_in().await;
    for n in 0..20 {
        invite(&owner, &format!("{n}@acme.example")).await.assert_status(303);
    }
    let refused = html(&invite(&owner, ADA).await.assert_status(422));
    assert!(refused.contains("the limit of 20 emails per hour"), "{refused}");
    let link = format!("{PEOPLE}/{}/link", id(&acme, "0@acme.example").await);
    owner.submit(PEOPLE, &link, &[]).await.assert_status(303);
    assert!(page(&owner).await.contains("cannot be sent a link now"));
    assert_eq!((user_emails(&acme).await.len(), acme.mails().await.len()), (21, 20));
    app.clock.advance(Duration::from_secs(3601));
    invite(&owner, ADA).await.assert_status(303);
}

#[tokio::test]
async fn a_server_without_a_public_url_mails_no_link() {
    let app = TestApp::start_with(&[("listen", "0.0.0.0:8080")]).await;
    let acme = app.workspace("acme").await;
    let owner = acme.signed_in().await;
    let form = owner.form(PEOPLE, &csrf(&owner.get(PEOPLE).await), &[("email", ADA)]);
    let refused = html(&owner.send(form).await.assert_status(422));
    assert!(refused.contains("the operator can set it with --public-url"), "{refused}");
    assert_eq!(user_emails(&acme).await, [OWNER]);
    assert!(acme.mails().await.is_empty());
}

#[tokio::test]
async fn a_link_uses_the_configured_url_whatever_the_host_header() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.signed_in().await;
    let form = owner.form(PEOPLE, &csrf(&owner.get(PEOPLE).await), &[("email", ADA)]);
    owner.send(form.header("host", "127.0.0.2:9999")).await.assert_status(303);
    let mail = acme.only_mail().await.text_body;
    assert!(mail.contains("http://127.0.0.1:8080/set-password") && !mail.contains("127.0.0.2"), "{mail}");
}
