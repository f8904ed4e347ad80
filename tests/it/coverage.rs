//! Coverage gates: every operation, status and error code of the contract occurs in a test, as documented.
//!
//! The tests iterate over the generated tables, so a new operation, status or code fails here until it has an example.

use std::time::Duration;

use api::generated::operations::OPERATIONS;
use api::generated::schemas::ErrorCode;
use contract_runtime::contract::Operation;
use domain::idempotency;
use domain::scope::Scope;
use domain::workspaces::Quota;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::conformance::{ContractValidator, assert_error};
use crate::support::{TestApp, TestKey, TestResponse, TestWorkspace, outage, send};

/// The ids of the records that the example requests use.
struct ExampleRecords {
    course: String,
    student: String,
    order: String,
}

impl ExampleRecords {
    /// Creates the records, with an order and an enrollment, and a second student.
    async fn create(workspace: &TestWorkspace<'_>) -> Self {
        let (course, student) = (workspace.course("rust", 2).await, workspace.student("ada").await);
        workspace.change("enrollment.grant", json!({"student": "ada", "course": "rust"})).await;
        let items = json!([{"course": "rust", "unit_amount": 4900}]);
        let pay = json!({"key": "o1", "number": "1", "student": "ada", "currency": "EUR", "items": items});
        workspace.change("order.pay", pay).await;
        workspace.student("bob").await;
        Self { course, student, order: first_id(workspace, "orders").await }
    }
}

/// A successful request for an operation.
#[derive(Clone)]
struct ExampleRequest {
    method: Method,
    path: String,
    body: Option<Value>,
}

impl ExampleRequest {
    fn get(path: impl Into<String>) -> Self {
        Self { method: Method::GET, path: path.into(), body: None }
    }

    fn post(path: &str, body: Value) -> Self {
        Self { method: Method::POST, path: path.to_owned(), body: Some(body) }
    }

    /// Builds the request with this API key, or without one.
    fn build(&self, app: &TestApp, key: Option<&TestKey>) -> reqwest::RequestBuilder {
        let request = match key {
            Some(key) => key.request(self.method.clone(), &self.path),
            None => app.request(self.method.clone(), &self.path),
        };
        match &self.body {
            Some(body) => request.json(body),
            None => request,
        }
    }

    /// Sends the request with this API key.
    async fn send_with(&self, app: &TestApp, key: &TestKey) -> TestResponse {
        send(self.build(app, Some(key))).await
    }
}

/// Returns a successful request for the operation. Add the example of a new operation here; every gate uses it.
fn example(operation: &Operation, records: &ExampleRecords) -> ExampleRequest {
    let request = match operation.id {
        "listCourses" => ExampleRequest::get("/api/v1/courses"),
        "getCourse" => ExampleRequest::get(format!("/api/v1/courses/{}", records.course)),
        "listStudents" => ExampleRequest::get("/api/v1/students?limit=1"),
        "getStudent" => ExampleRequest::get(format!("/api/v1/students/{}", records.student)),
        "createStudent" => {
            ExampleRequest::post("/api/v1/students", json!({"email": "new@example.com", "tags": ["vip"]}))
        }
        "listOrders" => ExampleRequest::get("/api/v1/orders"),
        "getOrder" => ExampleRequest::get(format!("/api/v1/orders/{}", records.order)),
        "createEnrollment" => ExampleRequest::post(
            "/api/v1/enrollments",
            json!({"studentId": records.student, "courseId": records.course}),
        ),
        "getAnalyticsSummary" => ExampleRequest::get("/api/v1/analytics/summary?interval=week"),
        unknown => panic!("add an example of {unknown}"),
    };
    assert_eq!(request.method.as_str(), operation.method, "{}", operation.id);
    request
}

/// Returns all scopes except the operation's, separated by spaces.
fn other_scopes(operation: &Operation) -> String {
    let scopes =
        Scope::ALL.iter().map(|scope| scope.as_str()).filter(|scope| Some(*scope) != operation.scope);
    scopes.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn no_operation_answers_without_a_key() {
    let app = TestApp::start().await;
    let contract = ContractValidator::fetch(&app).await;
    let records = ExampleRecords::create(&app.workspace("acme").await).await;
    for operation in OPERATIONS {
        let response = send(example(operation, &records).build(&app, None)).await;
        assert_error(&response, 401, "unauthorized");
        contract.assert_documents(operation, &response);
    }
    assert!(
        app.events_of_type("student.created").await.len() == 2,
        "only ada and bob were created, not the example's student"
    );
}

#[tokio::test]
async fn each_operation_needs_its_scope_and_no_other() {
    let app = TestApp::start().await;
    let contract = ContractValidator::fetch(&app).await;
    let workspace = app.workspace("acme").await;
    let records = ExampleRecords::create(&workspace).await;
    for operation in OPERATIONS {
        let scope = operation.scope.unwrap_or_else(|| panic!("{} has no scope", operation.id));
        let call = example(operation, &records);
        let without_scope = call.send_with(&app, &workspace.key(&other_scopes(operation)).await).await;
        let message = assert_error(&without_scope, 403, "forbidden");
        assert!(message.contains(&format!("`{scope}`")), "{}: {message}", operation.id);
        contract.assert_documents(operation, &without_scope);

        let with_scope = call.send_with(&app, &workspace.key(scope).await).await;
        assert!((200..300).contains(&with_scope.status), "{}: {with_scope:?}", operation.id);
        contract.assert_documents(operation, &with_scope);
    }
}

#[tokio::test]
async fn no_operation_answers_beyond_the_limit() {
    let app = TestApp::start().await;
    let contract = ContractValidator::fetch(&app).await;
    let workspace = app.workspace("acme").await;
    let records = ExampleRecords::create(&workspace).await;
    for operation in OPERATIONS {
        let quota = Quota { per_minute: Some(1), per_day: None };
        let key = workspace.key_with_quota(operation.scope.unwrap_or_default(), quota, None).await;
        let call = example(operation, &records);
        let first = call.send_with(&app, &key).await;
        assert!((200..300).contains(&first.status), "{}: {first:?}", operation.id);
        let second = call.send_with(&app, &key).await;
        assert_error(&second, 429, "rate_limited");
        // The clock of the test starts at second 30 of a minute.
        assert_eq!(second.header("retry-after"), "30", "{}", operation.id);
        contract.assert_documents(operation, &second);
    }
}

#[tokio::test]
async fn no_operation_returns_data_of_another_workspace() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let records = ExampleRecords::create(&acme).await;
    let foreign_key = app.workspace("globex").await.key_with_all_scopes().await;
    let before = app.events().await.len();
    for operation in OPERATIONS {
        let response = example(operation, &records).send_with(&app, &foreign_key).await;
        match operation.id {
            "listCourses" | "listStudents" | "listOrders" => {
                assert!(response.assert_status(200).ids().is_empty())
            }
            "getCourse" | "getStudent" | "getOrder" | "createEnrollment" => {
                drop(assert_error(&response, 404, "not_found"))
            }
            // Created in `globex`, the workspace of the key. Below, the test checks that `acme` did not get the student.
            "createStudent" => drop(response.assert_status(201)),
            "getAnalyticsSummary" => {
                let summary = response.assert_status(200).json();
                assert_eq!((&summary["revenue"], &summary["enrollments"]["active"]), (&json!([]), &json!(0)));
            }
            unknown => panic!("add the expected response of {unknown} to a request from another workspace"),
        }
    }
    let students = acme.key_with_all_scopes().await.get("/api/v1/students?email=new%40example.com").await;
    assert!(students.assert_status(200).ids().is_empty());
    assert_eq!(app.events().await.len(), before + 1);
}

/// Sends a request that causes this documented status of an operation. For 500, the database is unavailable.
async fn provoke(
    app: &TestApp,
    workspace: &TestWorkspace<'_>,
    operation: &Operation,
    status: u16,
) -> TestResponse {
    let records = ExampleRecords {
        course: first_id(workspace, "courses").await,
        student: ada_id(workspace).await,
        order: first_id(workspace, "orders").await,
    };
    let call = example(operation, &records);
    let key = workspace.key_with_all_scopes().await;
    match status {
        200 => call.send_with(app, &key).await,
        201 => {
            let mut call = call;
            let email = format!("s{}@example.com", app.next_change_number());
            let created = key.post("/api/v1/students", json!({"email": email})).await.assert_status(201);
            if operation.id == "createStudent" {
                return created;
            }
            let body = call.body.as_mut().expect("a POST has a body");
            body["studentId"] = created.json()["id"].clone();
            call.send_with(app, &key).await
        }
        304 => send(call.build(app, Some(&key)).header("if-none-match", "*")).await,
        401 => send(call.build(app, None)).await,
        403 => call.send_with(app, &workspace.key(&other_scopes(operation)).await).await,
        404 => {
            let absent = "crs_01k424mh00e2mbrajjfteg1k8f";
            let body = call.body.map(|_| json!({"studentId": records.student, "courseId": absent}));
            let path = call
                .path
                .replace(&records.course, absent)
                .replace(&records.student, "stu_01k424mh00e2mbrajjfteg1k8f")
                .replace(&records.order, "ord_01k424mh00e2mbrajjfteg1k8f");
            ExampleRequest { path, body, ..call }.send_with(app, &key).await
        }
        409 => {
            let body = call.body.as_ref().expect("a POST has a body").to_string();
            let fingerprint =
                Sha256::new().chain_update(operation.id).chain_update([0]).chain_update(&body).finalize();
            let key_id = key.id.parse().expect("a key's id");
            idempotency::claim(&app.app, key_id, "running", fingerprint.into())
                .await
                .expect("the claim succeeds");
            key.post_idempotent(&call.path, "running", call.body.as_ref().unwrap()).await
        }
        413 => key.post_bytes(&call.path, " ".repeat(300 * 1024)).await,
        415 => {
            send(key.request(call.method, &call.path).header("content-type", "text/plain").body("x")).await
        }
        422 if call.body.is_some() => key.post(&call.path, json!({"unknown": 1})).await,
        422 => {
            send(key.request(call.method, &format!("{}?unknown=1", call.path.split('?').next().unwrap())))
                .await
        }
        429 => {
            let quota = Quota { per_minute: Some(1), per_day: None };
            let key = workspace.key_with_quota(operation.scope.unwrap_or_default(), quota, None).await;
            call.send_with(app, &key).await;
            call.send_with(app, &key).await
        }
        500 => {
            // With this request, the server caches the key, so that authentication needs no database during the outage.
            key.get("/api/v1/nothing").await.assert_status(404);
            // For half a second, a cached response of `getCourse` is used without a query.
            app.clock.advance(Duration::from_millis(600));
            let outage = outage::begin(app).await;
            let response = call.send_with(app, &key).await;
            outage.end(app).await;
            response
        }
        unknown => panic!("add a request that causes {unknown} of {}", operation.id),
    }
}

/// Returns the first id of a list.
async fn first_id(workspace: &TestWorkspace<'_>, list: &str) -> String {
    workspace.key_with_all_scopes().await.get(&format!("/api/v1/{list}")).await.ids().remove(0)
}

/// Returns the id of the student `ada`.
async fn ada_id(workspace: &TestWorkspace<'_>) -> String {
    workspace
        .key_with_all_scopes()
        .await
        .get("/api/v1/students?email=ada%40example.com")
        .await
        .ids()
        .remove(0)
}

#[tokio::test]
#[ignore = "slow"]
async fn every_documented_status_of_every_operation_arises_as_documented() {
    let app = TestApp::start().await;
    let contract = ContractValidator::fetch(&app).await;
    let workspace = app.workspace("acme").await;
    ExampleRecords::create(&workspace).await;
    for operation in OPERATIONS {
        for status in operation.statuses {
            let response = provoke(&app, &workspace, operation, *status).await;
            assert_eq!(
                response.status,
                *status,
                "{}: {}",
                operation.id,
                String::from_utf8_lossy(&response.body)
            );
            contract.assert_documents(operation, &response);
        }
    }
}

#[tokio::test]
async fn every_error_code_occurs() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let records = ExampleRecords::create(&workspace).await;
    let operation = OPERATIONS
        .iter()
        .find(|operation| operation.id == "getCourse")
        .expect("the contract has `getCourse`");

    for code in ErrorCode::ALL {
        // No `_` arm, so that a new code must be added here.
        let status = match code {
            ErrorCode::Unauthorized => 401,
            ErrorCode::Forbidden => 403,
            ErrorCode::NotFound => 404,
            ErrorCode::RateLimited => 429,
            ErrorCode::InvalidRequest => 422,
            ErrorCode::InternalError => 500,
        };
        let code_text = serde_json::to_value(code).expect("a code is a string");
        let response = provoke(&app, &workspace, operation, status).await;
        let message = assert_error(&response, status, code_text.as_str().expect("a code is a string"));
        if status == 500 {
            assert_eq!(message, "The server encountered an internal error.");
            assert!(response.json()["error"]["details"].is_null());
        }
    }
    // The outage is over.
    example(operation, &records)
        .send_with(&app, &workspace.key_with_all_scopes().await)
        .await
        .assert_status(200);
}
