//! Dead letters on the dashboard: narrowed down, some chosen, all replayed by a job that is watched and cancelled.

use std::time::Duration;

use ::webhooks::upkeep;
use domain::page::PageRequest;
use domain::webhooks::{self, DeliveryState, ReplayState};
use entity::webhook_deliveries as rows;
use entity::webhook_deliveries::queue::Next;
use foundation::id::{Delivery, SubscriptionId};

use crate::dashboard_keys::told;
use crate::dashboard_webhooks::{LIST, partial};
use crate::support::browser::{csrf, first, html};
use crate::support::{TestApp, Workspace};

const DEAD: &str = "/dashboard/developer/webhooks/dead-letters";
const REPLAY: &str = "/dashboard/developer/webhooks/dead-letters/replay";
const CREATED: &[&str] = &["student.created"];

/// So many students, of whom nobody could be told.
async fn dead(workspace: &Workspace<'_>, prefix: &str, many: usize) {
    for n in 0..many {
        workspace.student_by_change(&format!("{prefix}{n}")).await;
    }
    workspace.app.settle_due(Some(404), Next::Dead).await;
}

/// More of them, made now, without their students.
async fn copies(workspace: &Workspace<'_>, of: SubscriptionId, many: usize) {
    more(workspace, of, many, |copy| copy).await;
}

/// As many that wait for the webhook to be enabled.
async fn held(workspace: &Workspace<'_>, of: SubscriptionId, many: usize) {
    more(workspace, of, many, |copy| rows::Model {
        state: rows::State::Held,
        attempts: 0,
        settled_at: None,
        ..copy
    })
    .await;
}

async fn more(
    workspace: &Workspace<'_>,
    of: SubscriptionId,
    many: usize,
    shape: impl Fn(rows::Model) -> rows::Model,
) {
    let app = workspace.app;
    let write = app.write().await;
    let all = rows::in_workspace(workspace.id.uuid());
    let newest =
        webhooks::deliveries(&app.app, workspace.id, of, &Default::default(), PageRequest::newest(None, 1))
            .await
            .unwrap();
    let first = newest.items[0].id.uuid();
    let first = all.by_id(write.conn(), first).await.unwrap().unwrap();
    let now = app.clock.now();
    let copy = |_| {
        shape(rows::Model {
            id: app.app.ids.next::<Delivery>(now).uuid(),
            created_at: now.as_millisecond(),
            ..first.clone()
        })
    };
    let mut made: Vec<rows::Model> = (0..many).map(copy).collect();
    while !made.is_empty() {
        let rest = made.split_off(made.len().min(700));
        all.insert_many(write.conn(), made).await.unwrap();
        made = rest;
    }
    write.commit().await.unwrap();
    app.clock.advance(Duration::from_secs(1));
}

/// The ids that a page offers to choose.
fn offered(page: &str) -> Vec<String> {
    let boxes = regex::Regex::new("type=\"checkbox\" name=\"delivery\" value=\"(dlv_[a-z0-9]+)\"").unwrap();
    boxes.captures_iter(page).map(|found| found[1].to_owned()).collect()
}

#[tokio::test]
async fn some_dead_letters_are_chosen_and_sent_again_once() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let browser = acme.signed_in().await;
    assert!(html(&browser.get(DEAD).await).contains("No dead letters"));
    let (of, _) = acme.subscribe(CREATED).await;
    dead(&acme, "s", 3).await;
    assert!(html(&browser.get(LIST).await).contains("<span class=\"badge bad\">3</span>"));
    let page = html(&browser.get(DEAD).await);
    let ids = offered(&page);
    assert!(ids.len() == 3 && page.contains("Replay all 3"), "{page}");

    let none = browser.get(&format!("{REPLAY}?chosen=1&event=student.created")).await.assert_status(303);
    assert_eq!(none.header("location"), format!("{DEAD}?event=student.created"), "the filter stays");
    let narrowed = html(&browser.get(none.header("location")).await);
    assert!(narrowed.contains("name=\"event\" value=\"student.created\""), "{narrowed}");
    assert!(narrowed.contains("Tick the dead letters"));
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
    assert!(page.contains("2 deliveries are sent again."), "{page}");
    assert_eq!(offered(&page), [ids[2].clone()]);
    // Another tab, in which they are still shown.
    let late = browser.post(REPLAY, &other, &fields).await.assert_status(303);
    assert_eq!(late.header("location"), narrowed);
    assert!(html(&browser.get(&narrowed).await).contains("There is nothing to replay"));
    browser.get(&chosen).await.assert_status(303);
    let again = acme.deliveries(of).await.into_iter().filter(|one| one.replayed_from.is_some()).count();
    assert_eq!(again, 2);
    assert_eq!(told(&acme).await[0], "owner@acme.example Replayed dead letters 2 deliveries");
}

#[tokio::test]
async fn dead_letters_are_narrowed_down_and_paged() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    let (other, _) = acme.subscribe(&["course.published"]).await;
    dead(&acme, "s", 27).await;
    app.clock.advance(Duration::from_secs(3600));
    acme.course("rust", 1).await;
    app.settle_due(Some(404), Next::Dead).await;
    let browser = acme.signed_in().await;
    let found = async |query: &str| {
        let page = html(&browser.get(&format!("{DEAD}?{query}")).await.assert_status(200));
        let all = regex::Regex::new("Replay (this one|all [0-9]+)<").unwrap();
        let all = all.captures(&page).map_or_else(String::new, |found| found[1].to_owned());
        (offered(&page).len(), all)
    };
    let expected = |rows: usize, all: &str| (rows, all.to_owned());
    assert_eq!(found("").await, expected(25, "all 28"));
    assert_eq!(found(&format!("subscription={of}")).await, expected(25, "all 27"));
    assert_eq!(found(&format!("subscription={other}")).await, expected(1, "this one"));
    assert_eq!(found("event=course.published").await, expected(1, "this one"));
    assert_eq!(found("to=2026-03-02T11:00").await, expected(25, "all 27"));
    assert_eq!(found("from=2026-03-02T11:00").await, expected(1, "this one"));
    assert_eq!(found("event=order.paid").await, expected(0, ""));
    let next = first(&html(&browser.get(DEAD).await), "href=\"([^\"]+)\" rel=\"next\"");
    assert_eq!(offered(&html(&browser.get(&next).await)).len(), 3);
    let wrong =
        browser.get(&format!("{DEAD}?event=nothing&from=never&subscription=x")).await.assert_status(422);
    let wrong = html(&wrong);
    for field in ["Webhook must", "Type of event must", "Made from must"] {
        assert!(wrong.contains(field), "{field}: {wrong}");
    }
    browser.get(&format!("{REPLAY}?event=nothing")).await.assert_status(422);
    browser.submit(DEAD, REPLAY, &[("event", "nothing")]).await.assert_status(422);
    assert_eq!(webhooks::running_in(&app.app, acme.id).await.unwrap(), []);
}

#[tokio::test]
async fn all_of_a_filter_are_replayed_by_a_job_that_is_watched() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    let (other, _) = acme.subscribe(CREATED).await;
    dead(&acme, "s", 2).await;
    copies(&acme, of, 598).await;
    let browser = acme.signed_in().await;
    let page = html(&browser.get(&format!("{DEAD}?subscription={of}")).await);
    let ask = first(&page, "href=\"([^\"]+/replay\\?[^\"]+)\"");
    let (asked, tab) = (browser.get(&ask).await.assert_status(200), browser.get(&ask).await);
    assert!(html(&asked).contains("Replay 600 dead letters?"), "{}", html(&asked));
    let of_text = of.to_string();
    let fields = [("subscription", of_text.as_str())];
    // From two tabs at once, and sent again: there is one job.
    let (one, two) = (csrf(&asked), csrf(&tab));
    let (begun, second) =
        tokio::join!(browser.post(REPLAY, &one, &fields), browser.post(REPLAY, &two, &fields));
    let path = begun.assert_status(303).header("location").to_owned();
    let twice = browser.post(REPLAY, &one, &fields).await.assert_status(303);
    let second = second.assert_status(303);
    assert_eq!((twice.header("location"), second.header("location")), (path.as_str(), path.as_str()));
    let page = html(&browser.get(&path).await);
    assert!(page.contains("This replay was begun before") && page.contains("0 of 600"), "{page}");
    assert!(
        page.contains("<progress id=\"bar\" max=\"600\" value=\"0\">") && page.contains("hx-get"),
        "{page}"
    );
    assert!(html(&browser.get(DEAD).await).contains("A replay is running"));

    let job = webhooks::running_in(&app.app, acme.id).await.unwrap().remove(0);
    webhooks::advance(&app.app, acme.id, job.id).await.unwrap();
    let part = html(&partial(&browser, &app, &path).await.assert_status(200));
    assert!(part.contains("500 of 600") && part.contains("hx-get") && !part.contains("<html"), "{part}");
    assert!(!part.contains("<form") && !part.contains("oob"), "the form to cancel is let be: {part}");
    upkeep::go_on(&app.app).await.unwrap();
    let part = html(&partial(&browser, &app, &path).await);
    assert!(part.contains("600 of 600") && part.contains("done") && !part.contains("hx-get"), "{part}");
    assert!(part.contains("id=\"next\" hx-swap-oob=\"true\"") && !part.contains("<form"), "{part}");
    let late = browser.submit(&path, &format!("{path}/cancel"), &[]).await.assert_status(303);
    assert_eq!(late.header("location"), path);
    assert!(html(&browser.get(&path).await).contains("It had ended before"));

    let count = |deliveries: Vec<webhooks::Delivery>| {
        deliveries.iter().filter(|one| one.state == DeliveryState::Pending).count()
    };
    assert_eq!((count(acme.deliveries(of).await), count(acme.deliveries(other).await)), (600, 0));
    assert_eq!(told(&acme).await[0], "owner@acme.example Started a replay 600 deliveries");
    let empty = browser.submit(DEAD, REPLAY, &fields).await.assert_status(303);
    assert_eq!(empty.header("location"), format!("{DEAD}?subscription={of}"));
}

#[tokio::test]
async fn a_replay_is_cancelled_and_what_it_did_stays() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    dead(&acme, "s", 1).await;
    copies(&acme, of, 699).await;
    let browser = acme.signed_in().await;
    let path = browser.submit(REPLAY, REPLAY, &[]).await.assert_status(303).header("location").to_owned();
    let job = webhooks::running_in(&app.app, acme.id).await.unwrap().remove(0);
    webhooks::advance(&app.app, acme.id, job.id).await.unwrap();
    let cancel = format!("{path}/cancel");
    let (one, other) = (csrf(&browser.get(&path).await), csrf(&browser.get(&path).await));
    browser.post(&cancel, &one, &[]).await.assert_status(303);
    let page = html(&browser.get(&path).await);
    assert!(page.contains("500 of 700") && page.contains("cancelled") && !page.contains("hx-get"), "{page}");
    browser.post(&cancel, &other, &[]).await.assert_status(303);
    assert!(html(&browser.get(&path).await).contains("nothing was changed"));
    upkeep::go_on(&app.app).await.unwrap();
    let ended = webhooks::replay(&app.app, Some(acme.id), job.id).await.unwrap();
    assert_eq!((ended.state, ended.done), (ReplayState::Cancelled, 500));
    assert!(html(&browser.get(DEAD).await).contains("Replay all 200"));
    let told = told(&acme).await;
    assert_eq!(told[0], "owner@acme.example Cancelled a replay 500 of 700 replayed");
    assert_eq!(told.iter().filter(|line| line.contains("Cancelled")).count(), 1);
}

#[tokio::test]
async fn where_more_were_sent_than_are_counted_the_pages_say_so() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    dead(&acme, "s", 1).await;
    app.clock.advance(Duration::from_secs(3 * 3600));
    let browser = acme.signed_in().await;
    let pages = async || {
        let page = async |path: &str| html(&browser.get(path).await.assert_status(200));
        [page(LIST).await, page(&format!("{LIST}/{of}")).await, page("/dashboard").await]
    };
    let [list, webhook, overview] = pages().await;
    assert!(list.contains("Delivered, last 24 hours<") && list.contains("0 % of 1<"), "{list}");
    assert!(webhook.contains("Delivered, last 24 hours<") && webhook.contains("Mar 2, 12:00"), "{webhook}");
    assert!(overview.contains("Of those tried in the last 48 hours"), "{overview}");

    // What is settled is counted, however many there are.
    copies(&acme, of, 10_000).await;
    let [list, webhook, overview] = pages().await;
    assert!(webhook.contains("0 % of 10,001<") && webhook.contains("Mar 2, 12:00"), "{webhook}");
    assert!(list.contains("<span class=\"badge bad\">at least 5,000</span>"), "{list}");
    assert!(overview.contains("At least 5,000 deliveries were given up"), "{overview}");
    assert!(html(&browser.get(DEAD).await).contains(">Replay all</a>"));
    assert!(html(&browser.get(REPLAY).await).contains("Replay 10,001 dead letters?"));

    // Where many wait, the newest are.
    held(&acme, of, 5_000).await;
    let [list, webhook, overview] = pages().await;
    let newest = "nothing sent, of the newest 5,000";
    assert!(list.contains(newest) && list.contains("Delivered, last 24 hours at most"), "{list}");
    assert!(webhook.contains(newest) && webhook.contains("<dt>Delivered</dt>"), "{webhook}");
    assert!(overview.contains("Of those tried of the newest 5,000 of a webhook"), "{overview}");
    for page in [webhook, overview] {
        assert!(page.contains("Webhook deliveries per hour, of the newest 5,000 of a webhook"), "{page}");
        assert!(page.contains("<th scope=\"row\">Mar 2, 13:00</th>"), "{page}");
        assert!(!page.contains("Mar 2, 12:00"), "the chart begins with what was counted: {page}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_made_while_it_is_counted_is_not_told_as_delivered() {
    let mut app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    dead(&acme, "s", 1).await;
    let writing = async {
        for _ in 0..100 {
            held(&acme, of, 20).await;
            tokio::task::yield_now().await;
        }
    };
    let mut writing = Box::pin(writing);
    loop {
        let (app, acme) = (app.app.clone(), acme.id);
        // On a thread of its own, so that it runs beside the writes.
        let counted = tokio::spawn(async move { webhooks::outcomes(&app, acme, Some(of), 24).await });
        let ended = tokio::select! {
            () = &mut writing => true,
            counted = counted => {
                let hours = counted.unwrap().unwrap().hours;
                let told: u64 = hours.iter().map(|hour| hour.delivered).sum();
                assert_eq!(told, 0, "nothing was delivered");
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
async fn a_replay_that_another_overtook_says_why_it_sent_less() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    dead(&acme, "s", 3).await;
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
    assert!(page.contains("still runs. Begin another once it has ended"), "{page}");
    upkeep::go_on(&app.app).await.unwrap();
    let passed_over = "Deliveries that others sent again meanwhile were passed over.";
    let (first, second) = (html(&browser.get(&one).await), html(&browser.get(&other).await));
    assert!(first.contains("3 of 3") && !first.contains(passed_over), "{first}");
    assert!(second.contains("0 of 3") && second.contains(passed_over), "{second}");
    let part = html(&partial(&browser, &app, &other).await);
    assert!(part.contains(passed_over), "and what looks for news finds it: {part}");
}
