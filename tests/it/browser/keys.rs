//! API keys on the dashboard in a browser, from creation to revocation.

use serde_json::json;

use super::window::Window;
use crate::support::TestApp;

/// Returns the secret that the page shows.
async fn shown_secret(window: &Window) -> String {
    window.wait_for_text("API key created").await;
    window.find("//*[contains(@class,'reveal')]//code").await.text().await.expect("the secret is shown")
}

/// Creates an API key, and returns its secret.
async fn create_key(window: &Window, name: &str, scopes: &[&str]) -> String {
    window.open_path("/dashboard/developer").await;
    window.click("New API key").await;
    window.wait_for_text("Select only the scopes").await;
    window.fill("Name", name).await;
    for scope in scopes {
        window.select(scope).await;
    }
    window.click("Create key").await;
    shown_secret(window).await
}

#[tokio::test]
async fn a_key_is_created_shown_once_and_revoked() {
    let app = TestApp::start().await;
    let window = Window::open_signed_in(&app).await;
    let secret = create_key(&window, "CRM sync", &["read:courses", "read:orders"]).await;
    let key = app.key_with_secret(String::new(), secret.clone());
    key.get("/api/v1/courses").await.assert_status(200);
    key.get("/api/v1/orders").await.assert_status(200);
    key.get("/api/v1/students").await.assert_status(403);

    window.click("I have copied the key").await;
    window.wait_for_text("CRM sync").await;
    assert!(!window.text().await.contains(&secret), "the list shows the secret");

    window.click("Revoke CRM sync").await;
    window.wait_for_text("This cannot be undone.").await;
    window.click("Revoke key").await;
    window.wait_for_text("was revoked.").await;
    key.get("/api/v1/courses").await.assert_status(401);
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn the_secret_is_copied_with_a_click() {
    let app = TestApp::start().await;
    let window = Window::open_signed_in(&app).await;
    let secret = create_key(&window, "CRM sync", &["read:courses"]).await;
    for name in ["clipboard-read", "clipboard-write"] {
        window.grant_permission(name).await;
    }
    window.click(&format!("Copy {secret}")).await;
    window.find("//button[@aria-label='Copied']").await;
    let read_clipboard =
        "navigator.clipboard.readText().then(arguments[0], (error) => arguments[0](`${error}`));";
    assert_eq!(window.run_async(read_clipboard, Vec::new()).await, secret.as_str());
    // The button shows its original label again.
    window.find(&format!("//button[@aria-label='Copy {secret}']")).await;
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn going_back_does_not_show_the_secret_again() {
    let app = TestApp::start().await;
    let window = Window::open_signed_in(&app).await;
    let secret = create_key(&window, "CRM sync", &["read:courses"]).await;
    window.click("I have copied the key").await;
    window.wait_for_text("CRM sync").await;
    window.back().await;
    let source = async || {
        let source = window.try_run("return document.documentElement.outerHTML", Vec::new()).await;
        source.ok().and_then(|source| source.as_str().map(str::to_owned)).unwrap_or_default()
    };
    window
        .wait_until("the page does not contain the secret", async || !source().await.contains(&secret))
        .await;
    // The list does not show the secret either.
    window.open_path("/dashboard/developer").await;
    window.wait_for_text("CRM sync").await;
    assert!(!source().await.contains(&secret));
    let workspace = app.workspace("acme").await;
    let keys = entity::api_keys::in_workspace(workspace.id.uuid()).count(app.app.db.read()).await.unwrap();
    assert_eq!(keys, 1);
}

#[tokio::test]
async fn an_interrupted_form_can_be_submitted_again() {
    let app = TestApp::start().await;
    let window = Window::open_signed_in(&app).await;
    // Returns whether the browser would submit the form. The event alone submits nothing, like an interrupted
    // submission.
    let would_submit = async |form: &str| {
        let dispatch = "return document.querySelector(arguments[0])
            .dispatchEvent(new Event('submit', {bubbles: true, cancelable: true}));";
        window.run(dispatch, vec![json!(form)]).await == true
    };
    window.open_path("/dashboard/developer/keys/new").await;
    let new = "form[action='/dashboard/developer/keys/new']";
    assert!(would_submit(new).await && !would_submit(new).await, "a second click is ignored");
    window.wait_until("the form can be submitted again", async || would_submit(new).await).await;
    // A form that only requests a page can be submitted again at once.
    window.open_path("/dashboard/orders").await;
    let search = "form[role='search']";
    assert!(would_submit(search).await && would_submit(search).await);
    window.assert_no_console_entries().await;
}
