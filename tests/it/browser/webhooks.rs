//! Webhooks on the dashboard in a browser: creation, a failed delivery, and its replay.

use std::time::Duration;

use feed::{ApplyOptions, demo};
use jiff::Timestamp;

use super::window::Window;
use crate::support::{Endpoint, TestApp};

#[tokio::test]
async fn a_failed_delivery_is_replayed_from_the_dead_letters() {
    let app = TestApp::start_with_local_webhooks().await;
    let workspace = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    let window = Window::open_signed_in(&app).await;
    window.open_path("/dashboard").await;
    window.click("Webhooks").await;
    window.wait_for_text("No webhooks yet").await;
    window.click("New webhook").await;
    window.wait_for_text("The public https URL").await;
    window.fill("Endpoint URL", &endpoint.url()).await;
    window.select("student.created").await;
    window.click("Create webhook").await;
    window.wait_for_text("This secret is shown only once.").await;
    let secret = window.find("//*[contains(@class,'reveal')]//code").await.text().await.unwrap();
    window.click("I have copied the secret").await;
    window.wait_for_text("Deliveries").await;
    assert!(!window.text().await.contains(&secret), "the page of the webhook shows the secret");

    // The endpoint responds with 410, so the delivery is not retried.
    endpoint.always_respond_with(410);
    workspace.student("ada").await;
    assert_eq!(app.deliver_due().await, 1);
    // The list is updated without a reload.
    window.wait_for_text("410").await;
    // The status at the top of the page is updated, too.
    window.wait_for_text("Every attempt has failed since").await;
    window.click("student.created").await;
    window.wait_for_text("Attempt 1").await;
    assert!(window.text().await.contains("410"));

    window.open_path("/dashboard/developer/webhooks/dead-letters").await;
    window.wait_for_text("Replay 1 dead letter").await;
    window.click("Replay 1 dead letter").await;
    window.wait_for_text("with the same event ID and body").await;
    endpoint.always_respond_with(204);
    window.click("Replay dead letter").await;
    window.wait_for_text("0 of 1 dead letters replayed").await;
    app.deliver_due().await;
    // The progress bar is updated until the replay ends.
    window.wait_for_text("1 of 1 dead letters replayed").await;
    assert!(!window.text().await.contains("Cancel"), "a finished replay cannot be canceled");
    app.deliver_due().await;
    let requests = endpoint.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].body, requests[1].body, "the replay sends the same bytes");
    assert!(requests[1].is_signed(&secret, app.clock.now().as_second()));
    window.click("Dead letters").await;
    window.wait_for_text("No dead letters").await;
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn the_page_of_a_webhook_updates_its_buttons() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let subscription =
        acme.subscribe_url("https://partner.example/hooks".to_owned(), &["student.created"]).await;
    let window = Window::open_signed_in(&app).await;
    window.open_path(&format!("/dashboard/developer/webhooks/{}", subscription.id)).await;
    window.find("//button[.='Pause']").await;
    // Another user pauses it while the page is open.
    subscription.pause().await;
    window.find("//a[.='Enable']").await;
    assert!(!window.text().await.contains("Pause\n"), "{}", window.text().await);
    window.wait_for_text("paused").await;
    window.click("Enable").await;
    window.click("Enable webhook").await;
    window.wait_for_text("Webhook enabled.").await;
    window.click("Pause").await;
    window.wait_for_text("Webhook paused.").await;
    window.find("//a[.='Enable']").await;
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn the_preview_of_a_filter_counts_the_events_of_the_demo_data() {
    let app = TestApp::start().await;
    demo::load(&app.app, ApplyOptions::default()).await.expect("the demo is applied");
    let workspace = app.workspace(demo::WORKSPACE).await;
    // An event can be read in the millisecond after its commit.
    app.clock.advance(Duration::from_secs(1));
    let events =
        workspace.key("read:events").await.get("/developer/v1/events?type=order.paid&limit=100").await;
    let events = events.assert_status(200).json();
    assert_eq!(events["pagination"]["has_more"], false, "the test reads one page");
    let first = app.clock.now() - Duration::from_hours(30 * 24);
    let of_last_30_days: Vec<i64> = events["data"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|item| &item["event"])
        .filter(|event| event["created_at"].as_str().unwrap().parse::<Timestamp>().unwrap() >= first)
        .map(|event| event["data"]["total_amount"].as_i64().expect("an amount"))
        .collect();
    let expected = of_last_30_days.iter().filter(|amount| **amount >= 10_000).count();
    assert!(0 < expected && expected < of_last_30_days.len(), "{of_last_30_days:?}");

    let subscription =
        workspace.subscribe_url("https://partner.example/hooks".to_owned(), &["order.paid"]).await;
    let window = Window::open(&app).await;
    window.open_path("/dashboard").await;
    window.set_session(workspace.owner_browser().await.cookie("session").as_deref()).await;
    window.open_path(&format!("/dashboard/developer/webhooks/{}/delivery", subscription.id)).await;
    window.fill("Filter", "order.paid /total_amount gte 10000").await;
    window.click("Preview filter").await;
    let counts =
        format!("The filter matches {expected} of {} events of the last 30 days", of_last_30_days.len());
    window.wait_for_text(&counts).await;
    window.wait_for_text("Newest matching events").await;
    window.assert_no_console_entries().await;
}
