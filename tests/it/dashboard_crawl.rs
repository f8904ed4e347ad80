//! Properties of all pages and forms: they reach no records of another workspace, they need only one database
//! connection, and text of users is always escaped.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::keys::KeyRotation;
use domain::roles::{Role, Roles};
use domain::webhooks::controls::ControlsChange;
use regex::Regex;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::browser::{PASSWORD, csrf_token, first_match, html};
use crate::support::crawl::{Crawl, ID, PageAction, without_random_parts};
use crate::support::members::member_browser;
use crate::support::sandbox::sandbox_browser;
use crate::support::time_zone::{COOKIE, assert_one_time_zone, named_zone};
use crate::support::{
    Browser, Endpoint, TestApp, TestResponse, TestWorkspace, course_data, in_transaction, send,
};

/// POST forms without record ids. The tests submit all other forms with ids of another workspace.
const FORMS_WITHOUT_IDS: &[&str] = &[
    "/login",
    "/logout",
    "/reset-password",
    "/set-password",
    "/sign-in",
    "/sign-in/code",
    "/dashboard/confirm",
    "/dashboard/developer/keys/new",
    "/dashboard/developer/webhooks/new",
    "/dashboard/developer/webhooks/signing-keys",
    "/dashboard/sandbox",
    "/dashboard/sandbox/delete",
    "/dashboard/sandbox/enter",
    "/dashboard/sandbox/leave",
    "/dashboard/sandbox/reset",
    "/dashboard/settings/leave",
    "/dashboard/settings/people",
    "/dashboard/settings/security/codes",
    "/dashboard/settings/security/remove",
    "/dashboard/settings/security/require",
    "/dashboard/settings/security/set-up",
    "/dashboard/settings/security/set-up/confirm",
    "/dashboard/settings/sessions/end-others",
    "/dashboard/time-zone",
];
/// Statuses of requests that failed, or that were rejected before their ids were checked.
const INCONCLUSIVE: &[u16] = &[403, 405, 409, 500];

/// The path of the form that replays all dead letters.
const REPLAY: &str = "/dashboard/developer/webhooks/dead-letters/replay";

/// Returns an id with this prefix that does not exist.
fn absent_id(prefix: &str) -> String {
    format!("{prefix}_01h2xcejqtf2nbrexx3vqjhp41")
}

/// Creates a subscription with Ed25519 signatures whose endpoint has recovered, so that a replay of what died is offered.
async fn recovered_subscription(app: &TestApp, workspace: &TestWorkspace<'_>) {
    let endpoint = Endpoint::start().await;
    endpoint.respond_with([404, 404]);
    let subscription = workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
    let change = ControlsChange { ed25519: Some(true), ..Default::default() };
    subscription.change(change).await.expect("signatures can be added");
    for student in ["first", "second", "third"] {
        workspace.student(student).await;
        app.deliver_due().await;
        app.clock.advance(Duration::from_mins(10));
    }
    subscription.pause().await;
}

/// Creates a workspace that contains every kind of record. Its owner has two sessions, and is a user of a second
/// workspace.
async fn workspace_with_everything<'a>(
    app: &'a TestApp,
    endpoint: &Endpoint,
    [name, second]: [&'static str; 2],
) -> (TestWorkspace<'a>, Browser<'a>) {
    let workspace = app.workspace(name).await;
    recovered_subscription(app, &workspace).await;
    workspace.subscribe_endpoint(endpoint, &["student.created"]).await;
    workspace.subscribe_endpoint(endpoint, &["student.deleted"]).await.pause().await;
    workspace.course("ink", 2).await;
    workspace.change("course.upsert", course_data("draft", "draft", 1)).await;
    for student in ["ada", "bob", "eve"] {
        workspace.student(student).await;
    }
    let items = [json!({"course": "ink", "unit_amount": 4900})];
    let order = json!({"key": "o1", "number": "2026-1", "student": "ada", "currency": "EUR", "items": items});
    workspace.change("order.pay", order).await;
    workspace.change("enrollment.grant", json!({"student": "bob", "course": "ink"})).await;
    let key = workspace.key("read:courses").await;
    key.get("/api/v1/courses?limit=1").await.assert_status(200);
    let rotation = KeyRotation {
        workspace: Some(workspace.id),
        key: workspace.key("read:courses").await.id.parse().unwrap(),
        current_digest: None,
        overlap: Duration::from_hours(24),
    };
    let rotate = in_transaction(app, async |write| domain::keys::rotate(&app.app, write, rotation).await);
    rotate.await.expect("the key is rotated");
    // Otherwise, a maintenance job would write these during the test.
    domain::requests::flush(&app.app).await.unwrap();
    domain::keys::flush_uses(&app.app).await.unwrap();
    let owner = format!("owner@{name}.example");
    let signed_in = workspace.owner_browser().await;
    app.workspace(second).await.password_link_token(&owner).await;
    workspace.password_link_token(&format!("teacher@{name}.example")).await;
    Browser::new(app).sign_in(&owner, PASSWORD).await.assert_status(303);
    (workspace, signed_in)
}

#[tokio::test]
#[ignore = "slow"]
async fn no_link_and_no_form_reaches_records_of_another_workspace() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    endpoint.always_respond_with(410);
    let (theirs, _) = workspace_with_everything(&app, &endpoint, ["theirs", "their-second"]).await;
    let (_, our_owner) = workspace_with_everything(&app, &endpoint, ["ours", "our-second"]).await;
    // Some pages are shown only for ten minutes after signing in.
    let their_owner = Browser::new(&app);
    their_owner.sign_in("owner@theirs.example", PASSWORD).await.assert_status(303);
    assert!(app.deliver_due().await > 0);
    for owner in [&their_owner, &our_owner] {
        owner.submit(REPLAY, REPLAY, &[]).await.assert_status(303);
    }

    let (their_crawl, our_ids) = (Crawl::run(&their_owner).await, Crawl::run(&our_owner).await.ids());
    let mut actions: Vec<&PageAction> =
        their_crawl.actions.iter().filter(|action| !action.ids().is_empty()).collect();
    // Keeps one of the actions that differ only in their ids.
    actions.dedup_by_key(|action| {
        Regex::new(ID).unwrap().replace_all(&format!("{action:?}"), "ID").into_owned()
    });
    assert_eq!(
        unreached_routes(&actions),
        Vec::<String>::new(),
        "no page links to these routes; extend the data of the test"
    );
    for action in actions.iter().filter(|action| !action.is_post_form) {
        let response = follow(&their_owner, action).await;
        assert_ne!(response.status, 404, "the owner of the records must reach it: {action:?}");
    }

    for id in actions.iter().flat_map(|action| action.ids()) {
        assert!(our_ids.contains_key(&id[..3]), "our workspace has no record of the type of {id}");
    }
    assert_unreachable(&theirs, &actions, &our_owner, &our_ids).await;
}

#[tokio::test]
#[ignore = "slow"]
async fn no_link_and_no_form_of_the_sandbox_reaches_live_records() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    endpoint.always_respond_with(410);
    let (acme, live_owner) = workspace_with_everything(&app, &endpoint, ["acme", "globex"]).await;
    assert!(app.deliver_due().await > 0);
    live_owner.submit(REPLAY, REPLAY, &[]).await.assert_status(303);
    let tester = sandbox_browser(&acme, "tester@acme.example", Role::Owner).await;
    let (crawl, our_ids) = (Crawl::run(&live_owner).await, Crawl::run(&tester).await.ids());
    // Members and their sessions are those of the live workspace.
    let concerns_account =
        |action: &PageAction| action.path.contains("/settings/") || action.path == "/dashboard/workspace";
    let actions = crawl.actions.iter().filter(|action| !action.ids().is_empty() && !concerns_account(action));
    let actions: Vec<&PageAction> = actions.collect();
    assert!(actions.len() > 40, "{} actions", actions.len());
    assert_unreachable(&acme, &actions, &tester, &our_ids).await;
}

/// Follows actions with the ids of one workspace in a browser that shows another one. Asserts that they respond as if the ids did not
/// exist, and change nothing.
async fn assert_unreachable(
    theirs: &TestWorkspace<'_>,
    actions: &[&PageAction],
    our_owner: &Browser<'_>,
    our_ids: &BTreeMap<String, String>,
) {
    let before = theirs.rows().await;
    assert!(
        before.iter().any(|row| row.starts_with("api_requests ")),
        "the request log must contain rows to compare"
    );
    for action in actions {
        for foreign in id_combinations(action, our_ids) {
            let response = follow(our_owner, &action.with_ids(&foreign)).await;
            if response.status == 404 {
                continue;
            }
            // A filter must respond as for an id that does not exist.
            let absent: Vec<String> = foreign
                .iter()
                .map(
                    |id| if our_ids.values().any(|own| own == id) { id.clone() } else { absent_id(&id[..3]) },
                )
                .collect();
            let absent_response = follow(our_owner, &action.with_ids(&absent)).await;
            assert_eq!(
                without_random_parts(&response),
                without_random_parts(&absent_response),
                "{:?}",
                action.with_ids(&foreign)
            );
        }
    }
    let after = theirs.rows().await;
    let changed: Vec<&String> = after.iter().filter(|row| !before.contains(row)).collect();
    assert!(changed.is_empty() && before.len() == after.len(), "{changed:#?}");
}

#[tokio::test]
#[ignore = "slow"]
async fn no_page_and_no_form_needs_two_database_connections() {
    let app =
        TestApp::start_with(&[("database_max_connections", "1"), ("webhook_allow", "127.0.0.0/8")]).await;
    let endpoint = Endpoint::start().await;
    endpoint.always_respond_with(410);
    let (_, owner) = workspace_with_everything(&app, &endpoint, ["acme", "globex"]).await;
    assert!(app.deliver_due().await > 0);
    owner.submit(REPLAY, REPLAY, &[]).await.assert_status(303);
    let crawl = Crawl::run(&owner).await;
    assert_eq!(unreached_routes(&crawl.actions.iter().collect::<Vec<_>>()), Vec::<String>::new());
    let mut forms: Vec<&PageAction> =
        crawl.actions.iter().filter(|action| action.is_post_form && action.path != "/logout").collect();
    // Each form is submitted twice, because the second submission often has nothing left to change. Forms that delete
    // records, switch the workspace or show the sandbox come last.
    forms.sort_by_key(|form| {
        let deletes = form.path.ends_with("/delete") || form.path.ends_with("/remove");
        let switches = form.path == "/dashboard/workspace" || form.path.starts_with("/dashboard/sandbox");
        (switches, deletes, &form.path)
    });
    for form in forms.iter().flat_map(|form| [form, form]) {
        // On PostgreSQL, a second connection would wait for the first and fail. SQLite cannot show this, since it has
        // separate connections for reads.
        follow(&owner, form).await;
    }
}

/// Returns the routes with record ids, in their path or form, that no action reaches.
fn unreached_routes(actions: &[&PageAction]) -> Vec<String> {
    let routes = dashboard::routes().into_iter().filter(|(method, path, _)| {
        path.contains(':') || (*method == Method::POST && !FORMS_WITHOUT_IDS.contains(path))
    });
    let unreached_routes = routes.filter(|(method, path, _)| {
        !actions
            .iter()
            .any(|action| action.is_post_form == (*method == Method::POST) && matches_route(path, action))
    });
    unreached_routes.map(|(method, path, _)| format!("{method} {path}")).collect()
}

/// Returns whether the path of an action matches a route.
fn matches_route(route: &str, action: &PageAction) -> bool {
    let pattern = Regex::new(":[a-z_]+").unwrap().replace_all(route, "[^/]+").into_owned();
    Regex::new(&format!("^{pattern}$")).unwrap().is_match(&action.path)
}

#[tokio::test]
#[ignore = "slow"]
async fn pages_link_only_to_what_the_roles_of_the_member_allow() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    endpoint.always_respond_with(410);
    let (acme, owner) = workspace_with_everything(&app, &endpoint, ["acme", "globex"]).await;
    assert!(app.deliver_due().await > 0);
    owner.submit(REPLAY, REPLAY, &[]).await.assert_status(303);
    for role in Role::ALL {
        let browser = member_browser(&acme, &format!("{role}@acme.example"), &[*role]).await;
        // A page that the role does not allow fails the crawl.
        let crawl = Crawl::run(&browser).await;
        let roles: Roles = [*role].into_iter().collect();
        for action in &crawl.actions {
            let method = if action.is_post_form { Method::POST } else { Method::GET };
            let mut routes = dashboard::routes();
            // If several routes match, the router prefers the one with fewer parameters.
            routes.sort_by_key(|(_, route, _)| route.matches(':').count());
            let route =
                routes.iter().find(|(known, route, _)| *known == method && matches_route(route, action));
            let (_, _, permission) = route.unwrap_or_else(|| panic!("no route for {action:?}"));
            assert!(permission.is_none_or(|permission| roles.allow(permission)), "{role}: {action:?}");
        }
        assert!(crawl.pages.len() > 20, "{role}: {} pages", crawl.pages.len());
    }
}

/// Returns the lists of ids with which to follow an action of the other workspace: all of its ids, and each of them
/// alone, with our ids in the other places.
fn id_combinations(action: &PageAction, ours: &BTreeMap<String, String>) -> Vec<Vec<String>> {
    let theirs = action.ids();
    let our_id = |id: &String| ours.get(&id[..3]).cloned().unwrap_or_else(|| absent_id(&id[..3]));
    let mut combinations = vec![theirs.clone()];
    if theirs.len() > 1 {
        for foreign_index in 0..theirs.len() {
            let mixed = theirs
                .iter()
                .enumerate()
                .map(|(index, id)| if index == foreign_index { id.clone() } else { our_id(id) });
            combinations.push(mixed.collect());
        }
    }
    combinations
}

/// Follows a link or submits a form. Asserts that the status is not one of [`INCONCLUSIVE`].
async fn follow(browser: &Browser<'_>, action: &PageAction) -> TestResponse {
    let response = if action.is_post_form {
        let token = csrf_token(&browser.get("/dashboard/settings").await);
        let fields = action.fields.iter().map(|(name, value)| (&**name, &**value));
        browser.post(&action.path, &token, &fields.collect::<Vec<(&str, &str)>>()).await
    } else {
        browser.get(&action.address()).await
    };
    assert!(!INCONCLUSIVE.contains(&response.status), "{}: {action:?}", response.status);
    response
}

#[tokio::test]
async fn every_page_shows_all_times_in_the_one_time_zone_that_it_names() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    endpoint.always_respond_with(410);
    let (_, owner) = workspace_with_everything(&app, &endpoint, ["acme", "globex"]).await;
    assert!(app.deliver_due().await > 0);
    owner.set_cookie(COOKIE, "America/New_York");
    let crawl = Crawl::run(&owner).await;
    for (address, page) in &crawl.pages {
        assert_eq!(named_zone(page), "America/New_York", "{address}");
        assert_one_time_zone(address, page);
    }
    let times: usize = crawl.pages.values().map(|page| page.matches("<time ").count()).sum();
    assert!(crawl.pages.len() > 30 && times > 50, "{} pages, {times} times", crawl.pages.len());
}

/// Markup that would run a script if it were not escaped.
const MARKUP: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;";

/// Creates records with markup in all of their texts.
async fn create_records_with_markup(workspace: &TestWorkspace<'_>) {
    let owner = json!({"key": workspace.name, "name": MARKUP, "owner_email": "owner@acme.example"});
    workspace.change("workspace.upsert", owner).await;
    let mut ink = course_data("ink", "published", 1);
    for field in ["title", "description"] {
        ink[field] = json!(MARKUP);
    }
    ink["modules"][0]["title"] = json!(MARKUP);
    ink["modules"][0]["lessons"][0]["title"] = json!(MARKUP);
    workspace.change("course.upsert", ink).await;
    let metadata = json!({"note": MARKUP});
    let student: Value = json!({
        "key": "ada", "email": "ada@example.com", "name": MARKUP, "external_id": MARKUP, "tags": [MARKUP], "metadata": metadata,
    });
    workspace.change("student.upsert", student).await;
    let items = [json!({"course": "ink", "unit_amount": 4900})];
    let order = json!({"key": "o1", "number": MARKUP, "student": "ada", "currency": "EUR", "items": items});
    workspace.change("order.pay", order).await;
    workspace.change("order.refund", json!({"order": "o1", "amount": 900, "reason": MARKUP})).await;
}

#[tokio::test]
async fn text_of_users_is_escaped_on_every_page() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    create_records_with_markup(&workspace).await;
    let owner = workspace.owner_browser().await;
    let new = "/dashboard/developer/keys/new";
    let fields = [("name", MARKUP), ("scopes", "read:courses"), ("expires", "")];
    let created = html(&owner.submit(new, new, &fields).await.assert_status(200));
    let key = app.key_with_secret(String::new(), first_match(&created, "svc_live_[A-Za-z0-9]{38}"));
    let request = key.request(Method::GET, "/api/v1/courses/%3Cscript%3E").header("x-team", MARKUP);
    send(request.header("user-agent", MARKUP)).await.assert_status(404);
    domain::requests::flush(&app.app).await.unwrap();
    // Another session from a browser with markup in its user agent.
    let other_browser = Browser::new(&app);
    let token = csrf_token(&other_browser.get("/login").await);
    let form =
        other_browser.form("/login", &token, &[("email", "owner@acme.example"), ("password", PASSWORD)]);
    other_browser.send(form.header("user-agent", MARKUP)).await.assert_status(303);

    let crawl = Crawl::run(&owner).await;
    let mut pages_with_markup = 0;
    for (address, page) in crawl.pages.iter().chain([(&new.to_owned(), &created)]) {
        for markup in ["<script>alert", "<img", "onerror=alert(1)>"] {
            assert!(!page.contains(markup), "{address} has {markup}: {page}");
        }
        pages_with_markup += usize::from(page.matches("alert(1)").count() > 2);
    }
    // The markup contains `alert(1)` twice. All pages show it in the workspace's name, and at least ten show it again.
    assert!(pages_with_markup >= 10, "{pages_with_markup} of {} pages show markup", crawl.pages.len());
}
