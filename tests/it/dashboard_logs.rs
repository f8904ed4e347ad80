//! The request log on the dashboard: filters, details, and isolation from other workspaces.

use std::time::Duration;

use api::generated::operations::OPERATIONS;
use domain::requests;
use reqwest::Method;
use serde_json::json;

use crate::support::browser::{first, html};
use crate::support::{TestApp, send};

const LOGS: &str = "/dashboard/developer/logs";
const ENTRY: &str = "href=\"(/dashboard/developer/logs/log_[a-z0-9]+)\"";

#[tokio::test]
async fn a_rejected_request_is_shown_with_its_details() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let browser = workspace.signed_in().await;
    assert!(html(&browser.get(LOGS).await).contains("No requests yet"));

    let key = workspace.key("write:students").await;
    let request = key.request(Method::POST, "/api/v1/students").header("x-request-id", "mine-1");
    let body = json!({"email": "no address"});
    send(request.header("x-team", "<script>alert('blue')</script>").json(&body)).await.assert_status(422);
    requests::flush(&app.app).await.unwrap();

    let list = html(&browser.get(LOGS).await);
    assert!(list.contains("createStudent") && list.contains("mine-1") && list.contains(">422<"), "{list}");
    let path = first(&list, ENTRY);
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

    // A request id leads directly to its request.
    let found = browser.get("/dashboard/developer/logs?request=mine-1").await.assert_status(303);
    assert_eq!(found.header("location"), path);
    let unknown = browser.get("/dashboard/developer/logs?request=theirs").await.assert_status(422);
    assert!(html(&unknown).contains("Request ID matches no request of the last 7 days."));

    let stranger = app.workspace("other").await.signed_in().await;
    stranger.get(&path).await.assert_status(404);
    stranger.get("/dashboard/developer/logs?request=mine-1").await.assert_status(422);
    assert!(html(&stranger.get(LOGS).await).contains("No requests yet"));
    stranger.get("/dashboard/developer/logs/nonsense").await.assert_status(404);
}

#[tokio::test]
async fn the_log_is_filtered() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let (one, two) = (workspace.key("read:courses").await, workspace.key("read:courses").await);
    one.get("/api/v1/courses?limit=1").await.assert_status(200);
    app.clock.advance(Duration::from_secs(2 * 3600));
    one.get("/api/v1/courses/crs_x").await.assert_status(404);
    two.get("/api/v1/orders").await.assert_status(403);
    requests::flush(&app.app).await.unwrap();

    let browser = workspace.signed_in().await;
    let shown = async |query: &str| {
        let page = html(&browser.get(&format!("{LOGS}?{query}")).await.assert_status(200));
        ["courses?limit=1<", "crs_x<", "orders<"].map(|target| page.contains(target))
    };
    assert_eq!(shown("").await, [true, true, true]);
    assert_eq!(shown(&format!("key={}", one.id)).await, [true, true, false]);
    assert_eq!(shown("status=4xx").await, [false, true, true]);
    assert_eq!(shown("status=404").await, [false, true, false]);
    assert_eq!(shown("operation=listOrders").await, [false, false, true]);
    assert_eq!(shown("within=1").await, [false, true, true]);
    assert_eq!(shown("within=1&status=2xx").await, [false, false, false]);
    assert!(html(&browser.get(&format!("{LOGS}?status=5xx")).await).contains("No matching requests"));

    for (query, message) in [
        ("status=lots", "Status must be a code such as 404, or a class such as 4xx."),
        ("key=nonsense", "Key must be one of the listed values."),
        ("operation=nonsense", "Operation must be one of the listed values."),
        ("within=2", "Received must be one of the listed values."),
    ] {
        let refused = browser.get(&format!("{LOGS}?{query}")).await.assert_status(422);
        assert!(html(&refused).contains(message), "{}", html(&refused));
    }
    // Every operation of the contract is an option.
    let page = html(&browser.get(LOGS).await);
    for operation in OPERATIONS {
        assert!(page.contains(&format!("<option value=\"{}\"", operation.id)), "{}", operation.id);
    }
    assert_eq!(page.matches("<option value=\"").count(), OPERATIONS.len() + 1 + 3 + 3);
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
    let browser = workspace.signed_in().await;
    let page = html(&browser.get(&format!("{LOGS}?status=2xx")).await);
    assert!(page.contains("limit=30<") && page.contains("limit=6<") && !page.contains("limit=5<"), "{page}");
    let next = first(&page, "href=\"([^\"]+)\" rel=\"next\"").replace("&#38;", "&").replace("&amp;", "&");
    let page = html(&browser.get(&next).await.assert_status(200));
    assert!(page.contains("limit=5<") && page.contains("limit=1<") && !page.contains("limit=6<"), "{page}");
    assert!(!page.contains("v1/orders<") && page.contains("First page"), "{page}");
}
