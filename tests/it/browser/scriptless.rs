//! The dashboard with scripts switched off: all works, with a little less comfort.

use serde_json::json;

use super::window::Window;
use crate::support::TestApp;
use crate::support::browser::PASSWORD;

#[tokio::test]
async fn without_scripts_one_signs_in_and_makes_a_key() {
    let app = TestApp::start().await;
    app.workspace("acme").await.person("ada@acme.example").await;
    let window = Window::open(&app).await;
    window.devtools("Emulation.setScriptExecutionDisabled", json!({"value": true})).await;
    window.go("/login").await;
    window.fill("Email", "ada@acme.example").await;
    window.fill("Password", PASSWORD).await;
    window.press("Sign in").await;
    window.sees("Needs attention").await;
    window.press("API keys").await;
    window.sees("No API keys yet").await;
    window.press("New API key").await;
    window.sees("Give what the program needs").await;
    window.fill("Name", "CRM sync").await;
    window.tick("read:courses").await;
    window.press("Create key").await;
    window.sees("Your new API key").await;
    let secret = window.find("//*[contains(@class,'reveal')]//code").await.text().await.unwrap();
    app.key_of(String::new(), secret).get("/api/v1/courses").await.assert_status(200);
    // No script runs: a button that would need one is not offered, and a time says its zone.
    let copy = window.find("//*[contains(@class,'reveal')]//button").await;
    assert!(!copy.is_displayed().await.unwrap(), "a button that does nothing");
    window.press("I have copied the key").await;
    window.sees("2026-03-02 10:00:30 UTC").await;
    window.is_quiet().await;
}
