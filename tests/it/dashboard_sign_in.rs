//! Signing in to the dashboard and out, the end of sessions, and setting passwords.

use std::time::Duration;

use domain::audit::Actor;
use domain::sessions::{self, SessionClient};
use domain::users;
use reqwest::Method;
use secrecy::{ExposeSecret, SecretString};

use crate::support::browser::{PASSWORD, html};
use crate::support::program::TestProgram;
use crate::support::{Browser, TestApp, TestResponse, send};

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn a_user_signs_in_and_out() {
    let app = TestApp::start().await;
    app.workspace("acme").await.add_user("ada@acme.example").await;
    let browser = Browser::new(&app);
    let redirect = browser.get("/dashboard/settings").await.assert_status(303);
    assert_eq!(redirect.header("location"), "/login?next=%2Fdashboard%2Fsettings");

    let fields = [("email", "ADA@acme.example"), ("password", PASSWORD), ("next", "/dashboard/settings")];
    let sign_in_page = browser.get(redirect.header("location")).await.assert_status(200);
    assert!(html(&sign_in_page).contains("value=\"/dashboard/settings\""));
    let signed_in = browser.submit("/login", "/login", &fields).await.assert_status(303);
    assert_eq!(signed_in.header("location"), "/dashboard/settings");
    let page = html(&browser.get("/dashboard/settings").await.assert_status(200));
    assert!(page.contains("ada@acme.example") && page.contains("acme"), "{page}");

    let session = browser.cookie("session").unwrap();
    let signed_out = browser.submit("/logout", "/logout", &[]).await.assert_status(303);
    assert_eq!(signed_out.header("location"), "/login");
    assert_eq!(browser.cookie("session"), None);
    browser.set_cookie("session", &session);
    browser.get("/dashboard/settings").await.assert_status(303);
}

#[tokio::test]
async fn the_session_cookie_has_security_attributes() {
    let app = TestApp::start().await;
    app.workspace("acme").await.add_user("ada@acme.example").await;
    let browser = Browser::new(&app);
    let signed_in = browser.sign_in("ada@acme.example", PASSWORD).await.assert_status(303);
    let cookie = session_cookie(&signed_in);
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=2592000"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "over http, the cookie has no `Secure` attribute: {cookie}");

    let app = TestApp::start_with(&[("public_url", "https://school.example")]).await;
    app.workspace("acme").await.add_user("ada@acme.example").await;
    let browser = Browser::new(&app);
    let signed_in = browser.sign_in("ada@acme.example", PASSWORD).await.assert_status(303);
    let cookie = session_cookie(&signed_in);
    assert!(cookie.starts_with("__Host-session=") && cookie.contains("Secure"), "{cookie}");
    browser.get("/dashboard/settings").await.assert_status(200);
}

fn session_cookie(response: &TestResponse) -> String {
    let mut lines =
        response.headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap().to_owned());
    lines.find(|line| line.contains("session=")).expect("a session cookie")
}

#[tokio::test]
async fn each_sign_in_starts_a_new_session() {
    let app = TestApp::start().await;
    app.workspace("acme").await.add_user("ada@acme.example").await;
    let browser = Browser::new(&app);
    browser.sign_in("ada@acme.example", PASSWORD).await.assert_status(303);
    let first = browser.cookie("session").unwrap();
    // The sign-in page redirects a signed-in user, but the form can still be submitted.
    let token = crate::support::browser::csrf_token(&browser.get("/dashboard/settings").await);
    let fields = [("email", "ada@acme.example"), ("password", PASSWORD)];
    browser.post("/login", &token, &fields).await.assert_status(303);
    assert_ne!(browser.cookie("session").unwrap(), first);
    let old_browser = Browser::new(&app);
    old_browser.set_cookie("session", &first);
    old_browser.get("/dashboard/settings").await.assert_status(303);
    browser.get("/dashboard/settings").await.assert_status(200);
}

#[tokio::test]
async fn an_unknown_email_address_gets_the_same_response_as_a_wrong_password() {
    let app = TestApp::start().await;
    app.workspace("acme").await.add_user("ada@acme.example").await;
    let mut pages = Vec::new();
    for email in ["ada@acme.example", "eve@acme.example"] {
        let browser = Browser::new(&app);
        let before = app.app.passwords().verifications();
        let response = browser.sign_in(email, "a wrong password").await.assert_status(422);
        // Verifying a password takes much longer than anything else, so the number of verifications decides the
        // response time.
        assert_eq!(app.app.passwords().verifications() - before, 1, "{email}: one verification");
        pages.push(without_tokens(&html(&response).replace(email, "EMAIL")));
    }
    pages.dedup();
    assert_eq!(pages.len(), 1, "{pages:#?}");
    assert!(pages[0].contains("Incorrect email or password."));
}

fn without_tokens(page: &str) -> String {
    regex::Regex::new("name=\"csrf\" value=\"[^\"]+\"").unwrap().replace_all(page, "").into_owned()
}

#[tokio::test]
async fn a_session_ends_after_twelve_hours_without_use_and_after_thirty_days() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let idle = workspace.owner_browser().await;
    app.clock.advance(12 * HOUR - Duration::from_secs(1));
    idle.get("/dashboard/settings").await.assert_status(200);
    app.clock.advance(12 * HOUR - Duration::from_secs(1));
    idle.get("/dashboard/settings").await.assert_status(200);
    app.clock.advance(12 * HOUR);
    idle.get("/dashboard/settings").await.assert_status(303);

    let busy = Browser::new(&app);
    busy.sign_in("owner@acme.example", PASSWORD).await.assert_status(303);
    for _ in 0..65 {
        app.clock.advance(11 * HOUR);
        busy.get("/dashboard/settings").await.assert_status(200);
    }
    // 715 hours so far; thirty days are 720.
    app.clock.advance(5 * HOUR);
    busy.get("/dashboard/settings").await.assert_status(303);
    sessions::prune(&app.app).await.unwrap();
    let sessions = entity::sessions::in_workspace(workspace.id.uuid());
    assert_eq!(sessions.count(app.app.db.read()).await.unwrap(), 0);
}

#[tokio::test]
async fn a_deleted_user_is_signed_out_immediately() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let ada = workspace.add_user("ada@acme.example").await;
    let browser = Browser::new(&app);
    browser.sign_in("ada@acme.example", PASSWORD).await.assert_status(303);
    let write = app.begin_write().await;
    assert!(
        entity::users::in_workspace(workspace.id.uuid()).delete(write.conn(), ada.id.uuid()).await.unwrap()
    );
    write.commit().await.unwrap();
    browser.get("/dashboard/settings").await.assert_status(303);
    browser.sign_in("ada@acme.example", PASSWORD).await.assert_status(422);
}

#[tokio::test]
async fn sessions_are_listed_and_ended() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let desktop = workspace.owner_browser().await;
    let phone = Browser::new(&app);
    phone.sign_in("owner@acme.example", PASSWORD).await.assert_status(303);
    let page = html(&desktop.get("/dashboard/settings").await);
    let end_path = regex::Regex::new("sessions/(ses_[a-z0-9]+)/end").unwrap();
    let phone_session = end_path.captures(&page).expect("the other session can be ended")[1].to_owned();

    let eve = app.workspace("other").await.owner_browser().await;
    let path = format!("/dashboard/settings/sessions/{phone_session}/end");
    eve.submit("/dashboard/settings", &path, &[]).await.assert_status(404);
    phone.get("/dashboard/settings").await.assert_status(200);

    desktop.submit("/dashboard/settings", &path, &[]).await.assert_status(303);
    assert!(html(&desktop.get("/dashboard/settings").await).contains("Session signed out."));
    assert!(
        !html(&desktop.get("/dashboard/settings").await).contains("Session signed out."),
        "the message is shown once"
    );
    phone.get("/dashboard/settings").await.assert_status(303);

    phone.sign_in("owner@acme.example", PASSWORD).await.assert_status(303);
    let others = "/dashboard/settings/sessions/end-others";
    desktop.submit("/dashboard/settings", others, &[]).await.assert_status(303);
    phone.get("/dashboard/settings").await.assert_status(303);
    desktop.get("/dashboard/settings").await.assert_status(200);
}

#[tokio::test]
async fn a_link_sets_a_password_once() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let old_browser = workspace.owner_browser().await;
    let replaced_link = workspace.password_link_token("owner@acme.example").await;
    let link = workspace.password_link_token("owner@acme.example").await;
    let browser = Browser::new(&app);
    let opened = browser.get(&format!("/set-password?token={replaced_link}")).await.assert_status(303);
    assert_eq!(opened.header("location"), "/set-password");
    browser.get("/set-password").await.assert_status(404);

    let other = Browser::new(&app);
    other.get(&format!("/set-password?token={link}")).await.assert_status(303);
    browser.get(&format!("/set-password?token={link}")).await.assert_status(303);
    assert!(html(&browser.get("/set-password").await.assert_status(200)).contains("owner@acme.example"));
    let set = async |browser: &Browser<'_>, password: &str, again: &str| {
        let fields = [("password", password), ("again", again)];
        browser.submit("/login", "/set-password", &fields).await
    };
    let short = set(&browser, "short", "short").await.assert_status(422);
    assert!(html(&short).contains("must have at least 12 characters"));
    for easy in ["password1234", "owner@acme.example"] {
        let page = html(&set(&browser, easy, easy).await.assert_status(422));
        assert!(page.contains("is easy to guess; use several words that do not belong together"), "{page}");
    }
    set(&browser, "a new long password", "another").await.assert_status(422);
    set(&browser, "a new long password", "a new long password").await.assert_status(303);
    set(&other, "mine is as long too", "mine is as long too").await.assert_status(404);

    old_browser.get("/dashboard/settings").await.assert_status(303);
    browser.sign_in("owner@acme.example", PASSWORD).await.assert_status(422);
    browser.sign_in("owner@acme.example", "a new long password").await.assert_status(303);
}

#[tokio::test]
async fn a_signed_in_user_signs_in_again_after_setting_a_password() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let browser = workspace.owner_browser().await;
    let fields = [("password", "a new long password"), ("again", "a new long password")];
    let set_password = async |email: &str| {
        let link = workspace.password_link_token(email).await;
        browser.get(&format!("/set-password?token={link}")).await.assert_status(303);
        let set = browser.submit("/set-password", "/set-password", &fields).await.assert_status(303);
        assert_eq!(set.header("location"), "/login");
    };
    let message = "Password set. Sign in with your new password.";
    // Setting another user's password does not end the session.
    set_password("eve@acme.example").await;
    assert_eq!(browser.get("/login").await.assert_status(303).header("location"), "/dashboard");
    assert!(html(&browser.get("/dashboard").await.assert_status(200)).contains(message));

    set_password("OWNER@acme.example").await;
    assert_eq!(browser.cookie("session"), None);
    assert!(html(&browser.get("/login").await.assert_status(200)).contains(message));
    browser.sign_in("owner@acme.example", "a new long password").await.assert_status(303);
}

#[tokio::test]
async fn a_new_password_ends_all_sessions_of_the_old_one() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    acme.add_user("ada@acme.example").await;
    let old = SecretString::from(PASSWORD);
    let client = SessionClient { address: [127, 0, 0, 1].into(), agent: "test" };
    let verified = users::verify_login(&app.app, "ada@acme.example", &old).await.unwrap().unwrap();
    let set = async |token: &str, password: &str| {
        let password = SecretString::from(password);
        let set = users::set_password(&app.app, token, &password, |_| Actor::operator()).await;
        assert!(set.unwrap().is_some());
    };

    // A session is being created: setting the new password waits for it, and ends it.
    let link = acme.password_link_token("ada@acme.example").await;
    let mut write = app.begin_write().await;
    let created = sessions::create(&app.app, &mut write, &verified, client).await.unwrap();
    let (_, token) = created.expect("the password is still valid");
    let commit_later = async {
        // Longer than setting a password takes if it does not wait.
        tokio::time::sleep(Duration::from_secs(1)).await;
        write.commit().await.unwrap();
    };
    tokio::join!(commit_later, set(&link, "a new long password"));
    assert!(sessions::resume(&app.app, token.expose_secret(), true).await.unwrap().is_none());

    // The new password is set first: the earlier verification is no longer valid.
    let mut write = app.begin_write().await;
    assert!(sessions::create(&app.app, &mut write, &verified, client).await.unwrap().is_none());
    drop(write);
    let browser = Browser::new(&app);
    browser.sign_in("ada@acme.example", PASSWORD).await.assert_status(422);
    browser.sign_in("ada@acme.example", "a new long password").await.assert_status(303);
}

#[tokio::test]
async fn a_password_link_expires_after_three_days() {
    let app = TestApp::start().await;
    let link = app.workspace("acme").await.password_link_token("ada@acme.example").await;
    let browser = Browser::new(&app);
    browser.get(&format!("/set-password?token={link}")).await.assert_status(303);
    app.clock.advance(72 * HOUR - Duration::from_secs(1));
    browser.get("/set-password").await.assert_status(200);
    app.clock.advance(Duration::from_secs(1));
    browser.get("/set-password").await.assert_status(404);
}

#[tokio::test]
async fn creating_a_workspace_prints_a_link_for_its_owner() {
    let program = TestProgram::new().await;
    let args =
        ["workspaces", "create", "--key", "acme", "--name", "Acme", "--owner-email", "ada@acme.example"];
    let created = program.run(&args).await;
    assert_eq!((created.code, created.stdout.lines().count()), (Some(0), 1), "{created:?}");
    let link_path = regex::Regex::new("/set-password\\?token=[A-Za-z0-9_-]{43}").unwrap();
    let path = link_path.find(&created.stderr).unwrap_or_else(|| panic!("{created:?}")).as_str().to_owned();
    let another = program.run(&["users", "link", "--workspace", "acme", "--email", "ADA@acme.example"]).await;
    assert_eq!(another.code, Some(0), "{another:?}");
    let unknown = program.run(&["users", "link", "--workspace", "acme", "--email", "eve@acme.example"]).await;
    assert_eq!(unknown.code, Some(1), "{unknown:?}");

    let server = program.serve(&["serve"]).await;
    let open_status = async |path: &str| {
        let first = send(program.app.http.request(Method::GET, format!("{}{path}", server.base_url))).await;
        let cookie = first.header("set-cookie").split(';').next().unwrap_or_default().to_owned();
        let again = program.app.http.request(Method::GET, format!("{}/set-password", server.base_url));
        send(again.header("cookie", cookie)).await.status
    };
    assert_eq!(open_status(&path).await, 404, "the newer link invalidates the older one");
    let path = link_path.find(&another.stdout).unwrap().as_str().to_owned();
    assert_eq!(open_status(&path).await, 200);
    assert_eq!(server.stop().await, Some(0));
}

#[tokio::test]
async fn a_link_begins_with_the_url_of_the_server_or_is_not_mailed() {
    let program = TestProgram::new().await;
    let smtp = ["--smtp-url", "smtp://localhost:1"];
    let public = [&["--public-url", "https://school.example/"][..], &smtp].concat();
    let owner = ["--key", "acme", "--name", "Acme", "--owner-email", "ada@acme.example"];
    let created = program.run(&[&["workspaces", "create"][..], &owner, &public].concat()).await;
    assert!(created.stderr.contains(" at https://school.example/set-password?token="), "{created:?}");
    let workspace = program.app.workspace("acme").await;
    let mails = workspace.mails().await;
    assert_eq!(mails.len(), 1);
    assert!(mails[0].text_body.contains("https://school.example/set-password?token="), "{mails:?}");

    let link = ["users", "link", "--workspace", "acme", "--email", "ada@acme.example"];
    let create_link = async |flags: &[&str]| program.run(&[&link[..], flags].concat()).await;
    let local = create_link(&[]).await;
    assert!(local.stdout.starts_with("http://127.0.0.1:8080/set-password?token="), "{local:?}");
    for listen in ["0.0.0.0:8080", "127.0.0.1:0"] {
        let without_url = create_link(&[&["--listen", listen][..], &smtp].concat()).await;
        assert!(without_url.stdout.starts_with("/set-password?token="), "{without_url:?}");
        assert!(without_url.stderr.contains("--public-url is not set"), "{without_url:?}");
    }
    assert_eq!(workspace.mails().await.len(), 1, "a link without a host is not mailed");
}
