//! What holds for all pages: another workspace's records are out of reach of every link and form, and whatever the platform
//! or a person writes stays text.

use std::collections::BTreeMap;

use regex::Regex;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::browser::{PASSWORD, csrf, first, html};
use crate::support::walk::{ID, Offer, Walk};
use crate::support::{Answer, Browser, Endpoint, TestApp, Workspace, course, send};

/// Forms that name no record: whatever else takes a form is tried with ids that are not its sender's.
const NAME_NOTHING: &[&str] = &[
    "/login",
    "/logout",
    "/set-password",
    "/dashboard/developer/keys/new",
    "/dashboard/developer/webhooks/new",
    "/dashboard/settings/people",
    "/dashboard/settings/sessions/end-others",
];
/// What turns a request away before anybody looks whose the ids are, or fails: nothing is known by such an answer.
const TELLS_NOTHING: &[u16] = &[403, 405, 409, 500];

/// Where a replay of all dead letters begins.
const REPLAY: &str = "/dashboard/developer/webhooks/dead-letters/replay";

/// An id of this kind that names nothing.
fn absent(kind: &str) -> String {
    format!("{kind}_01h2xcejqtf2nbrexx3vqjhp41")
}

/// A workspace in which everything is there at least once; its owner, signed in twice, who runs another as well.
async fn furnished<'a>(
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
    // What the maintenance jobs would write while the test runs.
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
async fn no_link_and_no_form_reaches_into_another_workspace() {
    let app = TestApp::start_beside_receivers().await;
    let endpoint = Endpoint::start().await;
    endpoint.always_answers(410);
    let (theirs, their_owner) = furnished(&app, &endpoint, ["theirs", "their-second"]).await;
    let (_, our_owner) = furnished(&app, &endpoint, ["ours", "our-second"]).await;
    assert!(app.deliver_due().await > 0);
    for owner in [&their_owner, &our_owner] {
        owner.submit(REPLAY, REPLAY, &[]).await.assert_status(303);
    }

    let (their_walk, ours) = (Walk::of(&their_owner).await, Walk::of(&our_owner).await.ids());
    let mut offers: Vec<&Offer> = their_walk.offers.iter().filter(|offer| !offer.ids().is_empty()).collect();
    // One of those that differ in their ids alone.
    offers
        .dedup_by_key(|offer| Regex::new(ID).unwrap().replace_all(&format!("{offer:?}"), "ID").into_owned());
    assert_eq!(unreached(&offers), Vec::<String>::new(), "no page leads there; the walk must come by");
    for offer in offers.iter().filter(|offer| !offer.is_form) {
        let own = attempt(&their_owner, offer).await;
        assert_ne!(own.status, 404, "who owns it does not reach it: {offer:?}");
    }

    let before = theirs.rows().await;
    assert!(before.iter().any(|row| row.starts_with("api_requests ")), "there is nothing to change");
    for offer in &offers {
        for foreign in crossed(offer, &ours) {
            let answer = attempt(&our_owner, &offer.with(&foreign)).await;
            if answer.status == 404 {
                continue;
            }
            // A filter that finds nothing: the same as by an id that nothing has.
            let named: Vec<String> = foreign
                .iter()
                .map(|id| if ours.values().any(|own| own == id) { id.clone() } else { absent(&id[..3]) })
                .collect();
            let nothing = attempt(&our_owner, &offer.with(&named)).await;
            assert_eq!(plain(&answer), plain(&nothing), "{:?}", offer.with(&foreign));
        }
    }
    let after = theirs.rows().await;
    let changed: Vec<&String> = after.iter().filter(|row| !before.contains(row)).collect();
    assert!(changed.is_empty() && before.len() == after.len(), "{changed:#?}");
}

#[tokio::test]
async fn no_page_and_no_form_needs_two_connections_at_once() {
    let app =
        TestApp::start_with(&[("database_max_connections", "1"), ("webhook_allow", "127.0.0.0/8")]).await;
    let endpoint = Endpoint::start().await;
    endpoint.always_answers(410);
    let (_, owner) = furnished(&app, &endpoint, ["acme", "globex"]).await;
    assert!(app.deliver_due().await > 0);
    owner.submit(REPLAY, REPLAY, &[]).await.assert_status(303);
    let walk = Walk::of(&owner).await;
    assert_eq!(unreached(&walk.offers.iter().collect::<Vec<_>>()), Vec::<String>::new());
    let mut forms: Vec<&Offer> =
        walk.offers.iter().filter(|offer| offer.is_form && offer.path != "/logout").collect();
    // Each is sent twice: the second finds nothing left to change. What takes a record or the workspace away comes last.
    forms.sort_by_key(|form| {
        let takes_away = form.path.ends_with("/delete") || form.path.ends_with("/remove");
        (form.path == "/dashboard/workspace", takes_away, &form.path)
    });
    for form in forms.iter().flat_map(|form| [form, form]) {
        // On PostgreSQL, two connections at once would wait for each other, and fail. SQLite cannot tell: its reads have
        // connections beside that of the write.
        attempt(&owner, form).await;
    }
}

/// Addresses that name records, in their path or in a form, and that none of these offers leads to.
fn unreached(offers: &[&Offer]) -> Vec<String> {
    let leads = |path: &str, offer: &Offer| {
        let pattern = Regex::new(":[a-z_]+").unwrap().replace_all(path, "[^/]+").into_owned();
        Regex::new(&format!("^{pattern}$")).unwrap().is_match(&offer.path)
    };
    let routes = dashboard::routes().into_iter().filter(|(method, path)| {
        path.contains(':') || (*method == Method::POST && !NAME_NOTHING.contains(path))
    });
    let unreached = routes.filter(|(method, path)| {
        !offers.iter().any(|offer| offer.is_form == (*method == Method::POST) && leads(path, offer))
    });
    unreached.map(|(method, path)| format!("{method} {path}")).collect()
}

/// The ids of an offer of theirs, all of them, and each alone among ours.
fn crossed(offer: &Offer, ours: &BTreeMap<String, String>) -> Vec<Vec<String>> {
    let theirs = offer.ids();
    let own = |id: &String| ours.get(&id[..3]).unwrap_or_else(|| panic!("we have none like {id}")).clone();
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

async fn attempt(browser: &Browser<'_>, offer: &Offer) -> Answer {
    let answer = if offer.is_form {
        let token = csrf(&browser.get("/dashboard/settings").await);
        let fields = offer.fields.iter().map(|(name, value)| (&**name, &**value));
        browser.post(&offer.path, &token, &fields.collect::<Vec<(&str, &str)>>()).await
    } else {
        browser.get(&offer.address()).await
    };
    assert!(!TELLS_NOTHING.contains(&answer.status), "{}: {offer:?}", answer.status);
    answer
}

/// An answer without what differs each time: tokens, ids, and where a list goes on.
pub fn plain(answer: &Answer) -> (u16, String) {
    let text = String::from_utf8_lossy(&answer.body);
    let text = Regex::new("name=\"csrf\" value=\"[^\"]+\"").unwrap().replace_all(&text, "").into_owned();
    (answer.status, Regex::new(ID).unwrap().replace_all(&text, "ID").into_owned())
}

/// What would be at work if it were not text.
const MARKUP: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;";

/// Everything that a platform may name, named so.
async fn written(workspace: &Workspace<'_>) {
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
async fn what_a_platform_or_a_person_writes_stays_text_on_every_page() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    written(&workspace).await;
    let owner = workspace.signed_in().await;
    let new = "/dashboard/developer/keys/new";
    let fields = [("name", MARKUP), ("scopes", "read:courses"), ("expires", "")];
    let made = html(&owner.submit(new, new, &fields).await.assert_status(200));
    let key = app.key_of(String::new(), first(&made, "svc_live_[A-Za-z0-9]{38}"));
    let request = key.request(Method::GET, "/api/v1/courses/%3Cscript%3E").header("x-team", MARKUP);
    send(request.header("user-agent", MARKUP)).await.assert_status(404);
    domain::requests::flush(&app.app).await.unwrap();
    // Another session, from a browser that calls itself so.
    let elsewhere = Browser::new(&app);
    let token = csrf(&elsewhere.get("/login").await);
    let form = elsewhere.form("/login", &token, &[("email", "owner@acme.example"), ("password", PASSWORD)]);
    elsewhere.send(form.header("user-agent", MARKUP)).await.assert_status(303);

    let walk = Walk::of(&owner).await;
    let mut shown = 0;
    for (address, page) in walk.pages.iter().chain([(&new.to_owned(), &made)]) {
        for markup in ["<script>alert", "<img", "onerror=alert(1)>"] {
            assert!(!page.contains(markup), "{address} has {markup}: {page}");
        }
        shown += usize::from(page.matches("alert(1)").count() > 2);
    }
    // The name of the workspace is on all of them; most show more.
    assert!(shown >= 10, "{shown} of {} pages show it", walk.pages.len());
}
