//! Deliveries on the dashboard: requests and responses of each attempt, and resending.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::outbox::EVENT_TYPES;
use domain::webhooks::{DeliveryOrigin, DeliveryState};
use reqwest::Method;
use webhooks::maintenance;

use crate::support::browser::{PASSWORD, WEBHOOKS, csrf_token, first_match, html, partial_update};
use crate::support::members::audit_entries;
use crate::support::{Browser, Endpoint, Receiver, TestApp, send};

const CREATED: &[&str] = &["student.created"];

#[tokio::test]
async fn a_failed_delivery_shows_every_attempt_and_is_resent() {
    let app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    endpoint.respond_with_header(503, "x-reason: overload");
    endpoint.respond_with([204]);
    let subscription = acme.subscribe_endpoint(&endpoint, CREATED).await;
    acme.student("ada").await;
    app.deliver_due().await;
    let browser = acme.owner_browser().await;
    let list = html(&browser.get(&format!("{WEBHOOKS}/{}", subscription.id)).await);
    assert!(
        list.contains("retrying")
            && list.contains(">503<")
            && list.contains("Every attempt has failed since")
    );
    let path = first_match(&list, &format!("href=\"({WEBHOOKS}/whs_[a-z0-9]+/deliveries/dlv_[a-z0-9]+)\""));
    let page = html(&browser.get(&path).await.assert_status(200));
    for words in ["Next attempt", "2026-03-02 10:01:30<", "x-reason: overload", "Attempt 1", "Body"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let token = csrf_token(&browser.get(&path).await);
    let resend = format!("{path}/resend");
    browser.post(&resend, &token, &[]).await.assert_status(303);
    assert!(html(&browser.get(&path).await).contains("This delivery is still pending."));
    assert!(!page.contains(">Resend<"), "{page}");

    app.clock.advance(Duration::from_secs(60));
    app.deliver_due().await;
    let page = html(&browser.get(&path).await);
    let request = endpoint.requests().pop().unwrap();
    for name in ["x-svc-signature", "webhook-signature", "x-svc-delivery"] {
        assert!(page.contains(&format!("{name}: {}", request.header(name))), "{name}: {page}");
    }
    let body = String::from_utf8(request.body).unwrap();
    let unescaped = page.replace("&#34;", "\"").replace("&#38;", "&");
    assert!(unescaped.contains(&format!("<code>{body}</code>")), "the page shows the exact body: {page}");
    assert!(!page.contains("whsec_") && page.contains("Attempt 2") && page.contains(">Resend<"));

    browser.post(&resend, &token, &[]).await.assert_status(303);
    browser.post(&resend, &token, &[]).await.assert_status(409);
    app.deliver_due().await;
    let deliveries = subscription.deliveries().await;
    assert_eq!((deliveries.len(), deliveries[1].origin), (2, DeliveryOrigin::Resend));
    let page = html(&browser.get(&path).await);
    assert!(page.contains("Resent as") && page.contains(&deliveries[1].id.to_string()), "{page}");
    assert_eq!(audit_entries(&acme).await[0], "owner@acme.example Resent a delivery student.created");
}

#[tokio::test]
async fn a_dead_delivery_is_replayed_once_from_two_tabs() {
    let app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    endpoint.respond_with([410]);
    let subscription = acme.subscribe_endpoint(&endpoint, CREATED).await;
    acme.student("ada").await;
    app.deliver_due().await;
    let dead = subscription.deliveries().await.remove(0);
    assert_eq!(dead.state, DeliveryState::Dead);
    let browser = acme.owner_browser().await;
    let path = format!("{WEBHOOKS}/{}/deliveries/{}", subscription.id, dead.id);
    assert!(html(&browser.get(&path).await).contains(">Replay<"));
    let (first_token, second_token) =
        (csrf_token(&browser.get(&path).await), csrf_token(&browser.get(&path).await));
    let resend = format!("{path}/resend");
    let (first, second) =
        tokio::join!(browser.post(&resend, &first_token, &[]), browser.post(&resend, &second_token, &[]));
    assert_eq!((first.status, second.status), (303, 303));
    let deliveries = subscription.deliveries().await;
    assert_eq!((deliveries.len(), deliveries[1].replayed_from), (2, Some(dead.id)));
    let replays =
        audit_entries(&acme).await.into_iter().filter(|line| line.contains("Replayed dead letters")).count();
    assert_eq!(replays, 1);
    let page = html(&browser.get(&path).await);
    assert!(!page.contains(">Replay<") && page.contains("Replayed as"), "{page}");
}

#[tokio::test]
async fn a_replay_links_to_the_original_delivery_while_it_exists() {
    let app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    endpoint.respond_with([410]);
    let subscription = acme.subscribe_endpoint(&endpoint, CREATED).await;
    acme.student("ada").await;
    app.deliver_due().await;
    let dead = format!("{WEBHOOKS}/{}/deliveries/{}", subscription.id, subscription.deliveries().await[0].id);
    acme.owner_browser().await.submit(&dead, &format!("{dead}/resend"), &[]).await.assert_status(303);
    let replay =
        format!("{WEBHOOKS}/{}/deliveries/{}", subscription.id, subscription.deliveries().await[1].id);
    let day = Duration::from_secs(86_400);
    app.clock.advance(5 * day);
    app.deliver_due().await;
    for (days, exists) in [(0, true), (26, false)] {
        app.clock.advance(days * day);
        maintenance::prune(&app.app).await.unwrap();
        let browser = Browser::new(&app);
        browser.sign_in("owner@acme.example", PASSWORD).await.assert_status(303);
        let page = html(&browser.get(&replay).await.assert_status(200));
        assert!(page.contains("Replay of a dead letter"), "{page}");
        assert_eq!(page.contains(&format!("href=\"{dead}\"")), exists, "{page}");
        browser.get(&dead).await.assert_status(if exists { 200 } else { 404 });
    }
}

#[tokio::test]
async fn responses_of_receivers_are_escaped() {
    let app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let browser = acme.owner_browser().await;
    let gzip: &[u8] = b"\x1f\x8b\x08\x00\x00\x00<script>alert(3)</script>";
    let responses: [(&str, &[u8], &[&str]); 5] = [
        (
            "text/html",
            b"</code></pre><script>alert(1)</script><img src=x onerror=alert(2)>",
            &["&#60;script&#62;alert(1)&#60;/script&#62;", "&#60;img src=x"],
        ),
        ("application/gzip", gzip, &["31 bytes of binary data.", "1f 8b 08 00 00 00 3c 73"]),
        ("text/plain; charset=iso-8859-1", b"gr\xfcn", &["Not UTF-8", "gr\u{fffd}n"]),
        (
            "text/plain; charset=utf-16",
            b"\xff\xfe<\0s\0c\0r\0i\0p\0t\0>\0",
            &["bytes of binary data", "ff fe 3c 00"],
        ),
        ("\"><script>alert(4)</script>", b"", &["&#34;&#62;&#60;script&#62;alert(4)", "Body: empty."]),
    ];
    for (index, (content_type, body, shown)) in responses.into_iter().enumerate() {
        let head = format!(
            "HTTP/1.1 400 No\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let receiver = Receiver::responding_with([head.as_bytes(), body].concat()).await;
        let subscription = acme.subscribe_url(receiver.url("http", "127.0.0.1").to_string(), CREATED).await;
        acme.student(&format!("s{index}")).await;
        while app.deliver_due().await > 0 {}
        let delivery = subscription.deliveries().await.remove(0).id;
        let path = format!("{WEBHOOKS}/{}/deliveries/{delivery}", subscription.id);
        let page = html(&browser.get(&path).await.assert_status(200));
        for words in shown {
            assert!(page.contains(words), "{words}: {page}");
        }
        assert!(!page.contains("<script>alert") && !page.contains("<img"), "{page}");
        assert!(page.contains("dead") && page.contains(">400<"), "{page}");
    }
}

#[tokio::test]
async fn a_missing_response_is_explained() {
    let app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let browser = acme.owner_browser().await;
    let closing_receiver = Receiver::start(|stream| async move { drop(stream) }).await;
    let subscription =
        acme.subscribe_url(closing_receiver.url("http", "127.0.0.1").to_string(), CREATED).await;
    acme.student("ada").await;
    app.deliver_due().await;
    let delivery = subscription.deliveries().await.remove(0).id;
    let page = html(&browser.get(&format!("{WEBHOOKS}/{}/deliveries/{delivery}", subscription.id)).await);
    assert!(page.contains("before it responded."), "{page}");
    assert!(!page.contains("<h3>Response</h3>"), "{page}");
}

#[tokio::test]
async fn a_live_list_misses_no_delivery_between_pages() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    let path = format!("{WEBHOOKS}/{subscription_id}");
    let browser = acme.owner_browser().await;
    for n in 0..27 {
        acme.upsert_student(&format!("s{n}")).await;
    }
    let loaded = html(&browser.get(&path).await);
    assert!(loaded.contains("<dd id=\"unsettled\">27</dd>"), "{loaded}");
    app.clock.advance(Duration::from_secs(1));
    for n in 27..37 {
        acme.upsert_student(&format!("s{n}")).await;
    }
    let update = html(&partial_update(&browser, &app, &path).await.assert_status(200));
    let next = first_match(&update, "href=\"([^\"]+)\" rel=\"next\"");
    let delivery_id = regex::Regex::new("id=\"(dlv_[a-z0-9]+)\"").unwrap();
    let rows = [update.clone(), html(&browser.get(&next).await)].concat();
    let shown: BTreeSet<&str> =
        delivery_id.captures_iter(&rows).map(|captures| captures.get(1).unwrap().as_str()).collect();
    assert_eq!(shown.len(), 37, "the second page continues after the last row of the updated list");

    // The head of the page is updated, too.
    assert!(update.contains("<dd id=\"unsettled\" hx-swap-oob=\"true\">37</dd>"), "{update}");
    assert!(update.contains(">Pause</button>") && !update.contains(">Enable<"), "{update}");
    browser.submit(&path, &format!("{path}/pause"), &[]).await.assert_status(303);
    let update = html(&partial_update(&browser, &app, &path).await);
    assert!(update.contains("paused</span>") && update.contains("37 deliveries are held."), "{update}");
    // The button is updated, too. It contains no CSRF token, which would differ in each update: the page replaces its parts only
    // if an update differs from the one before.
    assert!(update.contains("/enable\">Enable</a>") && !update.contains(">Pause<"), "{update}");
    assert_eq!(update, html(&partial_update(&browser, &app, &path).await));
}

#[tokio::test]
async fn deliveries_of_a_webhook_are_filtered_and_paginated() {
    let app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    let subscription = acme.subscribe_endpoint(&endpoint, EVENT_TYPES).await;
    let path = format!("{WEBHOOKS}/{}", subscription.id);
    let browser = acme.owner_browser().await;
    assert!(html(&browser.get(&path).await).contains("No deliveries yet"));
    acme.course("rust", 1).await;
    app.clock.advance(Duration::from_secs(3600));
    for n in 0..27 {
        acme.upsert_student(&format!("s{n}")).await;
    }
    app.deliver_due().await;
    let rows = async |query: &str| {
        let page = html(&browser.get(&format!("{path}?{query}")).await.assert_status(200));
        (page.matches("data-label=\"State\"").count(), page.contains("hx-get"))
    };
    assert_eq!(rows("").await, (25, true));
    assert_eq!(rows("event=course.published").await, (1, true));
    assert_eq!(rows("state=dead").await, (0, true));
    assert_eq!(rows("state=delivered&event=student.created").await, (25, true));
    assert_eq!(rows("to=2026-03-02T11:00").await, (1, true));
    assert_eq!(rows("from=2026-03-02T11:00&event=course.published").await, (0, true));
    let next = first_match(&html(&browser.get(&path).await), "href=\"([^\"]+)\" rel=\"next\"");
    let second = html(&browser.get(&next).await);
    assert!(
        second.contains("course.published") && !second.contains("hx-get"),
        "only the first page is updated"
    );
    for (query, message) in [
        ("state=lost", "State must be one of the listed values."),
        ("event=order.payed", "Event type must be one of the listed"),
        ("from=yesterday", "Created from must be a time such as"),
        ("from=2026-03-02T11:00&to=2026-03-02T10:00", "must be later than the start"),
    ] {
        let rejected = html(&browser.get(&format!("{path}?{query}")).await.assert_status(422));
        assert!(rejected.contains(message) && !rejected.contains("hx-get"), "{message}: {rejected}");
    }
    let deliveries = subscription.deliveries().await;
    assert!(deliveries.iter().all(|delivery| delivery.origin == DeliveryOrigin::Event));
    send(app.request(Method::GET, &path)).await.assert_status(303);
}
