//! The overview page of the dashboard, with and without data.

use std::time::Duration;

use domain::workspaces::Quota;
use serde_json::json;

use crate::support::browser::html;
use crate::support::{Endpoint, TestApp};

const OVERVIEW: &str = "/dashboard";

#[tokio::test]
async fn the_overview_of_an_empty_workspace_has_no_charts() {
    let app = TestApp::start().await;
    let browser = app.workspace("acme").await.owner_browser().await;
    let page = html(&browser.get(OVERVIEW).await.assert_status(200));
    for words in [
        "Nothing needs attention",
        "No paid orders in this period.",
        "No new students",
        "No API requests in this period.",
        "No deliveries in the last 48 hours.",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("<figure"), "empty charts are not drawn: {page}");
}

#[tokio::test]
async fn the_overview_shows_revenue_and_progress() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    workspace.course("rust", 1).await;
    workspace.student("ada").await;
    let order = |key: &str, currency: &str| {
        let items = [json!({"course": "rust", "unit_amount": 4900})];
        json!({"key": key, "number": key, "student": "ada", "currency": currency, "items": items})
    };
    workspace.change("order.pay", order("o1", "EUR")).await;
    workspace.change("order.pay", order("o2", "EUR")).await;
    workspace.change("order.pay", order("o3", "JPY")).await;
    workspace.change("order.refund", json!({"order": "o2", "amount": 900})).await;
    let completion = json!({"student": "ada", "course": "rust", "lesson": "rust-1"});
    workspace.change("progress.record", completion).await;
    app.clock.advance(Duration::from_secs(10 * 86_400));

    let browser = workspace.owner_browser().await;
    let page = html(&browser.get(OVERVIEW).await);
    for words in [
        "The last 30 days",
        "EUR 89.00",
        "2 orders, EUR 9.00 refunded",
        "JPY 4,900",
        "Revenue per day, EUR",
        "Revenue per day, JPY",
        "Students and completions per day",
        "<td class=\"number\">EUR 98.00</td>",
        "<th scope=\"row\">Mar 2</th>",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    // The orders are older than the shorter window.
    let week = html(&browser.get("/dashboard?days=7").await);
    assert!(week.contains("The last 7 days") && week.contains("No paid orders"), "{week}");
    for path in ["/dashboard?days=8", "/dashboard?days=", "/dashboard?days=%00"] {
        assert!(html(&browser.get(path).await).contains("The last 30 days"), "{path}");
    }
    let other_browser = app.workspace("other").await.owner_browser().await;
    assert!(!html(&other_browser.get(OVERVIEW).await).contains("EUR"));
}

#[tokio::test]
async fn the_overview_shows_what_needs_attention() {
    let app = TestApp::start_with_local_webhooks().await;
    let workspace = app.workspace("acme").await;
    let quota = Quota { per_minute: None, per_day: Some(5) };
    let expires_at = app.clock.now() + jiff::SignedDuration::from_hours(24 * 5);
    let key = workspace.key_with_quota("write:students", quota, Some(expires_at)).await;
    let endpoint = Endpoint::start().await;
    endpoint.always_respond_with(500);
    let webhook = workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
    for name in ["a", "b", "c", "d"] {
        key.post("/api/v1/students", json!({"email": format!("{name}@example.com")}))
            .await
            .assert_status(201);
    }
    assert_eq!(app.deliver_due().await, 4);
    // The server saves the counts of the rate limiter and of the request log every second.
    tokio::time::sleep(Duration::from_millis(2500)).await;

    let browser = workspace.owner_browser().await;
    let page = html(&browser.get(OVERVIEW).await);
    for words in [
        "Every attempt to deliver to http://127.0.0.1:".to_owned(),
        "has failed since 2026-03-02 10:00:30.".to_owned(),
        format!("<a href=\"/dashboard/developer/webhooks/{}\">View deliveries</a>", webhook.id),
        "has used 4 of its 5 requests per day. The quota resets at 2026-03-03 00:00:00.".to_owned(),
        format!("/dashboard/developer/logs?key={}", key.id),
        "expires at 2026-03-07 10:00:30.".to_owned(),
        "Webhook deliveries per hour".to_owned(),
        "<span class=\"figure\">0%</span>".to_owned(),
        "API requests per day".to_owned(),
        "<td class=\"number\" data-label=\"Requests\">4</td>".to_owned(),
    ] {
        assert!(page.contains(&words), "{words}: {page}");
    }
}
