//! The dashboard in a browser that runs no scripts: all functions work, without live updates. Times are in UTC.

use serde_json::json;

use super::window::Window;
use crate::support::TestApp;
use crate::support::browser::PASSWORD;

#[tokio::test]
async fn signing_in_and_creating_a_key_work_without_scripts() {
    let app = TestApp::start().await;
    app.workspace("acme").await.add_user("ada@acme.example").await;
    let window = Window::open(&app).await;
    window.devtools("Emulation.setScriptExecutionDisabled", json!({"value": true})).await;
    window.open_path("/login").await;
    window.fill("Email", "ada@acme.example").await;
    window.fill("Password", PASSWORD).await;
    window.click("Sign in").await;
    window.wait_for_text("Needs attention").await;
    window.click("API keys").await;
    window.wait_for_text("No API keys yet").await;
    window.click("New API key").await;
    window.wait_for_text("Select only the scopes").await;
    window.fill("Name", "CRM sync").await;
    window.select("read:courses").await;
    window.click("Create key").await;
    window.wait_for_text("API key created").await;
    let secret = window.find("//*[contains(@class,'reveal')]//code").await.text().await.unwrap();
    app.key_with_secret(String::new(), secret).get("/api/v1/courses").await.assert_status(200);
    // Without scripts, a button that needs one is hidden, and the time zone of the browser is unknown.
    let copy = window.find("//*[contains(@class,'reveal')]//button").await;
    assert!(!copy.is_displayed().await.unwrap(), "the copy button is hidden");
    window.click("I have copied the key").await;
    window.wait_for_text("2026-03-02 10:00:30").await;
    window.assert_no_console_entries().await;
}
