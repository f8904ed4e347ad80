//! The domain operations that the dashboard uses for its overview, courses, students and orders.

use std::time::Duration;

use domain::attention::{self, Attention};
use domain::courses::{self, CourseSearch, CourseStatus};
use domain::orders::{self, OrderFilter};
use domain::page::{PageRequest, Sort, SortKey};
use domain::students::{self, StudentFilter};
use domain::webhooks::{self, HourlyOutcomes};
use domain::workspaces::Quota;
use domain::{Error, analytics};
use jiff::tz::TimeZone;
use serde_json::json;

use crate::support::{Endpoint, TestApp, course_data};

const DAY: Duration = Duration::from_secs(86_400);

/// The first page of a list, newest first.
const NEWEST_FIRST: PageRequest = PageRequest {
    sort: Sort { key: SortKey::CreatedAt, descending: true },
    after: None,
    to: None,
    limit: 25,
};

#[tokio::test]
async fn publishing_and_archiving_a_course_creates_events() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    workspace.change("course.upsert", course_data("ink", "draft", 2)).await;
    workspace.course("rust", 1).await;
    let all = courses::search(&app.app, workspace.id, &CourseSearch::default(), None, 25).await.unwrap();
    assert_eq!(all.items.len(), 2);
    let search = CourseSearch { text: Some(" INK ".into()), status: Some(CourseStatus::Draft) };
    let results = courses::search(&app.app, workspace.id, &search, None, 25).await.unwrap().items;
    assert_eq!(results.iter().map(|course| course.slug.as_str()).collect::<Vec<_>>(), ["ink"]);
    let ink = results[0].id;
    let detail = courses::get_any_status(&app.app, workspace.id, ink).await.unwrap();
    assert_eq!(detail.modules[0].lessons.len(), 2);
    assert!(matches!(courses::get(&app.app, workspace.id, ink).await, Err(Error::NotFound(_))), "a draft");

    let mut changes = Vec::new();
    for status in [CourseStatus::Published, CourseStatus::Published, CourseStatus::Archived] {
        let mut write = app.begin_write().await;
        let at = app.clock.now();
        let changed = courses::set_status(&app.app, &mut write, workspace.id, at, ink, status).await.unwrap();
        write.commit().await.unwrap();
        assert_eq!(changed.record.status, status);
        changes.push(changed.changed);
        assert_eq!(courses::get(&app.app, workspace.id, ink).await.unwrap().course, changed.record);
    }
    assert_eq!(changes, [true, false, true], "whether the status changed");
    assert_eq!(app.events_of_type("course.published").await.len(), 2, "one event for each course");
    assert_eq!(app.events_of_type("course.archived").await[0]["data"]["slug"], "ink");
    let other = app.workspace("other").await.id;
    let mut write = app.begin_write().await;
    let foreign = courses::set_status(&app.app, &mut write, other, app.clock.now(), ink, CourseStatus::Draft);
    assert!(matches!(foreign.await, Err(Error::NotFound(_))));
    assert!(matches!(courses::get_any_status(&app.app, other, ink).await, Err(Error::NotFound(_))));
}

#[tokio::test]
async fn students_and_orders_are_found_by_text_or_id() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let (ada, _) = (workspace.student("ada").await, workspace.student("bob").await);
    workspace.course("rust", 1).await;
    let item = json!({"course": "rust", "unit_amount": 900});
    let pay = json!({"key": "o-1", "number": "A-1", "student": "ada", "currency": "EUR", "items": [item]});
    workspace.change("order.pay", pay).await;
    for text in ["ADA@ex", ada.as_str()] {
        let filter = StudentFilter { search: Some(text.to_owned()), ..StudentFilter::default() };
        let results = students::list(&app.app, workspace.id, &filter, NEWEST_FIRST).await.unwrap().items;
        assert_eq!(
            results.iter().map(|student| student.summary.id.to_string()).collect::<Vec<_>>(),
            [ada.as_str()]
        );
        let student = students::get(&app.app, workspace.id, results[0].summary.id).await.unwrap();
        assert_eq!((student.enrollments.len(), &student), (1, &results[0]));
    }
    for text in ["a-1", "ada@"] {
        let filter = OrderFilter { search: Some(text.to_owned()), ..OrderFilter::default() };
        let results = orders::list(&app.app, workspace.id, &filter, NEWEST_FIRST).await.unwrap().items;
        let order = orders::get(&app.app, workspace.id, results[0].id).await.unwrap();
        assert_eq!((results.len(), order.receipt.number.as_str(), &order), (1, "A-1", &results[0]));
    }
    let other = app.workspace("other").await.id;
    let absent = students::get(&app.app, other, ada.parse().unwrap()).await;
    assert!(matches!(absent, Err(Error::NotFound(_))));
}

#[tokio::test]
async fn the_last_days_show_revenue_students_and_completions() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    workspace.course("rust", 1).await;
    workspace.student("ada").await;
    workspace.change("enrollment.grant", json!({"student": "ada", "course": "rust"})).await;
    app.clock.advance(DAY);
    let completion = json!({"student": "ada", "course": "rust", "lesson": "rust-1"});
    workspace.change("progress.record", completion).await;
    let item = json!({"course": "rust", "unit_amount": 900});
    let pay = json!({"key": "o-1", "number": "A-1", "student": "ada", "currency": "EUR", "items": [item]});
    workspace.change("order.pay", pay).await;

    let kolkata = TimeZone::get("Asia/Kolkata").unwrap();
    let days = analytics::daily_figures(&app.app, workspace.id, 3, &kolkata).await.unwrap();
    assert_eq!(
        days.iter().map(|day| day.starts_at.to_string()).collect::<Vec<_>>(),
        ["2026-02-28T18:30:00Z", "2026-03-01T18:30:00Z", "2026-03-02T18:30:00Z"]
    );
    let figures: Vec<_> = days
        .iter()
        .map(|day| (day.students_new, day.completions, day.revenue.first().map(|item| item.net_amount)))
        .collect();
    assert_eq!(figures, [(0, 0, None), (1, 0, None), (0, 1, Some(900))]);
    for invalid in [
        analytics::daily_figures(&app.app, workspace.id, 0, &TimeZone::UTC),
        analytics::daily_figures(&app.app, workspace.id, 366, &TimeZone::UTC),
    ] {
        assert!(matches!(invalid.await, Err(Error::Invalid(_))));
    }
}

#[tokio::test]
async fn problems_are_listed_as_needing_attention() {
    let app = TestApp::start_with_local_webhooks().await;
    let workspace = app.workspace("acme").await;
    assert_eq!(attention::list(&app.app, workspace.id).await.unwrap(), []);

    let expires_at = app.clock.now() + jiff::SignedDuration::from_hours(24 * 20);
    let quota = Quota { per_minute: None, per_day: Some(5) };
    let key = workspace.key_with_quota("read:courses write:students", quota, Some(expires_at)).await;
    let endpoint = Endpoint::start().await;
    endpoint.always_respond_with(500);
    let subscription = workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
    for name in ["a", "b", "c", "d"] {
        let body = json!({"email": format!("{name}@example.com")});
        key.post("/api/v1/students", body).await.assert_status(201);
    }
    assert_eq!(app.deliver_due().await, 4);
    let counted = webhooks::outcomes(&app.app, workspace.id, None, 2).await.unwrap();
    let hours = &counted.hours;
    assert_eq!((hours.len(), hours[1].failing, HourlyOutcomes::success_percent(hours)), (2, 4, Some(0)));
    let of_subscription = webhooks::outcomes(&app.app, workspace.id, Some(subscription.id), 2).await.unwrap();
    assert_eq!(of_subscription, counted);
    let other = app.workspace("other").await.id;
    let foreign = webhooks::outcomes(&app.app, other, Some(subscription.id), 2).await;
    assert!(matches!(foreign, Err(Error::NotFound(_))));

    let problems = async || {
        let problems = attention::list(&app.app, workspace.id).await.unwrap();
        problems.into_iter().map(|item| match item {
            Attention::SubscriptionDisabled(_) => "disabled".to_owned(),
            Attention::SubscriptionFailing(..) => "failing".to_owned(),
            Attention::DeadLetters(count) => format!("{count:?} dead"),
            Attention::QuotaNearlyUsed(usage) => {
                format!("{} of {}", usage.calls_today, usage.quota.per_day.requests)
            }
            Attention::KeyExpires(_, at) => format!("expires {at}"),
            Attention::Deprecated(used) => used.part.describe(),
        })
    };
    // The server saves the counts of the rate limiter every second.
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert_eq!(problems().await.collect::<Vec<_>>(), ["failing", "4 of 5"]);
    for _ in 0..6 {
        app.clock.advance(DAY);
        app.deliver_due().await;
    }
    let expiry = format!("expires {expires_at}");
    assert_eq!(problems().await.collect::<Vec<_>>(), ["failing", "Exactly(4) dead", expiry.as_str()]);
}
