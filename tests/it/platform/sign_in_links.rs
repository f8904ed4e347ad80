//! `createDashboardLink`, and signing in with such a link.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::browser::{PASSWORD, csrf_token, first_match, html};
use crate::support::platform::{platform_token, sign_in_link};
use crate::support::{Browser, TestApp};

const LINKS: &str = "/platform/v1/dashboard-links";
const SETTINGS: &str = "/dashboard/settings";

#[tokio::test]
async fn a_link_signs_a_new_person_in_once() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let path = sign_in_link(&app, "acme", "ada@example.com").await;
    let browser = Browser::new(&app);
    let signed_in = browser.get(&path).await.assert_status(303);
    assert_eq!(signed_in.header("location"), "/dashboard");
    assert!(html(&browser.get("/dashboard").await.assert_status(200)).contains("ada@example.com"));
    let members = domain::users::list(&app.app, acme.id).await.unwrap();
    assert!(members.iter().any(|user| user.email == "ada@example.com" && !user.has_password));

    for second in [Browser::new(&app), browser] {
        let used = second.get(&path).await.assert_status(404);
        assert!(html(&used).contains("This link is no longer valid."));
    }
}

#[tokio::test]
async fn a_link_expires_after_a_minute() {
    let app = TestApp::start().await;
    app.workspace("acme").await;
    let (late, in_time) = (
        sign_in_link(&app, "acme", "ada@example.com").await,
        sign_in_link(&app, "acme", "bo@example.com").await,
    );
    app.clock.advance(Duration::from_secs(59));
    Browser::new(&app).get(&in_time).await.assert_status(303);
    app.clock.advance(Duration::from_secs(1));
    Browser::new(&app).get(&late).await.assert_status(404);
}

#[tokio::test]
async fn a_link_is_confirmed_while_somebody_else_is_signed_in() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.owner_browser().await;
    let path = sign_in_link(&app, "acme", "ada@example.com").await;
    let page = owner.get(&path).await.assert_status(200);
    let text = html(&page);
    assert!(text.contains("owner@acme.example") && text.contains("ada@example.com"), "{text}");
    assert!(html(&owner.get("/dashboard").await).contains("owner@acme.example"), "nothing has changed");
    let token = path.split("token=").nth(1).expect("a token");
    owner.post("/sign-in", &csrf_token(&page), &[("token", token)]).await.assert_status(303);
    assert!(html(&owner.get("/dashboard").await).contains("ada@example.com"));
}

#[tokio::test]
async fn a_link_of_the_person_who_is_signed_in_needs_no_confirmation() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.owner_browser().await;
    let path = sign_in_link(&app, "acme", "OWNER@acme.example").await;
    owner.get(&path).await.assert_status(303);
    owner.get("/dashboard").await.assert_status(200);
}

#[tokio::test]
async fn a_link_of_a_removed_person_is_not_valid() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let path = sign_in_link(&app, "acme", "ada@example.com").await;
    let members = domain::users::list(&app.app, acme.id).await.unwrap();
    let ada = members.iter().find(|user| user.email == "ada@example.com").expect("a member");
    let write = app.begin_write().await;
    domain::users::remove(&write, acme.id, ada.id).await.unwrap();
    write.commit().await.unwrap();
    Browser::new(&app).get(&path).await.assert_status(404);

    // A new link adds the person again.
    let path = sign_in_link(&app, "acme", "ada@example.com").await;
    Browser::new(&app).get(&path).await.assert_status(303);
    let members = domain::users::list(&app.app, acme.id).await.unwrap();
    assert!(members.iter().any(|user| user.email == "ada@example.com"));
}

#[tokio::test]
async fn a_new_password_invalidates_the_person_s_links() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    acme.password_link_token("ada@example.com").await;
    let links = [
        sign_in_link(&app, "acme", "ada@example.com").await,
        sign_in_link(&app, "beta", "Ada@example.com").await,
        sign_in_link(&app, "beta", "bo@example.com").await,
    ];
    beta.add_user("ada@example.com").await;
    assert_eq!(statuses(&app, &links).await, [404, 404, 303], "only the link of the other person is valid");
    let new = [sign_in_link(&app, "acme", "ada@example.com").await];
    assert_eq!(statuses(&app, &new).await, [303]);
}

#[tokio::test]
async fn signing_out_sessions_invalidates_the_person_s_links() {
    let app = TestApp::start().await;
    let (acme, _) = (app.workspace("acme").await, app.workspace("beta").await);
    let desktop = acme.owner_browser().await;
    for form in ["end-others", "end"] {
        let phone = Browser::new(&app);
        phone.sign_in("owner@acme.example", PASSWORD).await.assert_status(303);
        let links = [
            sign_in_link(&app, "acme", "owner@acme.example").await,
            sign_in_link(&app, "beta", "owner@acme.example").await,
            sign_in_link(&app, "beta", "bo@example.com").await,
        ];
        let page = html(&desktop.get(SETTINGS).await);
        let session = first_match(&page, "sessions/(ses_[a-z0-9]+/end)\"");
        let action = format!("{SETTINGS}/sessions/{}", if form == "end" { &session } else { form });
        desktop.submit(SETTINGS, &action, &[]).await.assert_status(303);
        phone.get(SETTINGS).await.assert_status(303);
        assert_eq!(statuses(&app, &links).await, [404, 404, 303], "{form}");
    }
    // Also if there is no other session.
    let links = [sign_in_link(&app, "acme", "owner@acme.example").await];
    desktop.submit(SETTINGS, &format!("{SETTINGS}/sessions/end-others"), &[]).await.assert_status(303);
    assert!(html(&desktop.get(SETTINGS).await).contains("There are no other sessions."));
    assert_eq!(statuses(&app, &links).await, [404]);
    // Also if the session ended in the meantime.
    let phone = Browser::new(&app);
    phone.sign_in("owner@acme.example", PASSWORD).await.assert_status(303);
    let page = html(&desktop.get(SETTINGS).await);
    let session = first_match(&page, "sessions/(ses_[a-z0-9]+/end)\"");
    phone.submit("/logout", "/logout", &[]).await.assert_status(303);
    let links = [sign_in_link(&app, "acme", "owner@acme.example").await];
    desktop.submit(SETTINGS, &format!("{SETTINGS}/sessions/{session}"), &[]).await.assert_status(404);
    assert_eq!(statuses(&app, &links).await, [404]);
    // Also in the browser itself.
    let links = [
        sign_in_link(&app, "acme", "owner@acme.example").await,
        sign_in_link(&app, "beta", "owner@acme.example").await,
        sign_in_link(&app, "beta", "bo@example.com").await,
    ];
    desktop.submit("/logout", "/logout", &[]).await.assert_status(303);
    desktop.get(SETTINGS).await.assert_status(303);
    assert_eq!(statuses(&app, &links).await, [404, 404, 303]);
}

/// Opens each link in a new browser, and returns the statuses.
async fn statuses(app: &TestApp, links: &[String]) -> Vec<u16> {
    let mut statuses = Vec::new();
    for link in links {
        statuses.push(Browser::new(app).get(link).await.status);
    }
    statuses
}

#[tokio::test]
async fn a_program_that_checks_links_does_not_use_them() {
    let app = TestApp::start().await;
    app.workspace("acme").await;
    let path = sign_in_link(&app, "acme", "ada@example.com").await;
    let head = app.request(reqwest::Method::HEAD, &path).send().await.expect("a response");
    assert_eq!(head.status(), 200);
    for (header, value) in
        [("sec-purpose", "prefetch"), ("sec-fetch-dest", "iframe"), ("sec-fetch-mode", "no-cors")]
    {
        let loaded = app.request(reqwest::Method::GET, &path).header(header, value).send().await;
        assert_eq!(loaded.expect("a response").status(), 200, "{header}");
    }
    Browser::new(&app).get(&path).await.assert_status(303);
}

#[tokio::test]
async fn an_unknown_workspace_and_invalid_people_are_rejected() {
    let app = TestApp::start().await;
    app.workspace("acme").await;
    let token = platform_token(&app, "write:dashboard_links").await;
    let post = async |body: Value| token.post(LINKS, body).await;
    let missing = post(json!({"workspace": "nobody", "email": "ada@example.com"})).await.assert_status(404);
    assert_eq!(missing.error_locations(), ["body /workspace"]);
    assert_eq!(missing.json()["error"]["details"][0]["message"], "does not exist");
    let invalid = post(json!({"workspace": "acme", "email": "not an address"})).await.assert_status(422);
    invalid.assert_errors_at(&["body /email"]);
    let invalid = post(json!({"workspace": "acme", "email": "a@example.com", "role": 1})).await;
    invalid.assert_status(422).assert_errors_at(&["body /role"]);
}

#[tokio::test]
async fn signing_in_and_adding_a_member_are_audited() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let path = sign_in_link(&app, "acme", "ada@example.com").await;
    Browser::new(&app).get(&path).await.assert_status(303);
    let entries = crate::support::members::audit_entries(&acme).await;
    assert!(entries.iter().any(|entry| entry.starts_with("platform Added a member")), "{entries:?}");
    assert!(
        entries.iter().any(|entry| entry.starts_with("ada@example.com Signed in from the platform")),
        "{entries:?}"
    );
}

#[tokio::test]
async fn a_link_determines_the_roles_of_new_members_only() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let token = platform_token(&app, "write:dashboard_links").await;
    let roles_after = async |body: Value| {
        token.post(LINKS, body).await.assert_status(201);
        let users = domain::users::list(&app.app, acme.id).await.unwrap();
        let found = domain::workspaces::get(&app.app, acme.id).await.unwrap();
        let mut roles =
            users.iter().map(|user| format!("{} {}", user.email, domain::users::roles(&found, user)));
        roles.next_back().expect("a member")
    };
    let link = |email: &str| json!({"workspace": "acme", "email": email});
    let link_with = |email: &str, role: Value| json!({"workspace": "acme", "email": email, "role": role});
    assert_eq!(roles_after(link("OWNER@acme.example")).await, "owner@acme.example owner");
    app.clock.advance(Duration::from_secs(1));
    assert_eq!(roles_after(link("ada@example.com")).await, "ada@example.com developer, manager");
    let viewer = link_with("ada@example.com", json!(["viewer"]));
    assert_eq!(roles_after(viewer).await, "ada@example.com developer, manager");
    app.clock.advance(Duration::from_secs(1));
    let roles = json!(["viewer", "manager"]);
    assert_eq!(roles_after(link_with("bo@example.com", roles)).await, "bo@example.com manager, viewer");
    for invalid in [json!([]), json!(["king"]), json!("viewer"), json!(["viewer", "viewer"])] {
        let rejected = token.post(LINKS, link_with("eve@example.com", invalid)).await.assert_status(422);
        assert!(rejected.error_locations()[0].starts_with("body /role"), "{rejected:?}");
    }
}
