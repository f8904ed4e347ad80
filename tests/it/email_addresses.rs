//! Email addresses that look or fold alike: which of them are accepted, and which belong to the same person.

use serde_json::{Value, json};

use crate::support::browser::{PASSWORD, first_match, html};
use crate::support::members::{MEMBERS, invite, member_id, user_emails};
use crate::support::platform::platform_token;
use crate::support::program::TestProgram;
use crate::support::{Browser, TestApp, TestKey, TestWorkspace};

const STUDENTS: &str = "/api/v1/students";
const KATE: &str = "kate@victim.example";
const REJECTED_DOMAIN: &str = "must have a valid domain name after the `@`";
const REJECTED_LOCAL_PART: &str = "must not contain invisible or decomposed characters before the `@`";

/// Addresses of people who sign in that are rejected, and the error.
const REJECTED: [(&str, &str); 22] = [
    ("\u{212a}ate@victim.example", REJECTED_LOCAL_PART),
    ("\u{212b}sa@victim.example", REJECTED_LOCAL_PART),
    ("\u{2126}@victim.example", REJECTED_LOCAL_PART),
    ("e\u{301}ve@victim.example", REJECTED_LOCAL_PART),
    ("ka\u{200b}te@victim.example", REJECTED_LOCAL_PART),
    ("ka\u{ad}te@victim.example", REJECTED_LOCAL_PART),
    ("\u{202e}etak@victim.example", REJECTED_LOCAL_PART),
    ("\u{2066}kate\u{2069}@victim.example", REJECTED_LOCAL_PART),
    ("\u{2060}kate@victim.example", REJECTED_LOCAL_PART),
    ("\u{e000}kate@victim.example", REJECTED_LOCAL_PART),
    ("kate\u{9d}@victim.example", REJECTED_LOCAL_PART),
    ("kate@xn--a.example", REJECTED_DOMAIN),
    ("kate@xn--victim-.example", REJECTED_DOMAIN),
    ("kate@vic\u{202e}tim.example", REJECTED_DOMAIN),
    ("kate@victim\u{e000}.example", REJECTED_DOMAIN),
    ("kate@\u{301}victim.example", REJECTED_DOMAIN),
    ("kate@victim_.example", REJECTED_DOMAIN),
    ("kate@-victim.example", REJECTED_DOMAIN),
    ("kate@victim..example", REJECTED_DOMAIN),
    ("kate@victim.example.", REJECTED_DOMAIN),
    ("kate@[127.0.0.1]", REJECTED_DOMAIN),
    ("kate@victim.exam/ple", REJECTED_DOMAIN),
];

/// Spellings of one address.
const SAME: [&[&str]; 5] = [
    &["kate@victim.example", "KATE@Victim.EXAMPLE"],
    &[
        "kate@bücher.example",
        "Kate@BÜCHER.example",
        "kate@bu\u{308}cher.example",
        "KATE@XN--BCHER-KVA.example",
    ],
    &["kate@straße.example", "kate@STRAẞE.example", "kate@xn--strae-oqa.example"],
    &["kate@kelvin.example", "kate@\u{212a}elvin.example", "kate@ｋｅｌｖｉｎ。example"],
    &["\u{17f}am@ångström.example", "\u{17f}am@\u{212b}NGSTRÖM.example"],
];

/// Addresses of different people.
const DIFFERENT: [&str; 13] = [
    "kate@victim.example",
    "\u{ff4b}ate@victim.example",
    "strasse@victim.example",
    "straße@victim.example",
    "irene@victim.example",
    "ırene@victim.example",
    "i\u{307}rene@victim.example",
    "sam@victim.example",
    "\u{17f}am@victim.example",
    "ÄGNES@victim.example",
    "ägnes@victim.example",
    "kate@strasse.example",
    "kate@straße.example",
];

/// Sets the password of the token's user, in a new browser.
async fn set_password(app: &TestApp, token: &str, password: &str) -> u16 {
    let browser = Browser::new(app);
    browser.get(&format!("/set-password?token={token}")).await.assert_status(303);
    browser.submit("/login", "/set-password", &[("password", password), ("again", password)]).await.status
}

#[tokio::test]
async fn an_invitation_to_a_similar_address_does_not_take_over_an_account() {
    let app = TestApp::start().await;
    let (victims, acme) = (app.workspace("victims").await, app.workspace("acme").await);
    victims.add_user(KATE).await;
    let attacker = acme.owner_browser().await;
    invite(&attacker, "\u{212a}ate@victim.example").await;
    for address in user_emails(&acme).await {
        let link = format!("{MEMBERS}/{}/link", member_id(&acme, &address).await);
        attacker.submit(MEMBERS, &link, &[]).await.assert_status(303);
    }
    for mail in acme.mails().await.iter().filter(|mail| mail.recipient != "owner@acme.example") {
        if mail.text_body.contains("token=") {
            let token = first_match(&mail.text_body, "token=([A-Za-z0-9_-]{43})");
            set_password(&app, &token, "the attacker's password").await;
        }
    }
    Browser::new(&app).sign_in(KATE, "the attacker's password").await.assert_status(422);
    Browser::new(&app).sign_in(KATE, PASSWORD).await.assert_status(303);
}

#[tokio::test]
async fn a_link_is_mailed_to_the_oldest_spelling_of_the_address() {
    let app = TestApp::start().await;
    let (victims, acme) = (app.workspace("victims").await, app.workspace("acme").await);
    victims.add_user("Kate@bücher.example").await;
    app.clock.advance(std::time::Duration::from_secs(1));
    let owner = acme.owner_browser().await;
    invite(&owner, "KATE@xn--bcher-kva.EXAMPLE").await.assert_status(303);
    let link = format!("{MEMBERS}/{}/link", member_id(&acme, "KATE@xn--bcher-kva.EXAMPLE").await);
    owner.submit(MEMBERS, &link, &[]).await.assert_status(303);
    let mails = acme.mails().await;
    let recipients: Vec<&str> = mails.iter().map(|mail| mail.recipient.as_str()).collect();
    // The domain is in its ASCII form, which every mail server accepts.
    assert_eq!(recipients, ["Kate@xn--bcher-kva.example"; 2]);
}

#[tokio::test]
async fn every_spelling_of_an_address_belongs_to_the_same_person() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.owner_browser().await;
    for spellings in SAME {
        acme.add_user(spellings[0]).await;
        for spelling in spellings {
            let rejected = html(&invite(&owner, spelling).await.assert_status(422));
            assert!(rejected.contains("already belongs to a member"), "{spelling}: {rejected}");
            Browser::new(&app).sign_in(spelling, PASSWORD).await.assert_status(303);
        }
    }
    // The owner keeps the workspace in another spelling.
    acme.change("workspace.upsert", owned_by("OWNER@\u{ff41}cme.example")).await;
    owner.get("/dashboard/settings").await.assert_status(200);
    assert_eq!(user_emails(&acme).await.len(), 1 + SAME.len());
}

#[tokio::test]
async fn similar_addresses_belong_to_different_people() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key_with_all_scopes().await;
    let mut passwords = Vec::new();
    for (index, address) in DIFFERENT.into_iter().enumerate() {
        key.post(STUDENTS, json!({"email": address})).await.assert_status(201);
        // The lower-case i with a separate dot is not in the composed form, so only a student can have it.
        if !address.contains('\u{307}') {
            let token = acme.password_link_token(address).await;
            let password = format!("the password number {index}");
            assert_eq!(set_password(&app, &token, &password).await, 303, "{address}");
            passwords.push((address, password));
        }
    }
    for (address, password) in passwords {
        Browser::new(&app).sign_in(address, &password).await.assert_status(303);
    }
}

fn owned_by(email: &str) -> Value {
    json!({"key": "acme", "name": "acme", "owner_email": email})
}

/// Applies a `workspace.upsert` with this owner, and returns the errors.
async fn change_owner(acme: &TestWorkspace<'_>, email: &str) -> Vec<String> {
    let at = acme.app.clock.now().to_string();
    acme.app.try_apply(&acme.build_change(&at, "workspace.upsert", owned_by(email)).to_string()).await.1
}

#[tokio::test]
async fn people_cannot_have_an_address_that_mail_servers_read_differently() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let platform = platform_token(&app, "write:dashboard_links").await;
    // None of the rejected addresses signs in to the account of a similar one.
    let victims = app.workspace("victims").await;
    for account in [KATE, "\u{c5}sa@victim.example", "\u{3a9}@victim.example", "\u{e9}ve@victim.example"] {
        victims.add_user(account).await;
        Browser::new(&app).sign_in(account, PASSWORD).await.assert_status(303);
    }
    let owner = acme.owner_browser().await;
    for (address, error) in REJECTED {
        let page = html(&invite(&owner, address).await.assert_status(422));
        assert!(page.contains(error) && page.contains("aria-invalid"), "{address:?}: {page}");
    }
    for (address, error) in REJECTED {
        let body = json!({"workspace": "acme", "email": address});
        let response = platform.post("/platform/v1/dashboard-links", body).await.assert_status(422);
        assert_eq!(response.error_locations(), ["body /email"], "{address:?}");
        let message = response.json()["error"]["details"][0]["message"].to_string();
        assert!(message.contains(error), "{address:?}: {message}");
        let errors = change_owner(&acme, address).await;
        assert!(
            errors.len() == 1 && errors[0].contains("owner_email") && errors[0].contains(error),
            "{errors:?}"
        );
        Browser::new(&app).sign_in(address, PASSWORD).await.assert_status(422);
        app.clock.advance(std::time::Duration::from_secs(60));
    }
    assert_eq!(user_emails(&acme).await, ["owner@acme.example"]);
    assert!(acme.mails().await.is_empty());
}

#[tokio::test]
async fn the_command_line_rejects_the_same_addresses() {
    let program = TestProgram::new().await;
    let owner = ["workspaces", "create", "--key", "acme", "--name", "Acme", "--owner-email"];
    let (local_part, domain) = ("\u{212a}ate@victim.example", "kate@xn--a.example");
    for (address, error) in [(local_part, REJECTED_LOCAL_PART), (domain, REJECTED_DOMAIN)] {
        let created = program.run(&[&owner[..], &[address]].concat()).await;
        assert!(created.code == Some(1) && created.stderr.contains(error), "{created:?}");
    }
    let created = program.run(&[&owner[..], &["kate@bücher.example"]].concat()).await;
    assert_eq!(created.code, Some(0), "{created:?}");
    for (address, error) in [(local_part, REJECTED_LOCAL_PART), (domain, REJECTED_DOMAIN)] {
        for command in [["users", "add"], ["workspaces", "set-owner"]] {
            let arguments = [&command[..], &["--workspace", "acme", "--email", address]].concat();
            let rejected = program.run(&arguments).await;
            assert!(rejected.code == Some(1) && rejected.stderr.contains(error), "{rejected:?}");
        }
        let link = ["users", "link", "--workspace", "acme", "--email", address];
        let missing = program.run(&link).await;
        assert!(missing.stderr.contains("no member with this email address"), "{missing:?}");
    }
    let link = ["users", "link", "--workspace", "acme", "--email", "KATE@XN--BCHER-KVA.example"];
    let found = program.run(&link).await;
    assert_eq!(found.code, Some(0), "{found:?}");
}

/// Returns the number of students that `listStudents` finds with this address.
async fn count_by_email(key: &TestKey, email: &str) -> usize {
    let query: String = url::form_urlencoded::byte_serialize(email.as_bytes()).collect();
    key.get(&format!("{STUDENTS}?email={query}")).await.assert_status(200).ids().len()
}

#[tokio::test]
async fn a_student_is_found_by_every_spelling_of_the_address() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (key, owner) = (acme.key_with_all_scopes().await, acme.owner_browser().await);
    for (index, spellings) in SAME.into_iter().enumerate() {
        let created = key.post(STUDENTS, json!({"email": spellings[0]})).await.assert_status(201).json();
        assert_eq!(created["email"], spellings[0], "the spelling is kept");
        for spelling in spellings {
            let taken = key.post(STUDENTS, json!({"email": spelling, "name": "Other"})).await;
            taken.assert_status(422).assert_errors_at(&["body /email"]);
            assert_eq!(count_by_email(&key, spelling).await, 1, "{spelling}");
            let query: String = url::form_urlencoded::byte_serialize(spelling.as_bytes()).collect();
            let page = html(&owner.get(&format!("/dashboard/students?q={query}")).await.assert_status(200));
            let id = created["id"].as_str().expect("an id");
            assert!(page.contains(id), "{spelling}: {page}");
        }
        // The platform finds the student by another spelling and gives it a key.
        let other = spellings.last().expect("a spelling");
        acme.change("student.upsert", json!({"key": format!("kate-{index}"), "email": other})).await;
    }
    assert_eq!(key.get(STUDENTS).await.ids().len(), SAME.len());
}

#[tokio::test]
async fn students_can_have_addresses_that_people_who_sign_in_cannot() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key_with_all_scopes().await;
    key.post(STUDENTS, json!({"email": KATE})).await.assert_status(201);
    for (index, (address, _)) in REJECTED.into_iter().enumerate() {
        // The contract excludes control characters.
        if address.contains('\u{9d}') {
            continue;
        }
        acme.change("student.upsert", json!({"key": index.to_string(), "email": address})).await;
        assert_eq!(count_by_email(&key, address).await, 1, "{address:?}");
        let other_case = address.replace("kate", "KATE").replace("example", "EXAMPLE");
        assert_eq!(count_by_email(&key, &other_case).await, 1, "{address:?}");
    }
    assert_eq!(count_by_email(&key, KATE).await, 1);
    assert_eq!(key.list_all(STUDENTS).await.len(), REJECTED.len());
}
