//! Orders: payments, refunds, and the access that they give and revoke.

use std::time::Duration;

use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::support::masked_ids::mask_ids;
use crate::support::{TestApp, TestKey, TestWorkspace};

const ORDERS: &str = "/api/v1/orders";

/// Creates two courses and a student, and returns their ids.
async fn create_courses_and_student(workspace: &TestWorkspace<'_>) -> (String, String, String) {
    let ada = json!({"key": "ada", "email": "Ada@Example.com", "name": "Ada Osei"});
    workspace.change("student.upsert", ada).await;
    let student = workspace.key_with_all_scopes().await.get("/api/v1/students").await.ids().remove(0);
    (workspace.course("rust", 2).await, workspace.course("ink", 1).await, student)
}

/// Returns the data of an order of both courses. Its total is 9900 + 2 x 2450 - 1480 + 2531.
fn order_of_two_courses(key: &str) -> Value {
    json!({
        "key": key, "number": format!("2026-{key}"), "student": "ada", "currency": "USD",
        "items": [
            {"course": "rust", "unit_amount": 9900},
            {"course": "ink", "title": "Ink and Line, for two", "quantity": 2, "unit_amount": 2450},
        ],
        "discount_amount": 1480, "tax_amount": 2531,
        "receipt": {"number": format!("R-{key}"), "url": "https://academy.example.com/r/1"},
    })
}

/// Returns the data of an order of one course for one euro.
fn order_of_one_course(key: &str, course: &str) -> Value {
    let items = json!([{"course": course, "unit_amount": 100}]);
    json!({"key": key, "number": key, "student": "ada", "currency": "EUR", "items": items})
}

/// Returns the only order of the workspace, as listed.
async fn only_order(key: &TestKey) -> Value {
    let page = key.get(ORDERS).await.assert_status(200).json();
    assert_eq!(page["data"].as_array().map(Vec::len), Some(1));
    page["data"][0].clone()
}

/// Returns the newest student of the workspace, as listed.
async fn newest_student(key: &TestKey) -> Value {
    key.get("/api/v1/students").await.assert_status(200).json()["data"][0].clone()
}

#[tokio::test]
async fn a_paid_order_shows_items_receipt_and_entitlements() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    create_courses_and_student(&workspace).await;
    workspace.change_at("2026-02-14T09:12:45.301Z", "order.pay", order_of_two_courses("o1")).await;

    let order = only_order(&key).await;
    assert_json_snapshot!(mask_ids(&order));
    let paid = app.events_of_type("order.paid").await;
    assert_eq!(paid.len(), 1);
    assert_eq!(paid[0]["data"], order);

    // Each entitlement (the access to one course that the order gives) refers to one of the student's two enrollments. Each
    // enrollment has an `enrollment.created` event.
    let enrollments = newest_student(&key).await["enrollments"].clone();
    let mut enrolled = Vec::new();
    for enrollment in enrollments.as_array().unwrap() {
        assert_eq!((&enrollment["source"], &enrollment["order_id"]), (&json!("order"), &order["id"]));
        assert_eq!(enrollment["enrolled_at"], order["paid_at"]);
        enrolled.push(enrollment["id"].as_str().unwrap());
    }
    let mut entitled: Vec<&str> = order["entitlements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entitlement| entitlement["enrollment_id"].as_str().unwrap())
        .collect();
    enrolled.sort_unstable();
    entitled.sort_unstable();
    assert_eq!(enrolled, entitled);
    assert_eq!(app.events_of_type("enrollment.created").await.len(), 2);
}

#[tokio::test]
async fn an_order_without_a_receipt_gets_one_with_the_order_number() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    create_courses_and_student(&workspace).await;
    workspace.change("order.pay", order_of_one_course("o1", "rust")).await;
    assert_json_snapshot!(only_order(&key).await["receipt"], @r#"
    {
      "issued_at": "2026-03-02T10:00:30.000Z",
      "number": "o1",
      "url": null
    }
    "#);
}

#[tokio::test]
async fn a_partial_refund_keeps_access_and_a_full_refund_revokes_it() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    create_courses_and_student(&workspace).await;
    workspace.change_at("2026-02-14T09:12:45.301Z", "order.pay", order_of_two_courses("o1")).await;

    app.clock.advance(Duration::from_secs(1));
    let partial_refund = json!({"order": "o1", "amount": 4900, "reason": "Bought twice by mistake"});
    workspace.change_at("2026-02-27T16:40:02.007Z", "order.refund", partial_refund).await;
    let order = only_order(&key).await;
    assert_eq!((&order["status"], &order["refunded_amount"]), (&json!("partially_refunded"), &json!(4900)));
    assert_eq!(order["updated_at"], "2026-03-02T10:00:31.000Z");
    assert_eq!(newest_student(&key).await["progress"]["enrollments_active"], 2);
    assert!(app.events_of_type("enrollment.revoked").await.is_empty());

    app.clock.advance(Duration::from_secs(1));
    workspace.change_at("2026-03-01T08:00:00Z", "order.refund", json!({"order": "o1"})).await;
    let order = only_order(&key).await;
    assert_json_snapshot!(mask_ids(&order));
    let listed_student = newest_student(&key).await;
    assert_eq!(listed_student["progress"]["enrollments_active"], 0);
    for enrollment in listed_student["enrollments"].as_array().unwrap() {
        assert_eq!(
            (&enrollment["status"], &enrollment["revoked_at"]),
            (&json!("revoked"), &json!("2026-03-01T08:00:00.000Z"))
        );
    }

    let refunded = app.events_of_type("order.refunded").await;
    let amounts: Vec<&Value> = refunded.iter().map(|event| &event["data"]["refund"]["amount"]).collect();
    assert_eq!(amounts, [4900, 10951]);
    let mut data = refunded[1]["data"].clone();
    assert_eq!(data.as_object_mut().unwrap().remove("refund").unwrap(), order["refunds"][1]);
    assert_eq!(data, order);
    assert_eq!(app.events_of_type("enrollment.revoked").await.len(), 2);
}

#[tokio::test]
async fn buying_an_already_enrolled_course_creates_no_second_enrollment() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let (rust, _, ada) = create_courses_and_student(&workspace).await;
    let body = json!({"studentId": ada, "courseId": rust});
    let before = key.post("/api/v1/enrollments", body).await.assert_status(201).json();

    workspace.change("order.pay", order_of_two_courses("o1")).await;
    let order = only_order(&key).await;
    assert_eq!(order["entitlements"][0]["enrollment_id"], before["id"]);
    assert_eq!(
        app.events_of_type("enrollment.created").await.len(),
        2,
        "one by the API, one for the other course"
    );

    // The same course twice in one order gives one entitlement and one enrollment.
    let mut twice = order_of_one_course("o2", "ink");
    twice["items"] = json!([{"course": "ink", "unit_amount": 1}, {"course": "ink", "unit_amount": 2}]);
    workspace.change("order.pay", twice).await;
    let order = key.get(&format!("{ORDERS}?number=o2")).await.json()["data"][0].clone();
    assert_eq!(order["items"].as_array().map(Vec::len), Some(2));
    assert_eq!(order["entitlements"].as_array().map(Vec::len), Some(1));
    assert_eq!(app.events_of_type("enrollment.created").await.len(), 2);
}

#[tokio::test]
async fn orders_are_filtered_and_sorted_as_requested() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let (rust, ink, ada) = create_courses_and_student(&workspace).await;
    let bob = workspace.student("bob").await;
    let mut order_of_bob = order_of_one_course("o3", "ink");
    order_of_bob["student"] = json!(bob);
    let paid = [
        ("2026-02-03T00:00:00Z", order_of_two_courses("o1")),
        ("2026-02-01T00:00:00Z", order_of_one_course("o2", "rust")),
        ("2026-02-02T00:00:00Z", order_of_bob),
    ];
    for (at, order) in paid {
        app.clock.advance(Duration::from_secs(1));
        workspace.change_at(at, "order.pay", order).await;
    }
    app.clock.advance(Duration::from_secs(1));
    workspace.change("order.refund", json!({"order": "o2", "amount": 1})).await;
    workspace.change("order.refund", json!({"order": "o3"})).await;
    app.clock.advance(Duration::from_secs(1));

    let cases = [
        (format!("studentId={ada}"), "2026-o1 o2"),
        (format!("studentId={bob}"), "o3"),
        (format!("courseId={rust}"), "2026-o1 o2"),
        (format!("courseId={ink}"), "2026-o1 o3"),
        (format!("courseId={ink}&studentId={ada}"), "2026-o1"),
        ("status=paid".to_owned(), "2026-o1"),
        ("status=partially_refunded".to_owned(), "o2"),
        ("status=refunded".to_owned(), "o3"),
        ("currency=EUR".to_owned(), "o3 o2"),
        ("currency=JPY".to_owned(), ""),
        ("number=2026-o1".to_owned(), "2026-o1"),
        ("number=2026-O1".to_owned(), ""),
        ("paid_after=2026-02-02T00:00:00Z".to_owned(), "2026-o1 o3"),
        ("paid_before=2026-02-02T00:00:00Z".to_owned(), "o2"),
        ("paid_after=2026-02-02T00:00:00Z&paid_before=2026-02-03T00:00:00Z".to_owned(), "o3"),
        ("sort=paid_at".to_owned(), "o2 o3 2026-o1"),
        ("sort=-paid_at".to_owned(), "2026-o1 o3 o2"),
        ("sort=updated_at".to_owned(), "2026-o1 o2 o3"),
        ("sort=-updated_at&limit=1".to_owned(), "o3"),
        ("sort=created_at".to_owned(), "o2 o3 2026-o1"),
        ("limit=100".to_owned(), "2026-o1 o3 o2"),
    ];
    for (query, numbers) in cases {
        let page = key.get(&format!("{ORDERS}?{query}")).await.assert_status(200).json();
        let read: Vec<&str> =
            page["data"].as_array().unwrap().iter().map(|order| order["number"].as_str().unwrap()).collect();
        assert_eq!(read.join(" "), numbers, "{query}");
    }
    // With each sort order, reading page by page returns every order once.
    for sort in ["paid_at", "-paid_at", "updated_at", "-updated_at"] {
        assert_eq!(key.list_all(&format!("{ORDERS}?limit=1&sort={sort}")).await.len(), 3, "{sort}");
    }
}

#[tokio::test]
async fn an_order_keeps_the_customer_data_of_its_payment() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let (.., ada) = create_courses_and_student(&workspace).await;
    workspace.change("order.pay", order_of_two_courses("o1")).await;
    let before = only_order(&key).await;

    let renamed = json!({"key": "ada", "email": "ada@osei.example", "name": "Ada M. Osei"});
    workspace.change("student.upsert", renamed).await;
    assert_eq!(only_order(&key).await, before);

    app.clock.advance(Duration::from_secs(1));
    workspace.change("student.delete", json!({"student": "ada"})).await;
    let mut expected = before;
    expected["studentId"] = Value::Null;
    expected["updated_at"] = json!("2026-03-02T10:00:31.000Z");
    for entitlement in expected["entitlements"].as_array_mut().unwrap() {
        entitlement["enrollment_id"] = Value::Null;
    }
    assert_eq!(only_order(&key).await, expected);
    assert!(key.get(&format!("{ORDERS}?studentId={ada}")).await.assert_status(200).ids().is_empty());

    // A refund is still possible.
    workspace.change("order.refund", json!({"order": "o1"})).await;
    assert_eq!(only_order(&key).await["status"], "refunded");
}

#[tokio::test]
async fn an_inconsistent_change_is_rejected_as_a_whole() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    create_courses_and_student(&workspace).await;
    workspace.change("order.pay", order_of_one_course("o1", "rust")).await;
    let (before, events) = (only_order(&key).await, app.events().await.len());

    let order_with = |name: &str, value: Value| {
        let mut order = order_of_two_courses("o2");
        order[name] = value;
        ("order.pay", order)
    };
    let order_with_item = |name: &str, value: Value| {
        let mut order = order_of_two_courses("o2");
        order["items"][1][name] = value;
        ("order.pay", order)
    };
    let refund = |amount: i64| ("order.refund", json!({"order": "o1", "amount": amount}));
    let cases = [
        order_with("discount_amount", json!(14801)),
        order_with("discount_amount", json!(-1)),
        order_with("tax_amount", json!(-1)),
        order_with("currency", json!("usd")),
        order_with("items", json!([])),
        order_with("key", json!("o1")),
        order_with("number", json!("o1")),
        order_with("student", json!("nobody")),
        order_with_item("course", json!("nothing")),
        order_with_item("quantity", json!(0)),
        order_with_item("unit_amount", json!(-1)),
        order_with_item("unit_amount", json!(i64::MAX)),
        order_with_item("cours", json!("red")),
        refund(101),
        refund(0),
        refund(-5),
        ("order.refund", json!({"order": "o9"})),
    ];
    let mut rejected = Vec::new();
    for (change, data) in cases {
        rejected.extend(
            app.try_apply(&workspace.build_change("2026-03-02T10:00:00Z", change, data).to_string()).await.1,
        );
    }
    let too_early = workspace.build_change("2026-02-01T00:00:00Z", "order.refund", json!({"order": "o1"}));
    rejected.extend(app.try_apply(&too_early.to_string()).await.1);
    assert_json_snapshot!(rejected);
    assert_eq!(only_order(&key).await, before);
    assert_eq!(app.events().await.len(), events);

    // Nothing is left to refund after a full refund.
    workspace.change("order.refund", json!({"order": "o1"})).await;
    let repeat = workspace.build_change("2026-03-02T10:00:00Z", "order.refund", json!({"order": "o1"}));
    assert_eq!(app.try_apply(&repeat.to_string()).await.1.len(), 1);
    assert_eq!(app.events_of_type("order.refunded").await.len(), 1);
}
