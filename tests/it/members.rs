//! The access of users to a workspace, as the change feed and the command line give and remove it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::browser::{PASSWORD, first_match, html};
use crate::support::members::{audit_entries, user_emails};
use crate::support::program::{CommandOutput, TestProgram};
use crate::support::{Browser, SmtpServer, TestApp, TestWorkspace};

const HOME: &str = "/dashboard";
const OWNER: &str = "owner@acme.example";
const GRACE: &str = "grace@acme.example";

/// Returns the data of a `workspace.upsert` with this owner.
fn upsert_with_owner(workspace: &TestWorkspace<'_>, email: &str) -> Value {
    json!({"key": workspace.name, "name": workspace.name, "owner_email": email})
}

/// Extracts the path of the password link from a text.
fn link_path(text: &str) -> String {
    first_match(text, "/set-password\\?token=[A-Za-z0-9_-]{43}")
}

/// Returns whether this browser is signed in.
async fn is_signed_in(browser: &Browser<'_>) -> bool {
    match browser.get("/dashboard/settings").await.status {
        200 => true,
        303 => false,
        status => panic!("unexpected status {status}"),
    }
}

/// Sets the password by a link, in a new browser, and returns the status.
async fn set_password(app: &TestApp, path: &str) -> u16 {
    let browser = Browser::new(app);
    browser.get(path).await.assert_status(303);
    let fields = [("password", PASSWORD), ("again", PASSWORD)];
    browser.submit("/login", "/set-password", &fields).await.status
}

#[tokio::test]
async fn a_workspace_created_by_the_feed_gives_its_owner_access() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    assert_eq!(user_emails(&acme).await, [OWNER]);
    assert!(acme.mails().await.is_empty(), "without a mail server, an operator creates the link");
}

#[tokio::test]
async fn a_new_owner_of_the_feed_gets_a_link_by_mail() {
    let smtp_server = SmtpServer::start().await;
    let app = TestApp::start_with(&[("smtp_url", &smtp_server.url())]).await;
    let acme = app.workspace("acme").await;
    let first_mail = acme.only_mail().await;
    assert_eq!(first_mail.recipient, OWNER);
    assert_eq!(set_password(&app, &link_path(&first_mail.text_body)).await, 303);

    acme.change("workspace.upsert", upsert_with_owner(&acme, GRACE)).await;
    let mails = acme.mails().await;
    assert_eq!((mails.len(), mails[1].recipient.as_str()), (2, GRACE));
    assert_eq!(set_password(&app, &link_path(&mails[1].text_body)).await, 303);
    let browser = Browser::new(&app);
    browser.sign_in(GRACE, PASSWORD).await.assert_status(303);
    assert!(is_signed_in(&browser).await);

    // A user with a password for another workspace is asked to use it.
    let beta = app.workspace("beta").await;
    beta.change("workspace.upsert", upsert_with_owner(&beta, GRACE)).await;
    let mails = beta.mails().await;
    let invitation = mails.iter().find(|mail| mail.recipient == GRACE).expect("a mail");
    assert_eq!(invitation.kind, "access_given");
    assert!(
        invitation.text_body.contains("http://127.0.0.1:8080/login")
            && !invitation.text_body.contains("token")
    );
    // The mail to the previous owner was still queued. It is canceled.
    let canceled = mails.iter().find(|mail| mail.recipient != GRACE).expect("a mail");
    assert_eq!((canceled.due_at, canceled.text_body.as_str()), (None, ""));
}

#[tokio::test]
async fn an_owner_replaced_by_the_feed_loses_access_immediately() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let old_owner = acme.owner_browser().await;
    let link = acme.password_link_token("OWNER@acme.example").await;
    let link_browser = Browser::new(&app);
    link_browser.get(&format!("/set-password?token={link}")).await.assert_status(303);
    let link_token =
        crate::support::browser::csrf_token(&link_browser.get("/set-password").await.assert_status(200));
    let owner_token = crate::support::browser::csrf_token(&old_owner.get("/dashboard/settings").await);

    acme.change("workspace.upsert", upsert_with_owner(&acme, GRACE)).await;
    assert_eq!(user_emails(&acme).await, [GRACE]);
    assert!(!is_signed_in(&old_owner).await, "the session still works");
    let fields = [("name", "CRM"), ("scopes", "read:courses"), ("expires", "")];
    old_owner.post("/dashboard/developer/keys/new", &owner_token, &fields).await.assert_status(403);
    let password = [("password", "a new long password"), ("again", "a new long password")];
    link_browser.post("/set-password", &link_token, &password).await.assert_status(404);
    for password in [PASSWORD, "a new long password"] {
        Browser::new(&app).sign_in(OWNER, password).await.assert_status(422);
    }
    assert_eq!(
        audit_entries(&acme).await[..3],
        [
            format!("change feed Added a member {GRACE}"),
            format!("change feed Removed a member {OWNER}"),
            format!("change feed Changed the owner of the workspace {GRACE}"),
        ]
    );
    // The previous owner can get access again, as a new user.
    assert_eq!(
        set_password(&app, &format!("/set-password?token={}", acme.password_link_token(OWNER).await)).await,
        303
    );
    assert_eq!(user_emails(&acme).await, [GRACE, OWNER]);
}

#[tokio::test]
async fn the_same_owner_in_another_letter_case_remains() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let browser = acme.owner_browser().await;
    let before = (user_emails(&acme).await, audit_entries(&acme).await);
    for email in [OWNER, "Owner@ACME.example", OWNER] {
        acme.change("workspace.upsert", upsert_with_owner(&acme, email)).await;
        assert!(is_signed_in(&browser).await, "{email}");
    }
    assert_eq!((user_emails(&acme).await, audit_entries(&acme).await), before);
}

#[tokio::test]
async fn a_user_who_becomes_owner_keeps_the_session() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    acme.add_user(GRACE).await;
    let browser = Browser::new(&app);
    browser.sign_in(GRACE, PASSWORD).await.assert_status(303);
    acme.change("workspace.upsert", upsert_with_owner(&acme, GRACE)).await;
    assert!(is_signed_in(&browser).await);
    assert_eq!(user_emails(&acme).await, [GRACE]);
}

#[tokio::test]
async fn a_session_of_another_workspace_remains_but_cannot_switch_back() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    acme.add_user(OWNER).await;
    app.clock.advance(Duration::from_secs(1));
    beta.add_user(OWNER).await;
    let (first_browser, second_browser) = (Browser::new(&app), Browser::new(&app));
    let switch = async |browser: &Browser<'_>, workspace: &TestWorkspace<'_>| {
        let id = workspace.id.to_string();
        browser.submit(HOME, "/dashboard/workspace", &[("workspace", &id)]).await.status
    };
    for browser in [&first_browser, &second_browser] {
        browser.sign_in(OWNER, PASSWORD).await.assert_status(303);
    }
    // The first session switches to `beta` and back to `acme`. The second session stays in `beta`.
    assert_eq!(
        (
            switch(&first_browser, &beta).await,
            switch(&first_browser, &acme).await,
            switch(&second_browser, &beta).await
        ),
        (303, 303, 303)
    );

    acme.change("workspace.upsert", upsert_with_owner(&acme, GRACE)).await;
    assert!(!is_signed_in(&first_browser).await && is_signed_in(&second_browser).await);
    assert!(!html(&second_browser.get(HOME).await).contains("Switch to"));
    assert_eq!(switch(&second_browser, &acme).await, 404);
    // The user's password is that of the other workspace.
    let new_browser = Browser::new(&app);
    new_browser.sign_in(OWNER, PASSWORD).await.assert_status(303);
    assert_eq!(switch(&new_browser, &acme).await, 404);
}

/// Runs the program with these arguments, which must succeed.
async fn run_successfully(program: &TestProgram, args: &[&str]) -> CommandOutput {
    let output = program.run(args).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    output
}

#[tokio::test]
async fn removing_a_user_by_command_ends_access_to_a_running_server() {
    let program = TestProgram::new().await;
    let owner = ["--key", "acme", "--name", "Acme", "--owner-email", OWNER];
    run_successfully(&program, &[&["workspaces", "create"][..], &owner].concat()).await;
    let added = run_successfully(&program, &["users", "add", "--workspace", "acme", "--email", GRACE]).await;
    let server = program.serve(&["serve"]).await;
    let visitor = Browser::at(&program.app, &server.base_url);
    visitor.get(&link_path(&added.stdout)).await.assert_status(303);
    let fields = [("password", PASSWORD), ("again", PASSWORD)];
    visitor.submit("/set-password", "/set-password", &fields).await.assert_status(303);
    let browser = Browser::at(&program.app, &server.base_url);
    browser.sign_in(GRACE, PASSWORD).await.assert_status(303);
    browser.get("/dashboard/settings").await.assert_status(200);
    let link = run_successfully(&program, &["users", "link", "--workspace", "acme", "--email", GRACE]).await;

    let remove = ["users", "remove", "--workspace", "acme", "--email"];
    let removed = run_successfully(&program, &[&remove[..], &["Grace@ACME.example"]].concat()).await;
    insta::assert_snapshot!(removed.stderr.trim_end(), @"removed grace@acme.example from workspace `acme`; their sessions and password links for it are no longer valid");
    assert_eq!(browser.get("/dashboard/settings").await.status, 303, "the session still works");
    browser.get(&link_path(&link.stdout)).await.assert_status(303);
    assert_eq!(browser.get("/set-password").await.status, 404, "the link still works");
    Browser::at(&program.app, &server.base_url).sign_in(GRACE, PASSWORD).await.assert_status(422);

    for email in [GRACE, "nobody"] {
        let nobody = program.run(&[&remove[..], &[email]].concat()).await;
        assert!(
            nobody.code == Some(1)
                && nobody.stderr.contains("no member with this email address in workspace `acme`"),
            "{nobody:?}"
        );
    }
    let relinked = program.run(&["users", "link", "--workspace", "acme", "--email", GRACE]).await;
    assert_eq!(relinked.code, Some(1), "a link does not give access: {relinked:?}");
    let rejected = program.run(&[&remove[..], &[OWNER]].concat()).await;
    assert_eq!(rejected.code, Some(1));
    insta::assert_snapshot!(rejected.stderr.trim_end(), @"error: owner@acme.example owns workspace `acme` and cannot be removed; set another owner first: `creator-api workspaces set-owner --workspace acme --email EMAIL`, or a `workspace.upsert` change with another `owner_email`");
    assert_eq!(user_emails(&program.app.workspace("acme").await).await, [OWNER]);
    assert_eq!(server.stop().await, Some(0));
    let acme = program.app.workspace("acme").await;
    let entries = audit_entries(&acme).await;
    assert_eq!(entries[0], format!("command line Removed a member {GRACE}"));
    assert!(entries.contains(&format!("{GRACE} Signed in ")), "the user's audit entries remain: {entries:?}");
}

#[tokio::test]
async fn set_owner_replaces_the_owner() {
    let program = TestProgram::new().await;
    let owner = ["--key", "acme", "--name", "Acme", "--owner-email", OWNER];
    run_successfully(&program, &[&["workspaces", "create"][..], &owner].concat()).await;
    let set = ["workspaces", "set-owner", "--workspace", "acme", "--email"];
    let same = run_successfully(&program, &[&set[..], &["OWNER@acme.example"]].concat()).await;
    assert!(same.stderr.contains("already owns workspace `acme`"), "{same:?}");
    let wrong = program.run(&[&set[..], &["nobody"]].concat()).await;
    assert!(wrong.code == Some(1) && wrong.stderr.contains("email: must contain one `@`"), "{wrong:?}");

    let smtp = ["--smtp-url", "smtp://localhost:1", "--public-url", "https://school.example"];
    let changed = run_successfully(&program, &[&set[..], &[GRACE], &smtp].concat()).await;
    assert!(changed.stdout.starts_with("https://school.example/set-password?token="), "{changed:?}");
    insta::assert_snapshot!(changed.stderr.trim_end(), @"
    grace@acme.example now owns workspace `acme`
    removed owner@acme.example from workspace `acme`; their sessions and password links for it are no longer valid
    the link can be used once, within 72 hours
    ");
    let acme = program.app.workspace("acme").await;
    assert_eq!(
        (user_emails(&acme).await, acme.only_mail().await.recipient.as_str()),
        (vec![GRACE.to_owned()], GRACE)
    );
    assert_eq!(
        audit_entries(&acme).await[..4],
        [
            format!("command line Created a password link {GRACE}"),
            format!("command line Added a member {GRACE}"),
            format!("command line Removed a member {OWNER}"),
            format!("command line Changed the owner of the workspace {GRACE}"),
        ]
    );
    let listed = run_successfully(&program, &["workspaces", "list"]).await;
    assert!(listed.stdout.contains(GRACE) && !listed.stdout.contains(OWNER), "{listed:?}");
}

#[tokio::test]
async fn apply_mails_links_as_its_flags_configure() {
    let program = TestProgram::new().await;
    let change = json!({
        "change": "workspace.upsert", "id": "1", "workspace": "acme", "at": "2026-03-01T10:00:00Z",
        "data": {"key": "acme", "name": "Acme", "owner_email": OWNER},
    });
    let flags = ["--smtp-url", "smtp://localhost:1", "--public-url", "https://school.example"];
    for _ in 0..2 {
        let applied =
            program.run_with_input(&[&["apply", "-"][..], &flags].concat(), &format!("{change}\n")).await;
        assert_eq!(applied.code, Some(0), "{applied:?}");
    }
    let mail = program.app.workspace("acme").await.only_mail().await;
    assert!(mail.text_body.contains("https://school.example/set-password?token="), "{mail:?}");
}

#[tokio::test]
async fn roles_are_set_by_command() {
    let program = TestProgram::new().await;
    let owner = ["--key", "acme", "--name", "Acme", "--owner-email", OWNER];
    run_successfully(&program, &[&["workspaces", "create"][..], &owner].concat()).await;
    let member = ["--workspace", "acme", "--email", GRACE];
    let run = async |arguments: &[&str]| program.run(arguments).await;
    run_successfully(&program, &[&["users", "add"][..], &member, &["--role", "viewer"]].concat()).await;
    let set = [&["users", "set-role"][..], &member].concat();
    let changed =
        run_successfully(&program, &[&set[..], &["--role", "manager", "--role", "developer"]].concat()).await;
    insta::assert_snapshot!(changed.stderr.trim_end(), @"grace@acme.example now has these roles in workspace `acme`: developer, manager");
    let again =
        run_successfully(&program, &[&set[..], &["--role", "developer", "--role", "manager"]].concat()).await;
    insta::assert_snapshot!(again.stderr.trim_end(), @"grace@acme.example already has these roles in workspace `acme`: developer, manager");

    let none = run(&set).await;
    assert!(none.code == Some(2) && none.stderr.contains("--role"), "{none:?}");
    let unknown = run(&[&set[..], &["--role", "king"]].concat()).await;
    assert!(
        unknown.code == Some(2) && unknown.stderr.contains("expected one of owner, developer"),
        "{unknown:?}"
    );
    let set_owner =
        run(&["users", "set-role", "--workspace", "acme", "--email", OWNER, "--role", "viewer"]).await;
    assert_eq!(set_owner.code, Some(1));
    assert!(
        set_owner.stderr.contains("owner@acme.example owns workspace `acme` and keeps the role owner"),
        "{set_owner:?}"
    );
    let listed = run_successfully(&program, &["users", "list", "--workspace", "acme", "--json"]).await;
    let users: Value = serde_json::from_str(&listed.stdout).expect("JSON");
    assert_eq!(
        (&users[0]["roles"], &users[1]["roles"]),
        (&json!(["owner"]), &json!(["developer", "manager"]))
    );
    assert_eq!(
        (&users[0]["has_second_factor"], &users[0]["has_linked_account"]),
        (&json!(false), &json!(false))
    );
    let acme = program.app.workspace("acme").await;
    assert_eq!(
        audit_entries(&acme).await[0],
        format!("command line Changed the roles of a member {GRACE}: developer, manager")
    );
}
