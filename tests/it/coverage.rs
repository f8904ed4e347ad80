//! Coverage gates: every operation, status and error code of the contract occurs in a test, as documented.
//!
//! The lists come from the generated tables, so a new operation, status or code fails here until it has an example.

use std::collections::BTreeSet;
use std::time::Duration;

use api::error::ApiErrorCode;
use api::generated::operations::OPERATIONS;
use api::generated::schemas::ErrorCode;
use contract_runtime::contract::Operation;
use domain::idempotency;
use domain::scope::Scope;
use domain::workspaces::Quota;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::conformance::{ContractValidator, assert_error};
use crate::outage;
use crate::support::{Key, TestApp, TestResponse, Workspace, send};

/// A workspace with a course and a student.
struct Shop {
    course: String,
    student: String,
}

impl Shop {
    async fn open(workspace: &Workspace<'_>) -> Self {
        let shop =
            Self { course: workspace.course("rust", 2).await, student: workspace.student("ada").await };
        workspace.change("enrollment.grant", json!({"student": "ada", "course": "rust"})).await;
        let items = json!([{"course": "rust", "unit_amount": 4900}]);
        let pay = json!({"key": "o1", "number": "1", "student": "ada", "currency": "EUR", "items": items});
        workspace.change("order.pay", pay).await;
        workspace.student("bob").await;
        shop
    }
}

/// A request for an operation.
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

    /// Builds the request with this key, or without one.
    fn with(&self, app: &TestApp, key: Option<&Key>) -> reqwest::RequestBuilder {
        let request = match key {
            Some(key) => key.request(self.method.clone(), &self.path),
            None => app.request(self.method.clone(), &self.path),
        };
        match &self.body {
            Some(body) => request.json(body),
            None => request,
        }
    }

    async fn by(&self, app: &TestApp, key: &Key) -> TestResponse {
        send(self.with(app, Some(key))).await
    }
}

/// Returns a successful request for each operation. Add the example of a new operation here; every gate uses it.
fn example(operation: &Operation, shop: &Shop) -> ExampleRequest {
    let call = match operation.id {
        "listCourses" => ExampleRequest::get("/api/v1/courses"),
        "getCourse" => ExampleRequest::get(format!("/api/v1/courses/{}", shop.course)),
        "listStudents" => ExampleRequest::get("/api/v1/students?limit=1"),
        "createStudent" => {
            ExampleRequest::post("/api/v1/students", json!({"email": "new@example.com", "tags": ["vip"]}))
        }
        "listOrders" => ExampleRequest::get("/api/v1/orders"),
        "createEnrollment" => ExampleRequest::post(
            "/api/v1/enrollments",
            json!({"studentId": shop.student, "courseId": shop.course}),
        ),
        "getAnalyticsSummary" => ExampleRequest::get("/api/v1/analytics/summary?interval=week"),
        unknown => panic!("add an example of {unknown}"),
    };
    assert_eq!(call.method.as_str(), operation.method, "{}", operation.id);
    call
}

/// Returns all scopes except the operation's.
fn other_scopes(operation: &Operation) -> String {
    let all = Scope::ALL.iter().map(|scope| scope.as_str()).filter(|scope| Some(*scope) != operation.scope);
    all.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn no_operation_answers_without_a_key() {
    let app = TestApp::start().await;
    let contract = ContractValidator::of(&app).await;
    let shop = Shop::open(&app.workspace("acme").await).await;
    for operation in OPERATIONS {
        let response = send(example(operation, &shop).with(&app, None)).await;
        assert_error(&response, 401, "unauthorized");
        contract.assert_documents(operation, &response);
    }
    assert!(app.events_of("student.created").await.len() == 2, "the example's student was not created");
}

#[tokio::test]
async fn each_operation_needs_its_scope_and_no_other() {
    let app = TestApp::start().await;
    let contract = ContractValidator::of(&app).await;
    let workspace = app.workspace("acme").await;
    let shop = Shop::open(&workspace).await;
    for operation in OPERATIONS {
        let scope = operation.scope.unwrap_or_else(|| panic!("{} names no scope", operation.id));
        let call = example(operation, &shop);
        let lacking = call.by(&app, &workspace.key(&other_scopes(operation)).await).await;
        let message = assert_error(&lacking, 403, "forbidden");
        assert!(message.contains(&format!("`{scope}`")), "{}: {message}", operation.id);
        contract.assert_documents(operation, &lacking);

        let fit = call.by(&app, &workspace.key(scope).await).await;
        assert!((200..300).contains(&fit.status), "{}: {fit:?}", operation.id);
        contract.assert_documents(operation, &fit);
    }
}

#[tokio::test]
async fn no_operation_answers_beyond_the_limit() {
    let app = TestApp::start().await;
    let contract = ContractValidator::of(&app).await;
    let workspace = app.workspace("acme").await;
    let shop = Shop::open(&workspace).await;
    for operation in OPERATIONS {
        let quota = Quota { per_minute: Some(1), per_day: None };
        let key = workspace.key_with(operation.scope.unwrap_or_default(), quota, None).await;
        let call = example(operation, &shop);
        let first = call.by(&app, &key).await;
        assert!((200..300).contains(&first.status), "{}: {first:?}", operation.id);
        let second = call.by(&app, &key).await;
        assert_error(&second, 429, "rate_limited");
        assert_eq!(second.header("retry-after"), "30", "{}", operation.id);
        contract.assert_documents(operation, &second);
    }
}

#[tokio::test]
async fn no_operation_sees_into_another_workspace() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let shop = Shop::open(&acme).await;
    let stranger = app.workspace("globex").await.full_key().await;
    let before = app.events().await.len();
    for operation in OPERATIONS {
        let response = example(operation, &shop).by(&app, &stranger).await;
        match operation.id {
            "listCourses" | "listStudents" | "listOrders" => {
                assert!(response.assert_status(200).ids().is_empty())
            }
            "getCourse" | "createEnrollment" => drop(assert_error(&response, 404, "not_found")),
            // Created in the other workspace; checked below.
            "createStudent" => drop(response.assert_status(201)),
            "getAnalyticsSummary" => {
                let summary = response.assert_status(200).json();
                assert_eq!((&summary["revenue"], &summary["enrollments"]["active"]), (&json!([]), &json!(0)));
            }
            unknown => panic!("what does a foreign workspace see of {unknown}?"),
        }
    }
    let mine = acme.full_key().await.get("/api/v1/students?email=new%40example.com").await;
    assert!(mine.assert_status(200).ids().is_empty());
    assert_eq!(app.events().await.len(), before + 1);
}

/// Causes a documented status of an operation. For 500, the database is unavailable.
async fn provoke(
    app: &TestApp,
    workspace: &Workspace<'_>,
    operation: &Operation,
    status: u16,
) -> TestResponse {
    let shop = Shop { course: only_id(workspace, "courses").await, student: ada(workspace).await };
    let call = example(operation, &shop);
    let key = workspace.full_key().await;
    match status {
        200 if operation.id == "createEnrollment" => call.by(app, &key).await,
        200 => call.by(app, &key).await,
        201 => {
            let mut call = call;
            let email = format!("s{}@example.com", app.next_change_number());
            let created = key.post("/api/v1/students", json!({"email": email})).await.assert_status(201);
            if operation.id == "createStudent" {
                return created;
            }
            let body = call.body.as_mut().expect("a POST has a body");
            body["studentId"] = created.json()["id"].clone();
            call.by(app, &key).await
        }
        304 => send(call.with(app, Some(&key)).header("if-none-match", "*")).await,
        401 => send(call.with(app, None)).await,
        403 => call.by(app, &workspace.key(&other_scopes(operation)).await).await,
        404 => {
            let absent = "crs_01k424mh00e2mbrajjfteg1k8f";
            let body = call.body.map(|_| json!({"studentId": shop.student, "courseId": absent}));
            ExampleRequest { path: call.path.replace(&shop.course, absent), body, ..call }.by(app, &key).await
        }
        409 => {
            let body = call.body.as_ref().expect("a POST has a body").to_string();
            let fingerprint =
                Sha256::new().chain_update(operation.id).chain_update([0]).chain_update(&body).finalize();
            let key_id = key.id.parse().expect("a key's id");
            idempotency::claim(&app.app, key_id, "running", fingerprint.into())
                .await
                .expect("the claim is taken");
            key.post_once(&call.path, "running", call.body.as_ref().unwrap()).await
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
            let key = workspace.key_with(operation.scope.unwrap_or_default(), quota, None).await;
            call.by(app, &key).await;
            call.by(app, &key).await
        }
        500 => {
            // A known key, so that authentication needs no database.
            key.get("/api/v1/nothing").await.assert_status(404);
            // A cached page of the catalog is valid for half a second without a query.
            app.clock.advance(Duration::from_millis(600));
            let outage = outage::begin(app).await;
            let response = call.by(app, &key).await;
            outage.end(app).await;
            response
        }
        unknown => panic!("how does {} come to {unknown}?", operation.id),
    }
}

async fn only_id(workspace: &Workspace<'_>, list: &str) -> String {
    workspace.full_key().await.get(&format!("/api/v1/{list}")).await.ids().remove(0)
}

async fn ada(workspace: &Workspace<'_>) -> String {
    workspace.full_key().await.get("/api/v1/students?email=ada%40example.com").await.ids().remove(0)
}

#[tokio::test]
async fn every_documented_status_of_every_operation_arises_as_documented() {
    let app = TestApp::start().await;
    let contract = ContractValidator::of(&app).await;
    let workspace = app.workspace("acme").await;
    Shop::open(&workspace).await;
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
    let shop = Shop::open(&workspace).await;
    let operation =
        OPERATIONS.iter().find(|operation| operation.id == "getCourse").expect("getCourse is there");

    let mut occurred = BTreeSet::new();
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
        let written = serde_json::to_value(code).expect("a code is a text");
        let response = provoke(&app, &workspace, operation, status).await;
        let message = assert_error(&response, status, written.as_str().expect("a code is a text"));
        if status == 500 {
            assert_eq!(message, "The server encountered an internal error.");
            assert!(response.json()["error"]["details"].is_null());
        }
        occurred.insert(response.code());
    }
    let known: BTreeSet<String> = ApiErrorCode::ALL.iter().map(|code| code.as_str().to_owned()).collect();
    assert_eq!(occurred, known, "the codes of the contract are those of the server");
    // The outage is over.
    example(operation, &shop).by(&app, &workspace.full_key().await).await.assert_status(200);
}
