//! A webhook's bad day: it is made, a delivery fails until it is given up, and is sent again from the dead letters.

use super::window::Window;
use crate::support::{Endpoint, TestApp};

#[tokio::test]
async fn a_dead_letter_is_seen_to_fail_and_replayed_until_it_arrives() {
    let app = TestApp::start_beside_receivers().await;
    let workspace = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    let window = Window::signed_in(&app).await;
    window.go("/dashboard").await;
    window.press("Webhooks").await;
    window.sees("No webhooks yet").await;
    window.press("New webhook").await;
    window.sees("Where events are sent").await;
    window.fill("Address", &endpoint.url()).await;
    window.tick("student.created").await;
    window.press("Create webhook").await;
    window.sees("This is the only time that the secret is shown.").await;
    let secret = window.find("//*[contains(@class,'reveal')]//code").await.text().await.unwrap();
    window.press("I have copied the secret").await;
    window.sees("Deliveries").await;
    assert!(!window.text().await.contains(&secret), "the page of the webhook shows the secret");

    // The receiver says that it wants no more of this: that is not tried again.
    endpoint.always_answers(410);
    workspace.student("ada").await;
    assert_eq!(app.deliver_due().await, 1);
    // The list looks for news by itself.
    window.sees("410").await;
    // And so does the head of the page.
    window.sees("Every attempt has failed since").await;
    window.press("student.created").await;
    window.sees("Attempt 1").await;
    assert!(window.text().await.contains("410"));

    window.go("/dashboard/developer/webhooks/dead-letters").await;
    window.sees("Replay this one").await;
    window.press("Replay this one").await;
    window.sees("with the same event id and the same body").await;
    endpoint.always_answers(204);
    window.press("Replay it").await;
    window.sees("0 of 1 dead letters sent again").await;
    app.deliver_due().await;
    // So does the bar, to its end.
    window.sees("1 of 1 dead letters sent again").await;
    assert!(!window.text().await.contains("Cancel"), "what has ended can be cancelled");
    app.deliver_due().await;
    let sent = endpoint.sent();
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[0].body, sent[1].body, "the same event to the byte");
    assert!(sent[1].is_signed(&secret, app.clock.now().as_second()));
    window.press("Dead letters").await;
    window.sees("No dead letters").await;
    window.is_quiet().await;
}

#[tokio::test]
async fn what_the_page_of_a_webhook_offers_goes_with_how_it_stands() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let of = acme.subscribe_to("https://partner.example/hooks".to_owned(), &["student.created"]).await;
    let window = Window::signed_in(&app).await;
    window.go(&format!("/dashboard/developer/webhooks/{}", of.id)).await;
    window.find("//button[.='Pause']").await;
    // Somebody else pauses it while the page is open.
    of.pause().await;
    window.find("//a[.='Enable']").await;
    assert!(!window.text().await.contains("Pause\n"), "{}", window.text().await);
    window.sees("paused").await;
    window.press("Enable").await;
    window.press("Enable webhook").await;
    window.sees("The webhook is enabled.").await;
    window.press("Pause").await;
    window.sees("The webhook is paused.").await;
    window.find("//a[.='Enable']").await;
    window.is_quiet().await;
}
