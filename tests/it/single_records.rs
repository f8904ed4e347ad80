//! One student or one order: the same record as in the list, its `ETag`, its errors, the limits and the log.

use std::time::Duration;

use domain::requests::RequestFilter;
use reqwest::Method;
use sea_orm::{ConnectionTrait, TransactionTrait};
use serde_json::{Value, json};

use crate::support::conformance::assert_error;
use crate::support::{TestApp, TestKey, TestResponse, TestWorkspace, send, skip, wait_until};

const STUDENTS: &str = "/api/v1/students";
const ORDERS: &str = "/api/v1/orders";

/// Creates the student `ada` with a paid order of the course `rust`. Returns the paths of the student and the order.
async fn create_student_and_order(workspace: &TestWorkspace<'_>) -> (String, String) {
    workspace.course("rust", 2).await;
    let student = workspace.student("ada").await;
    let items = json!([{"course": "rust", "unit_amount": 4900}]);
    let order = json!({"key": "o1", "number": "1", "student": "ada", "currency": "EUR", "items": items});
    workspace.change("order.pay", order).await;
    let order = workspace.key("read:orders").await.get(ORDERS).await.ids().remove(0);
    (format!("{STUDENTS}/{student}"), format!("{ORDERS}/{order}"))
}

/// Returns the record at this path.
async fn read(key: &TestKey, path: &str) -> Value {
    key.get(path).await.assert_status(200).json()
}

/// Requests the path with this ETag in `If-None-Match`.
async fn get_with_tag(key: &TestKey, path: &str, tag: &str) -> TestResponse {
    send(key.request(Method::GET, path).header("if-none-match", tag)).await
}

/// Returns an error body without the request id.
fn without_request_id(response: &TestResponse) -> Value {
    let mut body = response.json();
    body["error"]["request_id"].take();
    body
}

#[tokio::test]
async fn a_record_is_the_same_as_in_the_list() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:students read:orders").await;
    let (student, order) = create_student_and_order(&workspace).await;
    let completion = json!({"student": "ada", "course": "rust", "lesson": "rust-1"});
    workspace.change("progress.record", completion).await;
    workspace.change("order.refund", json!({"order": "o1", "amount": 900})).await;
    // Other records of the workspace.
    workspace.student("bob").await;

    let listed = read(&key, &format!("{STUDENTS}?email=ada%40example.com")).await;
    assert_eq!(read(&key, &student).await, listed["data"][0]);
    assert_eq!(listed["data"][0]["enrollments"].as_array().map(Vec::len), Some(1));
    let listed = read(&key, ORDERS).await;
    assert_eq!(read(&key, &order).await, listed["data"][0]);
    assert_eq!(listed["data"][0]["status"], "partially_refunded");
    let head = key.head(&student).await.assert_status(200);
    assert_eq!(head.header("etag"), key.get(&student).await.header("etag"));
    // Neither operation has query parameters.
    for path in [&student, &order] {
        key.get(&format!("{path}?limit=1")).await.assert_errors_at(&["query limit"]);
        key.post(path, json!({})).await.assert_status(405);
    }
}

#[tokio::test]
async fn the_location_of_a_new_student_returns_the_student() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let created = key.post(STUDENTS, json!({"email": "ada@example.com"})).await.assert_status(201);
    assert_eq!(read(&key, created.header("location")).await, created.json());

    // A write scope does not include the read scope.
    let write_key = workspace.key("write:students").await;
    let message = assert_error(&write_key.get(created.header("location")).await, 403, "forbidden");
    assert!(message.contains("`read:students`"), "{message}");
}

#[tokio::test]
async fn a_change_of_a_record_changes_its_etag() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let (student, order) = create_student_and_order(&workspace).await;
    let completion = json!({"student": "ada", "course": "rust", "lesson": "rust-1"});
    let refund = json!({"order": "o1", "amount": 900});
    for (path, change, data) in [(&student, "progress.record", completion), (&order, "order.refund", refund)]
    {
        let before = key.get(path).await.assert_status(200);
        let tag = before.header("etag");
        get_with_tag(&key, path, tag).await.assert_status(304);
        app.clock.advance(Duration::from_secs(1));
        workspace.change(change, data).await;
        let after = get_with_tag(&key, path, tag).await.assert_status(200);
        assert_ne!(after.header("etag"), tag, "{path}");
        assert_eq!(after.json()["updated_at"], json!(format!("{:.3}", app.clock.now())));
    }
}

#[tokio::test]
async fn an_order_is_read_consistently_while_its_refunds_change() {
    let app = TestApp::start().await;
    if !app.uses_postgres() {
        return skip("PostgreSQL only: the lock of a table stops a reader between two queries");
    }
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:orders").await;
    let (_, order) = create_student_and_order(&workspace).await;
    workspace.change("order.refund", json!({"order": "o1", "amount": 900})).await;
    let before = read(&key, &order).await;
    assert_eq!((&before["refunded_amount"], &before["refunds"][0]["amount"]), (&json!(900), &json!(900)));

    let other = sea_orm::Database::connect(app.database_url()).await.expect("a connection");
    let write = other.begin().await.expect("a transaction");
    write
        .execute_unprepared("LOCK TABLE refunds IN ACCESS EXCLUSIVE MODE")
        .await
        .expect("the table is locked");
    let delete_refunds = async {
        wait_until("the request waits for the table", async || app.has_blocked_session().await).await;
        let statements = "DELETE FROM refunds; UPDATE orders SET refunded_amount = 0";
        write.execute_unprepared(statements).await.expect("the statements succeed");
        write.commit().await.expect("the commit succeeds");
    };
    let (during, ()) = tokio::join!(read(&key, &order), delete_refunds);
    assert_eq!(during, before);
}

#[tokio::test]
async fn a_deleted_student_is_not_found_and_the_order_is_kept() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let (student, order) = create_student_and_order(&workspace).await;
    read(&key, &student).await;
    workspace.change("student.delete", json!({"student": "ada"})).await;
    assert_error(&key.get(&student).await, 404, "not_found");
    assert_eq!(read(&key, &order).await["studentId"], Value::Null);
}

#[tokio::test]
async fn an_id_that_does_not_resolve_is_not_found() {
    let app = TestApp::start().await;
    let (student, order) = create_student_and_order(&app.workspace("acme").await).await;
    let other = app.workspace("globex").await;
    let key = other.key_with_all_scopes().await;
    for (list, foreign, absent) in [
        (STUDENTS, student, "stu_01k424mh00e2mbrajjfteg1k8f"),
        (ORDERS, order, "ord_01k424mh00e2mbrajjfteg1k8f"),
    ] {
        // The messages differ only in the id that was sent, so that they do not reveal whether the record exists.
        let absent_id = absent;
        let foreign_id = foreign.rsplit('/').next().unwrap();
        let absent = key.get(&format!("{list}/{absent_id}")).await;
        let foreign = key.get(&foreign).await;
        assert_error(&absent, 404, "not_found");
        let masked =
            |response: &TestResponse, id: &str| without_request_id(response).to_string().replace(id, "ID");
        assert_eq!(masked(&absent, absent_id), masked(&foreign, foreign_id));

        for malformed in ["x", "stu_", "%00", "ord_01K424MH00E2MBRAJJFTEG1K8F%20", "..%2Fcourses"] {
            assert_error(&key.get(&format!("{list}/{malformed}")).await, 404, "not_found");
        }
    }
    let message =
        assert_error(&key.get(&format!("{STUDENTS}/ord_01k424mh00e2mbrajjfteg1k8f")).await, 404, "not_found");
    assert!(message.contains("is the id of an order") && message.contains("`stu_`"), "{message}");
    let message =
        assert_error(&key.get(&format!("{ORDERS}/stu_01k424mh00e2mbrajjfteg1k8f")).await, 404, "not_found");
    assert!(message.contains("is the id of a student") && message.contains("`ord_`"), "{message}");
}

#[tokio::test]
async fn requests_are_logged_and_limited() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let (student, order) = create_student_and_order(&workspace).await;
    let key = workspace.key_with_default_quota("read:students read:orders").await;
    let first = key.get(&student).await.assert_status(200);
    let second = get_with_tag(&key, &order, "*").await.assert_status(304);
    assert_eq!((first.header("x-ratelimit-remaining"), second.header("x-ratelimit-remaining")), ("59", "58"));

    let filter = RequestFilter { key: Some(key.id.parse().unwrap()), ..RequestFilter::default() };
    let logged = app.log(workspace.id, filter).await;
    let logged: Vec<(u16, Option<&str>)> =
        logged.iter().rev().map(|entry| (entry.status, entry.operation.as_deref())).collect();
    assert_eq!(logged, [(200, Some("getStudent")), (304, Some("getOrder"))]);
}
