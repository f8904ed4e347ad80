//! A key's life, from the form to its end.

use serde_json::json;

use super::window::Window;
use crate::support::TestApp;

/// The secret that the page shows.
async fn secret(window: &Window) -> String {
    window.sees("Your new API key").await;
    window.find("//*[contains(@class,'reveal')]//code").await.text().await.expect("a text")
}

async fn make_key(window: &Window, name: &str, scopes: &[&str]) -> String {
    window.go("/dashboard/developer").await;
    window.press("New API key").await;
    window.sees("Give what the program needs").await;
    window.fill("Name", name).await;
    for scope in scopes {
        window.tick(scope).await;
    }
    window.press("Create key").await;
    secret(window).await
}

#[tokio::test]
async fn a_key_is_made_read_once_used_and_revoked() {
    let app = TestApp::start().await;
    let window = Window::signed_in(&app).await;
    let secret = make_key(&window, "CRM sync", &["read:courses", "read:orders"]).await;
    let key = app.key_of(String::new(), secret.clone());
    key.get("/api/v1/courses").await.assert_status(200);
    key.get("/api/v1/orders").await.assert_status(200);
    key.get("/api/v1/students").await.assert_status(403);

    window.press("I have copied the key").await;
    window.sees("CRM sync").await;
    assert!(!window.text().await.contains(&secret), "the list shows the secret");

    window.press("Revoke CRM sync").await;
    window.sees("A revoked key does not come back.").await;
    window.press("Revoke key").await;
    window.sees("is revoked.").await;
    key.get("/api/v1/courses").await.assert_status(401);
    window.is_quiet().await;
}

#[tokio::test]
async fn the_secret_is_copied_with_a_press() {
    let app = TestApp::start().await;
    let window = Window::signed_in(&app).await;
    let secret = make_key(&window, "CRM sync", &["read:courses"]).await;
    for name in ["clipboard-read", "clipboard-write"] {
        window.permits(name).await;
    }
    window.press(&format!("Copy {secret}")).await;
    window.find("//button[@aria-label='Copied']").await;
    let read = "navigator.clipboard.readText().then(arguments[0], (error) => arguments[0](`${error}`));";
    assert_eq!(window.run_async(read, Vec::new()).await, secret.as_str());
    // The button says again what it does.
    window.find(&format!("//button[@aria-label='Copy {secret}']")).await;
    window.is_quiet().await;
}

#[tokio::test]
async fn the_way_back_does_not_lead_to_the_secret() {
    let app = TestApp::start().await;
    let window = Window::signed_in(&app).await;
    let secret = make_key(&window, "CRM sync", &["read:courses"]).await;
    window.press("I have copied the key").await;
    window.sees("CRM sync").await;
    window.back().await;
    let source = async || {
        let source = window.try_run("return document.documentElement.outerHTML", Vec::new()).await;
        source.ok().and_then(|source| source.as_str().map(str::to_owned)).unwrap_or_default()
    };
    window.until("a page without the secret", async || !source().await.contains(&secret)).await;
    // Nor after the form was sent once more, as a browser offers to.
    window.go("/dashboard/developer").await;
    window.sees("CRM sync").await;
    assert!(!source().await.contains(&secret));
    let workspace = app.workspace("acme").await;
    let keys = entity::api_keys::in_workspace(workspace.id.uuid()).count(app.app.db.read()).await.unwrap();
    assert_eq!(keys, 1);
}

#[tokio::test]
async fn a_form_that_was_stopped_on_its_way_can_be_sent_again() {
    let app = TestApp::start().await;
    let window = Window::signed_in(&app).await;
    // Whether the form would be sent now: the event alone sends nothing, as if the reader had stopped it.
    let sends = async |form: &str| {
        let sent = "return document.querySelector(arguments[0])
            .dispatchEvent(new Event('submit', {bubbles: true, cancelable: true}));";
        window.run(sent, vec![json!(form)]).await == true
    };
    window.go("/dashboard/developer/keys/new").await;
    let new = "form[action='/dashboard/developer/keys/new']";
    assert!(sends(new).await && !sends(new).await, "a second press");
    window.until("it is sent again", async || sends(new).await).await;
    // What asks for a page alone can be asked for again at once.
    window.go("/dashboard/orders").await;
    let search = "form[role='search']";
    assert!(sends(search).await && sends(search).await);
    window.is_quiet().await;
}
