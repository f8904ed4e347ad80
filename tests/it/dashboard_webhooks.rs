//! Webhooks on the dashboard: creation, tests, pausing, rotation, edits, deletion, and isolation from other workspaces.

use std::time::Duration;

use domain::outbox::EVENT_TYPES;
use domain::webhooks::{self, DeliveryState};
use reqwest::Method;

use crate::dashboard_keys::audit_entries;
use crate::support::browser::{csrf, first, html};
use crate::support::{Browser, Endpoint, TestApp, TestResponse, in_transaction};

pub const LIST: &str = "/dashboard/developer/webhooks";
const NEW: &str = "/dashboard/developer/webhooks/new";
const SECRET: &str = "whsec_[A-Za-z0-9+/]{43}=";

/// Requests a partial update, as the page's script does.
pub async fn partial(browser: &Browser<'_>, app: &TestApp, path: &str) -> TestResponse {
    browser.send(app.request(Method::GET, path).header("hx-request", "true")).await
}

/// Returns the path of the first subscription on a page.
fn named(page: &str) -> String {
    first(page, &format!("{LIST}/whs_[a-z0-9]{{26}}"))
}

#[tokio::test]
async fn a_new_webhook_shows_its_secret_once_and_receives_a_test_event() {
    let app = TestApp::start_beside_receivers().await;
    let acme = app.workspace("acme").await;
    let browser = acme.signed_in().await;
    let empty = html(&browser.get(LIST).await);
    assert!(empty.contains("No webhooks yet") && empty.contains(NEW), "{empty}");
    let form = html(&browser.get(NEW).await);
    assert!(EVENT_TYPES.iter().all(|kind| form.contains(&format!("value=\"{kind}\""))), "{form}");
    assert!(form.contains("Access to a course was revoked."), "each event type has a description: {form}");

    let endpoint = Endpoint::start().await;
    let url = endpoint.url();
    let fields = [("url", url.as_str()), ("which", "some"), ("event_types", "student.created")];
    let created = browser.submit(NEW, NEW, &fields).await.assert_status(200);
    assert_eq!(created.header("cache-control"), "no-store");
    let page = html(&created);
    let secret = first(&page, SECRET);
    assert!(page.contains("shown only once") && page.contains("/docs/webhooks"), "{page}");
    let path = named(&page);
    for place in
        [LIST, NEW, &path, &format!("{path}/edit"), &format!("{path}/rotate"), "/dashboard/settings/audit"]
    {
        let page = html(&browser.get(place).await.assert_status(200));
        assert!(!page.contains("whsec_"), "{place} shows the secret again");
    }

    let sent = browser.submit(&path, &format!("{path}/test"), &[("type", "order.paid")]).await;
    assert_eq!(sent.assert_status(303).header("location"), path);
    // A partial update leaves the flash message to the page.
    let table = html(&partial(&browser, &app, &path).await.assert_status(200));
    assert!(table.contains("pending") && !table.contains("<html"), "{table}");
    assert!(html(&browser.get(&path).await).contains("Sending a test event of type order.paid."));
    assert_eq!(app.deliver_due().await, 1);
    let request = endpoint.sent().remove(0);
    assert_eq!(request.event()["type"], "order.paid");
    assert!(request.is_signed(&secret, app.clock.now().as_second()));
    let table = html(&partial(&browser, &app, &path).await);
    assert!(table.contains("delivered") && table.contains(">204<"), "{table}");

    let list = html(&browser.get(LIST).await);
    assert!(list.contains("100 % of 1") && list.contains("<svg class=\"spark\"") && list.contains("enabled"));
    let created = format!("owner@acme.example Created a webhook subscription {url}");
    assert_eq!(
        audit_entries(&acme).await[..2],
        ["owner@acme.example Sent a test event order.paid", &created]
    );
}

#[tokio::test]
async fn errors_of_a_webhook_are_shown_at_their_fields() {
    let app = TestApp::start().await;
    let browser = app.workspace("acme").await.signed_in().await;
    let good = "https://hooks.example/";
    for (url, which, message) in [
        ("http://hooks.example/", "all", "Endpoint URL must begin with `https://`"),
        ("https://10.0.0.1/", "all", "Endpoint URL resolves to 10.0.0.1, which webhooks must not call"),
        ("nonsense", "all", "Endpoint URL must be an absolute URL"),
        (good, "some", "Events must include at least one event type."),
        (good, "", "Events must include at least one event type."),
    ] {
        let page =
            html(&browser.submit(NEW, NEW, &[("url", url), ("which", which)]).await.assert_status(422));
        assert!(page.contains(message), "{message}: {page}");
        assert!(page.contains(&format!("value=\"{url}\"")), "the input is kept: {page}");
    }
    let fields = [("url", good), ("event_types", "order.payed"), ("event_types", "order.paid")];
    let page = html(&browser.submit(NEW, NEW, &fields).await.assert_status(422));
    assert!(
        page.contains("`order.payed` is not an event type") && page.contains("value=\"order.paid\" checked")
    );

    let page = html(&browser.submit(NEW, NEW, &[("url", good), ("which", "all")]).await.assert_status(200));
    assert!(html(&browser.get(&named(&page)).await).contains("Events: all 13"));
}

#[tokio::test]
async fn a_webhook_beyond_the_limit_is_rejected_with_a_remedy() {
    let app = TestApp::start_with(&[("max_subscriptions_per_workspace", "1")]).await;
    let acme = app.workspace("acme").await;
    let browser = acme.signed_in().await;
    acme.subscribe(&["order.paid"]).await;
    let fields = [("url", "https://hooks.example/"), ("which", "all")];
    let page = html(&browser.submit(NEW, NEW, &fields).await.assert_status(422));
    let message = "Webhooks are limited to 1 in a workspace, and this one has 1; delete one, or ask the operator of this \
        server to raise --max-subscriptions-per-workspace.";
    assert!(page.replace("&#39;", "'").contains(message) && page.contains("role=\"alert\""), "{page}");
    assert!(page.contains("https://hooks.example/"), "the input is kept: {page}");
}

#[tokio::test]
async fn resubmitting_a_form_creates_no_second_webhook_secret_or_event() {
    let app = TestApp::start_beside_receivers().await;
    let acme = app.workspace("acme").await;
    let browser = acme.signed_in().await;
    let token = csrf(&browser.get(NEW).await);
    let fields = [("url", "https://hooks.example/"), ("which", "all")];
    let page = html(&browser.post(NEW, &token, &fields).await.assert_status(200));
    let again = browser.post(NEW, &token, &fields).await.assert_status(409);
    assert!(!html(&again).contains("whsec_"));
    assert_eq!(webhooks::list(&app.app, acme.id).await.unwrap().len(), 1);

    let path = named(&page);
    for (action, fields, status) in
        [("rotate", [("overlap", "24")], 200), ("test", [("type", "order.paid")], 303)]
    {
        let action = format!("{path}/{action}");
        let token = csrf(&browser.get(&path).await);
        browser.post(&action, &token, &fields).await.assert_status(status);
        let again = browser.post(&action, &token, &fields).await.assert_status(409);
        assert!(!html(&again).contains("whsec_"));
    }
    let of = webhooks::list(&app.app, acme.id).await.unwrap()[0].id;
    assert_eq!(acme.deliveries(of).await.len(), 1);
    let changes = audit_entries(&acme)
        .await
        .into_iter()
        .filter(|line| line.contains("webhook") || line.contains("test event"));
    assert_eq!(changes.count(), 3);
}

#[tokio::test]
async fn held_deliveries_of_a_paused_webhook_are_sent_or_dropped() {
    let app = TestApp::start_beside_receivers().await;
    let acme = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    let subscription = acme.subscribe_at(&endpoint, &["student.created"]).await;
    let path = format!("{LIST}/{}", subscription.id);
    let browser = acme.signed_in().await;
    let (pause, enable) = (format!("{path}/pause"), format!("{path}/enable"));
    browser.get(&enable).await.assert_status(303);
    assert!(html(&browser.get(&path).await).contains("is already enabled"));

    for (choice, message) in
        [("send", "Held deliveries are being sent."), ("drop", "2 deliveries were dropped.")]
    {
        let (one, other) = (csrf(&browser.get(&path).await), csrf(&browser.get(&path).await));
        browser.post(&pause, &one, &[]).await.assert_status(303);
        browser.post(&pause, &other, &[]).await.assert_status(303);
        assert!(html(&browser.get(&path).await).contains("is already paused"));
        for name in ["a", "b"] {
            acme.student(&format!("{choice}-{name}")).await;
        }
        assert_eq!(app.deliver_due().await, 0);
        let page = html(&browser.get(&path).await);
        assert!(page.contains("2 deliveries held.") && page.contains(">held<"), "{page}");
        let tried = browser.submit(&enable, &format!("{path}/test"), &[("type", "order.paid")]).await;
        tried.assert_status(303);
        assert!(html(&browser.get(&path).await).contains("Enable it before you send a test event."));
        let asked = html(&browser.get(&enable).await);
        assert!(asked.contains("2 deliveries are held"), "{asked}");
        let unsaid = browser.submit(&enable, &enable, &[]).await.assert_status(422);
        assert!(html(&unsaid).contains("Held deliveries must be sent or dropped."));

        let (one, other) = (csrf(&browser.get(&enable).await), csrf(&browser.get(&enable).await));
        browser.post(&enable, &one, &[("held", choice)]).await.assert_status(303);
        assert!(html(&browser.get(&path).await).contains(message), "{message}");
        browser.post(&enable, &other, &[("held", choice)]).await.assert_status(303);
        assert!(html(&browser.get(&path).await).contains("is already enabled"));
        app.deliver_due().await;
    }
    assert_eq!(endpoint.sent().len(), 2, "dropped deliveries are never sent");
    let entries = audit_entries(&acme).await;
    let changes: Vec<&str> = entries
        .iter()
        .filter_map(|line| line.strip_prefix("owner@acme.example ")?.split(" http").next())
        .collect();
    assert_eq!(
        changes,
        [
            "Enabled a webhook subscription",
            "Dropped held deliveries",
            "Paused a webhook subscription",
            "Enabled a webhook subscription",
            "Paused a webhook subscription",
            "Signed in ",
        ]
    );
}

#[tokio::test]
async fn the_old_secret_signs_during_the_overlap_of_a_rotation() {
    let app = TestApp::start_beside_receivers().await;
    let acme = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    let subscription = acme.subscribe_at(&endpoint, &["student.created"]).await;
    let path = format!("{LIST}/{}/rotate", subscription.id);
    let browser = acme.signed_in().await;
    let page = html(&browser.submit(&path, &path, &[("overlap", "24")]).await.assert_status(200));
    let second = first(&page, SECRET);
    assert!(
        page.contains("2026-03-03 10:00:30 UTC") && page.contains("a signature for each active secret"),
        "{page}"
    );
    let secrets = async |expected: [bool; 2]| {
        acme.student(&format!("s{}", endpoint.sent().len())).await;
        app.deliver_due().await;
        let (sent, now) = (endpoint.sent().pop().unwrap(), app.clock.now().as_second());
        assert_eq!([&subscription.secret, &second].map(|secret| sent.is_signed(secret, now)), expected);
    };
    secrets([true, true]).await;
    app.clock.advance(Duration::from_secs(86_400));
    // The session has expired after a day without use.
    let browser = Browser::new(&app);
    browser.sign_in("owner@acme.example", crate::support::browser::PASSWORD).await.assert_status(303);
    secrets([false, true]).await;
    let page = html(&browser.submit(&path, &path, &[("overlap", "0")]).await.assert_status(200));
    assert!(page.contains("The old secret no longer signs requests."), "{page}");
    secrets([false, false]).await;

    let wrong = browser.submit(&path, &path, &[("overlap", "9999")]).await.assert_status(422);
    assert!(html(&wrong).contains("must be one of the listed values"));
    for _ in 0..4 {
        browser.submit(&path, &path, &[("overlap", "168")]).await.assert_status(200);
    }
    let many = browser.submit(&path, &path, &[("overlap", "168")]).await.assert_status(422);
    assert!(html(&many).contains("Overlap would leave 5 older secrets active"), "{}", html(&many));
}

#[tokio::test]
async fn a_webhook_is_edited_and_deleted() {
    let app = TestApp::start_beside_receivers().await;
    let acme = app.workspace("acme").await;
    let (before, after) = (Endpoint::start().await, Endpoint::start().await);
    let subscription = acme.subscribe_at(&before, &["student.created"]).await;
    let path = format!("{LIST}/{}", subscription.id);
    let (edit, delete) = (format!("{path}/edit"), format!("{path}/delete"));
    let browser = acme.signed_in().await;
    let form = html(&browser.get(&edit).await);
    assert!(form.contains(&before.url()) && form.contains("value=\"student.created\" checked"), "{form}");
    let wrong =
        browser.submit(&edit, &edit, &[("url", "ftp://x"), ("which", "some")]).await.assert_status(422);
    let page = html(&wrong);
    assert!(page.contains("Endpoint URL must begin with") && page.contains("Events must include"), "{page}");

    let url = after.url();
    let fields = [("url", url.as_str()), ("event_types", "student.created"), ("event_types", "order.paid")];
    for message in ["Webhook updated.", "No changes."] {
        browser.submit(&edit, &edit, &fields).await.assert_status(303);
        assert!(html(&browser.get(&path).await).contains(message), "{message}");
    }
    acme.student("ada").await;
    app.deliver_due().await;
    assert_eq!((before.sent().len(), after.sent().len()), (0, 1));

    acme.student("bob").await;
    let asked = html(&browser.get(&delete).await);
    assert!(asked.contains("This deletes the secret, all deliveries with their logs, and all dead letters."));
    assert!(asked.contains("One delivery is still pending and will never be sent."), "{asked}");
    let token = csrf(&browser.get(&delete).await);
    browser.post(&delete, &token, &[]).await.assert_status(303);
    assert!(html(&browser.get(LIST).await).contains("Webhook deleted"));
    browser.post(&delete, &token, &[]).await.assert_status(404);
    partial(&browser, &app, &path).await.assert_status(404);
    assert_eq!(app.deliver_due().await, 0);
    let changes = [
        format!("owner@acme.example Deleted a webhook subscription {url}"),
        format!("owner@acme.example Updated a webhook subscription {url}"),
    ];
    assert_eq!(audit_entries(&acme).await[..2], changes);
}

#[tokio::test]
async fn webhooks_of_other_workspaces_are_not_found() {
    let app = TestApp::start_beside_receivers().await;
    let theirs = app.workspace("theirs").await;
    let endpoint = Endpoint::start().await;
    endpoint.always_answers(404);
    let subscription = theirs.subscribe_at(&endpoint, &["student.created"]).await;
    theirs.student("ada").await;
    app.deliver_due().await;
    let delivery = subscription.deliveries().await[0].id;
    assert_eq!(subscription.deliveries().await[0].state, DeliveryState::Dead);
    let preview = webhooks::preview(&app.app, theirs.id, &Default::default()).await.unwrap();
    let mut write = app.write().await;
    let job = webhooks::start(&app.app, &mut write, &preview).await.unwrap();
    write.commit().await.unwrap();

    let ours = app.workspace("ours").await;
    let own = ours.subscribe_at(&endpoint, &["student.created"]).await.id;
    let browser = ours.signed_in().await;
    let absent = "01h2xcejqtf2nbrexx3vqjhp41";
    let plain = |answer: &TestResponse| {
        regex::Regex::new("value=\"[^\"]+\"").unwrap().replace_all(&html(answer), "").into_owned()
    };
    let of = subscription.id;
    let read = [
        (format!("{LIST}/{of}"), format!("{LIST}/whs_{absent}")),
        (format!("{LIST}/{of}/edit"), format!("{LIST}/whs_{absent}/edit")),
        (format!("{LIST}/{of}/rotate"), format!("{LIST}/whs_{absent}/rotate")),
        (format!("{LIST}/{of}/enable"), format!("{LIST}/whs_{absent}/enable")),
        (format!("{LIST}/{of}/delete"), format!("{LIST}/whs_{absent}/delete")),
        (format!("{LIST}/{of}/deliveries/{delivery}"), format!("{LIST}/{of}/deliveries/dlv_{absent}")),
        (format!("{LIST}/{own}/deliveries/{delivery}"), format!("{LIST}/{own}/deliveries/dlv_{absent}")),
        (
            format!("{LIST}/dead-letters?subscription={of}"),
            format!("{LIST}/dead-letters?subscription=whs_{absent}"),
        ),
        (
            format!("{LIST}/dead-letters/replay?delivery={delivery}"),
            format!("{LIST}/dead-letters/replay?delivery=dlv_{absent}"),
        ),
        (format!("{LIST}/replays/{}", job.id), format!("{LIST}/replays/rpl_{absent}")),
    ];
    for (foreign, nowhere) in &read {
        let foreign = browser.get(foreign).await.assert_status(404);
        let nowhere = browser.get(nowhere).await.assert_status(404);
        assert_eq!(plain(&foreign), plain(&nowhere), "absent and foreign read the same");
    }
    let token = csrf(&browser.get(LIST).await);
    for action in ["edit", "rotate", "test", "pause", "enable", "delete"] {
        let fields = [
            ("url", "https://x.example"),
            ("which", "all"),
            ("overlap", "0"),
            ("type", "order.paid"),
            ("held", "drop"),
        ];
        browser.post(&format!("{LIST}/{of}/{action}"), &token, &fields).await.assert_status(404);
    }
    let delivery = delivery.to_string();
    for place in [of.to_string(), own.to_string()] {
        let resend = format!("{LIST}/{place}/deliveries/{delivery}/resend");
        browser.post(&resend, &token, &[]).await.assert_status(404);
    }
    let replay = format!("{LIST}/dead-letters/replay");
    browser.post(&replay, &token, &[("delivery", &delivery)]).await.assert_status(404);
    browser.post(&replay, &token, &[("subscription", &of.to_string())]).await.assert_status(404);
    browser.post(&format!("{LIST}/replays/{}/cancel", job.id), &token, &[]).await.assert_status(404);
    for odd in ["nonsense", "crs_01h2xcejqtf2nbrexx3vqjhp41", "%00"] {
        browser.get(&format!("{LIST}/{odd}")).await.assert_status(404);
    }
    assert!(audit_entries(&theirs).await.is_empty());
    assert_eq!(subscription.deliveries().await.len(), 1);
    assert_eq!(audit_entries(&ours).await[0], "owner@ours.example Signed in ", "nothing else is logged");
}

#[tokio::test]
async fn a_partial_update_does_not_extend_the_session() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(&["student.created"]).await;
    let browser = acme.signed_in().await;
    let path = format!("{LIST}/{of}");
    for _ in 0..11 {
        app.clock.advance(Duration::from_secs(3600));
        partial(&browser, &app, &path).await.assert_status(200);
    }
    app.clock.advance(Duration::from_secs(3601));
    let ended = partial(&browser, &app, &path).await.assert_status(204);
    assert_eq!(ended.header("hx-redirect"), "/login");
}

#[tokio::test]
async fn a_disabled_webhook_shows_how_to_enable_it() {
    let app = TestApp::start_beside_receivers().await;
    let acme = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    endpoint.always_answers(500);
    let subscription = acme.subscribe_at(&endpoint, &["student.created"]).await;
    acme.student("ada").await;
    app.deliver_due().await;
    in_transaction(&app, async |write| webhooks::disable(write, subscription.id).await).await.unwrap();
    let path = format!("{LIST}/{}", subscription.id);
    let browser = acme.signed_in().await;
    let page = html(&browser.get(&path).await);
    assert!(page.contains("Disabled since") && page.contains("fix the receiver, then enable"), "{page}");
    assert!(page.contains("One delivery held.") && !page.contains("Send test event"), "{page}");
    let overview = html(&browser.get("/dashboard").await);
    assert!(overview.contains(&format!("<a href=\"{path}\">View failures and enable</a>")), "{overview}");
    let enable = format!("{path}/enable");
    browser.submit(&enable, &format!("{path}/pause"), &[]).await.assert_status(303);
    assert!(html(&browser.get(&path).await).contains("is already disabled"));
    browser.submit(&enable, &enable, &[("held", "send")]).await.assert_status(303);
    assert!(html(&browser.get(&path).await).contains("enabled</span>"));
    assert_eq!(app.deliver_due().await, 1);
}
