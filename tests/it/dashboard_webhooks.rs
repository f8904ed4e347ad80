//! Webhooks on the dashboard: creation, test events, pausing, rotation, edits, deletion, and isolation from other
//! workspaces.

use std::time::Duration;

use domain::outbox::EVENT_TYPES;
use domain::webhooks::{self, DeliveryState, replays};

use crate::support::browser::{WEBHOOKS, csrf_token, first_match, html, partial_update};
use crate::support::members::audit_entries;
use crate::support::{Browser, Endpoint, TestApp, TestResponse, in_transaction};

const NEW: &str = "/dashboard/developer/webhooks/new";
/// Matches a secret on a page.
const SECRET: &str = "whsec_[A-Za-z0-9+/]{43}=";

/// Returns the path of the first webhook on a page.
fn webhook_path(page: &str) -> String {
    first_match(page, &format!("{WEBHOOKS}/whs_[a-z0-9]{{26}}"))
}

#[tokio::test]
async fn a_new_webhook_shows_its_secret_once_and_receives_a_test_event() {
    let app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let browser = acme.owner_browser().await;
    let empty = html(&browser.get(WEBHOOKS).await);
    assert!(empty.contains("No webhooks yet") && empty.contains(NEW), "{empty}");
    let form = html(&browser.get(NEW).await);
    assert!(EVENT_TYPES.iter().all(|event_type| form.contains(&format!("value=\"{event_type}\""))), "{form}");
    assert!(form.contains("Access to a course was revoked."), "each event type has a description: {form}");

    let endpoint = Endpoint::start().await;
    let url = endpoint.url();
    let fields = [
        ("url", url.as_str()),
        ("description", " Students <CRM> "),
        ("which", "some"),
        ("event_types", "student.created"),
    ];
    let created = browser.submit(NEW, NEW, &fields).await.assert_status(200);
    assert_eq!(created.header("cache-control"), "no-store");
    let page = html(&created);
    let secret = first_match(&page, SECRET);
    assert!(page.contains("shown only once") && page.contains("/docs/webhooks"), "{page}");
    let path = webhook_path(&page);
    for shown_path in [
        WEBHOOKS,
        NEW,
        &path,
        &format!("{path}/edit"),
        &format!("{path}/rotate"),
        "/dashboard/settings/audit",
    ] {
        let page = html(&browser.get(shown_path).await.assert_status(200));
        assert!(!page.contains("whsec_"), "{shown_path} shows the secret again");
    }

    for shown_path in [WEBHOOKS, &path] {
        assert!(html(&browser.get(shown_path).await).contains(">Students &#60;CRM&#62;<"), "{shown_path}");
    }
    assert!(html(&browser.get(&format!("{path}/edit")).await).contains("value=\"Students &#60;CRM&#62;\""));

    let test_sent = browser.submit(&path, &format!("{path}/test"), &[("type", "order.paid")]).await;
    assert_eq!(test_sent.assert_status(303).header("location"), path);
    // A partial update does not show the flash message; the next page does.
    let table = html(&partial_update(&browser, &app, &path).await.assert_status(200));
    assert!(table.contains("pending") && !table.contains("<html"), "{table}");
    assert!(html(&browser.get(&path).await).contains("Sending a test event of type order.paid."));
    assert_eq!(app.deliver_due().await, 1);
    let request = endpoint.requests().remove(0);
    assert_eq!(request.event()["type"], "order.paid");
    assert!(request.is_signed(&secret, app.clock.now().as_second()));
    let table = html(&partial_update(&browser, &app, &path).await);
    assert!(table.contains("delivered") && table.contains(">204<"), "{table}");

    let list = html(&browser.get(WEBHOOKS).await);
    assert!(list.contains("100% of 1") && list.contains("<svg class=\"spark\"") && list.contains("enabled"));
    let created = format!("owner@acme.example Created a webhook {url}");
    assert_eq!(
        audit_entries(&acme).await[..2],
        ["owner@acme.example Sent a test event order.paid", &created]
    );
}

#[tokio::test]
async fn errors_of_a_webhook_are_shown_at_their_fields() {
    let app = TestApp::start().await;
    let browser = app.workspace("acme").await.owner_browser().await;
    let valid_url = "https://hooks.example/";
    for (url, which, message) in [
        ("http://hooks.example/", "all", "Endpoint URL must begin with `https://`"),
        ("https://10.0.0.1/", "all", "Endpoint URL resolves to 10.0.0.1, which webhooks must not call"),
        ("nonsense", "all", "Endpoint URL must be an absolute URL"),
        (valid_url, "some", "Events must include at least one event type."),
        (valid_url, "", "Events must include at least one event type."),
    ] {
        let page =
            html(&browser.submit(NEW, NEW, &[("url", url), ("which", which)]).await.assert_status(422));
        assert!(page.contains(message), "{message}: {page}");
        assert!(page.contains(&format!("value=\"{url}\"")), "the input is kept: {page}");
    }
    let fields = [("url", valid_url), ("event_types", "order.payed"), ("event_types", "order.paid")];
    let page = html(&browser.submit(NEW, NEW, &fields).await.assert_status(422));
    assert!(
        page.contains("`order.payed` is not an event type") && page.contains("value=\"order.paid\" checked")
    );

    let page =
        html(&browser.submit(NEW, NEW, &[("url", valid_url), ("which", "all")]).await.assert_status(200));
    let all = format!("Events: all {}", domain::outbox::EVENT_TYPES.len());
    assert!(html(&browser.get(&webhook_path(&page)).await).contains(&all));
}

#[tokio::test]
async fn a_webhook_beyond_the_limit_is_rejected_with_a_remedy() {
    let app = TestApp::start_with(&[("max_subscriptions_per_workspace", "1")]).await;
    let acme = app.workspace("acme").await;
    let browser = acme.owner_browser().await;
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
    let app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let browser = acme.owner_browser().await;
    let token = csrf_token(&browser.get(NEW).await);
    let fields = [("url", "https://hooks.example/"), ("which", "all")];
    let page = html(&browser.post(NEW, &token, &fields).await.assert_status(200));
    let repeated = browser.post(NEW, &token, &fields).await.assert_status(409);
    assert!(!html(&repeated).contains("whsec_"));
    assert_eq!(webhooks::list(&app.app, acme.id).await.unwrap().len(), 1);

    let path = webhook_path(&page);
    for (action, fields, status) in
        [("rotate", [("overlap", "24")], 200), ("test", [("type", "order.paid")], 303)]
    {
        let action = format!("{path}/{action}");
        let token = csrf_token(&browser.get(&path).await);
        browser.post(&action, &token, &fields).await.assert_status(status);
        let repeated = browser.post(&action, &token, &fields).await.assert_status(409);
        assert!(!html(&repeated).contains("whsec_"));
    }
    let subscription_id = webhooks::list(&app.app, acme.id).await.unwrap()[0].id;
    assert_eq!(acme.deliveries(subscription_id).await.len(), 1);
    let changes = audit_entries(&acme)
        .await
        .into_iter()
        .filter(|line| line.contains("webhook") || line.contains("test event"));
    assert_eq!(changes.count(), 3);
}

#[tokio::test]
async fn held_deliveries_of_a_paused_webhook_are_sent_or_dropped() {
    let app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    let subscription = acme.subscribe_endpoint(&endpoint, &["student.created"]).await;
    let path = format!("{WEBHOOKS}/{}", subscription.id);
    let browser = acme.owner_browser().await;
    let (pause, enable) = (format!("{path}/pause"), format!("{path}/enable"));
    browser.get(&enable).await.assert_status(303);
    assert!(html(&browser.get(&path).await).contains("is already enabled"));

    for (choice, message) in
        [("send", "Held deliveries are being sent."), ("drop", "2 deliveries were dropped.")]
    {
        let (first_token, second_token) =
            (csrf_token(&browser.get(&path).await), csrf_token(&browser.get(&path).await));
        browser.post(&pause, &first_token, &[]).await.assert_status(303);
        browser.post(&pause, &second_token, &[]).await.assert_status(303);
        assert!(html(&browser.get(&path).await).contains("is already paused"));
        for name in ["a", "b"] {
            acme.student(&format!("{choice}-{name}")).await;
        }
        assert_eq!(app.deliver_due().await, 0);
        let page = html(&browser.get(&path).await);
        assert!(page.contains("2 deliveries are held.") && page.contains(">held<"), "{page}");
        let test_sent = browser.submit(&enable, &format!("{path}/test"), &[("type", "order.paid")]).await;
        test_sent.assert_status(303);
        assert!(html(&browser.get(&path).await).contains("Enable it before you send a test event."));
        let confirmation = html(&browser.get(&enable).await);
        assert!(confirmation.contains("2 deliveries are held"), "{confirmation}");
        let without_choice = browser.submit(&enable, &enable, &[]).await.assert_status(422);
        assert!(html(&without_choice).contains("Held deliveries must be sent or dropped."));

        let (first_token, second_token) =
            (csrf_token(&browser.get(&enable).await), csrf_token(&browser.get(&enable).await));
        browser.post(&enable, &first_token, &[("held", choice)]).await.assert_status(303);
        assert!(html(&browser.get(&path).await).contains(message), "{message}");
        browser.post(&enable, &second_token, &[("held", choice)]).await.assert_status(303);
        assert!(html(&browser.get(&path).await).contains("is already enabled"));
        app.deliver_due().await;
    }
    assert_eq!(endpoint.requests().len(), 2, "dropped deliveries are never sent");
    let entries = audit_entries(&acme).await;
    let changes: Vec<&str> = entries
        .iter()
        .filter_map(|line| line.strip_prefix("owner@acme.example ")?.split(" http").next())
        .collect();
    assert_eq!(
        changes,
        [
            "Enabled a webhook",
            "Dropped held deliveries",
            "Paused a webhook",
            "Enabled a webhook",
            "Paused a webhook",
            "Signed in ",
        ]
    );
}

#[tokio::test]
async fn the_old_secret_signs_during_the_overlap_of_a_rotation() {
    let app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    let subscription = acme.subscribe_endpoint(&endpoint, &["student.created"]).await;
    let path = format!("{WEBHOOKS}/{}/rotate", subscription.id);
    let browser = acme.owner_browser().await;
    let page = html(&browser.submit(&path, &path, &[("overlap", "24")]).await.assert_status(200));
    let second = first_match(&page, SECRET);
    assert!(
        page.contains("2026-03-03 10:00:30<") && page.contains("a signature for each active secret"),
        "{page}"
    );
    // Asserts whether the next request is signed with the first and with the second secret.
    let assert_signed_with = async |expected: [bool; 2]| {
        acme.student(&format!("s{}", endpoint.requests().len())).await;
        app.deliver_due().await;
        let (request, now) = (endpoint.requests().pop().unwrap(), app.clock.now().as_second());
        assert_eq!([&subscription.secret, &second].map(|secret| request.is_signed(secret, now)), expected);
    };
    assert_signed_with([true, true]).await;
    app.clock.advance(Duration::from_secs(86_400));
    // The session has expired after a day without use.
    let browser = Browser::new(&app);
    browser.sign_in("owner@acme.example", crate::support::browser::PASSWORD).await.assert_status(303);
    assert_signed_with([false, true]).await;
    let page = html(&browser.submit(&path, &path, &[("overlap", "0")]).await.assert_status(200));
    assert!(page.contains("Requests are no longer signed with the old secret."), "{page}");
    assert_signed_with([false, false]).await;

    let rejected = browser.submit(&path, &path, &[("overlap", "9999")]).await.assert_status(422);
    assert!(html(&rejected).contains("must be one of the listed values"));
    for _ in 0..4 {
        browser.submit(&path, &path, &[("overlap", "168")]).await.assert_status(200);
    }
    let too_many = browser.submit(&path, &path, &[("overlap", "168")]).await.assert_status(422);
    assert!(html(&too_many).contains("Overlap would leave 5 older secrets active"), "{}", html(&too_many));
}

#[tokio::test]
async fn a_webhook_is_edited_and_deleted() {
    let app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let (before, after) = (Endpoint::start().await, Endpoint::start().await);
    let subscription = acme.subscribe_endpoint(&before, &["student.created"]).await;
    let path = format!("{WEBHOOKS}/{}", subscription.id);
    let (edit, delete) = (format!("{path}/edit"), format!("{path}/delete"));
    let browser = acme.owner_browser().await;
    let form = html(&browser.get(&edit).await);
    assert!(form.contains(&before.url()) && form.contains("value=\"student.created\" checked"), "{form}");
    let rejected =
        browser.submit(&edit, &edit, &[("url", "ftp://x"), ("which", "some")]).await.assert_status(422);
    let page = html(&rejected);
    assert!(page.contains("Endpoint URL must begin with") && page.contains("Events must include"), "{page}");

    let url = after.url();
    let fields = [("url", url.as_str()), ("event_types", "student.created"), ("event_types", "order.paid")];
    for message in ["Webhook updated.", "No changes."] {
        browser.submit(&edit, &edit, &fields).await.assert_status(303);
        assert!(html(&browser.get(&path).await).contains(message), "{message}");
    }
    acme.student("ada").await;
    app.deliver_due().await;
    assert_eq!((before.requests().len(), after.requests().len()), (0, 1));

    acme.student("bob").await;
    let confirmation = html(&browser.get(&delete).await);
    assert!(
        confirmation
            .contains("This deletes the secret, all deliveries with their logs, and all dead letters.")
    );
    assert!(confirmation.contains("One delivery is still pending and will never be sent."), "{confirmation}");
    let token = csrf_token(&browser.get(&delete).await);
    browser.post(&delete, &token, &[]).await.assert_status(303);
    assert!(html(&browser.get(WEBHOOKS).await).contains("Webhook deleted"));
    browser.post(&delete, &token, &[]).await.assert_status(404);
    partial_update(&browser, &app, &path).await.assert_status(404);
    assert_eq!(app.deliver_due().await, 0);
    let changes = [
        format!("owner@acme.example Deleted a webhook {url}"),
        format!("owner@acme.example Updated a webhook {url}"),
    ];
    assert_eq!(audit_entries(&acme).await[..2], changes);
}

#[tokio::test]
async fn webhooks_of_other_workspaces_are_not_found() {
    let app = TestApp::start_with_local_webhooks().await;
    let theirs = app.workspace("theirs").await;
    let endpoint = Endpoint::start().await;
    endpoint.always_respond_with(404);
    let subscription = theirs.subscribe_endpoint(&endpoint, &["student.created"]).await;
    theirs.student("ada").await;
    app.deliver_due().await;
    let delivery = subscription.deliveries().await[0].id;
    assert_eq!(subscription.deliveries().await[0].state, DeliveryState::Dead);
    let preview = replays::preview(&app.app, theirs.id, &Default::default()).await.unwrap();
    let mut write = app.begin_write().await;
    let job = replays::start(&app.app, &mut write, &preview).await.unwrap();
    write.commit().await.unwrap();

    let ours = app.workspace("ours").await;
    let our_webhook = ours.subscribe_endpoint(&endpoint, &["student.created"]).await.id;
    let browser = ours.owner_browser().await;
    let absent = "01h2xcejqtf2nbrexx3vqjhp41";
    let page_text = |response: &TestResponse| {
        regex::Regex::new("value=\"[^\"]+\"").unwrap().replace_all(&html(response), "").into_owned()
    };
    let id = subscription.id;
    let paths = [
        (format!("{WEBHOOKS}/{id}"), format!("{WEBHOOKS}/whs_{absent}")),
        (format!("{WEBHOOKS}/{id}/edit"), format!("{WEBHOOKS}/whs_{absent}/edit")),
        (format!("{WEBHOOKS}/{id}/rotate"), format!("{WEBHOOKS}/whs_{absent}/rotate")),
        (format!("{WEBHOOKS}/{id}/enable"), format!("{WEBHOOKS}/whs_{absent}/enable")),
        (format!("{WEBHOOKS}/{id}/delete"), format!("{WEBHOOKS}/whs_{absent}/delete")),
        (
            format!("{WEBHOOKS}/{id}/deliveries/{delivery}"),
            format!("{WEBHOOKS}/{id}/deliveries/dlv_{absent}"),
        ),
        (
            format!("{WEBHOOKS}/{our_webhook}/deliveries/{delivery}"),
            format!("{WEBHOOKS}/{our_webhook}/deliveries/dlv_{absent}"),
        ),
        (
            format!("{WEBHOOKS}/dead-letters?subscription={id}"),
            format!("{WEBHOOKS}/dead-letters?subscription=whs_{absent}"),
        ),
        (
            format!("{WEBHOOKS}/dead-letters/replay?delivery={delivery}"),
            format!("{WEBHOOKS}/dead-letters/replay?delivery=dlv_{absent}"),
        ),
        (format!("{WEBHOOKS}/replays/{}", job.id), format!("{WEBHOOKS}/replays/rpl_{absent}")),
    ];
    for (foreign, absent) in &paths {
        let foreign = browser.get(foreign).await.assert_status(404);
        let absent = browser.get(absent).await.assert_status(404);
        assert_eq!(page_text(&foreign), page_text(&absent), "a foreign record looks like an absent one");
    }
    let token = csrf_token(&browser.get(WEBHOOKS).await);
    for action in ["edit", "rotate", "test", "pause", "enable", "delete"] {
        let fields = [
            ("url", "https://x.example"),
            ("which", "all"),
            ("overlap", "0"),
            ("type", "order.paid"),
            ("held", "drop"),
        ];
        browser.post(&format!("{WEBHOOKS}/{id}/{action}"), &token, &fields).await.assert_status(404);
    }
    let delivery = delivery.to_string();
    for webhook in [id.to_string(), our_webhook.to_string()] {
        let resend = format!("{WEBHOOKS}/{webhook}/deliveries/{delivery}/resend");
        browser.post(&resend, &token, &[]).await.assert_status(404);
    }
    let replay = format!("{WEBHOOKS}/dead-letters/replay");
    browser.post(&replay, &token, &[("delivery", &delivery)]).await.assert_status(404);
    browser.post(&replay, &token, &[("subscription", &id.to_string())]).await.assert_status(404);
    browser.post(&format!("{WEBHOOKS}/replays/{}/cancel", job.id), &token, &[]).await.assert_status(404);
    for invalid_id in ["nonsense", "crs_01h2xcejqtf2nbrexx3vqjhp41", "%00"] {
        browser.get(&format!("{WEBHOOKS}/{invalid_id}")).await.assert_status(404);
    }
    assert!(audit_entries(&theirs).await.is_empty());
    assert_eq!(subscription.deliveries().await.len(), 1);
    assert_eq!(audit_entries(&ours).await[0], "owner@ours.example Signed in ", "nothing else is logged");
}

#[tokio::test]
async fn a_partial_update_does_not_extend_the_session() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(&["student.created"]).await;
    let browser = acme.owner_browser().await;
    let path = format!("{WEBHOOKS}/{subscription_id}");
    for _ in 0..11 {
        app.clock.advance(Duration::from_secs(3600));
        partial_update(&browser, &app, &path).await.assert_status(200);
    }
    app.clock.advance(Duration::from_secs(3601));
    let ended = partial_update(&browser, &app, &path).await.assert_status(204);
    assert_eq!(ended.header("hx-redirect"), "/login");
}

#[tokio::test]
async fn a_disabled_webhook_shows_how_to_enable_it() {
    let app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    endpoint.always_respond_with(500);
    let subscription = acme.subscribe_endpoint(&endpoint, &["student.created"]).await;
    acme.student("ada").await;
    app.deliver_due().await;
    in_transaction(&app, async |write| webhooks::disable(write, subscription.id).await).await.unwrap();
    let path = format!("{WEBHOOKS}/{}", subscription.id);
    let browser = acme.owner_browser().await;
    let page = html(&browser.get(&path).await);
    assert!(page.contains("Disabled since") && page.contains("fix the endpoint, then enable"), "{page}");
    assert!(page.contains("One delivery is held.") && !page.contains("Send test event"), "{page}");
    let overview = html(&browser.get("/dashboard").await);
    assert!(overview.contains(&format!("<a href=\"{path}\">View failures and enable</a>")), "{overview}");
    let enable = format!("{path}/enable");
    browser.submit(&enable, &format!("{path}/pause"), &[]).await.assert_status(303);
    assert!(html(&browser.get(&path).await).contains("is already disabled"));
    browser.submit(&enable, &enable, &[("held", "send")]).await.assert_status(303);
    assert!(html(&browser.get(&path).await).contains("enabled</span>"));
    assert_eq!(app.deliver_due().await, 1);
}
