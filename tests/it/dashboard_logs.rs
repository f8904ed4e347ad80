//! The request log on the dashboard: filters, details, and isolation from other workspaces.

use std::time::Duration;

use api::developer::generated::operations::OPERATIONS as DEVELOPER_OPERATIONS;
use api::generated::operations::OPERATIONS;
use domain::requests;
use reqwest::Method;
use serde_json::json;

use crate::support::browser::{first_match, html};
use crate::support::{TestApp, send};

const LOGS: &str = "/dashboard/developer/logs";
/// Matches the link to an entry of the log.
const ENTRY_LINK: &str = "href=\"(/dashboard/developer/logs/log_[a-z0-9]+)\"";

#[tokio::test]
async fn a_rejected_request_is_shown_with_its_details() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let browser = workspace.owner_browser().await;
    assert!(html(&browser.get(LOGS).await).contains("No requests yet"));

    let key = workspace.key("write:students").await;
    let request = key.request(Method::POST, "/api/v1/students").header("x-request-id", "mine-1");
    let body = json!({"email": "no address"});
    send(request.header("x-team", "<script>alert('blue')</script>").json(&body)).await.assert_status(422);
    requests::flush(&app.app).await.unwrap();

    let list = html(&browser.get(LOGS).await);
    assert!(list.contains("createStudent") && list.contains("mine-1") && list.contains(">422<"), "{list}");
    let path = first_match(&list, ENTRY_LINK);
    let page = html(&browser.get(&path).await.assert_status(200));
    for words in [
        "invalid_request",
        "&#34;request_id&#34;: &#34;mine-1&#34;",
        "curl --request &#39;POST&#39;",
        "Bearer $API_KEY",
        "--data-binary @body.json",
        "Request bodies are not logged either",
        "<span class=\"quiet\">masked</span>",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains(&key.secret[9..]) && !page.contains("<script>alert"), "{page}");

    // A search for a request id redirects to the request.
    let redirect = browser.get("/dashboard/developer/logs?request=mine-1").await.assert_status(303);
    assert_eq!(redirect.header("location"), path);
    let unknown = browser.get("/dashboard/developer/logs?request=theirs").await.assert_status(422);
    assert!(html(&unknown).contains("Request ID matches no request in the last 7 days."));

    let other_browser = app.workspace("other").await.owner_browser().await;
    other_browser.get(&path).await.assert_status(404);
    other_browser.get("/dashboard/developer/logs?request=mine-1").await.assert_status(422);
    assert!(html(&other_browser.get(LOGS).await).contains("No requests yet"));
    other_browser.get("/dashboard/developer/logs/nonsense").await.assert_status(404);
}

#[tokio::test]
async fn the_log_is_filtered() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let (first_key, second_key) = (workspace.key("read:courses").await, workspace.key("read:courses").await);
    first_key.get("/api/v1/courses?limit=1").await.assert_status(200);
    app.clock.advance(Duration::from_secs(2 * 3600));
    first_key.get("/api/v1/courses/crs_x").await.assert_status(404);
    second_key.get("/api/v1/orders").await.assert_status(403);
    requests::flush(&app.app).await.unwrap();

    let browser = workspace.owner_browser().await;
    let visible_requests = async |query: &str| {
        let page = html(&browser.get(&format!("{LOGS}?{query}")).await.assert_status(200));
        ["courses?limit=1<", "crs_x<", "orders<"].map(|target| page.contains(target))
    };
    assert_eq!(visible_requests("").await, [true, true, true]);
    assert_eq!(visible_requests(&format!("key={}", first_key.id)).await, [true, true, false]);
    assert_eq!(visible_requests("status=4xx").await, [false, true, true]);
    assert_eq!(visible_requests("status=404").await, [false, true, false]);
    assert_eq!(visible_requests("operation=listOrders").await, [false, false, true]);
    assert_eq!(visible_requests("within=1").await, [false, true, true]);
    assert_eq!(visible_requests("within=1&status=2xx").await, [false, false, false]);
    assert!(html(&browser.get(&format!("{LOGS}?status=5xx")).await).contains("No matching requests"));

    for (query, message) in [
        ("status=lots", "Status must be a code such as 404, or a class such as 4xx."),
        ("key=nonsense", "Key must be one of the listed values."),
        ("operation=nonsense", "Operation must be one of the listed values."),
        ("within=2", "Received must be one of the listed values."),
    ] {
        let rejected = browser.get(&format!("{LOGS}?{query}")).await.assert_status(422);
        assert!(html(&rejected).contains(message), "{}", html(&rejected));
    }
    // One option for each operation with API keys, one option labeled "All operations", "All keys" plus one option
    // for each of the two keys, and three time windows.
    let page = html(&browser.get(LOGS).await);
    let operations = || OPERATIONS.iter().chain(DEVELOPER_OPERATIONS);
    for operation in operations() {
        assert!(page.contains(&format!("<option value=\"{}\"", operation.id)), "{}", operation.id);
    }
    assert_eq!(page.matches("<option value=\"").count(), operations().count() + 1 + 3 + 3);
}

#[tokio::test]
async fn the_filtered_log_is_paginated() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    for n in 1..=30 {
        app.clock.advance(Duration::from_secs(1));
        key.get(&format!("/api/v1/courses?limit={n}")).await.assert_status(200);
        key.get("/api/v1/orders").await.assert_status(403);
    }
    requests::flush(&app.app).await.unwrap();
    let browser = workspace.owner_browser().await;
    let page = html(&browser.get(&format!("{LOGS}?status=2xx")).await);
    assert!(page.contains("limit=30<") && page.contains("limit=6<") && !page.contains("limit=5<"), "{page}");
    let next =
        first_match(&page, "href=\"([^\"]+)\" rel=\"next\"").replace("&#38;", "&").replace("&amp;", "&");
    let page = html(&browser.get(&next).await.assert_status(200));
    assert!(page.contains("limit=5<") && page.contains("limit=1<") && !page.contains("limit=6<"), "{page}");
    assert!(!page.contains("v1/orders<") && page.contains("First page"), "{page}");
}
