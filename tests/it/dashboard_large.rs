//! Lists with more rows than a page searches: the page shows how far it searched, and continues on request.

use std::ops::RangeInclusive;
use std::time::Duration;

use domain::page::MAX_SCANNED_ROWS;
use entity::webhook_deliveries::StoredDeliveryState;
use entity::webhook_deliveries::queue::DeliveryTransition;
use entity::{StringMap, api_requests, enrollments, orders, students, webhook_deliveries};
use foundation::id::{CourseId, Delivery, Enrollment, LoggedRequest, Order, Student, SubscriptionId};
use jiff::SignedDuration;
use serde_json::json;

use crate::support::browser::{first, html};
use crate::support::{Browser, TestApp, Workspace};

/// Creates more students than a search reads, one second apart.
async fn create_crowd(workspace: &Workspace<'_>) -> Vec<students::Model> {
    create_students(workspace, 1..=MAX_SCANNED_ROWS + 50, 1).await
}

/// Creates students with these numbers, `seconds` apart. The first is Grace Hopper.
async fn create_students(
    workspace: &Workspace<'_>,
    numbers: RangeInclusive<u64>,
    seconds: i64,
) -> Vec<students::Model> {
    let app = workspace.app;
    let write = app.write().await;
    let people = students::in_workspace(workspace.id.uuid());
    let first = people.by_email_folded(write.conn(), "ada@example.com").await.unwrap().unwrap();
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
            ..first.clone()
        });
    }
    people.insert_many(write.conn(), all.clone()).await.unwrap();
    write.commit().await.unwrap();
    all
}

/// Returns a page of a list.
async fn shown(browser: &Browser<'_>, path: &str) -> String {
    html(&browser.get(path).await.assert_status(200))
}

/// Returns the names of the rows, in order.
fn names(page: &str) -> Vec<String> {
    let names = regex::Regex::new("class=\"name\" href=\"[^\"]+\">([^<]+)<").unwrap();
    names.captures_iter(page).map(|name| name[1].to_owned()).collect()
}

/// Returns the URL of the "Search all" link.
fn all_of(page: &str) -> String {
    first(page, "id=\"all\" href=\"([^\"]+)\"").replace("&#38;", "&")
}

#[tokio::test]
async fn a_limited_search_shows_its_reach_and_continues_on_request() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let ada = acme.student("ada").await;
    create_crowd(&acme).await;
    let browser = acme.signed_in().await;
    let found = async |path: &str| {
        let page = html(&browser.get(path).await.assert_status(200));
        (page.matches("class=\"name\"").count(), page)
    };
    let (count, page) = found("/dashboard/students?q=hopper").await;
    assert!(count == 0 && page.contains("No matching students so far"), "{page}");
    assert!(
        page.contains("Searched the latest 5,000 entries, back to") && page.contains("10:01:21 UTC"),
        "{page}"
    );
    let all = first(&page, "id=\"all\" href=\"([^\"]+)\"").replace("&#38;", "&");
    assert_eq!(all, "/dashboard/students?q=hopper&far=1");
    let (count, page) = found(&all).await;
    assert!(count == 1 && page.contains("Grace Hopper") && !page.contains("Search all"), "{page}");
    let (count, page) = found("/dashboard/students?q=nobody&far=1").await;
    assert!(count == 0 && page.contains("No matching students<"), "{page}");

    // Exact matches are found at once, and so is a full page.
    assert_eq!(found("/dashboard/students?q=Ada%40example.com").await.0, 1);
    let (count, page) = found(&format!("/dashboard/students?q={ada}")).await;
    assert!(count == 1 && !page.contains("Searched the latest"), "{page}");
    let (count, page) = found("/dashboard/students?q=student").await;
    assert!(count == 25 && page.contains("Next page") && !page.contains("Searched the latest"), "{page}");
}

#[tokio::test]
async fn the_search_limit_is_exact_to_the_row() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    acme.student("ada").await;
    let browser = acme.signed_in().await;
    let list = "/dashboard/students?q=";
    // All at the same time, after Ada.
    app.clock.advance(Duration::from_secs(1));
    create_students(&acme, 1..=MAX_SCANNED_ROWS - 2, 0).await;
    for (newcomer, all) in
        [(MAX_SCANNED_ROWS - 1, MAX_SCANNED_ROWS), (MAX_SCANNED_ROWS, MAX_SCANNED_ROWS + 1)]
    {
        let page = shown(&browser, &format!("{list}nobody")).await;
        assert!(
            page.contains("No matching students<") && !page.contains("Searched the latest"),
            "before {all}: {page}"
        );
        create_students(&acme, newcomer..=newcomer, 0).await;
    }
    let page = shown(&browser, &format!("{list}nobody")).await;
    assert!(page.contains("No matching students so far"), "Ada was not searched: {page}");
    assert!(
        page.contains("Searched the latest 5,000 entries, back to") && page.contains("10:00:31 UTC"),
        "{page}"
    );
    assert_eq!(names(&shown(&browser, &format!("{list}hopper")).await), ["Grace Hopper"]);

    // One more at the same time, and Grace is beyond the limit.
    create_students(&acme, MAX_SCANNED_ROWS + 1..=MAX_SCANNED_ROWS + 1, 0).await;
    let page = shown(&browser, &format!("{list}hopper")).await;
    assert!(names(&page).is_empty() && page.contains("10:00:31 UTC"), "{page}");
    assert_eq!(names(&shown(&browser, &all_of(&page)).await), ["Grace Hopper"]);
}

#[tokio::test]
async fn a_log_filter_with_few_matches_is_limited() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key("read:courses").await;
    key.get("/api/v1/courses?limit=7").await.assert_status(200);
    domain::requests::flush(&app.app).await.unwrap();
    let browser = acme.signed_in().await;
    let logs = "/dashboard/developer/logs";
    assert!(html(&browser.get(&format!("{logs}?operation=listCourses")).await).contains("limit=7<"));

    let write = app.write().await;
    let ours = api_requests::in_workspace(acme.id.uuid());
    let one = first(&html(&browser.get(logs).await), "logs/(log_[a-z0-9]+)");
    let one: foundation::id::LoggedRequestId = one.parse().unwrap();
    let one = ours.by_id(write.conn(), one.uuid()).await.unwrap().unwrap();
    let many = (0..MAX_SCANNED_ROWS).map(|_| api_requests::Model {
        id: app.app.ids.next::<LoggedRequest>(app.clock.now()).uuid(),
        operation: Some("listOrders".to_owned()),
        received_at: one.received_at + 1,
        headers: StringMap::default(),
        ..one.clone()
    });
    api_requests::insert_many(write.conn(), many.collect()).await.unwrap();
    write.commit().await.unwrap();
    for query in ["operation=listCourses".to_owned(), format!("operation=listCourses&key={}", key.id)] {
        let page = html(&browser.get(&format!("{logs}?{query}")).await.assert_status(200));
        assert!(page.contains("No matching requests so far") && !page.contains("limit=7<"), "{page}");
        let page = html(&browser.get(&format!("{logs}?{query}&far=1")).await.assert_status(200));
        assert!(page.contains("limit=7<"), "{page}");
    }
    // The reach of a search for another workspace's key must not be revealed.
    let other = app.workspace("other").await.signed_in().await;
    let page = html(&other.get(&format!("{logs}?operation=listCourses&key={}", key.id)).await);
    assert!(page.contains("No matching requests<"), "{page}");
}

/// Enrolls the oldest student of a crowd, and this number of the newest.
async fn enroll(workspace: &Workspace<'_>, crowd: &[students::Model], course: &str, newest: usize) {
    let app = workspace.app;
    let write = app.write().await;
    let course = course.parse::<CourseId>().unwrap().uuid();
    let mut rows = Vec::new();
    for student in crowd.iter().rev().take(newest).chain(&crowd[..1]) {
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
    let people = create_crowd(&acme).await;
    enroll(&acme, &people, &small, 3).await;
    enroll(&acme, &people, &large, 2_000).await;
    let browser = acme.signed_in().await;
    let list = "/dashboard/students?q=hopper&course=";
    let page = shown(&browser, &format!("{list}{small}")).await;
    assert!(names(&page) == ["Grace Hopper"] && !page.contains("Searched the latest"), "{page}");
    let page = shown(&browser, &format!("{list}{large}")).await;
    assert!(names(&page).is_empty() && page.contains("No matching students so far"), "{page}");
    assert!(page.contains("Searched the latest 5,000 students of all courses"), "{page}");
    assert_eq!(names(&shown(&browser, &all_of(&page)).await), ["Grace Hopper"]);
}

#[tokio::test]
async fn an_exactly_matching_student_is_listed_once() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    acme.student("ada").await;
    create_crowd(&acme).await;
    let write = app.write().await;
    let people = students::in_workspace(acme.id.uuid());
    let ada = people.by_email_folded(write.conn(), "ada@example.com").await.unwrap().unwrap();
    let at = app.clock.now() + SignedDuration::from_hours(9);
    let id = app.app.ids.next::<Student>(at).uuid();
    let longer = "canada@example.com".to_owned();
    let (email, email_folded, key) = (longer.clone(), longer, None);
    people
        .insert(
            write.conn(),
            students::Model { id, email, email_folded, key, created_at: at.as_millisecond(), ..ada },
        )
        .await
        .unwrap();
    write.commit().await.unwrap();
    let browser = acme.signed_in().await;
    let list = "/dashboard/students?q=ada%40example.com";
    let page = shown(&browser, list).await;
    assert_eq!(
        names(&page),
        ["ada@example.com", "canada@example.com"],
        "the exact match comes first: {page}"
    );
    let page = shown(&browser, &all_of(&page)).await;
    assert_eq!(names(&page), ["canada@example.com", "ada@example.com"], "all in order: {page}");

    // Across all pages, and in the search of all rows.
    acme.student("0").await;
    let all = names_on_all_pages(&browser, "/dashboard/students?q=0%40example.com").await;
    assert_eq!(all.iter().filter(|name| *name == "0@example.com").count(), 1, "{all:?}");
    assert_eq!((all.len(), all[0].as_str()), (506, "0@example.com"));
}

/// Creates two orders of Ada, and after them more than a search reads, one second apart: `N-1` belongs to Grace Hopper, the
/// last one to Ada.
async fn create_orders(workspace: &Workspace<'_>) {
    let app = workspace.app;
    workspace.course("ink", 1).await;
    workspace.student("ada").await;
    for (at, number) in [("2026-03-01T10:00:00Z", "2026-1"), ("2026-03-01T11:00:00Z", "2026-10")] {
        let items = [json!({"course": "ink", "unit_amount": 100})];
        let order =
            json!({"key": number, "number": number, "student": "ada", "currency": "EUR", "items": items});
        workspace.change_at(at, "order.pay", order).await;
    }
    let write = app.write().await;
    let all = orders::in_workspace(workspace.id.uuid());
    let adas = all.by_number(write.conn(), "2026-1").await.unwrap().unwrap();
    let order = |n: u64| {
        let at = app.clock.now() + SignedDuration::from_secs(n.cast_signed());
        let is_last = n == MAX_SCANNED_ROWS + 50;
        orders::Model {
            id: app.app.ids.next::<Order>(at).uuid(),
            key: None,
            number: format!("N-{n}"),
            student_id: adas.student_id.filter(|_| is_last),
            customer_email: if is_last {
                adas.customer_email.clone()
            } else {
                "crowd@example.org".to_owned()
            },
            customer_name: (n == 1).then(|| "Grace Hopper".to_owned()),
            paid_at: at.as_millisecond(),
            created_at: at.as_millisecond(),
            ..adas.clone()
        }
    };
    all.insert_many(write.conn(), (1..=MAX_SCANNED_ROWS + 50).map(order).collect()).await.unwrap();
    write.commit().await.unwrap();
}

#[tokio::test]
async fn a_limited_search_of_orders_finds_exact_matches() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    create_orders(&acme).await;
    let browser = acme.signed_in().await;
    let found = async |query: &str| shown(&browser, &format!("/dashboard/orders?{query}")).await;

    let page = found("q=hopper").await;
    assert!(names(&page).is_empty() && page.contains("No matching orders so far"), "{page}");
    assert!(
        page.contains("Searched the latest 5,000 entries, back to") && page.contains("10:01:21 UTC"),
        "{page}"
    );
    assert_eq!(names(&shown(&browser, &all_of(&page)).await), ["N-1"]);
    let page = found("status=refunded").await;
    assert!(page.contains("No matching orders so far"), "{page}");
    assert!(found("status=refunded&far=1").await.contains("No matching orders<"));
    // Nothing is searched if an index finds the rows.
    assert!(!found("status=&q=").await.contains("Searched the latest"));
    assert_eq!(names(&found("status=paid&q=N-505").await), ["N-5050", "N-505"], "in order");

    // A complete order number and a complete email address, however old the order is.
    let page = found("q=2026-1").await;
    assert!(names(&page) == ["2026-1"] && page.contains("Searched the latest"), "{page}");
    assert_eq!(names(&shown(&browser, &all_of(&page)).await), ["2026-10", "2026-1"], "all in order");
    let page = found("q=ada%40example.com").await;
    assert_eq!(names(&page), ["2026-10", "2026-1", "N-5050"], "exact matches come first");
    assert_eq!(names(&shown(&browser, &all_of(&page)).await), ["N-5050", "2026-10", "2026-1"]);
    assert_eq!(names(&found("q=ada%40example.com&status=refunded").await), Vec::<String>::new());
    assert_eq!(names(&found("q=nobody%40example.com").await), Vec::<String>::new());

    // One more than the page size, and no other page repeats it.
    let page = found("q=N-11").await;
    assert_eq!((names(&page).len(), names(&page)[0].as_str()), (26, "N-11"));
    let all = names_on_all_pages(&browser, "/dashboard/orders?q=N-11").await;
    let twice = all.iter().filter(|name| all.iter().filter(|other| other == name).count() > 1);
    assert_eq!((all.len(), twice.count()), (111, 0), "{all:?}");
    // In a search of all rows, all are in order.
    let all = names_on_all_pages(&browser, "/dashboard/orders?q=N-11&far=1").await;
    assert_eq!((all.len(), all.last().map(String::as_str)), (111, Some("N-11")), "{all:?}");
}

/// Returns the names on all pages of a list, including the search of all rows.
async fn names_on_all_pages(browser: &Browser<'_>, path: &str) -> Vec<String> {
    let on = regex::Regex::new("id=\"(?:next-page|all)\" href=\"([^\"]+)\"").unwrap();
    let (mut all, mut path) = (Vec::new(), path.to_owned());
    loop {
        let page = shown(browser, &path).await;
        all.extend(names(&page));
        match on.captures(&page) {
            Some(next) => path = next[1].replace("&#38;", "&"),
            None => return all,
        }
    }
}

/// Creates an old delivery of each state, and after them more than a page searches. Every second one is pending.
async fn create_deliveries(workspace: &Workspace<'_>) -> SubscriptionId {
    let app = workspace.app;
    let (of, _) = workspace.subscribe(&["student.created"]).await;
    workspace.student_by_change("ada").await;
    assert_eq!(app.settle_due(Some(200), DeliveryTransition::Delivered).await, 1);
    let created = workspace.deliveries(of).await[0].id.uuid();
    let write = app.write().await;
    let all = webhook_deliveries::in_workspace(workspace.id.uuid());
    let delivered = all.by_id(write.conn(), created).await.unwrap().unwrap();
    let row = |n: u64, state: StoredDeliveryState, kind: &str| {
        let at = app.clock.now() + SignedDuration::from_secs(n.cast_signed());
        let due = (state == StoredDeliveryState::Pending).then(|| at.as_millisecond());
        webhook_deliveries::Model {
            id: app.app.ids.next::<Delivery>(at).uuid(),
            state,
            event_type: kind.to_owned(),
            created_at: at.as_millisecond(),
            settled_at: delivered
                .settled_at
                .filter(|_| matches!(state, StoredDeliveryState::Delivered | StoredDeliveryState::Dead)),
            next_attempt_at: due,
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
    all.insert_many(write.conn(), rows).await.unwrap();
    write.commit().await.unwrap();
    of
}

#[tokio::test]
async fn a_delivery_filter_without_an_index_is_limited() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let of = create_deliveries(&acme).await;
    let browser = acme.signed_in().await;
    let found = async |query: &str| {
        let page = shown(&browser, &format!("/dashboard/developer/webhooks/{of}?{query}")).await;
        (page.matches("<td class=\"main\"").count(), page)
    };
    // Indexes find these: all deliveries, dead ones, and those of rare states.
    for (query, count) in [("", 25), ("state=dead", 1), ("state=held", 1), ("state=dead&event=order.paid", 1)]
    {
        let (rows, page) = found(query).await;
        assert!(rows == count && !page.contains("Searched the latest"), "{query}: {page}");
    }
    // A full page does not show how far it searched. Pending deliveries are ordered by creation time.
    for query in ["state=pending", "state=delivered", "event=order.paid"] {
        let (rows, page) = found(query).await;
        assert!(
            rows == 25 && page.contains("Next page") && !page.contains("Searched the latest"),
            "{query}: {page}"
        );
    }
    let (_, pending) = found("state=pending").await;
    assert!(pending.contains("11:24:40 UTC") && pending.contains("11:23:52 UTC"), "{pending}");
    for (query, count) in [
        ("event=student.created", 2),
        ("state=pending&event=student.created", 1),
        ("state=delivered&event=student.created", 1),
    ] {
        let (rows, page) = found(query).await;
        assert!(rows == 0 && page.contains("No matching deliveries so far"), "{query}: {page}");
        assert!(
            page.contains("Searched the latest 5,000 entries, back to") && page.contains("10:01:21 UTC"),
            "{page}"
        );
        assert_eq!(all_of(&page), format!("/dashboard/developer/webhooks/{of}?{query}&far=1"));
        let (rows, page) = found(&format!("{query}&far=1")).await;
        assert!(rows == count && !page.contains("Searched the latest"), "{query}: {page}");
    }
}

/// Creates an old dead letter of a paid order, and after it more replayed dead letters than a page searches.
async fn create_dead_letters(workspace: &Workspace<'_>) -> SubscriptionId {
    let app = workspace.app;
    let (of, _) = workspace.subscribe(&["student.created"]).await;
    workspace.student_by_change("ada").await;
    assert_eq!(app.settle_due(Some(404), DeliveryTransition::Dead).await, 1);
    let created = workspace.deliveries(of).await[0].id.uuid();
    let write = app.write().await;
    let all = webhook_deliveries::in_workspace(workspace.id.uuid());
    let dead = all.by_id(write.conn(), created).await.unwrap().unwrap();
    let row = |n: u64| {
        let at = app.clock.now() + SignedDuration::from_secs(n.cast_signed());
        let (id, created_at) = (app.app.ids.next::<Delivery>(at).uuid(), at.as_millisecond());
        webhook_deliveries::Model { id, created_at, ..dead.clone() }
    };
    let mut rows = vec![webhook_deliveries::Model { event_type: "order.paid".to_owned(), ..row(1) }];
    for letter in [dead.clone()].into_iter().chain((2..=MAX_SCANNED_ROWS).map(row)) {
        let again = app.app.ids.next::<Delivery>(app.clock.now()).uuid();
        let later = letter.created_at + 1;
        rows.push(webhook_deliveries::Model {
            state: StoredDeliveryState::Delivered,
            settled_at: letter.settled_at,
            ..letter.send_again(again, webhook_deliveries::StoredDeliveryOrigin::Replay, false, later)
        });
        if letter.id != dead.id {
            rows.push(letter);
        }
    }
    // The newest dead letter, which was not replayed.
    rows.push(row(MAX_SCANNED_ROWS + 1));
    while !rows.is_empty() {
        let rest = rows.split_off(rows.len().min(700));
        all.insert_many(write.conn(), rows).await.unwrap();
        rows = rest;
    }
    write.commit().await.unwrap();
    app.clock.advance(Duration::from_secs(2 * MAX_SCANNED_ROWS));
    of
}

#[tokio::test]
async fn replayed_dead_letters_count_toward_the_search_limit() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let of = create_dead_letters(&acme).await;
    let browser = acme.signed_in().await;
    let list = "/dashboard/developer/webhooks/dead-letters";
    let found = async |path: &str| {
        let page = shown(&browser, path).await;
        (page.matches("type=\"checkbox\" name=\"delivery\"").count(), page)
    };
    for (query, near, all) in [
        ("?".to_owned(), 1, 2),
        (format!("?subscription={of}"), 1, 2),
        ("?event=order.paid".to_owned(), 0, 1),
        (format!("?subscription={of}&event=order.paid"), 0, 1),
    ] {
        let (rows, page) = found(&format!("{list}{query}")).await;
        assert_eq!(rows, near, "{query}: {page}");
        assert!(page.contains("Searched the latest 5,000 dead letters, including replayed ones"), "{page}");
        assert!(page.contains(">Replay all</a>"), "{query}: {page}");
        assert_eq!(page.contains("No matching dead letters so far"), near == 0, "{page}");
        let (rows, page) = found(&all_of(&page)).await;
        assert!(rows == all && !page.contains("Searched the latest"), "{query}: {page}");
        assert!(
            page.contains(if all == 1 { ">Replay 1 dead letter</a>" } else { ">Replay all 2</a>" }),
            "{page}"
        );
    }
    let (_, page) = found(&format!("{list}/replay")).await;
    assert!(page.contains("Replay 2 dead letters?"), "the confirmation counts all: {page}");

    // The overview and the list of webhooks show the count, too.
    let page = shown(&browser, "/dashboard").await;
    assert!(page.contains("At least one delivery failed permanently in the last 30 days"), "{page}");
    let page = shown(&browser, "/dashboard/developer/webhooks").await;
    assert!(page.contains("<span class=\"badge bad\">at least 1</span>"), "{page}");
    let webhook = format!("/dashboard/developer/webhooks/{of}?state=dead");
    let page = shown(&browser, &format!("{webhook}&event=order.paid")).await;
    assert!(
        page.contains("No matching deliveries so far") && page.contains("Searched the latest 5,000"),
        "{page}"
    );
    assert!(shown(&browser, &all_of(&page)).await.contains("<td class=\"main\""));
    let page = shown(&browser, &webhook).await;
    assert!(page.contains("Next page") && !page.contains("Searched the latest"), "{page}");
}
