//! Dead letters on the dashboard: filters, selection, and replay jobs with progress and cancellation.

use std::time::Duration;

use ::webhooks::maintenance;
use domain::page::PageRequest;
use domain::webhooks::{self, DeliveryState, ReplayState};
use entity::webhook_deliveries;
use entity::webhook_deliveries::queue::DeliveryTransition;
use foundation::id::{Delivery, SubscriptionId};

use crate::dashboard_keys::audit_entries;
use crate::dashboard_webhooks::{LIST, partial};
use crate::support::browser::{csrf, first, html};
use crate::support::{TestApp, Workspace};

const DEAD: &str = "/dashboard/developer/webhooks/dead-letters";
const REPLAY: &str = "/dashboard/developer/webhooks/dead-letters/replay";
const CREATED: &[&str] = &["student.created"];

/// Creates students whose events all end as dead letters.
async fn create_dead_letters(workspace: &Workspace<'_>, prefix: &str, count: usize) {
    for n in 0..count {
        workspace.student_by_change(&format!("{prefix}{n}")).await;
    }
    workspace.app.settle_due(Some(404), DeliveryTransition::Dead).await;
}

/// Creates copies of the newest delivery, without students.
async fn create_copies(workspace: &Workspace<'_>, of: SubscriptionId, count: usize) {
    copy_newest(workspace, of, count, |copy| copy).await;
}

/// Creates held deliveries.
async fn create_held(workspace: &Workspace<'_>, of: SubscriptionId, count: usize) {
    copy_newest(workspace, of, count, |copy| webhook_deliveries::Model {
        state: webhook_deliveries::StoredDeliveryState::Held,
        attempts: 0,
        settled_at: None,
        ..copy
    })
    .await;
}

async fn copy_newest(
    workspace: &Workspace<'_>,
    of: SubscriptionId,
    count: usize,
    shape: impl Fn(webhook_deliveries::Model) -> webhook_deliveries::Model,
) {
    let app = workspace.app;
    let write = app.write().await;
    let all = webhook_deliveries::in_workspace(workspace.id.uuid());
    let newest = webhooks::deliveries(
        &app.app,
        workspace.id,
        of,
        &Default::default(),
        PageRequest::newest_first(None, 1),
    )
    .await
    .unwrap();
    let first = newest.items[0].id.uuid();
    let first = all.by_id(write.conn(), first).await.unwrap().unwrap();
    let now = app.clock.now();
    let copy = |_| {
        shape(webhook_deliveries::Model {
            id: app.app.ids.next::<Delivery>(now).uuid(),
            created_at: now.as_millisecond(),
            ..first.clone()
        })
    };
    let mut rows: Vec<webhook_deliveries::Model> = (0..count).map(copy).collect();
    while !rows.is_empty() {
        let rest = rows.split_off(rows.len().min(700));
        all.insert_many(write.conn(), rows).await.unwrap();
        rows = rest;
    }
    write.commit().await.unwrap();
    app.clock.advance(Duration::from_secs(1));
}

/// Returns the ids of the checkboxes on a page.
fn selectable_ids(page: &str) -> Vec<String> {
    let boxes = regex::Regex::new("type=\"checkbox\" name=\"delivery\" value=\"(dlv_[a-z0-9]+)\"").unwrap();
    boxes.captures_iter(page).map(|found| found[1].to_owned()).collect()
}

#[tokio::test]
async fn selected_dead_letters_are_replayed_once() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let browser = acme.signed_in().await;
    assert!(html(&browser.get(DEAD).await).contains("No dead letters"));
    let (of, _) = acme.subscribe(CREATED).await;
    create_dead_letters(&acme, "s", 3).await;
    assert!(html(&browser.get(LIST).await).contains("<span class=\"badge bad\">3</span>"));
    let page = html(&browser.get(DEAD).await);
    let ids = selectable_ids(&page);
    assert!(ids.len() == 3 && page.contains("Replay all 3"), "{page}");

    let none = browser.get(&format!("{REPLAY}?chosen=1&event=student.created")).await.assert_status(303);
    assert_eq!(none.header("location"), format!("{DEAD}?event=student.created"), "the filter stays");
    let narrowed = html(&browser.get(none.header("location")).await);
    assert!(narrowed.contains("name=\"event\" value=\"student.created\""), "{narrowed}");
    assert!(narrowed.contains("Select the dead letters"));
    let chosen = format!("{REPLAY}?chosen=1&delivery={}&delivery={}", ids[0], ids[1]);
    let asked = browser.get(&chosen).await.assert_status(200);
    assert!(html(&asked).contains("Replay 2 dead letters?"), "{}", html(&asked));
    assert_eq!(acme.deliveries(of).await.len(), 3, "asking sends nothing");
    let other = csrf(&browser.get(&chosen).await);
    let kept = ("event", "student.created");
    let fields = [("delivery", ids[0].as_str()), ("delivery", ids[1].as_str()), kept];
    let narrowed = format!("{DEAD}?event=student.created");
    let sent = browser.post(REPLAY, &csrf(&asked), &fields).await.assert_status(303);
    assert_eq!(sent.header("location"), narrowed, "the filter stays");
    let page = html(&browser.get(&narrowed).await);
    assert!(page.contains("2 deliveries queued for replay."), "{page}");
    assert_eq!(selectable_ids(&page), [ids[2].clone()]);
    // Another tab, which still shows them.
    let late = browser.post(REPLAY, &other, &fields).await.assert_status(303);
    assert_eq!(late.header("location"), narrowed);
    assert!(html(&browser.get(&narrowed).await).contains("Nothing to replay"));
    browser.get(&chosen).await.assert_status(303);
    let again = acme.deliveries(of).await.into_iter().filter(|one| one.replayed_from.is_some()).count();
    assert_eq!(again, 2);
    assert_eq!(audit_entries(&acme).await[0], "owner@acme.example Replayed dead letters 2 deliveries");
}

#[tokio::test]
async fn dead_letters_are_filtered_and_paginated() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    let (other, _) = acme.subscribe(&["course.published"]).await;
    create_dead_letters(&acme, "s", 27).await;
    app.clock.advance(Duration::from_secs(3600));
    acme.course("rust", 1).await;
    app.settle_due(Some(404), DeliveryTransition::Dead).await;
    let browser = acme.signed_in().await;
    let found = async |query: &str| {
        let page = html(&browser.get(&format!("{DEAD}?{query}")).await.assert_status(200));
        let all = regex::Regex::new("Replay (1 dead letter|all [0-9]+)<").unwrap();
        let all = all.captures(&page).map_or_else(String::new, |found| found[1].to_owned());
        (selectable_ids(&page).len(), all)
    };
    let expected = |rows: usize, all: &str| (rows, all.to_owned());
    assert_eq!(found("").await, expected(25, "all 28"));
    assert_eq!(found(&format!("subscription={of}")).await, expected(25, "all 27"));
    assert_eq!(found(&format!("subscription={other}")).await, expected(1, "1 dead letter"));
    assert_eq!(found("event=course.published").await, expected(1, "1 dead letter"));
    assert_eq!(found("to=2026-03-02T11:00").await, expected(25, "all 27"));
    assert_eq!(found("from=2026-03-02T11:00").await, expected(1, "1 dead letter"));
    assert_eq!(found("event=order.paid").await, expected(0, ""));
    let next = first(&html(&browser.get(DEAD).await), "href=\"([^\"]+)\" rel=\"next\"");
    assert_eq!(selectable_ids(&html(&browser.get(&next).await)).len(), 3);
    let wrong =
        browser.get(&format!("{DEAD}?event=nothing&from=never&subscription=x")).await.assert_status(422);
    let wrong = html(&wrong);
    for field in ["Webhook must", "Event type must", "Created from must"] {
        assert!(wrong.contains(field), "{field}: {wrong}");
    }
    browser.get(&format!("{REPLAY}?event=nothing")).await.assert_status(422);
    browser.submit(DEAD, REPLAY, &[("event", "nothing")]).await.assert_status(422);
    assert_eq!(webhooks::running_in(&app.app, acme.id).await.unwrap(), []);
}

#[tokio::test]
async fn all_matching_dead_letters_are_replayed_by_a_job_with_progress() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    let (other, _) = acme.subscribe(CREATED).await;
    create_dead_letters(&acme, "s", 2).await;
    create_copies(&acme, of, 598).await;
    let browser = acme.signed_in().await;
    let page = html(&browser.get(&format!("{DEAD}?subscription={of}")).await);
    let ask = first(&page, "href=\"([^\"]+/replay\\?[^\"]+)\"");
    let (asked, tab) = (browser.get(&ask).await.assert_status(200), browser.get(&ask).await);
    assert!(html(&asked).contains("Replay 600 dead letters?"), "{}", html(&asked));
    let of_text = of.to_string();
    let fields = [("subscription", of_text.as_str())];
    // From two tabs at once, and submitted again: there is one job.
    let (one, two) = (csrf(&asked), csrf(&tab));
    let (begun, second) =
        tokio::join!(browser.post(REPLAY, &one, &fields), browser.post(REPLAY, &two, &fields));
    let path = begun.assert_status(303).header("location").to_owned();
    let twice = browser.post(REPLAY, &one, &fields).await.assert_status(303);
    let second = second.assert_status(303);
    assert_eq!((twice.header("location"), second.header("location")), (path.as_str(), path.as_str()));
    let page = html(&browser.get(&path).await);
    assert!(page.contains("This replay is already running") && page.contains("0 of 600"), "{page}");
    assert!(
        page.contains("<progress id=\"bar\" max=\"600\" value=\"0\">") && page.contains("hx-get"),
        "{page}"
    );
    assert!(html(&browser.get(DEAD).await).contains("A replay is running"));

    let job = webhooks::running_in(&app.app, acme.id).await.unwrap().remove(0);
    webhooks::advance(&app.app, acme.id, job.id).await.unwrap();
    let part = html(&partial(&browser, &app, &path).await.assert_status(200));
    assert!(part.contains("500 of 600") && part.contains("hx-get") && !part.contains("<html"), "{part}");
    assert!(!part.contains("<form") && !part.contains("oob"), "the form to cancel is not replaced: {part}");
    maintenance::run_once(&app.app).await.unwrap();
    let part = html(&partial(&browser, &app, &path).await);
    assert!(part.contains("600 of 600") && part.contains("done") && !part.contains("hx-get"), "{part}");
    assert!(part.contains("id=\"next\" hx-swap-oob=\"true\"") && !part.contains("<form"), "{part}");
    let late = browser.submit(&path, &format!("{path}/cancel"), &[]).await.assert_status(303);
    assert_eq!(late.header("location"), path);
    assert!(html(&browser.get(&path).await).contains("has already ended"));

    let count = |deliveries: Vec<webhooks::Delivery>| {
        deliveries.iter().filter(|one| one.state == DeliveryState::Pending).count()
    };
    assert_eq!((count(acme.deliveries(of).await), count(acme.deliveries(other).await)), (600, 0));
    assert_eq!(audit_entries(&acme).await[0], "owner@acme.example Started a replay 600 deliveries");
    let empty = browser.submit(DEAD, REPLAY, &fields).await.assert_status(303);
    assert_eq!(empty.header("location"), format!("{DEAD}?subscription={of}"));
}

#[tokio::test]
async fn a_canceled_replay_keeps_its_deliveries() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    create_dead_letters(&acme, "s", 1).await;
    create_copies(&acme, of, 699).await;
    let browser = acme.signed_in().await;
    let path = browser.submit(REPLAY, REPLAY, &[]).await.assert_status(303).header("location").to_owned();
    let job = webhooks::running_in(&app.app, acme.id).await.unwrap().remove(0);
    webhooks::advance(&app.app, acme.id, job.id).await.unwrap();
    let cancel = format!("{path}/cancel");
    let (one, other) = (csrf(&browser.get(&path).await), csrf(&browser.get(&path).await));
    browser.post(&cancel, &one, &[]).await.assert_status(303);
    let page = html(&browser.get(&path).await);
    assert!(page.contains("500 of 700") && page.contains("canceled") && !page.contains("hx-get"), "{page}");
    browser.post(&cancel, &other, &[]).await.assert_status(303);
    assert!(html(&browser.get(&path).await).contains("has already ended"));
    maintenance::run_once(&app.app).await.unwrap();
    let ended = webhooks::replay(&app.app, Some(acme.id), job.id).await.unwrap();
    assert_eq!((ended.state, ended.done), (ReplayState::Canceled, 500));
    assert!(html(&browser.get(DEAD).await).contains("Replay all 200"));
    let entries = audit_entries(&acme).await;
    assert_eq!(entries[0], "owner@acme.example Canceled a replay 500 of 700 replayed");
    assert_eq!(entries.iter().filter(|line| line.contains("Canceled")).count(), 1);
}

#[tokio::test]
async fn pages_state_when_only_the_newest_deliveries_are_counted() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    create_dead_letters(&acme, "s", 1).await;
    app.clock.advance(Duration::from_secs(3 * 3600));
    let browser = acme.signed_in().await;
    let pages = async || {
        let page = async |path: &str| html(&browser.get(path).await.assert_status(200));
        [page(LIST).await, page(&format!("{LIST}/{of}")).await, page("/dashboard").await]
    };
    let [list, webhook, overview] = pages().await;
    assert!(list.contains("Delivered, last 24 hours<") && list.contains("0 % of 1<"), "{list}");
    assert!(webhook.contains("Delivered, last 24 hours<") && webhook.contains("Mar 2, 12:00"), "{webhook}");
    assert!(overview.contains("Of deliveries attempted in the last 48 hours"), "{overview}");

    // Settled deliveries are counted exactly.
    create_copies(&acme, of, 10_000).await;
    let [list, webhook, overview] = pages().await;
    assert!(webhook.contains("0 % of 10,001<") && webhook.contains("Mar 2, 12:00"), "{webhook}");
    assert!(list.contains("<span class=\"badge bad\">at least 5,000</span>"), "{list}");
    assert!(overview.contains("At least 5,000 deliveries failed permanently"), "{overview}");
    assert!(html(&browser.get(DEAD).await).contains(">Replay all</a>"));
    assert!(html(&browser.get(REPLAY).await).contains("Replay 10,001 dead letters?"));

    // With many pending deliveries, only the newest are counted.
    create_held(&acme, of, 5_000).await;
    let [list, webhook, overview] = pages().await;
    let newest = "nothing sent (newest 5,000)";
    assert!(list.contains(newest) && list.contains("Delivered, last 24 hours at most"), "{list}");
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
    let (of, _) = acme.subscribe(CREATED).await;
    create_dead_letters(&acme, "s", 1).await;
    let writing = async {
        for _ in 0..100 {
            create_held(&acme, of, 20).await;
            tokio::task::yield_now().await;
        }
    };
    let mut writing = Box::pin(writing);
    loop {
        let (app, acme) = (app.app.clone(), acme.id);
        // On a separate thread, so that it runs concurrently with the writes.
        let counted = tokio::spawn(async move { webhooks::outcomes(&app, acme, Some(of), 24).await });
        let ended = tokio::select! {
            () = &mut writing => true,
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
    drop(writing);
    app.stop().await;
}

#[tokio::test]
async fn a_replay_explains_why_it_skipped_deliveries() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    create_dead_letters(&acme, "s", 3).await;
    let browser = acme.signed_in().await;
    let begin = async |fields: &[(&str, &str)]| {
        let begun = browser.submit(REPLAY, REPLAY, fields).await.assert_status(303);
        begun.header("location").to_owned()
    };
    let of_text = of.to_string();
    let (one, other) = (begin(&[]).await, begin(&[("subscription", &of_text)]).await);
    assert_ne!(one, other);
    assert_eq!(begin(&[]).await, one);
    let page = html(&browser.get(&one).await);
    assert!(page.contains("Wait until it ends before you start another"), "{page}");
    maintenance::run_once(&app.app).await.unwrap();
    let skipped = "Deliveries that were already replayed were skipped.";
    let (first, second) = (html(&browser.get(&one).await), html(&browser.get(&other).await));
    assert!(first.contains("3 of 3") && !first.contains(skipped), "{first}");
    assert!(second.contains("0 of 3") && second.contains(skipped), "{second}");
    let part = html(&partial(&browser, &app, &other).await);
    assert!(part.contains(skipped), "the partial update contains it, too: {part}");
}
