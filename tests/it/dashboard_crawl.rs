//! Properties of all pages: links and forms never reach records of other workspaces, and text from outside is always escaped.

use std::collections::BTreeMap;

use regex::Regex;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::browser::{PASSWORD, csrf, first, html};
use crate::support::crawl::{Crawl, ID, PageAction};
use crate::support::{Browser, Endpoint, TestApp, TestResponse, Workspace, course, send};

/// Forms without record ids. All other forms are tried with ids of another workspace.
const FORMS_WITHOUT_IDS: &[&str] = &[
    "/login",
    "/logout",
    "/set-password",
    "/dashboard/developer/keys/new",
    "/dashboard/developer/webhooks/new",
    "/dashboard/settings/people",
    "/dashboard/settings/sessions/end-others",
];
/// Statuses that prove nothing: the request was rejected before its ids were checked, or failed.
const INCONCLUSIVE: &[u16] = &[403, 405, 409, 500];

/// Path of the confirmation of a replay of all dead letters.
const REPLAY: &str = "/dashboard/developer/webhooks/dead-letters/replay";

/// Returns an id of this kind that does not exist.
fn absent(kind: &str) -> String {
    format!("{kind}_01h2xcejqtf2nbrexx3vqjhp41")
}

/// Creates a workspace that contains every kind of record. Its owner has two sessions and a second workspace.
async fn workspace_with_everything<'a>(
    app: &'a TestApp,
    endpoint: &Endpoint,
    [name, second]: [&'static str; 2],
) -> (Workspace<'a>, Browser<'a>) {
    let workspace = app.workspace(name).await;
    workspace.subscribe_at(endpoint, &["student.created"]).await;
    workspace.subscribe_at(endpoint, &["student.deleted"]).await.pause().await;
    workspace.course("ink", 2).await;
    workspace.change("course.upsert", course("draft", "draft", 1)).await;
    for student in ["ada", "bob", "eve"] {
        workspace.student(student).await;
    }
    let items = [json!({"course": "ink", "unit_amount": 4900})];
    let order = json!({"key": "o1", "number": "2026-1", "student": "ada", "currency": "EUR", "items": items});
    workspace.change("order.pay", order).await;
    workspace.change("enrollment.grant", json!({"student": "bob", "course": "ink"})).await;
    let key = workspace.key("read:courses").await;
    key.get("/api/v1/courses?limit=1").await.assert_status(200);
    // The maintenance jobs would write these during the test.
    domain::requests::flush(&app.app).await.unwrap();
    domain::keys::flush_used(&app.app).await.unwrap();
    let owner = format!("owner@{name}.example");
    let signed_in = workspace.signed_in().await;
    app.workspace(second).await.link(&owner).await;
    workspace.link(&format!("teacher@{name}.example")).await;
    Browser::new(app).sign_in(&owner, PASSWORD).await.assert_status(303);
    (workspace, signed_in)
}

#[tokio::test]
async fn no_link_and_no_form_reaches_records_of_another_workspace() {
    let app = TestApp::start_beside_receivers().await;
    let endpoint = Endpoint::start().await;
    endpoint.always_answers(410);
    let (theirs, their_owner) = workspace_with_everything(&app, &endpoint, ["theirs", "their-second"]).await;
    let (_, our_owner) = workspace_with_everything(&app, &endpoint, ["ours", "our-second"]).await;
    assert!(app.deliver_due().await > 0);
    for owner in [&their_owner, &our_owner] {
        owner.submit(REPLAY, REPLAY, &[]).await.assert_status(303);
    }

    let (their_walk, ours) = (Crawl::of(&their_owner).await, Crawl::of(&our_owner).await.ids());
    let mut offers: Vec<&PageAction> =
        their_walk.offers.iter().filter(|offer| !offer.ids().is_empty()).collect();
    // Keeps one of the offers that differ only in their ids.
    offers
        .dedup_by_key(|offer| Regex::new(ID).unwrap().replace_all(&format!("{offer:?}"), "ID").into_owned());
    assert_eq!(unreached(&offers), Vec::<String>::new(), "no page links to these routes; extend the walk");
    for offer in offers.iter().filter(|offer| !offer.is_form) {
        let own = follow(&their_owner, offer).await;
        assert_ne!(own.status, 404, "its owner does not reach it: {offer:?}");
    }

    let before = theirs.rows().await;
    assert!(before.iter().any(|row| row.starts_with("api_requests ")), "there are no rows to compare");
    for offer in &offers {
        for foreign in foreign_ids(offer, &ours) {
            let answer = follow(&our_owner, &offer.with(&foreign)).await;
            if answer.status == 404 {
                continue;
            }
            // A filter without matches must respond as for an id that does not exist.
            let named: Vec<String> = foreign
                .iter()
                .map(|id| if ours.values().any(|own| own == id) { id.clone() } else { absent(&id[..3]) })
                .collect();
            let nothing = follow(&our_owner, &offer.with(&named)).await;
            assert_eq!(plain(&answer), plain(&nothing), "{:?}", offer.with(&foreign));
        }
    }
    let after = theirs.rows().await;
    let changed: Vec<&String> = after.iter().filter(|row| !before.contains(row)).collect();
    assert!(changed.is_empty() && before.len() == after.len(), "{changed:#?}");
}

#[tokio::test]
async fn no_page_and_no_form_needs_two_database_connections() {
    let app =
        TestApp::start_with(&[("database_max_connections", "1"), ("webhook_allow", "127.0.0.0/8")]).await;
    let endpoint = Endpoint::start().await;
    endpoint.always_answers(410);
    let (_, owner) = workspace_with_everything(&app, &endpoint, ["acme", "globex"]).await;
    assert!(app.deliver_due().await > 0);
    owner.submit(REPLAY, REPLAY, &[]).await.assert_status(303);
    let walk = Crawl::of(&owner).await;
    assert_eq!(unreached(&walk.offers.iter().collect::<Vec<_>>()), Vec::<String>::new());
    let mut forms: Vec<&PageAction> =
        walk.offers.iter().filter(|offer| offer.is_form && offer.path != "/logout").collect();
    // Each form is submitted twice: the second time, nothing is left to change. Forms that delete records or switch the
    // workspace come last.
    forms.sort_by_key(|form| {
        let takes_away = form.path.ends_with("/delete") || form.path.ends_with("/remove");
        (form.path == "/dashboard/workspace", takes_away, &form.path)
    });
    for form in forms.iter().flat_map(|form| [form, form]) {
        // On PostgreSQL, a second connection would wait for the first and fail. SQLite cannot show this, since it has separate
        // connections for reads.
        follow(&owner, form).await;
    }
}

/// Returns the routes with record ids, in their path or form, that no offer leads to.
fn unreached(offers: &[&PageAction]) -> Vec<String> {
    let leads = |path: &str, offer: &PageAction| {
        let pattern = Regex::new(":[a-z_]+").unwrap().replace_all(path, "[^/]+").into_owned();
        Regex::new(&format!("^{pattern}$")).unwrap().is_match(&offer.path)
    };
    let routes = dashboard::routes().into_iter().filter(|(method, path)| {
        path.contains(':') || (*method == Method::POST && !FORMS_WITHOUT_IDS.contains(path))
    });
    let unreached = routes.filter(|(method, path)| {
        !offers.iter().any(|offer| offer.is_form == (*method == Method::POST) && leads(path, offer))
    });
    unreached.map(|(method, path)| format!("{method} {path}")).collect()
}

/// Returns the ids of one of their offers: all of them, and each one combined with our ids.
fn foreign_ids(offer: &PageAction, ours: &BTreeMap<String, String>) -> Vec<Vec<String>> {
    let theirs = offer.ids();
    let own =
        |id: &String| ours.get(&id[..3]).unwrap_or_else(|| panic!("we have no record like {id}")).clone();
    let mut all = vec![theirs.clone()];
    if theirs.len() > 1 {
        for alone in 0..theirs.len() {
            let mixed =
                theirs.iter().enumerate().map(|(at, id)| if at == alone { id.clone() } else { own(id) });
            all.push(mixed.collect());
        }
    }
    all
}

async fn follow(browser: &Browser<'_>, offer: &PageAction) -> TestResponse {
    let answer = if offer.is_form {
        let token = csrf(&browser.get("/dashboard/settings").await);
        let fields = offer.fields.iter().map(|(name, value)| (&**name, &**value));
        browser.post(&offer.path, &token, &fields.collect::<Vec<(&str, &str)>>()).await
    } else {
        browser.get(&offer.address()).await
    };
    assert!(!INCONCLUSIVE.contains(&answer.status), "{}: {offer:?}", answer.status);
    answer
}

/// Returns a response without what differs each time: tokens, ids and cursors.
pub fn plain(answer: &TestResponse) -> (u16, String) {
    let text = String::from_utf8_lossy(&answer.body);
    let text = Regex::new("name=\"csrf\" value=\"[^\"]+\"").unwrap().replace_all(&text, "").into_owned();
    (answer.status, Regex::new(ID).unwrap().replace_all(&text, "ID").into_owned())
}

/// Markup that would take effect if it were not escaped.
const MARKUP: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;";

/// Creates records with markup in all of their texts.
async fn create_records_with_markup(workspace: &Workspace<'_>) {
    let owner = json!({"key": workspace.name, "name": MARKUP, "owner_email": "owner@acme.example"});
    workspace.change("workspace.upsert", owner).await;
    let mut ink = course("ink", "published", 1);
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
async fn text_from_outside_is_escaped_on_every_page() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    create_records_with_markup(&workspace).await;
    let owner = workspace.signed_in().await;
    let new = "/dashboard/developer/keys/new";
    let fields = [("name", MARKUP), ("scopes", "read:courses"), ("expires", "")];
    let created = html(&owner.submit(new, new, &fields).await.assert_status(200));
    let key = app.key_of(String::new(), first(&created, "svc_live_[A-Za-z0-9]{38}"));
    let request = key.request(Method::GET, "/api/v1/courses/%3Cscript%3E").header("x-team", MARKUP);
    send(request.header("user-agent", MARKUP)).await.assert_status(404);
    domain::requests::flush(&app.app).await.unwrap();
    // Another session from a browser with markup in its user agent.
    let elsewhere = Browser::new(&app);
    let token = csrf(&elsewhere.get("/login").await);
    let form = elsewhere.form("/login", &token, &[("email", "owner@acme.example"), ("password", PASSWORD)]);
    elsewhere.send(form.header("user-agent", MARKUP)).await.assert_status(303);

    let walk = Crawl::of(&owner).await;
    let mut shown = 0;
    for (address, page) in walk.pages.iter().chain([(&new.to_owned(), &created)]) {
        for markup in ["<script>alert", "<img", "onerror=alert(1)>"] {
            assert!(!page.contains(markup), "{address} has {markup}: {page}");
        }
        shown += usize::from(page.matches("alert(1)").count() > 2);
    }
    // All pages show the workspace's name; most show more.
    assert!(shown >= 10, "{shown} of {} pages show it", walk.pages.len());
}
