//! What each role may open and do in the dashboard.

use domain::roles::{Permission, Role, Roles};
use domain::users;
use regex::Regex;
use reqwest::Method;

use crate::support::browser::{csrf_token, html};
use crate::support::members::{MEMBERS, audit_entries, member_browser, member_id};
use crate::support::{Browser, TestApp, TestWorkspace};

const SETTINGS: &str = "/dashboard/settings";
const OWNER: &str = "owner@acme.example";

/// Returns whether the user may request the route. The ids in the path do not exist, so nothing is changed.
async fn is_allowed(browser: &Browser<'_>, method: &Method, path: &str) -> bool {
    let response = if *method == Method::POST {
        let token = csrf_token(&browser.get(SETTINGS).await.assert_status(200));
        browser.post(path, &token, &[]).await
    } else {
        browser.get(path).await
    };
    assert!(
        response.status < 500 && response.header("location") != "/login?",
        "{method} {path}: {response:?}"
    );
    let is_forbidden = response.status == 403;
    assert!(
        !is_forbidden || html(&response).contains("Your role does not allow this"),
        "{method} {path}: {response:?}"
    );
    !is_forbidden
}

#[tokio::test]
async fn every_page_and_form_is_open_to_the_listed_roles_only() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let parameter = Regex::new(":([a-z]{3})[a-z_]*").unwrap();
    let prefix = |name: &str| {
        match name {
            "sub" => "sub",
            "del" => "dlv",
            "rep" => "rpl",
            other => other,
        }
        .to_owned()
    };
    let mut table = Vec::new();
    for (number, (method, route, permission)) in dashboard::routes().into_iter().enumerate() {
        let path = parameter.replace_all(route, |captures: &regex::Captures<'_>| {
            format!("{}_01h2xcejqtf2nbrexx3vqjhp41", prefix(&captures[1]))
        });
        if permission.is_none() {
            table.push(format!("{method} {route}: public"));
            continue;
        }
        let mut allowed = Vec::new();
        for role in Role::ALL {
            // A new member for each cell, because some forms sign the member out.
            let browser = member_browser(&acme, &format!("{role}-{number}@acme.example"), &[*role]).await;
            if is_allowed(&browser, &method, &path).await {
                allowed.push(role.as_str());
            }
        }
        let visitor = Browser::new(&app);
        let rejected = match method {
            Method::POST => visitor.submit("/login", &path, &[]).await.assert_status(403),
            _ => visitor.get(&path).await.assert_status(303),
        };
        assert!(method == Method::POST || rejected.header("location").starts_with("/login"), "{rejected:?}");
        table.push(format!("{method} {route}: {}", allowed.join(" ")));
    }
    insta::assert_snapshot!(table.join("\n"));
}

/// Submits the form that changes a member's roles, and returns the page of members.
async fn change_roles(browser: &Browser<'_>, member: &str, roles: &[&str]) -> String {
    let path = format!("{MEMBERS}/{member}/roles");
    let fields: Vec<(&str, &str)> = roles.iter().map(|role| ("role", *role)).collect();
    browser.submit(&path, &path, &fields).await.assert_status(303);
    html(&browser.get(MEMBERS).await)
}

async fn roles_of(workspace: &TestWorkspace<'_>, email: &str) -> String {
    let found = domain::workspaces::get(&workspace.app.app, workspace.id).await.unwrap();
    let members = users::list(&workspace.app.app, workspace.id).await.unwrap();
    let member = members.iter().find(|user| user.email == email).expect("a member");
    users::roles(&found, member).to_string()
}

#[tokio::test]
async fn changed_roles_apply_to_open_pages() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.owner_browser().await;
    let ada = member_browser(&acme, "ada@acme.example", &[Role::Developer]).await;
    let form = "/dashboard/developer/keys/new";
    let token = csrf_token(&ada.get(form).await.assert_status(200));
    let ada_id = member_id(&acme, "ada@acme.example").await;
    let page = change_roles(&owner, &ada_id, &["viewer"]).await;
    assert!(page.contains("ada@acme.example now has these roles: viewer."), "{page}");
    assert_eq!(
        audit_entries(&acme).await[0],
        "owner@acme.example Changed the roles of a member ada@acme.example: viewer"
    );

    let fields = [("name", "CRM"), ("scopes", "read:courses"), ("expires", "")];
    let rejected = html(&ada.post(form, &token, &fields).await.assert_status(403));
    assert!(rejected.contains("Your role does not allow this"), "{rejected}");
    ada.get(form).await.assert_status(403);
    let page = html(&ada.get("/dashboard/developer").await.assert_status(200));
    assert!(!page.contains("New API key"), "{page}");
    assert!(html(&ada.get(SETTINGS).await).contains("Your role: viewer."));

    change_roles(&owner, &ada_id, &["manager", "developer"]).await;
    assert_eq!(roles_of(&acme, "ada@acme.example").await, "developer, manager");
    ada.post(form, &token, &fields).await.assert_status(200);
}

#[tokio::test]
async fn a_member_needs_at_least_one_role() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.owner_browser().await;
    let invited = owner.submit(MEMBERS, MEMBERS, &[("email", "ada@acme.example")]).await.assert_status(422);
    assert!(html(&invited).contains("Roles must name at least one role."));
    let fields = [("email", "ada@acme.example"), ("role", "viewer"), ("role", "king")];
    owner.submit(MEMBERS, MEMBERS, &fields).await.assert_status(303);
    assert_eq!(roles_of(&acme, "ada@acme.example").await, "viewer");
    let path = format!("{MEMBERS}/{}/roles", member_id(&acme, "ada@acme.example").await);
    let rejected = html(&owner.submit(&path, &path, &[]).await.assert_status(422));
    assert!(rejected.contains("Roles must name at least one role."), "{rejected}");
}

#[tokio::test]
async fn the_owner_whom_the_platform_names_keeps_the_role() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.owner_browser().await;
    let second = member_browser(&acme, "second@acme.example", &[Role::Owner]).await;
    let (owner_id, second_id) =
        (member_id(&acme, OWNER).await, member_id(&acme, "second@acme.example").await);
    for browser in [&owner, &second] {
        let page = change_roles_of_owner(browser, &owner_id).await;
        assert!(page.contains("this member cannot be removed, and keeps the role owner"), "{page}");
    }
    // Two owners remove each other's role at the same time: one remains.
    let (_, demoted) = tokio::join!(
        change_roles_of_owner(&second, &owner_id),
        change_roles(&owner, &second_id, &["viewer"])
    );
    assert!(demoted.contains("second@acme.example now has these roles: viewer."), "{demoted}");
    assert_eq!(roles_of(&acme, OWNER).await, "owner");
    second.get(&format!("{MEMBERS}/{owner_id}/roles")).await.assert_status(403);
}

/// Submits the form that changes the roles of the owner, and returns the page of members.
async fn change_roles_of_owner(browser: &Browser<'_>, owner: &str) -> String {
    let path = format!("{MEMBERS}/{owner}/roles");
    browser.submit(MEMBERS, &path, &[("role", "viewer")]).await;
    html(&browser.get(MEMBERS).await)
}

#[tokio::test]
async fn viewers_see_no_queries_of_requests() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key("read:students").await;
    key.get("/api/v1/students?email=grace%40example.com").await.assert_status(200);
    domain::requests::flush(&app.app).await.unwrap();
    let logs = "/dashboard/developer/logs";
    let developer = member_browser(&acme, "dev@acme.example", &[Role::Developer]).await;
    assert!(html(&developer.get(logs).await).contains("grace%40example.com"));
    let viewer = member_browser(&acme, "viewer@acme.example", &[Role::Viewer]).await;
    let page = html(&viewer.get(logs).await.assert_status(200));
    assert!(page.contains("GET /api/v1/students<") && !page.contains("grace"), "{page}");
}

#[test]
fn the_default_roles_allow_what_every_member_could_do_before_roles_existed() {
    for permission in [
        Permission::ReadMessages,
        Permission::ReadAuditLog,
        Permission::ManageKeys,
        Permission::ManageWebhooks,
        Permission::ManageCourses,
        Permission::ManageStudents,
        Permission::RefundOrders,
    ] {
        assert!(Roles::DEFAULT.allow(permission), "{permission:?}");
    }
}
