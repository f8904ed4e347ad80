//! The analytics summary: its window, its figures, and its agreement with the lists.

use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::support::{TestApp, TestKey, TestWorkspace, time};

const SUMMARY: &str = "/api/v1/analytics/summary";

/// Requests the summary with this query.
async fn summary(key: &TestKey, query: &str) -> Value {
    key.get(&format!("{SUMMARY}?{query}")).await.assert_status(200).json()
}

#[tokio::test]
async fn a_window_has_both_ends_or_neither_and_at_most_one_year() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key("read:analytics").await;

    // Queries with the locations of their errors. An empty list means errors at all six parameters.
    let errors: [(&str, &[&str]); 19] = [
        ("from=2026-01-01T00:00:00Z", &["query to"]),
        ("to=2026-01-01T00:00:00Z", &["query from"]),
        ("from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", &["query to"]),
        ("from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z", &["query to"]),
        ("from=2026-01-01T00:00:00Z&to=2026-01-01T01:00:00%2B01:00", &["query to"]),
        ("from=2025-01-01T00:00:00Z&to=2026-01-03T00:00:00Z", &["query to"]),
        ("from=2025-01-01T00:00:00Z&to=2026-01-02T00:00:00.001Z", &["query to"]),
        ("from=2025-01-01T00:00:00Z&to=2026-02-05T00:00:00Z", &["query to"]),
        ("from=2026-01-01T00:00:00&to=2026-01-02T00:00:00Z", &["query from"]),
        ("from=2026-01-01&to=2026-01-02", &["query from", "query to"]),
        ("from=2026-01-01T00:00:00Z&to=2026-02-30T00:00:00Z", &["query to"]),
        ("from=2026-01-01T00:00:00Z&to=2026-06-30T23:59:60Z", &["query to"]),
        ("from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00+01:00", &["query to"]),
        ("timezone=Mars/Olympus", &["query timezone"]),
        ("timezone=../etc/passwd", &["query timezone"]),
        ("timezone=", &["query timezone"]),
        ("interval=hour", &["query interval"]),
        ("from=yesterday&to=&timezone=Mars!&interval=hour&courseId=x&y=1", &[]),
        (
            "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z&timezone=Mars/Olympus",
            &["query to", "query timezone"],
        ),
    ];
    for (query, error_locations) in errors {
        let response = key.get(&format!("{SUMMARY}?{query}")).await;
        assert_eq!(response.status, 422, "{query}: {}", String::from_utf8_lossy(&response.body));
        match error_locations {
            [] => assert_eq!(response.error_locations().len(), 6, "{:?}", response.errors()),
            error_locations => assert_eq!(response.error_locations(), error_locations, "{query}"),
        }
    }
    for query in [
        "from=2025-01-01T00:00:00Z&to=2026-01-02T00:00:00Z",
        "from=2024-02-29T00:00:00Z&to=2024-02-29T00:00:00.001Z",
        "from=2026-12-01T00:00:00Z&to=2026-12-02T00:00:00Z&timezone=europe/berlin",
        "timezone=America/Argentina/Buenos_Aires&interval=month",
    ] {
        summary(&key, query).await;
    }
}

#[tokio::test]
async fn an_empty_window_has_zeros_and_no_rates() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key("read:analytics").await;
    assert_json_snapshot!(summary(&key, "interval=week").await);

    // The summary of a course that does not exist also has zeros.
    let absent = "courseId=crs_01k424mh00e2mbrajjfteg1k8f";
    let mut full_summary = summary(&key, "timezone=UTC").await;
    assert_eq!(summary(&key, absent).await, full_summary);
    // The window ends at the time of the request.
    app.clock.advance(std::time::Duration::from_millis(1));
    assert_ne!(summary(&key, absent).await["window"], full_summary["window"].take());
}

/// Creates two courses and two students.
async fn create_courses_and_students(workspace: &TestWorkspace<'_>) {
    for name in ["rust", "ink"] {
        workspace.course(name, 3).await;
    }
    for (key, at) in [("ada", "2026-01-15T00:00:00Z"), ("bob", "2026-02-10T00:00:00Z")] {
        let data = json!({"key": key, "email": format!("{key}@example.com")});
        workspace.change_at(at, "student.upsert", data).await;
    }
}

/// Pays an order of Ada with one item: a course key and a unit amount.
async fn pay(workspace: &TestWorkspace<'_>, at: &str, number: &str, currency: &str, item: (&str, i64)) {
    let data = json!({
        "key": number, "number": number, "student": "ada", "currency": currency,
        "items": [{"course": item.0, "unit_amount": item.1}], "discount_amount": 5, "tax_amount": 20,
    });
    workspace.change_at(at, "order.pay", data).await;
}

#[tokio::test]
async fn the_figures_of_a_month_count_each_record_at_its_own_time() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:analytics").await;
    create_courses_and_students(&workspace).await;
    // Two currencies; one order before the window with a refund inside it, and one order at the end of the window.
    pay(&workspace, "2026-01-31T23:59:59.999Z", "o1", "USD", ("rust", 1000)).await;
    pay(&workspace, "2026-02-01T00:00:00Z", "o2", "USD", ("ink", 200)).await;
    pay(&workspace, "2026-02-05T00:00:00Z", "o3", "JPY", ("rust", 3000)).await;
    pay(&workspace, "2026-03-01T00:00:00Z", "o4", "USD", ("rust", 9999)).await;
    let refund = json!({"order": "o1", "amount": 400});
    workspace.change_at("2026-02-03T12:00:00Z", "order.refund", refund).await;
    // The cohort: Bob completes `rust` and a third of `ink`. Ada's enrollments come from the orders.
    for course in ["rust", "ink"] {
        let data = json!({"student": "bob", "course": course});
        workspace.change_at("2026-02-11T00:00:00Z", "enrollment.grant", data).await;
    }
    for lesson in ["rust-1", "rust-2", "rust-3", "ink-1"] {
        let data = json!({"student": "bob", "course": &lesson[..lesson.len() - 2], "lesson": lesson});
        workspace.change_at("2026-02-12T00:00:00Z", "progress.record", data).await;
    }
    let data = json!({"student": "bob", "course": "rust", "number": "1"});
    workspace.change_at("2026-02-13T00:00:00Z", "certificate.issue", data).await;
    let data = json!({"student": "ada", "course": "ink"});
    workspace.change_at("2026-02-14T00:00:00Z", "enrollment.revoke", data).await;

    let month = "from=2026-02-01T00:00:00Z&to=2026-03-01T00:00:00Z";
    let full_summary = summary(&key, month).await;
    assert_json_snapshot!("the_figures_of_a_month", full_summary);
    let ink = app.course_id(&workspace, "ink").await;
    assert_json_snapshot!(
        "the_figures_of_a_month_for_one_course",
        summary(&key, &format!("{month}&courseId={ink}")).await
    );

    // A deleted student no longer counts, but the revenue does.
    workspace.change("student.delete", json!({"student": "bob"})).await;
    let after = summary(&key, month).await;
    assert_eq!(after["students"], json!({"new": 0, "total": 1}));
    assert_eq!(after["completion"]["completed"], 0);
    assert_eq!(after["revenue"], full_summary["revenue"]);
    // Another workspace has none of these figures.
    let other = app.workspace("globex").await.key("read:analytics").await;
    assert_eq!(summary(&other, month).await["revenue"], json!([]));
}

#[tokio::test]
async fn an_enrollment_counts_with_its_current_status() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:analytics").await;
    create_courses_and_students(&workspace).await;
    let enrollment = json!({"student": "ada", "course": "rust"});
    let figures = async || {
        summary(&key, "from=2026-02-01T00:00:00Z&to=2026-03-01T00:00:00Z").await["enrollments"].clone()
    };

    workspace.change_at("2026-02-02T00:00:00Z", "enrollment.grant", enrollment.clone()).await;
    assert_eq!(figures().await, json!({"created": 1, "revoked": 0, "active": 1}));
    workspace.change_at("2026-02-03T00:00:00Z", "enrollment.revoke", enrollment.clone()).await;
    assert_eq!(figures().await, json!({"created": 1, "revoked": 1, "active": 0}));
    workspace.change_at("2026-02-04T00:00:00Z", "enrollment.grant", enrollment.clone()).await;
    assert_eq!(figures().await, json!({"created": 1, "revoked": 0, "active": 1}));

    let mut expiring = enrollment;
    expiring["course"] = json!("ink");
    expiring["expires_at"] = json!("2026-03-02T10:01:00Z");
    workspace.change_at("2026-02-05T00:00:00Z", "enrollment.grant", expiring).await;
    assert_eq!(figures().await, json!({"created": 2, "revoked": 0, "active": 2}));
    app.clock.advance(std::time::Duration::from_secs(30));
    assert_eq!(figures().await, json!({"created": 2, "revoked": 0, "active": 1}));
}

#[tokio::test]
async fn data_as_of_excludes_open_writes() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key("read:analytics").await;
    let write_started = app.clock.now();
    let open_write = app.begin_write().await;
    app.clock.advance(std::time::Duration::from_secs(1));
    assert_eq!(time(&summary(&key, "").await["data_as_of"]), write_started);
    open_write.rollback().await.unwrap();
    assert_eq!(time(&summary(&key, "").await["data_as_of"]), app.clock.now());
}

/// Returns the start times of the points of the series.
fn start_times(summary: &Value) -> Vec<&str> {
    summary["series"].as_array().unwrap().iter().map(|point| point["starts_at"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_series_has_a_point_for_each_interval_that_overlaps_the_window() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key("read:analytics").await;

    let days = summary(&key, "from=2026-02-27T06:00:00Z&to=2026-03-01T00:00:00Z&interval=day").await;
    assert_eq!(start_times(&days), ["2026-02-27T06:00:00.000Z", "2026-02-28T00:00:00.000Z"]);
    // 2026-02-02 is a Monday.
    let weeks = summary(&key, "from=2026-02-01T00:00:00Z&to=2026-02-09T00:00:00.001Z&interval=week").await;
    assert_eq!(
        start_times(&weeks),
        ["2026-02-01T00:00:00.000Z", "2026-02-02T00:00:00.000Z", "2026-02-09T00:00:00.000Z"]
    );
    let months = "from=2025-12-15T00:00:00Z&to=2026-02-01T00:00:00Z&interval=month&timezone=Asia/Kathmandu";
    let months = summary(&key, months).await;
    assert_eq!(
        start_times(&months),
        ["2025-12-15T00:00:00.000Z", "2025-12-31T18:15:00.000Z", "2026-01-31T18:15:00.000Z"]
    );
    assert_eq!(months["window"]["timezone"], "Asia/Kathmandu");
    let year = summary(&key, "from=2025-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&interval=day").await;
    assert_eq!(start_times(&year).len(), 366);
}

#[tokio::test]
async fn a_day_with_a_daylight_saving_change_is_one_day() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:analytics").await;
    create_courses_and_students(&workspace).await;
    // 2025-10-26 has 25 hours, 2025-03-30 has 23 hours.
    let paid = [
        "2025-10-25T21:59:59.999Z",
        "2025-10-25T22:00:00Z",
        "2025-10-26T22:59:59.999Z",
        "2025-10-26T23:00:00Z",
        "2025-03-29T23:00:00Z",
        "2025-03-30T21:59:59.999Z",
        "2025-03-30T22:00:00Z",
    ];
    for (number, at) in paid.into_iter().enumerate() {
        pay(&workspace, at, &format!("o{number}"), "EUR", ("rust", 100)).await;
    }
    let days = async |from: &str, to: &str| {
        let query = format!("from={from}&to={to}&interval=day&timezone=Europe/Berlin").replace('+', "%2B");
        let summary = summary(&key, &query).await;
        let orders = |point: &Value| point["revenue"][0]["orders"].as_i64().unwrap_or(0);
        let points = summary["series"].as_array().unwrap().iter();
        points
            .map(|point| (point["starts_at"].as_str().unwrap().to_owned(), orders(point)))
            .collect::<Vec<_>>()
    };
    let day = |at: &str, orders: i64| (format!("{at}:00:00.000Z"), orders);
    assert_eq!(
        days("2025-10-25T00:00:00+02:00", "2025-10-28T00:00:00+01:00").await,
        [day("2025-10-24T22", 1), day("2025-10-25T22", 2), day("2025-10-26T23", 1)]
    );
    assert_eq!(
        days("2025-03-29T00:00:00+01:00", "2025-04-01T00:00:00+02:00").await,
        [day("2025-03-28T23", 0), day("2025-03-29T23", 2), day("2025-03-30T22", 1)]
    );
}
