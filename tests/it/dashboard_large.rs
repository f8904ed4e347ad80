//! Lists with more rows than a search reads: the page shows which rows it searched, and offers to search all.

use std::ops::RangeInclusive;
use std::time::Duration;

use domain::page::MAX_SCANNED_ROWS;
use entity::webhook_deliveries::StoredDeliveryState;
use entity::webhook_deliveries::queue::DeliveryTransition;
use entity::{StringMap, api_requests, enrollments, orders, students, webhook_deliveries};
use foundation::id::{CourseId, Delivery, Enrollment, LoggedRequest, Order, Student, SubscriptionId};
use jiff::SignedDuration;
use serde_json::json;

use crate::support::browser::{first_match, html};
use crate::support::{Browser, TestApp, TestWorkspace};

/// Creates 50 more students than a search reads, one second apart.
async fn create_many_students(workspace: &TestWorkspace<'_>) -> Vec<students::Model> {
    create_students(workspace, 1..=MAX_SCANNED_ROWS + 50, 1).await
}

/// Creates students with these numbers, `seconds` apart, as copies of Ada. Number 1 is Grace Hopper.
async fn create_students(
    workspace: &TestWorkspace<'_>,
    numbers: RangeInclusive<u64>,
    seconds: i64,
) -> Vec<students::Model> {
    let app = workspace.app;
    let write = app.begin_write().await;
    let rows = students::in_workspace(workspace.id.uuid());
    let ada = rows.by_email_folded(write.conn(), "ada@example.com").await.unwrap().unwrap();
    let mut all = Vec::new();
    for n in numbers {
        let at = app.clock.now() + SignedDuration::from_secs(n.cast_signed() * seconds);
        let email = format!("s{n:05}@example.com");
        all.push(students::Model {
            id: app.app.ids.next::<Student>(at).uuid(),
            key: None,
            email: email.clone(),
            email_folded: email,
            name: Some(if n == 1 { "Grace Hopper".to_owned() } else { format!("Student {n}") }),
            created_at: at.as_millisecond(),
            ..ada.clone()
        });
    }
    rows.insert_many(write.conn(), all.clone()).await.unwrap();
    write.commit().await.unwrap();
    all
}

/// Returns the HTML of a page.
async fn load_page(browser: &Browser<'_>, path: &str) -> String {
    html(&browser.get(path).await.assert_status(200))
}

/// Returns the names of the rows, in order.
fn names(page: &str) -> Vec<String> {
    let names = regex::Regex::new("class=\"name\" href=\"[^\"]+\">([^<]+)<").unwrap();
    names.captures_iter(page).map(|name| name[1].to_owned()).collect()
}

/// Returns the URL of the link "Search all".
fn search_all_url(page: &str) -> String {
    first_match(page, "id=\"all\" href=\"([^\"]+)\"").replace("&#38;", "&")
}

#[tokio::test]
async fn a_limited_search_shows_which_rows_it_searched_and_offers_to_search_all() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let ada = acme.student("ada").await;
    create_many_students(&acme).await;
    let browser = acme.owner_browser().await;
    let search = async |path: &str| {
        let page = load_page(&browser, path).await;
        (page.matches("class=\"name\"").count(), page)
    };
    let (count, page) = search("/dashboard/students?q=hopper").await;
    assert!(count == 0 && page.contains("No matching students so far"), "{page}");
    assert!(page.contains("Searched 5,000 entries, back to") && page.contains("10:01:21<"), "{page}");
    let all = search_all_url(&page);
    assert_eq!(all, "/dashboard/students?q=hopper&far=1");
    let (count, page) = search(&all).await;
    assert!(count == 1 && page.contains("Grace Hopper") && !page.contains("Search all"), "{page}");
    let (count, page) = search("/dashboard/students?q=nobody&far=1").await;
    assert!(count == 0 && page.contains("No matching students<"), "{page}");

    // Exact matches are found at once, and so is a full page.
    assert_eq!(search("/dashboard/students?q=Ada%40example.com").await.0, 1);
    let (count, page) = search(&format!("/dashboard/students?q={ada}")).await;
    assert!(count == 1 && !page.contains("Searched 5,000"), "{page}");
    let (count, page) = search("/dashboard/students?q=student").await;
    assert!(count == 25 && page.contains("Next page") && !page.contains("Searched 5,000"), "{page}");
}

#[tokio::test]
async fn the_search_limit_is_exact_to_the_row() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    acme.student("ada").await;
    let browser = acme.owner_browser().await;
    let list = "/dashboard/students?q=";
    // All of them have the same creation time, which is after Ada's.
    app.clock.advance(Duration::from_secs(1));
    create_students(&acme, 1..=MAX_SCANNED_ROWS - 2, 0).await;
    for (number, row_count) in
        [(MAX_SCANNED_ROWS - 1, MAX_SCANNED_ROWS), (MAX_SCANNED_ROWS, MAX_SCANNED_ROWS + 1)]
    {
        let page = load_page(&browser, &format!("{list}nobody")).await;
        assert!(
            page.contains("No matching students<") && !page.contains("Searched 5,000"),
            "before {row_count} rows: {page}"
        );
        create_students(&acme, number..=number, 0).await;
    }
    let page = load_page(&browser, &format!("{list}nobody")).await;
    assert!(page.contains("No matching students so far"), "Ada is beyond the limit: {page}");
    assert!(page.contains("Searched 5,000 entries, back to") && page.contains("10:00:31<"), "{page}");
    assert_eq!(names(&load_page(&browser, &format!("{list}hopper")).await), ["Grace Hopper"]);

    // With one more student, Grace is beyond the limit, too.
    create_students(&acme, MAX_SCANNED_ROWS + 1..=MAX_SCANNED_ROWS + 1, 0).await;
    let page = load_page(&browser, &format!("{list}hopper")).await;
    assert!(names(&page).is_empty() && page.contains("10:00:31<"), "{page}");
    assert_eq!(names(&load_page(&browser, &search_all_url(&page)).await), ["Grace Hopper"]);
}

#[tokio::test]
async fn a_log_filter_with_few_matches_is_limited() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key("read:courses").await;
    key.get("/api/v1/courses?limit=7").await.assert_status(200);
    domain::requests::flush(&app.app).await.unwrap();
    let browser = acme.owner_browser().await;
    let logs = "/dashboard/developer/logs";
    assert!(html(&browser.get(&format!("{logs}?operation=listCourses")).await).contains("limit=7<"));

    let write = app.begin_write().await;
    let ours = api_requests::in_workspace(acme.id.uuid());
    let id = first_match(&html(&browser.get(logs).await), "logs/(log_[a-z0-9]+)");
    let id: foundation::id::LoggedRequestId = id.parse().unwrap();
    let request = ours.by_id(write.conn(), id.uuid()).await.unwrap().unwrap();
    let copies = (0..MAX_SCANNED_ROWS).map(|_| api_requests::Model {
        id: app.app.ids.next::<LoggedRequest>(app.clock.now()).uuid(),
        operation: Some("listOrders".to_owned()),
        received_at: request.received_at + 1,
        headers: StringMap::default(),
        ..request.clone()
    });
    api_requests::insert_many(write.conn(), copies.collect()).await.unwrap();
    write.commit().await.unwrap();
    for query in ["operation=listCourses".to_owned(), format!("operation=listCourses&key={}", key.id)] {
        let page = html(&browser.get(&format!("{logs}?{query}")).await.assert_status(200));
        assert!(page.contains("No matching requests so far") && !page.contains("limit=7<"), "{page}");
        let page = html(&browser.get(&format!("{logs}?{query}&far=1")).await.assert_status(200));
        assert!(page.contains("limit=7<"), "{page}");
    }
    // For a key of another workspace, the page must not reveal how many rows were searched.
    let other = app.workspace("other").await.owner_browser().await;
    let page = html(&other.get(&format!("{logs}?operation=listCourses&key={}", key.id)).await);
    assert!(page.contains("No matching requests<"), "{page}");
}

/// Enrolls the oldest of these students, and this number of the newest ones.
async fn enroll(workspace: &TestWorkspace<'_>, all: &[students::Model], course: &str, newest: usize) {
    let app = workspace.app;
    let write = app.begin_write().await;
    let course = course.parse::<CourseId>().unwrap().uuid();
    let mut rows = Vec::new();
    for student in all.iter().rev().take(newest).chain(&all[..1]) {
        rows.push(enrollments::Model {
            id: app.app.ids.next::<Enrollment>(app.clock.now()).uuid(),
            workspace_id: workspace.id.uuid(),
            student_id: student.id,
            course_id: course,
            status: enrollments::StoredEnrollmentStatus::Active,
            source: enrollments::StoredEnrollmentSource::Api,
            order_id: None,
            completed_lessons: 0,
            total_lessons: 1,
            last_activity_at: None,
            enrolled_at: student.created_at,
            expires_at: None,
            completed_at: None,
            revoked_at: None,
            revoke_reason: None,
            created_at: student.created_at,
            updated_at: student.created_at,
            granted_until: None,
        });
    }
    enrollments::in_workspace(workspace.id.uuid()).insert_many(write.conn(), rows).await.unwrap();
    write.commit().await.unwrap();
}

#[tokio::test]
async fn a_search_within_a_course_states_which_students_it_searched() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    acme.student("ada").await;
    let (small, large) = (acme.course("small", 1).await, acme.course("large", 1).await);
    let students = create_many_students(&acme).await;
    enroll(&acme, &students, &small, 3).await;
    enroll(&acme, &students, &large, 2_000).await;
    let browser = acme.owner_browser().await;
    let list = "/dashboard/students?q=hopper&course=";
    let page = load_page(&browser, &format!("{list}{small}")).await;
    assert!(names(&page) == ["Grace Hopper"] && !page.contains("Searched 5,000"), "{page}");
    let page = load_page(&browser, &format!("{list}{large}")).await;
    assert!(names(&page).is_empty() && page.contains("No matching students so far"), "{page}");
    assert!(page.contains("Searched 5,000 students of all courses"), "{page}");
    assert_eq!(names(&load_page(&browser, &search_all_url(&page)).await), ["Grace Hopper"]);
}

#[tokio::test]
async fn an_exactly_matching_student_is_listed_once() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    acme.student("ada").await;
    create_many_students(&acme).await;
    let write = app.begin_write().await;
    let rows = students::in_workspace(acme.id.uuid());
    let ada = rows.by_email_folded(write.conn(), "ada@example.com").await.unwrap().unwrap();
    let at = app.clock.now() + SignedDuration::from_hours(9);
    let id = app.app.ids.next::<Student>(at).uuid();
    let email = "canada@example.com".to_owned();
    let (email_folded, key) = (email.clone(), None);
    rows.insert(
        write.conn(),
        students::Model { id, email, email_folded, key, created_at: at.as_millisecond(), ..ada },
    )
    .await
    .unwrap();
    write.commit().await.unwrap();
    let browser = acme.owner_browser().await;
    let list = "/dashboard/students?q=ada%40example.com";
    let page = load_page(&browser, list).await;
    assert_eq!(
        names(&page),
        ["ada@example.com", "canada@example.com"],
        "the exact match comes first: {page}"
    );
    let page = load_page(&browser, &search_all_url(&page)).await;
    assert_eq!(names(&page), ["canada@example.com", "ada@example.com"], "all in order: {page}");

    // The same applies to the pages of a list together, including the search of all rows.
    acme.student("0").await;
    let all = names_on_all_pages(&browser, "/dashboard/students?q=0%40example.com").await;
    assert_eq!(all.iter().filter(|name| *name == "0@example.com").count(), 1, "{all:?}");
    assert_eq!((all.len(), all[0].as_str()), (506, "0@example.com"));
}

/// Creates two orders of Ada, and then 50 more orders than a search reads, one second apart. `N-1` belongs to Grace
/// Hopper, and the last one to Ada.
async fn create_orders(workspace: &TestWorkspace<'_>) {
    let app = workspace.app;
    workspace.course("ink", 1).await;
    workspace.student("ada").await;
    for (at, number) in [("2026-03-01T10:00:00Z", "2026-1"), ("2026-03-01T11:00:00Z", "2026-10")] {
        let items = [json!({"course": "ink", "unit_amount": 100})];
        let order =
            json!({"key": number, "number": number, "student": "ada", "currency": "EUR", "items": items});
        workspace.change_at(at, "order.pay", order).await;
    }
    let write = app.begin_write().await;
    let workspace_orders = orders::in_workspace(workspace.id.uuid());
    let ada_order = workspace_orders.by_number(write.conn(), "2026-1").await.unwrap().unwrap();
    let order = |n: u64| {
        let at = app.clock.now() + SignedDuration::from_secs(n.cast_signed());
        let is_last = n == MAX_SCANNED_ROWS + 50;
        orders::Model {
            id: app.app.ids.next::<Order>(at).uuid(),
            key: None,
            number: format!("N-{n}"),
            student_id: ada_order.student_id.filter(|_| is_last),
            customer_email: if is_last {
                ada_order.customer_email.clone()
            } else {
                "other@example.org".to_owned()
            },
            customer_name: (n == 1).then(|| "Grace Hopper".to_owned()),
            paid_at: at.as_millisecond(),
            created_at: at.as_millisecond(),
            ..ada_order.clone()
        }
    };
    let rows = (1..=MAX_SCANNED_ROWS + 50).map(order).collect();
    workspace_orders.insert_many(write.conn(), rows).await.unwrap();
    write.commit().await.unwrap();
}

#[tokio::test]
async fn a_limited_search_of_orders_finds_exact_matches() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    create_orders(&acme).await;
    let browser = acme.owner_browser().await;
    let search = async |query: &str| load_page(&browser, &format!("/dashboard/orders?{query}")).await;

    let page = search("q=hopper").await;
    assert!(names(&page).is_empty() && page.contains("No matching orders so far"), "{page}");
    assert!(page.contains("Searched 5,000 entries, back to") && page.contains("10:01:21<"), "{page}");
    assert_eq!(names(&load_page(&browser, &search_all_url(&page)).await), ["N-1"]);
    let page = search("status=refunded").await;
    assert!(page.contains("No matching orders so far"), "{page}");
    assert!(search("status=refunded&far=1").await.contains("No matching orders<"));
    // If an index finds the rows, the search has no limit.
    assert!(!search("status=&q=").await.contains("Searched 5,000"));
    assert_eq!(names(&search("status=paid&q=N-505").await), ["N-5050", "N-505"], "in order");

    // A complete order number or email address finds orders of any age.
    let page = search("q=2026-1").await;
    assert!(names(&page) == ["2026-1"] && page.contains("Searched 5,000"), "{page}");
    assert_eq!(
        names(&load_page(&browser, &search_all_url(&page)).await),
        ["2026-10", "2026-1"],
        "all in order"
    );
    let page = search("q=ada%40example.com").await;
    assert_eq!(names(&page), ["2026-10", "2026-1", "N-5050"], "exact matches come first");
    assert_eq!(names(&load_page(&browser, &search_all_url(&page)).await), ["N-5050", "2026-10", "2026-1"]);
    assert_eq!(names(&search("q=ada%40example.com&status=refunded").await), Vec::<String>::new());
    assert_eq!(names(&search("q=nobody%40example.com").await), Vec::<String>::new());

    // The exact match is shown in addition to a full page, and no other page repeats it.
    let page = search("q=N-11").await;
    assert_eq!((names(&page).len(), names(&page)[0].as_str()), (26, "N-11"));
    let all = names_on_all_pages(&browser, "/dashboard/orders?q=N-11").await;
    let duplicates = all.iter().filter(|name| all.iter().filter(|other| other == name).count() > 1);
    assert_eq!((all.len(), duplicates.count()), (111, 0), "{all:?}");
    // In a search of all rows, all are in order.
    let all = names_on_all_pages(&browser, "/dashboard/orders?q=N-11&far=1").await;
    assert_eq!((all.len(), all.last().map(String::as_str)), (111, Some("N-11")), "{all:?}");
}

/// Returns the names on all pages of a list, in order. After a limited search, continues with the search of all rows.
async fn names_on_all_pages(browser: &Browser<'_>, path: &str) -> Vec<String> {
    let next_url = regex::Regex::new("id=\"(?:next-page|all)\" href=\"([^\"]+)\"").unwrap();
    let (mut all, mut path) = (Vec::new(), path.to_owned());
    loop {
        let page = load_page(browser, &path).await;
        all.extend(names(&page));
        match next_url.captures(&page) {
            Some(captures) => path = captures[1].replace("&#38;", "&"),
            None => return all,
        }
    }
}

/// Creates an old delivery in each state, and then [`MAX_SCANNED_ROWS`] newer ones. Every second one of these is
/// pending, and the others are delivered.
async fn create_deliveries(workspace: &TestWorkspace<'_>) -> SubscriptionId {
    let app = workspace.app;
    let (subscription_id, _) = workspace.subscribe(&["student.created"]).await;
    workspace.upsert_student("ada").await;
    assert_eq!(app.settle_due(Some(200), DeliveryTransition::Delivered).await, 1);
    let created = workspace.deliveries(subscription_id).await[0].id.uuid();
    let write = app.begin_write().await;
    let workspace_deliveries = webhook_deliveries::in_workspace(workspace.id.uuid());
    let delivered = workspace_deliveries.by_id(write.conn(), created).await.unwrap().unwrap();
    let row = |n: u64, state: StoredDeliveryState, event_type: &str| {
        let at = app.clock.now() + SignedDuration::from_secs(n.cast_signed());
        let next_attempt_at = (state == StoredDeliveryState::Pending).then(|| at.as_millisecond());
        webhook_deliveries::Model {
            id: app.app.ids.next::<Delivery>(at).uuid(),
            state,
            event_type: event_type.to_owned(),
            created_at: at.as_millisecond(),
            settled_at: delivered
                .settled_at
                .filter(|_| matches!(state, StoredDeliveryState::Delivered | StoredDeliveryState::Dead)),
            next_attempt_at,
            ..delivered.clone()
        }
    };
    let mut rows = vec![
        row(1, StoredDeliveryState::Dead, "order.paid"),
        row(2, StoredDeliveryState::Held, "order.paid"),
    ];
    rows.push(row(3, StoredDeliveryState::Pending, "student.created"));
    rows.extend((51..=MAX_SCANNED_ROWS + 50).map(|n| {
        row(
            n,
            if n % 2 == 0 { StoredDeliveryState::Pending } else { StoredDeliveryState::Delivered },
            "order.paid",
        )
    }));
    workspace_deliveries.insert_many(write.conn(), rows).await.unwrap();
    write.commit().await.unwrap();
    subscription_id
}

#[tokio::test]
async fn a_delivery_filter_without_an_index_is_limited() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let subscription_id = create_deliveries(&acme).await;
    let browser = acme.owner_browser().await;
    let search = async |query: &str| {
        let page =
            load_page(&browser, &format!("/dashboard/developer/webhooks/{subscription_id}?{query}")).await;
        (page.matches("<td class=\"main\"").count(), page)
    };
    // Indexes find all deliveries, dead ones, and those in rare states.
    for (query, count) in [("", 25), ("state=dead", 1), ("state=held", 1), ("state=dead&event=order.paid", 1)]
    {
        let (rows, page) = search(query).await;
        assert!(rows == count && !page.contains("Searched 5,000"), "{query}: {page}");
    }
    // A full page does not show how far it searched. Pending deliveries are ordered by creation time.
    for query in ["state=pending", "state=delivered", "event=order.paid"] {
        let (rows, page) = search(query).await;
        assert!(
            rows == 25 && page.contains("Next page") && !page.contains("Searched 5,000"),
            "{query}: {page}"
        );
    }
    let (_, pending) = search("state=pending").await;
    assert!(pending.contains("11:24:40<") && pending.contains("11:23:52<"), "{pending}");
    for (query, count) in [
        ("event=student.created", 2),
        ("state=pending&event=student.created", 1),
        ("state=delivered&event=student.created", 1),
    ] {
        let (rows, page) = search(query).await;
        assert!(rows == 0 && page.contains("No matching deliveries so far"), "{query}: {page}");
        assert!(page.contains("Searched 5,000 entries, back to") && page.contains("10:01:21<"), "{page}");
        assert_eq!(
            search_all_url(&page),
            format!("/dashboard/developer/webhooks/{subscription_id}?{query}&far=1")
        );
        let (rows, page) = search(&format!("{query}&far=1")).await;
        assert!(rows == count && !page.contains("Searched 5,000"), "{query}: {page}");
    }
}

/// Creates an old dead letter of the type `order.paid`, then [`MAX_SCANNED_ROWS`] replayed dead letters, and then one
/// that was not replayed.
async fn create_dead_letters(workspace: &TestWorkspace<'_>) -> SubscriptionId {
    let app = workspace.app;
    let (subscription_id, _) = workspace.subscribe(&["student.created"]).await;
    workspace.upsert_student("ada").await;
    assert_eq!(app.settle_due(Some(404), DeliveryTransition::Dead).await, 1);
    let created = workspace.deliveries(subscription_id).await[0].id.uuid();
    let write = app.begin_write().await;
    let workspace_deliveries = webhook_deliveries::in_workspace(workspace.id.uuid());
    let dead = workspace_deliveries.by_id(write.conn(), created).await.unwrap().unwrap();
    let row = |n: u64| {
        let at = app.clock.now() + SignedDuration::from_secs(n.cast_signed());
        let (id, created_at) = (app.app.ids.next::<Delivery>(at).uuid(), at.as_millisecond());
        webhook_deliveries::Model { id, created_at, ..dead.clone() }
    };
    let mut rows = vec![webhook_deliveries::Model { event_type: "order.paid".to_owned(), ..row(1) }];
    for dead_letter in [dead.clone()].into_iter().chain((2..=MAX_SCANNED_ROWS).map(row)) {
        let replay_id = app.app.ids.next::<Delivery>(app.clock.now()).uuid();
        let later = dead_letter.created_at + 1;
        rows.push(webhook_deliveries::Model {
            state: StoredDeliveryState::Delivered,
            settled_at: dead_letter.settled_at,
            ..dead_letter.new_copy(replay_id, webhook_deliveries::StoredDeliveryOrigin::Replay, false, later)
        });
        if dead_letter.id != dead.id {
            rows.push(dead_letter);
        }
    }
    // The newest dead letter, which was not replayed.
    rows.push(row(MAX_SCANNED_ROWS + 1));
    // In batches, because the number of parameters of a statement is limited.
    while !rows.is_empty() {
        let remaining = rows.split_off(rows.len().min(700));
        workspace_deliveries.insert_many(write.conn(), rows).await.unwrap();
        rows = remaining;
    }
    write.commit().await.unwrap();
    app.clock.advance(Duration::from_secs(2 * MAX_SCANNED_ROWS));
    subscription_id
}

#[tokio::test]
async fn replayed_dead_letters_count_toward_the_search_limit() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let subscription_id = create_dead_letters(&acme).await;
    let browser = acme.owner_browser().await;
    let list = "/dashboard/developer/webhooks/dead-letters";
    let search = async |path: &str| {
        let page = load_page(&browser, path).await;
        (page.matches("type=\"checkbox\" name=\"delivery\"").count(), page)
    };
    for (query, limited_count, all_count) in [
        ("?".to_owned(), 1, 2),
        (format!("?subscription={subscription_id}"), 1, 2),
        ("?event=order.paid".to_owned(), 0, 1),
        (format!("?subscription={subscription_id}&event=order.paid"), 0, 1),
    ] {
        let (rows, page) = search(&format!("{list}{query}")).await;
        assert_eq!(rows, limited_count, "{query}: {page}");
        assert!(page.contains("Searched 5,000 dead letters, including replayed ones"), "{page}");
        assert!(page.contains(">Replay all</a>"), "{query}: {page}");
        assert_eq!(page.contains("No matching dead letters so far"), limited_count == 0, "{page}");
        let (rows, page) = search(&search_all_url(&page)).await;
        assert!(rows == all_count && !page.contains("Searched 5,000"), "{query}: {page}");
        assert!(
            page.contains(if all_count == 1 { ">Replay 1 dead letter</a>" } else { ">Replay all 2</a>" }),
            "{page}"
        );
    }
    let (_, page) = search(&format!("{list}/replay")).await;
    assert!(page.contains("Replay 2 dead letters?"), "the confirmation counts all: {page}");

    // The overview and the list of webhooks show the count, too.
    let page = load_page(&browser, "/dashboard").await;
    assert!(page.contains("At least one delivery failed permanently in the last 30 days"), "{page}");
    let page = load_page(&browser, "/dashboard/developer/webhooks").await;
    assert!(page.contains("<span class=\"badge bad\">at least 1</span>"), "{page}");
    let webhook = format!("/dashboard/developer/webhooks/{subscription_id}?state=dead");
    let page = load_page(&browser, &format!("{webhook}&event=order.paid")).await;
    assert!(page.contains("No matching deliveries so far") && page.contains("Searched 5,000"), "{page}");
    assert!(load_page(&browser, &search_all_url(&page)).await.contains("<td class=\"main\""));
    let page = load_page(&browser, &webhook).await;
    assert!(page.contains("Next page") && !page.contains("Searched 5,000"), "{page}");
}
