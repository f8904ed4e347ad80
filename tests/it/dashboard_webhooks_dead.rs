//! Dead letters on the dashboard: filters, selection, and replay jobs with progress and cancellation.

use std::time::Duration;

use ::webhooks::maintenance;
use domain::page::PageRequest;
use domain::webhooks::{self, DeliveryState, ReplayState, replays};
use entity::webhook_deliveries;
use entity::webhook_deliveries::queue::DeliveryTransition;
use foundation::id::{Delivery, SubscriptionId};

use crate::support::browser::{WEBHOOKS, csrf_token, first_match, html, partial_update};
use crate::support::members::audit_entries;
use crate::support::{TestApp, TestWorkspace};

const DEAD_LETTERS: &str = "/dashboard/developer/webhooks/dead-letters";
const REPLAY: &str = "/dashboard/developer/webhooks/dead-letters/replay";
const CREATED: &[&str] = &["student.created"];

/// Creates students, and dead-letters the deliveries of their events.
async fn create_dead_letters(workspace: &TestWorkspace<'_>, prefix: &str, count: usize) {
    for n in 0..count {
        workspace.upsert_student(&format!("{prefix}{n}")).await;
    }
    workspace.app.settle_due(Some(404), DeliveryTransition::Dead).await;
}

/// Creates copies of the newest delivery, which is faster than creating events.
async fn create_copies(workspace: &TestWorkspace<'_>, subscription_id: SubscriptionId, count: usize) {
    copy_newest(workspace, subscription_id, count, |copy| copy).await;
}

/// Creates held deliveries as copies of the newest delivery.
async fn create_held(workspace: &TestWorkspace<'_>, subscription_id: SubscriptionId, count: usize) {
    copy_newest(workspace, subscription_id, count, |copy| webhook_deliveries::Model {
        state: webhook_deliveries::StoredDeliveryState::Held,
        attempts: 0,
        settled_at: None,
        ..copy
    })
    .await;
}

/// Inserts copies of the newest delivery, changed by `change`, and advances the clock by one second.
async fn copy_newest(
    workspace: &TestWorkspace<'_>,
    subscription_id: SubscriptionId,
    count: usize,
    change: impl Fn(webhook_deliveries::Model) -> webhook_deliveries::Model,
) {
    let app = workspace.app;
    let write = app.begin_write().await;
    let workspace_deliveries = webhook_deliveries::in_workspace(workspace.id.uuid());
    let newest = webhooks::deliveries(
        &app.app,
        workspace.id,
        subscription_id,
        &Default::default(),
        PageRequest::newest_first(None, 1),
    )
    .await
    .unwrap();
    let newest = newest.items[0].id.uuid();
    let newest = workspace_deliveries.by_id(write.conn(), newest).await.unwrap().unwrap();
    let now = app.clock.now();
    let copy = |_| {
        change(webhook_deliveries::Model {
            id: app.app.ids.next::<Delivery>(now).uuid(),
            created_at: now.as_millisecond(),
            ..newest.clone()
        })
    };
    let mut rows: Vec<webhook_deliveries::Model> = (0..count).map(copy).collect();
    // In batches, because the number of parameters of a statement is limited.
    while !rows.is_empty() {
        let remaining = rows.split_off(rows.len().min(700));
        workspace_deliveries.insert_many(write.conn(), rows).await.unwrap();
        rows = remaining;
    }
    write.commit().await.unwrap();
    app.clock.advance(Duration::from_secs(1));
}

/// Returns the ids of the dead letters that can be selected on a page.
fn selectable_ids(page: &str) -> Vec<String> {
    let boxes = regex::Regex::new("type=\"checkbox\" name=\"delivery\" value=\"(dlv_[a-z0-9]+)\"").unwrap();
    boxes.captures_iter(page).map(|captures| captures[1].to_owned()).collect()
}

#[tokio::test]
async fn selected_dead_letters_are_replayed_once() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let browser = acme.owner_browser().await;
    assert!(html(&browser.get(DEAD_LETTERS).await).contains("No dead letters"));
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    create_dead_letters(&acme, "s", 3).await;
    assert!(html(&browser.get(WEBHOOKS).await).contains("<span class=\"badge bad\">3</span>"));
    let page = html(&browser.get(DEAD_LETTERS).await);
    let ids = selectable_ids(&page);
    assert!(ids.len() == 3 && page.contains("Replay all 3"), "{page}");

    let nothing_selected =
        browser.get(&format!("{REPLAY}?chosen=1&event=student.created")).await.assert_status(303);
    assert_eq!(
        nothing_selected.header("location"),
        format!("{DEAD_LETTERS}?event=student.created"),
        "the filter stays"
    );
    let filtered = html(&browser.get(nothing_selected.header("location")).await);
    assert!(filtered.contains("name=\"event\" value=\"student.created\""), "{filtered}");
    assert!(filtered.contains("Select the dead letters"));
    let confirm = format!("{REPLAY}?chosen=1&delivery={}&delivery={}", ids[0], ids[1]);
    let confirmation = browser.get(&confirm).await.assert_status(200);
    assert!(html(&confirmation).contains("Replay 2 dead letters?"), "{}", html(&confirmation));
    assert_eq!(acme.deliveries(subscription_id).await.len(), 3, "the confirmation page sends nothing");
    let second_token = csrf_token(&browser.get(&confirm).await);
    let filter = ("event", "student.created");
    let fields = [("delivery", ids[0].as_str()), ("delivery", ids[1].as_str()), filter];
    let filtered_list = format!("{DEAD_LETTERS}?event=student.created");
    let replayed = browser.post(REPLAY, &csrf_token(&confirmation), &fields).await.assert_status(303);
    assert_eq!(replayed.header("location"), filtered_list, "the filter stays");
    let page = html(&browser.get(&filtered_list).await);
    assert!(page.contains("2 deliveries queued for replay."), "{page}");
    assert_eq!(selectable_ids(&page), [ids[2].clone()]);
    // Another tab still shows the replayed dead letters.
    let late = browser.post(REPLAY, &second_token, &fields).await.assert_status(303);
    assert_eq!(late.header("location"), filtered_list);
    assert!(html(&browser.get(&filtered_list).await).contains("Nothing to replay"));
    browser.get(&confirm).await.assert_status(303);
    let replays = acme.deliveries(subscription_id).await;
    assert_eq!(replays.iter().filter(|delivery| delivery.replayed_from.is_some()).count(), 2);
    assert_eq!(audit_entries(&acme).await[0], "owner@acme.example Replayed dead letters 2 deliveries");
}

#[tokio::test]
async fn dead_letters_are_filtered_and_paginated() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    let (other, _) = acme.subscribe(&["course.published"]).await;
    create_dead_letters(&acme, "s", 27).await;
    app.clock.advance(Duration::from_secs(3600));
    acme.course("rust", 1).await;
    app.settle_due(Some(404), DeliveryTransition::Dead).await;
    let browser = acme.owner_browser().await;
    // Returns the number of listed dead letters, and what the button "Replay" offers.
    let search = async |query: &str| {
        let page = html(&browser.get(&format!("{DEAD_LETTERS}?{query}")).await.assert_status(200));
        let button = regex::Regex::new("Replay (1 dead letter|all [0-9]+)<").unwrap();
        let label = button.captures(&page).map_or_else(String::new, |captures| captures[1].to_owned());
        (selectable_ids(&page).len(), label)
    };
    let expected = |rows: usize, label: &str| (rows, label.to_owned());
    assert_eq!(search("").await, expected(25, "all 28"));
    assert_eq!(search(&format!("subscription={subscription_id}")).await, expected(25, "all 27"));
    assert_eq!(search(&format!("subscription={other}")).await, expected(1, "1 dead letter"));
    assert_eq!(search("event=course.published").await, expected(1, "1 dead letter"));
    assert_eq!(search("to=2026-03-02T11:00").await, expected(25, "all 27"));
    assert_eq!(search("from=2026-03-02T11:00").await, expected(1, "1 dead letter"));
    assert_eq!(search("event=order.paid").await, expected(0, ""));
    let next = first_match(&html(&browser.get(DEAD_LETTERS).await), "href=\"([^\"]+)\" rel=\"next\"");
    assert_eq!(selectable_ids(&html(&browser.get(&next).await)).len(), 3);
    let rejected = browser
        .get(&format!("{DEAD_LETTERS}?event=nothing&from=never&subscription=x"))
        .await
        .assert_status(422);
    let rejected = html(&rejected);
    for field in ["Webhook must", "Event type must", "Created from must"] {
        assert!(rejected.contains(field), "{field}: {rejected}");
    }
    browser.get(&format!("{REPLAY}?event=nothing")).await.assert_status(422);
    browser.submit(DEAD_LETTERS, REPLAY, &[("event", "nothing")]).await.assert_status(422);
    assert_eq!(replays::running_in(&app.app, acme.id).await.unwrap(), []);
}

#[tokio::test]
async fn all_matching_dead_letters_are_replayed_by_a_job_with_progress() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    let (other, _) = acme.subscribe(CREATED).await;
    create_dead_letters(&acme, "s", 2).await;
    create_copies(&acme, subscription_id, 598).await;
    let browser = acme.owner_browser().await;
    let page = html(&browser.get(&format!("{DEAD_LETTERS}?subscription={subscription_id}")).await);
    let confirm = first_match(&page, "href=\"([^\"]+/replay\\?[^\"]+)\"");
    let (confirmation, second_tab) =
        (browser.get(&confirm).await.assert_status(200), browser.get(&confirm).await);
    assert!(html(&confirmation).contains("Replay 600 dead letters?"), "{}", html(&confirmation));
    let subscription_id_text = subscription_id.to_string();
    let fields = [("subscription", subscription_id_text.as_str())];
    // The form is submitted in two tabs at once, and then again: one job is created.
    let (first_token, second_token) = (csrf_token(&confirmation), csrf_token(&second_tab));
    let (first, second) = tokio::join!(
        browser.post(REPLAY, &first_token, &fields),
        browser.post(REPLAY, &second_token, &fields)
    );
    let path = first.assert_status(303).header("location").to_owned();
    let repeated = browser.post(REPLAY, &first_token, &fields).await.assert_status(303);
    let second = second.assert_status(303);
    assert_eq!((repeated.header("location"), second.header("location")), (path.as_str(), path.as_str()));
    let page = html(&browser.get(&path).await);
    assert!(page.contains("This replay is already running") && page.contains("0 of 600"), "{page}");
    assert!(
        page.contains("<progress id=\"bar\" max=\"600\" value=\"0\">") && page.contains("hx-get"),
        "{page}"
    );
    assert!(html(&browser.get(DEAD_LETTERS).await).contains("A replay is running"));

    let job = replays::running_in(&app.app, acme.id).await.unwrap().remove(0);
    replays::advance(&app.app, acme.id, job.id).await.unwrap();
    let update = html(&partial_update(&browser, &app, &path).await.assert_status(200));
    assert!(
        update.contains("500 of 600") && update.contains("hx-get") && !update.contains("<html"),
        "{update}"
    );
    assert!(
        !update.contains("<form") && !update.contains("oob"),
        "the form to cancel is not replaced: {update}"
    );
    maintenance::run_once(&app.app).await.unwrap();
    let update = html(&partial_update(&browser, &app, &path).await);
    assert!(
        update.contains("600 of 600") && update.contains("done") && !update.contains("hx-get"),
        "{update}"
    );
    assert!(update.contains("id=\"next\" hx-swap-oob=\"true\"") && !update.contains("<form"), "{update}");
    let late = browser.submit(&path, &format!("{path}/cancel"), &[]).await.assert_status(303);
    assert_eq!(late.header("location"), path);
    assert!(html(&browser.get(&path).await).contains("has already ended"));

    let pending_count = |deliveries: Vec<webhooks::Delivery>| {
        deliveries.iter().filter(|delivery| delivery.state == DeliveryState::Pending).count()
    };
    assert_eq!(
        (pending_count(acme.deliveries(subscription_id).await), pending_count(acme.deliveries(other).await)),
        (600, 0)
    );
    assert_eq!(audit_entries(&acme).await[0], "owner@acme.example Started a replay 600 deliveries");
    let empty = browser.submit(DEAD_LETTERS, REPLAY, &fields).await.assert_status(303);
    assert_eq!(empty.header("location"), format!("{DEAD_LETTERS}?subscription={subscription_id}"));
}

#[tokio::test]
async fn a_canceled_replay_keeps_its_deliveries() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    create_dead_letters(&acme, "s", 1).await;
    create_copies(&acme, subscription_id, 699).await;
    let browser = acme.owner_browser().await;
    let path = browser.submit(REPLAY, REPLAY, &[]).await.assert_status(303).header("location").to_owned();
    let job = replays::running_in(&app.app, acme.id).await.unwrap().remove(0);
    replays::advance(&app.app, acme.id, job.id).await.unwrap();
    let cancel = format!("{path}/cancel");
    let (first_token, second_token) =
        (csrf_token(&browser.get(&path).await), csrf_token(&browser.get(&path).await));
    browser.post(&cancel, &first_token, &[]).await.assert_status(303);
    let page = html(&browser.get(&path).await);
    assert!(page.contains("500 of 700") && page.contains("canceled") && !page.contains("hx-get"), "{page}");
    browser.post(&cancel, &second_token, &[]).await.assert_status(303);
    assert!(html(&browser.get(&path).await).contains("has already ended"));
    maintenance::run_once(&app.app).await.unwrap();
    let ended = replays::get(&app.app, Some(acme.id), job.id).await.unwrap();
    assert_eq!((ended.state, ended.done), (ReplayState::Canceled, 500));
    assert!(html(&browser.get(DEAD_LETTERS).await).contains("Replay all 200"));
    let entries = audit_entries(&acme).await;
    assert_eq!(entries[0], "owner@acme.example Canceled a replay 500 of 700 replayed");
    assert_eq!(entries.iter().filter(|line| line.contains("Canceled")).count(), 1);
}

#[tokio::test]
async fn pages_state_when_only_the_newest_deliveries_are_counted() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    create_dead_letters(&acme, "s", 1).await;
    app.clock.advance(Duration::from_secs(3 * 3600));
    let browser = acme.owner_browser().await;
    let pages = async || {
        let page = async |path: &str| html(&browser.get(path).await.assert_status(200));
        [page(WEBHOOKS).await, page(&format!("{WEBHOOKS}/{subscription_id}")).await, page("/dashboard").await]
    };
    let [list, webhook, overview] = pages().await;
    assert!(list.contains("Delivered, last 24 hours<") && list.contains("0% of 1<"), "{list}");
    assert!(webhook.contains("Delivered, last 24 hours<") && webhook.contains("Mar 2, 12:00"), "{webhook}");
    assert!(overview.contains("Of deliveries attempted in the last 48 hours"), "{overview}");

    // Settled deliveries are counted exactly.
    create_copies(&acme, subscription_id, 10_000).await;
    let [list, webhook, overview] = pages().await;
    assert!(webhook.contains("0% of 10,001<") && webhook.contains("Mar 2, 12:00"), "{webhook}");
    assert!(list.contains("<span class=\"badge bad\">at least 5,000</span>"), "{list}");
    assert!(overview.contains("At least 5,000 deliveries failed permanently"), "{overview}");
    assert!(html(&browser.get(DEAD_LETTERS).await).contains(">Replay all</a>"));
    assert!(html(&browser.get(REPLAY).await).contains("Replay 10,001 dead letters?"));

    // If many deliveries are not settled, only the newest ones are counted.
    create_held(&acme, subscription_id, 5_000).await;
    let [list, webhook, overview] = pages().await;
    let newest = "nothing sent (newest 5,000)";
    assert!(list.contains(newest) && list.contains("Delivered, last 24 hours<"), "{list}");
    assert!(webhook.contains(newest) && webhook.contains("<dt>Delivered</dt>"), "{webhook}");
    assert!(overview.contains("Of the newest 5,000 deliveries per webhook"), "{overview}");
    for page in [webhook, overview] {
        assert!(page.contains("Webhook deliveries per hour (newest 5,000 per webhook)"), "{page}");
        assert!(page.contains("<th scope=\"row\">Mar 2, 13:00</th>"), "{page}");
        assert!(!page.contains("Mar 2, 12:00"), "the chart begins with the counted deliveries: {page}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deliveries_created_during_counting_are_not_counted_as_delivered() {
    let mut app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    create_dead_letters(&acme, "s", 1).await;
    let create_many = async {
        for _ in 0..100 {
            create_held(&acme, subscription_id, 20).await;
            tokio::task::yield_now().await;
        }
    };
    let mut create_many = Box::pin(create_many);
    loop {
        let (app, acme) = (app.app.clone(), acme.id);
        // A separate task runs concurrently with the writes.
        let counted =
            tokio::spawn(async move { webhooks::outcomes(&app, acme, Some(subscription_id), 24).await });
        let ended = tokio::select! {
            () = &mut create_many => true,
            counted = counted => {
                let hours = counted.unwrap().unwrap().hours;
                let delivered: u64 = hours.iter().map(|hour| hour.delivered).sum();
                assert_eq!(delivered, 0, "nothing was delivered");
                assert_eq!(hours.iter().map(|hour| hour.dead).sum::<u64>(), 1);
                false
            }
        };
        if ended {
            break;
        }
    }
    drop(create_many);
    app.stop().await;
}

#[tokio::test]
async fn a_replay_explains_why_it_skipped_deliveries() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    create_dead_letters(&acme, "s", 3).await;
    let browser = acme.owner_browser().await;
    let start_replay = async |fields: &[(&str, &str)]| {
        let started = browser.submit(REPLAY, REPLAY, fields).await.assert_status(303);
        started.header("location").to_owned()
    };
    let subscription_id_text = subscription_id.to_string();
    let first_path = start_replay(&[]).await;
    let second_path = start_replay(&[("subscription", &subscription_id_text)]).await;
    assert_ne!(first_path, second_path);
    assert_eq!(start_replay(&[]).await, first_path);
    let page = html(&browser.get(&first_path).await);
    assert!(page.contains("Wait until it ends before you start another"), "{page}");
    maintenance::run_once(&app.app).await.unwrap();
    let skipped = "Deliveries that were already replayed were skipped.";
    let (first, second) = (html(&browser.get(&first_path).await), html(&browser.get(&second_path).await));
    assert!(first.contains("3 of 3") && !first.contains(skipped), "{first}");
    assert!(second.contains("0 of 3") && second.contains(skipped), "{second}");
    let update = html(&partial_update(&browser, &app, &second_path).await);
    assert!(update.contains(skipped), "the partial update contains it, too: {update}");
}
