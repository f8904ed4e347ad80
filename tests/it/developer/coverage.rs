//! Tests that iterate over all operations of the Developer API. `cargo xtask check` requires these tests.

use api::developer::generated::operations::OPERATIONS;
use api::developer::generated::schemas::EventType;
use contract_runtime::contract::Operation;
use domain::idempotency;
use domain::outbox::EVENT_TYPES;
use domain::scope::Scope;
use domain::webhooks::send_test;
use domain::workspaces::Quota;
use entity::webhook_deliveries::queue::DeliveryTransition;
use foundation::id::SubscriptionId;
use reqwest::{Method, RequestBuilder};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::new_webhook;
use crate::support::conformance::{ContractValidator, assert_error};
use crate::support::platform::NDJSON;
use crate::support::{TestApp, TestKey, TestResponse, TestWorkspace, in_transaction, outage, wait_until};

/// The ids of the records that the example requests use.
struct ExampleRecords {
    webhook: SubscriptionId,
    delivery: String,
}

impl ExampleRecords {
    /// Creates a webhook with a test event that was delivered.
    async fn create(workspace: &TestWorkspace<'_>) -> Self {
        let (webhook, _) = workspace.subscribe(&["student.created"]).await;
        let (app, id) = (workspace.app, workspace.id);
        let sent =
            in_transaction(app, async |write| send_test(&app.app, write, id, webhook, None).await).await;
        app.settle_due(Some(200), DeliveryTransition::Delivered).await;
        Self { webhook, delivery: sent.expect("a delivery").id.to_string() }
    }

    /// Returns the path of an operation with the id of its record.
    fn path(&self, operation: &Operation) -> String {
        let id = if operation.tag == "deliveries" { self.delivery.clone() } else { self.webhook.to_string() };
        operation.path.replace("{id}", &id)
    }
}

/// Builds a successful request for the operation, with a key or without one. Add the example of a new operation here; every test
/// uses it.
fn example(app: &TestApp, operation: &Operation, path: &str, key: Option<&TestKey>) -> RequestBuilder {
    let request = request(app, operation, path, key);
    match operation.id {
        "getCurrentKey"
        | "listWebhooks"
        | "getWebhook"
        | "deleteWebhook"
        | "listDeliveries"
        | "getDelivery"
        | "listDeliveryAttempts"
        | "replayDelivery"
        | "listEvents"
        | "streamEvents" => request,
        "createWebhook" => request.json(&new_webhook()),
        "updateWebhook" => request.json(&json!({"rate": 5})),
        "rotateCurrentKey" => request.json(&json!({"overlap_seconds": 60})),
        "rotateWebhookSecret" => request.json(&json!({"overlap_seconds": 0})),
        "testWebhook" => request.json(&json!({"event_type": "order.paid"})),
        "previewFilter" => request.json(&json!({"filter": []})),
        "createSandboxEvent" => request.json(&json!({"type": "order.paid"})),
        "advanceSandboxClock" => request.json(&json!({"advance_seconds": 1})),
        unknown => panic!("add an example of {unknown}"),
    }
}

fn request(app: &TestApp, operation: &Operation, path: &str, key: Option<&TestKey>) -> RequestBuilder {
    let method = Method::from_bytes(operation.method.as_bytes()).expect("a method");
    match key {
        Some(key) => key.request(method, path),
        None => app.request(method, path),
    }
}

/// Sends a request. Reads only the first line of a stream of events, which would continue for minutes.
async fn send(request: RequestBuilder) -> TestResponse {
    let mut response = request.send().await.expect("a response");
    let is_stream = response.headers().get("content-type").is_some_and(|value| value == NDJSON);
    if !is_stream {
        return TestResponse::read(response).await;
    }
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let line = response.chunk().await.expect("the response begins").expect("a line");
    TestResponse { status, headers, body: line.to_vec() }
}

/// Creates a key with all scopes except the operation's.
async fn key_without_scope(workspace: &TestWorkspace<'_>, operation: &Operation) -> TestKey {
    if operation.scope.is_none() {
        return key_for_elsewhere(workspace).await;
    }
    let scopes = Scope::ALL.iter().map(|scope| scope.as_str());
    let scopes: Vec<&str> = scopes.filter(|scope| Some(*scope) != operation.scope).collect();
    workspace.key(&scopes.join(" ")).await
}

/// Creates a key that may not be used from this machine.
async fn key_for_elsewhere(workspace: &TestWorkspace<'_>) -> TestKey {
    let key = workspace.key_with_all_scopes().await;
    let mut write = workspace.app.begin_write().await;
    let networks = ["192.0.2.0/24".parse().expect("a network")];
    let id = key.id.parse().expect("an id");
    domain::keys::set_networks(&workspace.app.app, &mut write, id, &networks).await.expect("a change");
    write.commit().await.expect("a commit");
    key
}

/// Creates a key that can call the operation. Without a scope, any other one does.
async fn key_with_scope(workspace: &TestWorkspace<'_>, operation: &Operation, quota: Quota) -> TestKey {
    workspace.key_with_quota(operation.scope.unwrap_or("read:courses"), quota, None).await
}

const UNLIMITED: Quota = Quota { per_minute: Some(100_000), per_day: Some(1_000_000) };
const ONE_PER_MINUTE: Quota = Quota { per_minute: Some(1), per_day: None };

/// Starts a server with everything that only sandboxes and ephemeral servers have.
async fn start() -> TestApp {
    TestApp::start_adjustable(&[("max_subscriptions_per_workspace", "1000")]).await
}

#[test]
fn the_event_types_are_those_of_v1() {
    let types: Vec<&str> = EventType::ALL.iter().map(|event_type| event_type.as_str()).collect();
    assert_eq!(types, EVENT_TYPES);
}

#[tokio::test]
async fn no_operation_answers_without_a_key() {
    let app = start().await;
    let contract = ContractValidator::fetch_contract(&app, "developer-v1").await;
    let records = ExampleRecords::create(&app.sandbox("acme").await).await;
    for operation in OPERATIONS {
        let response = send(example(&app, operation, &records.path(operation), None)).await;
        assert_error(&response, 401, "unauthorized");
        contract.assert_documents(operation, &response);
    }
}

#[tokio::test]
async fn each_operation_needs_its_scope_and_no_other() {
    let app = start().await;
    let workspace = app.sandbox("acme").await;
    for operation in OPERATIONS {
        let path = ExampleRecords::create(&workspace).await.path(operation);
        if let Some(scope) = operation.scope {
            let key = key_without_scope(&workspace, operation).await;
            let response = send(example(&app, operation, &path, Some(&key))).await;
            let message = assert_error(&response, 403, "forbidden");
            assert!(message.contains(&format!("`{scope}`")), "{}: {message}", operation.id);
        }
        let key = key_with_scope(&workspace, operation, UNLIMITED).await;
        let response = send(example(&app, operation, &path, Some(&key))).await;
        assert!((200..300).contains(&response.status), "{}: {response:?}", operation.id);
    }
}

#[tokio::test]
async fn no_operation_answers_beyond_the_limit() {
    let app = start().await;
    let contract = ContractValidator::fetch_contract(&app, "developer-v1").await;
    let workspace = app.sandbox("acme").await;
    for operation in OPERATIONS {
        let path = ExampleRecords::create(&workspace).await.path(operation);
        let key = key_with_scope(&workspace, operation, ONE_PER_MINUTE).await;
        let first = send(example(&app, operation, &path, Some(&key))).await;
        assert!((200..300).contains(&first.status), "{}: {first:?}", operation.id);
        let second = send(example(&app, operation, &path, Some(&key))).await;
        assert_error(&second, 429, "rate_limited");
        contract.assert_documents(operation, &second);
    }
}

#[tokio::test]
async fn no_operation_returns_data_of_another_workspace() {
    let app = start().await;
    let acme = app.sandbox("acme").await;
    let records = ExampleRecords::create(&acme).await;
    let globex = app.sandbox("globex").await;
    let key = globex.key_with_all_scopes().await;
    let own_key = acme.key_with_all_scopes().await;
    let own = [super::WEBHOOKS, super::DELIVERIES];
    let before = [own_key.get(own[0]).await.body, own_key.get(own[1]).await.body];
    for operation in OPERATIONS {
        let response = send(example(&app, operation, &records.path(operation), Some(&key))).await;
        match operation.id {
            "getCurrentKey" => {
                assert_eq!(response.assert_status(200).json()["workspace"]["name"], "globex")
            }
            "listEvents" => assert_eq!(response.assert_status(200).json()["data"], json!([])),
            "streamEvents" => assert!(response.assert_status(200).json()["event"].is_null()),
            "listWebhooks" | "listDeliveries" => assert!(response.assert_status(200).ids().is_empty()),
            // Its own key, whose old secret stays valid for the next operations.
            "rotateCurrentKey" => {
                let rotated = response.assert_status(200).json();
                assert_eq!(rotated["key_id"], key.id);
            }
            // Created in `globex`.
            "createSandboxEvent" => {
                assert_eq!(
                    response.assert_status(201).json()["event"]["workspace_id"],
                    globex.id.to_string()
                );
            }
            "advanceSandboxClock" => drop(response.assert_status(200)),
            "createWebhook" => {
                let created = response.assert_status(201).json();
                drop(super::delete(&key, &super::path_of(&created)).await.assert_status(204));
            }
            "getWebhook"
            | "updateWebhook"
            | "deleteWebhook"
            | "rotateWebhookSecret"
            | "testWebhook"
            | "previewFilter"
            | "getDelivery"
            | "listDeliveryAttempts"
            | "replayDelivery" => drop(assert_error(&response, 404, "not_found")),
            unknown => panic!("add the expected response of {unknown} to a request from another workspace"),
        }
    }
    assert_eq!([own_key.get(own[0]).await.body, own_key.get(own[1]).await.body], before);
    let foreign = format!("{}?webhook_id={}", super::DELIVERIES, records.webhook);
    assert_error(&key.get(&foreign).await, 404, "not_found");
}

/// Sends a request that the operation answers with this status. For 500, the database is unavailable.
async fn provoke(
    app: &TestApp,
    workspace: &TestWorkspace<'_>,
    operation: &Operation,
    status: u16,
) -> TestResponse {
    let path = ExampleRecords::create(workspace).await.path(operation);
    let key = workspace.key_with_all_scopes().await;
    let call = || example(app, operation, &path, Some(&key));
    match status {
        200 | 201 | 204 => send(call()).await,
        304 => send(call().header("if-none-match", "*")).await,
        401 => send(example(app, operation, &path, None)).await,
        403 => {
            let key = key_without_scope(workspace, operation).await;
            send(example(app, operation, &path, Some(&key))).await
        }
        404 if operation.id == "listDeliveries" => {
            key.get(&format!("{path}?webhook_id=whs_01k424mh00e2mbrajjfteg1k8f")).await
        }
        404 if operation.id == "listEvents" => {
            key.get(&format!("{path}?undelivered_to=whs_01k424mh00e2mbrajjfteg1k8f")).await
        }
        404 => {
            let absent = ["whs", "dlv"].map(|prefix| format!("{prefix}_01k424mh00e2mbrajjfteg1k8f"));
            let id = &absent[usize::from(operation.tag == "deliveries")];
            send(example(app, operation, &operation.path.replace("{id}", id), Some(&key))).await
        }
        409 => {
            let built = call().build().expect("a request");
            let body = built.body().and_then(|body| body.as_bytes()).unwrap_or_default();
            let id = path.split('/').nth(4).filter(|_| operation.path.contains("{id}"));
            let target = json!([operation.method, operation.path, Vec::from_iter(id), []]);
            let fingerprint = Sha256::new().chain_update(target.to_string()).chain_update([0]);
            let fingerprint = fingerprint.chain_update(body).finalize();
            let key_id = key.id.parse().expect("a key's id");
            idempotency::claim(&app.app, key_id, "running", fingerprint.into()).await.expect("a claim");
            send(call().header("idempotency-key", "running")).await
        }
        410 => {
            let page = key.get(super::EVENTS).await.assert_status(200).json();
            let cursor = page["pagination"]["cursor"].as_str().expect("a cursor").to_owned();
            app.clock.advance(std::time::Duration::from_hours(31 * 24));
            let key = workspace.key_with_all_scopes().await;
            let read = async || key.get(&format!("{path}?cursor={cursor}")).await;
            // A cursor is valid while a write runs that began before it expired.
            wait_until("the cursor expires", async || read().await.status == 410).await;
            read().await
        }
        413 => send(call().body(" ".repeat(300 * 1024))).await,
        415 => {
            let request = request(app, operation, &path, Some(&key));
            send(request.header("content-type", "text/plain").body("x")).await
        }
        422 => {
            let path = format!("{path}?unknown=1");
            send(example(app, operation, &path, Some(&key))).await
        }
        429 => {
            let key = key_with_scope(workspace, operation, ONE_PER_MINUTE).await;
            send(example(app, operation, &path, Some(&key))).await;
            send(example(app, operation, &path, Some(&key))).await
        }
        500 => {
            // With this request, the server caches the key, so that authentication needs no database during the outage.
            key.get("/developer/v1/nothing").await.assert_status(404);
            let outage = outage::begin(app).await;
            let response = send(call()).await;
            outage.end(app).await;
            response
        }
        unknown => panic!("add a request that causes {unknown} of {}", operation.id),
    }
}

#[tokio::test]
#[ignore = "slow"]
async fn every_documented_status_of_every_operation_arises_as_documented() {
    let app = start().await;
    let contract = ContractValidator::fetch_contract(&app, "developer-v1").await;
    let workspace = app.sandbox("acme").await;
    for operation in OPERATIONS {
        for status in operation.statuses {
            let response = provoke(&app, &workspace, operation, *status).await;
            let text = String::from_utf8_lossy(&response.body);
            assert_eq!(response.status, *status, "{}: {text}", operation.id);
            contract.assert_documents(operation, &response);
        }
    }
}
