//! Tests that iterate over all operations of the Platform API. `cargo xtask check` requires these tests.

use api::platform::generated::operations::OPERATIONS;
use contract_runtime::contract::Operation;
use domain::event_feed::EventPosition;
use jiff::SignedDuration;
use reqwest::{Method, RequestBuilder};
use sea_orm::ConnectionTrait as _;
use serde_json::json;

use super::changes::open_body;
use super::event_feed::wait_with_many_readers;
use crate::support::conformance::ContractValidator;
use crate::support::platform::{NDJSON, platform_token, workspace_line};
use crate::support::{TestApp, TestKey, TestResponse, send};

/// Builds a successful request for the operation, with a token or without one. `query` is empty or begins with a question mark.
/// Add the example of a new operation here; every test uses it.
fn example(app: &TestApp, operation: &Operation, token: Option<&TestKey>, query: &str) -> RequestBuilder {
    let method = Method::from_bytes(operation.method.as_bytes()).expect("a method");
    let path = format!("{}{query}", operation.path);
    let request = match token {
        Some(token) => token.request(method, &path),
        None => app.request(method, &path),
    };
    match operation.id {
        "importChanges" => request.header("content-type", NDJSON).body(workspace_line("example")),
        "listEvents" => request,
        "createDashboardLink" => request.json(&json!({"workspace": "acme", "email": "ada@example.com"})),
        unknown => panic!("add an example of {unknown}"),
    }
}

/// Sends a request that the operation answers with this status.
async fn provoke(app: &TestApp, operation: &Operation, status: u16) -> TestResponse {
    let scopes = "write:changes read:events write:dashboard_links";
    let token = platform_token(app, scopes).await;
    let call = || example(app, operation, Some(&token), "");
    match status {
        200 | 201 => send(call()).await,
        401 => send(example(app, operation, None, "")).await,
        403 => {
            let other_scopes: Vec<&str> =
                scopes.split(' ').filter(|scope| Some(*scope) != operation.scope).collect();
            let token = platform_token(app, &other_scopes.join(" ")).await;
            send(example(app, operation, Some(&token), "")).await
        }
        404 => send(call().json(&json!({"workspace": "nobody", "email": "ada@example.com"}))).await,
        410 => {
            let expired = EventPosition::before(app.clock.now() - SignedDuration::from_hours(31 * 24));
            send(example(app, operation, Some(&token), &format!("?cursor={expired}"))).await
        }
        413 => send(call().body(" ".repeat(300 * 1024))).await,
        415 => {
            let method = Method::from_bytes(operation.method.as_bytes()).expect("a method");
            send(token.request(method, operation.path).header("content-type", "text/plain").body("x")).await
        }
        422 => send(example(app, operation, Some(&token), "?unknown=1")).await,
        500 => {
            let rename = |from: &str, to: &str| format!("ALTER TABLE {from} RENAME TO {to}");
            let write = app.begin_write().await;
            write.conn().execute_unprepared(&rename("platform_tokens", "hidden")).await.expect("a statement");
            write.commit().await.expect("the commit succeeds");
            let response = send(call()).await;
            let write = app.begin_write().await;
            write.conn().execute_unprepared(&rename("hidden", "platform_tokens")).await.expect("a statement");
            write.commit().await.expect("the commit succeeds");
            response
        }
        503 if operation.id == "listEvents" => {
            let _readers = wait_with_many_readers(app).await;
            send(example(app, operation, Some(&token), "?wait=30")).await
        }
        503 => {
            let mut running = Vec::new();
            for _ in 0..4 {
                let (lines, body) = open_body();
                lines.send(workspace_line("running")).expect("the request is open");
                let request = token.request(Method::POST, operation.path).header("content-type", NDJSON);
                running.push((lines, request.body(body).send().await.expect("the server responds")));
            }
            send(call()).await
        }
        unknown => panic!("add a request that provokes {unknown}"),
    }
}

#[tokio::test]
async fn no_operation_answers_without_a_token() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    for operation in OPERATIONS {
        for token in [None, Some(&key)] {
            let rejected = send(example(&app, operation, token, "")).await.assert_status(401);
            assert_eq!(rejected.code(), "unauthorized", "{}", operation.id);
        }
    }
}

#[tokio::test]
async fn each_operation_needs_its_scope_and_no_other() {
    let app = TestApp::start().await;
    app.workspace("acme").await;
    for operation in OPERATIONS {
        let token = platform_token(&app, operation.scope.expect("a scope")).await;
        let response = send(example(&app, operation, Some(&token), "")).await;
        assert!(response.status < 300, "{}: {response:?}", operation.id);
        assert_eq!(provoke(&app, operation, 403).await.code(), "forbidden");
    }
}

#[tokio::test]
async fn every_documented_status_of_every_operation_arises_as_documented() {
    let app = TestApp::start().await;
    let contract = ContractValidator::fetch_contract(&app, "platform-v1").await;
    app.workspace("acme").await;
    for operation in OPERATIONS {
        for status in operation.statuses {
            let response = provoke(&app, operation, *status).await;
            let text = String::from_utf8_lossy(&response.body);
            assert_eq!(response.status, *status, "{}: {text}", operation.id);
            contract.assert_documents(operation, &response);
        }
    }
}
