//! The overview, with and without data.

use std::time::Duration;

use domain::workspaces::Quota;
use serde_json::json;

use crate::support::browser::html;
use crate::support::{Endpoint, TestApp};

const OVERVIEW: &str = "/dashboard";

#[tokio::test]
async fn the_overview_of_an_empty_workspace_explains_the_first_steps() {
    let app = TestApp::start().await;
    let browser = app.workspace("acme").await.signed_in().await;
    let page = html(&browser.get(OVERVIEW).await.assert_status(200));
    for words in [
        "Nothing needs attention",
        "No paid orders in this period.",
        "No new students",
        "No API calls in this period.",
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
    let done = json!({"student": "ada", "course": "rust", "lesson": "rust-1"});
    workspace.change("progress.record", done).await;
    app.clock.advance(Duration::from_secs(10 * 86_400));

    let browser = workspace.signed_in().await;
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
    // A shorter window begins after all of it.
    let week = html(&browser.get("/dashboard?days=7").await);
    assert!(week.contains("The last 7 days") && week.contains("No paid orders"), "{week}");
    for odd in ["/dashboard?days=8", "/dashboard?days=", "/dashboard?days=%00"] {
        assert!(html(&browser.get(odd).await).contains("The last 30 days"), "{odd}");
    }
    let stranger = app.workspace("other").await.signed_in().await;
    assert!(!html(&stranger.get(OVERVIEW).await).contains("EUR"));
}

#[tokio::test]
async fn the_overview_shows_what_needs_attention() {
    let app = TestApp::start_beside_receivers().await;
    let workspace = app.workspace("acme").await;
    let quota = Quota { per_minute: None, per_day: Some(5) };
    let ends = app.clock.now() + jiff::SignedDuration::from_hours(24 * 5);
    let key = workspace.key_with("write:students", quota, Some(ends)).await;
    let endpoint = Endpoint::start().await;
    endpoint.always_answers(500);
    let webhook = workspace.subscribe_at(&endpoint, &["student.created"]).await;
    for name in ["a", "b", "c", "d"] {
        key.post("/api/v1/students", json!({"email": format!("{name}@example.com")}))
            .await
            .assert_status(201);
    }
    assert_eq!(app.deliver_due().await, 4);
    // The counts of the limiter and of the log are written every second.
    tokio::time::sleep(Duration::from_millis(2500)).await;

    let browser = workspace.signed_in().await;
    let page = html(&browser.get(OVERVIEW).await);
    for words in [
        "Every delivery to http://127.0.0.1:".to_owned(),
        "has failed since Mar 2, 10:00 UTC.".to_owned(),
        format!("<a href=\"/dashboard/developer/webhooks/{}\">View deliveries</a>", webhook.id),
        "has used 4 of its 5 daily API calls.".to_owned(),
        format!("/dashboard/developer/logs?key={}", key.id),
        "expires on Mar 7, 10:00 UTC.".to_owned(),
        "Webhook deliveries per hour".to_owned(),
        "<span class=\"figure\">0 %</span>".to_owned(),
        "API calls per day".to_owned(),
        "<td class=\"number\" data-label=\"Calls today\">4</td>".to_owned(),
    ] {
        assert!(page.contains(&words), "{words}: {page}");
    }
}
