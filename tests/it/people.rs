//! Who has access to a workspace, through the change feed and the command line.

use std::time::Duration;

use regex::Regex;
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use crate::dashboard_keys::told;
use crate::machine::{Machine, Ran};
use crate::support::browser::{PASSWORD, first, html};
use crate::support::{Browser, Mailbox, TestApp, Workspace};

const HOME: &str = "/dashboard";
const OLD: &str = "owner@acme.example";
const NEW: &str = "grace@acme.example";

/// The addresses of the people of a workspace, oldest first.
pub async fn addresses(workspace: &Workspace<'_>) -> Vec<String> {
    let people = entity::users::in_workspace(workspace.id.uuid());
    people.list(workspace.app.app.db.read()).await.unwrap().into_iter().map(|row| row.email).collect()
}

/// The data of a `workspace.upsert` that names this owner.
fn owned_by(workspace: &Workspace<'_>, email: &str) -> Value {
    json!({"key": workspace.name, "name": workspace.name, "owner_email": email})
}

/// The path of the link in a text.
fn link_in(text: &str) -> String {
    first(text, "/set-password\\?token=[A-Za-z0-9_-]{43}")
}

/// Whether this browser is signed in.
async fn is_inside(browser: &Browser<'_>) -> bool {
    match browser.get("/dashboard/settings").await.status {
        200 => true,
        303 => false,
        other => panic!("{other}"),
    }
}

/// Sets the password by a link, in a browser of its own.
async fn sets_password(app: &TestApp, path: &str) -> u16 {
    let browser = Browser::new(app);
    browser.get(path).await.assert_status(303);
    let fields = [("password", PASSWORD), ("again", PASSWORD)];
    browser.submit("/login", "/set-password", &fields).await.status
}

#[tokio::test]
async fn a_workspace_of_the_feed_gives_its_owner_access() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    assert_eq!(addresses(&acme).await, [OLD]);
    assert!(acme.mails().await.is_empty(), "without a mail server, an operator makes the link");
}

#[tokio::test]
async fn a_new_owner_of_the_feed_gets_a_link_by_mail() {
    let mailbox = Mailbox::start().await;
    let app = TestApp::start_with(&[("smtp_url", &mailbox.url())]).await;
    let acme = app.workspace("acme").await;
    let first_mail = acme.only_mail().await;
    assert_eq!(first_mail.recipient, OLD);
    assert_eq!(sets_password(&app, &link_in(&first_mail.text_body)).await, 303);

    acme.change("workspace.upsert", owned_by(&acme, NEW)).await;
    let mails = acme.mails().await;
    assert_eq!((mails.len(), mails[1].recipient.as_str()), (2, NEW));
    assert_eq!(sets_password(&app, &link_in(&mails[1].text_body)).await, 303);
    let browser = Browser::new(&app);
    browser.sign_in(NEW, PASSWORD).await.assert_status(303);
    assert!(is_inside(&browser).await);

    // Somebody who has a password for another workspace is told to use it.
    let beta = app.workspace("beta").await;
    beta.change("workspace.upsert", owned_by(&beta, NEW)).await;
    let mails = beta.mails().await;
    let told = mails.iter().find(|mail| mail.recipient == NEW).expect("a mail");
    assert_eq!(told.kind, "access_given");
    assert!(told.text_body.contains("http://127.0.0.1:8080/login") && !told.text_body.contains("token"));
    // The link of the owner before was still to be mailed.
    let dead = mails.iter().find(|mail| mail.recipient != NEW).expect("a mail");
    assert_eq!((dead.due_at, dead.text_body.as_str()), (None, ""));
}

#[tokio::test]
async fn an_owner_who_is_replaced_by_the_feed_is_out_at_once() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let old = acme.signed_in().await;
    let link = acme.link("OWNER@acme.example").await;
    let opened = Browser::new(&app);
    opened.get(&format!("/set-password?token={link}")).await.assert_status(303);
    let token = crate::support::browser::csrf(&opened.get("/set-password").await.assert_status(200));
    let form = crate::support::browser::csrf(&old.get("/dashboard/settings").await);

    acme.change("workspace.upsert", owned_by(&acme, NEW)).await;
    assert_eq!(addresses(&acme).await, [NEW]);
    assert!(!is_inside(&old).await, "the session goes on");
    let fields = [("name", "CRM"), ("scopes", "read:courses"), ("expires", "")];
    old.post("/dashboard/developer/keys/new", &form, &fields).await.assert_status(403);
    let password = [("password", "a new long password"), ("again", "a new long password")];
    opened.post("/set-password", &token, &password).await.assert_status(404);
    for password in [PASSWORD, "a new long password"] {
        Browser::new(&app).sign_in(OLD, password).await.assert_status(422);
    }
    assert_eq!(
        told(&acme).await[..3],
        [
            format!("change feed Gave a person access {NEW}"),
            format!("change feed Removed a person {OLD}"),
            format!("change feed Changed the owner of the workspace {NEW}"),
        ]
    );
    // The platform may let the owner before in again, as a new person.
    assert_eq!(sets_password(&app, &format!("/set-password?token={}", acme.link(OLD).await)).await, 303);
    assert_eq!(addresses(&acme).await, [NEW, OLD]);
}

#[tokio::test]
async fn the_same_owner_in_another_spelling_stays() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let browser = acme.signed_in().await;
    let before = (addresses(&acme).await, told(&acme).await);
    for email in [OLD, "Owner@ACME.example", OLD] {
        acme.change("workspace.upsert", owned_by(&acme, email)).await;
        assert!(is_inside(&browser).await, "{email}");
    }
    assert_eq!((addresses(&acme).await, told(&acme).await), before);
}

#[tokio::test]
async fn who_becomes_owner_keeps_their_session() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    acme.person(NEW).await;
    let browser = Browser::new(&app);
    browser.sign_in(NEW, PASSWORD).await.assert_status(303);
    acme.change("workspace.upsert", owned_by(&acme, NEW)).await;
    assert!(is_inside(&browser).await);
    assert_eq!(addresses(&acme).await, [NEW]);
}

#[tokio::test]
async fn a_session_of_another_workspace_stays_and_leads_back_no_more() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    acme.person(OLD).await;
    app.clock.advance(Duration::from_secs(1));
    beta.person(OLD).await;
    let (here, there) = (Browser::new(&app), Browser::new(&app));
    let go = async |browser: &Browser<'_>, to: &Workspace<'_>| {
        let id = to.id.to_string();
        browser.submit(HOME, "/dashboard/workspace", &[("workspace", &id)]).await.status
    };
    for browser in [&here, &there] {
        browser.sign_in(OLD, PASSWORD).await.assert_status(303);
    }
    // One goes to the other workspace; one goes there and comes back.
    assert_eq!((go(&here, &beta).await, go(&here, &acme).await, go(&there, &beta).await), (303, 303, 303));

    acme.change("workspace.upsert", owned_by(&acme, NEW)).await;
    assert!(!is_inside(&here).await && is_inside(&there).await);
    assert!(!html(&there.get(HOME).await).contains("Go to"));
    assert_eq!(go(&there, &acme).await, 404);
    // The password is that of the other workspace.
    let again = Browser::new(&app);
    again.sign_in(OLD, PASSWORD).await.assert_status(303);
    assert_eq!(go(&again, &acme).await, 404);
}

/// Runs the program with these words, which must do their work.
async fn done(machine: &Machine, words: &[&str]) -> Ran {
    let ran = machine.run(words).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

#[tokio::test]
async fn a_person_is_removed_by_a_command_and_out_of_a_running_server_at_once() {
    let machine = Machine::new().await;
    let owner = ["--key", "acme", "--name", "Acme", "--owner-email", OLD];
    done(&machine, &[&["workspaces", "create"][..], &owner].concat()).await;
    let added = done(&machine, &["users", "add", "--workspace", "acme", "--email", NEW]).await;
    let serving = machine.serve(&["serve"]).await;
    let person = Remote::new(&machine, &serving.base);
    person.sets_password(&link_in(&added.stdout)).await;
    assert_eq!(person.signs_in(NEW).await, 303);
    assert_eq!(person.status("/dashboard/settings").await, 200);
    let link = done(&machine, &["users", "link", "--workspace", "acme", "--email", NEW]).await;

    let remove = ["users", "remove", "--workspace", "acme", "--email"];
    let removed = done(&machine, &[&remove[..], &["Grace@ACME.example"]].concat()).await;
    insta::assert_snapshot!(removed.stderr.trim_end(), @"removed grace@acme.example from workspace `acme`; their sessions and links have ended");
    assert_eq!(person.status("/dashboard/settings").await, 303, "the session goes on");
    assert_eq!(person.status(&link_in(&link.stdout)).await, 303);
    assert_eq!(person.status("/set-password").await, 404, "the link still opens");
    assert_eq!(person.signs_in(NEW).await, 422);

    for email in [NEW, "nobody"] {
        let nobody = machine.run(&[&remove[..], &[email]].concat()).await;
        assert!(
            nobody.code == Some(1)
                && nobody.stderr.contains("nobody with that address is in workspace `acme`"),
            "{nobody:?}"
        );
    }
    let relinked = machine.run(&["users", "link", "--workspace", "acme", "--email", NEW]).await;
    assert_eq!(relinked.code, Some(1), "a link does not let anybody in: {relinked:?}");
    let refused = machine.run(&[&remove[..], &[OLD]].concat()).await;
    assert_eq!(refused.code, Some(1));
    insta::assert_snapshot!(refused.stderr.trim_end(), @"error: owner@acme.example owns workspace `acme` and cannot be removed; make somebody else the owner first: `creator-api workspaces set-owner --workspace acme --email ADDRESS`, or a `workspace.upsert` change with another `owner_email`");
    assert_eq!(addresses(&machine.app.workspace("acme").await).await, [OLD]);
    assert_eq!(serving.stop().await, Some(0));
    let acme = machine.app.workspace("acme").await;
    let entries = told(&acme).await;
    assert_eq!(entries[0], format!("command line Removed a person {NEW}"));
    assert!(entries.contains(&format!("{NEW} Signed in ")), "what the person did stays: {entries:?}");
}

#[tokio::test]
async fn a_command_makes_somebody_else_the_owner() {
    let machine = Machine::new().await;
    let owner = ["--key", "acme", "--name", "Acme", "--owner-email", OLD];
    done(&machine, &[&["workspaces", "create"][..], &owner].concat()).await;
    let set = ["workspaces", "set-owner", "--workspace", "acme", "--email"];
    let same = done(&machine, &[&set[..], &["OWNER@acme.example"]].concat()).await;
    assert!(same.stderr.contains("owns workspace `acme` already; nothing was changed"), "{same:?}");
    let wrong = machine.run(&[&set[..], &["nobody"]].concat()).await;
    assert!(wrong.code == Some(1) && wrong.stderr.contains("email: must hold one `@`"), "{wrong:?}");

    let smtp = ["--smtp-url", "smtp://localhost:1", "--public-url", "https://school.example"];
    let changed = done(&machine, &[&set[..], &[NEW], &smtp].concat()).await;
    assert!(changed.stdout.starts_with("https://school.example/set-password?token="), "{changed:?}");
    insta::assert_snapshot!(changed.stderr.trim_end(), @"
    grace@acme.example owns workspace `acme` now
    removed owner@acme.example; their sessions and links have ended
    the link opens once, within 72 hours
    ");
    let acme = machine.app.workspace("acme").await;
    assert_eq!(
        (addresses(&acme).await, acme.only_mail().await.recipient.as_str()),
        (vec![NEW.to_owned()], NEW)
    );
    assert_eq!(
        told(&acme).await[..4],
        [
            format!("command line Made a link to set a password {NEW}"),
            format!("command line Gave a person access {NEW}"),
            format!("command line Removed a person {OLD}"),
            format!("command line Changed the owner of the workspace {NEW}"),
        ]
    );
    let listed = done(&machine, &["workspaces", "list"]).await;
    assert!(listed.stdout.contains(NEW) && !listed.stdout.contains(OLD), "{listed:?}");
}

#[tokio::test]
async fn the_feed_mails_links_by_the_flags_of_its_command() {
    let machine = Machine::new().await;
    let change = json!({
        "change": "workspace.upsert", "id": "1", "workspace": "acme", "at": "2026-03-01T10:00:00Z",
        "data": {"key": "acme", "name": "Acme", "owner_email": OLD},
    });
    let flags = ["--smtp-url", "smtp://localhost:1", "--public-url", "https://school.example"];
    for _ in 0..2 {
        let applied = machine.fed(&[&["apply", "-"][..], &flags].concat(), &format!("{change}\n")).await;
        assert_eq!(applied.code, Some(0), "{applied:?}");
    }
    let mail = machine.app.workspace("acme").await.only_mail().await;
    assert!(mail.text_body.contains("https://school.example/set-password?token="), "{mail:?}");
}

/// A browser at a server that is a process of its own.
struct Remote<'a> {
    http: &'a reqwest::Client,
    base: &'a str,
    cookies: std::sync::Mutex<std::collections::BTreeMap<String, String>>,
}

impl<'a> Remote<'a> {
    fn new(machine: &'a Machine, base: &'a str) -> Self {
        Self { http: &machine.app.http, base, cookies: std::sync::Mutex::default() }
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> (u16, String) {
        let sent: Vec<String> =
            self.cookies.lock().unwrap().iter().map(|(name, value)| format!("{name}={value}")).collect();
        let answer = crate::support::send(request.header("cookie", sent.join("; "))).await;
        for line in answer.headers.get_all("set-cookie") {
            let pair = line.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.cookies.lock().unwrap().insert(name.to_owned(), value.to_owned());
        }
        (answer.status, String::from_utf8(answer.body).unwrap())
    }

    async fn get(&self, path: &str) -> (u16, String) {
        self.send(self.http.get(format!("{}{path}", self.base))).await
    }

    async fn status(&self, path: &str) -> u16 {
        self.get(path).await.0
    }

    async fn post(&self, page: &str, action: &str, fields: &[(&str, &str)]) -> u16 {
        let (_, page) = self.get(page).await;
        let token = Regex::new("name=\"csrf\" value=\"([^\"]+)\"").unwrap().captures(&page).expect("a form");
        let mut all = vec![("csrf", &token[1])];
        all.extend_from_slice(fields);
        let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(all).finish();
        let request = self.http.post(format!("{}{action}", self.base)).body(form);
        self.send(request.header("content-type", "application/x-www-form-urlencoded")).await.0
    }

    async fn sets_password(&self, path: &str) {
        assert_eq!(self.status(path).await, 303);
        let fields = [("password", PASSWORD), ("again", PASSWORD)];
        assert_eq!(self.post("/set-password", "/set-password", &fields).await, 303);
    }

    async fn signs_in(&self, email: &str) -> u16 {
        self.cookies.lock().unwrap().remove("session");
        self.post("/login", "/login", &[("email", email), ("password", PASSWORD)]).await
    }
}

#[tokio::test]
async fn an_owner_of_older_data_gets_access_with_the_next_upsert() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let upsert = || {
        let data = json!({"key": "acme", "name": "acme", "owner_email": "Owner@acme.example"});
        workspace.change("workspace.upsert", data)
    };
    // As versions that gave owners no access have left it.
    let write = app.write().await;
    write.conn().execute_unprepared("DELETE FROM users").await.unwrap();
    write.commit().await.unwrap();
    assert!(addresses(&workspace).await.is_empty());
    upsert().await;
    assert_eq!(addresses(&workspace).await, ["Owner@acme.example"]);
    upsert().await;
    assert_eq!(addresses(&workspace).await.len(), 1);
}
