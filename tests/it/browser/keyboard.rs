//! The dashboard with the keyboard only: Tab reaches everything, and the focus is visible.

use fantoccini::key::Key;

use super::window::Window;
use crate::support::TestApp;
use crate::support::browser::PASSWORD;

/// Returns the accessible name of the focused element, and whether its focus is visible: an outline of two pixels, within the
/// screen.
const FOCUS: &str = "
const one = document.activeElement;
if (!one || one === document.body) return ['', true];
const label = one.labels && one.labels.length ? one.labels[0].innerText : one.innerText;
const style = getComputedStyle(one);
const box = one.getBoundingClientRect();
const lined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
const inside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
return [(one.getAttribute('aria-label') || label || '').trim(), lined && inside && box.width > 0];";

/// Presses Tab until the element with this name has the focus. The focus must be visible all the time.
async fn tab_to(window: &Window, words: &str) {
    let mut way = Vec::new();
    for _ in 0..40 {
        window.press_key(Key::Tab).await;
        let focus = window.run(FOCUS, Vec::new()).await;
        let name = focus[0].as_str().unwrap_or_default().to_owned();
        assert_eq!(focus[1], true, "the focus on {name:?} is not visible");
        if name.starts_with(words) {
            return;
        }
        way.push(name);
    }
    panic!("Tab does not lead to {words:?}, but over {way:?}");
}

#[tokio::test]
async fn a_key_is_created_and_revoked_with_the_keyboard() {
    let app = TestApp::start().await;
    app.workspace("acme").await.person("ada@acme.example").await;
    let window = Window::open(&app).await;
    window.open_path("/login").await;
    tab_to(&window, "Email").await;
    window.type_text("ada@acme.example").await;
    tab_to(&window, "Password").await;
    window.type_text(PASSWORD).await;
    window.press_key(Key::Enter).await;
    window.wait_for_text("Needs attention").await;

    tab_to(&window, "API keys").await;
    window.press_key(Key::Enter).await;
    window.wait_for_text("No API keys yet").await;
    tab_to(&window, "New API key").await;
    window.press_key(Key::Enter).await;
    window.wait_for_text("Select only the scopes").await;
    tab_to(&window, "Name").await;
    window.type_text("CRM sync").await;
    tab_to(&window, "read:courses").await;
    window.type_text(" ").await;
    tab_to(&window, "Create key").await;
    window.press_key(Key::Enter).await;
    window.wait_for_text("API key created").await;
    tab_to(&window, "Copy svc_live_").await;
    tab_to(&window, "I have copied the key").await;
    window.press_key(Key::Enter).await;

    window.wait_for_text("read:courses").await;
    tab_to(&window, "Revoke CRM sync").await;
    window.press_key(Key::Enter).await;
    window.wait_for_text("This cannot be undone.").await;
    tab_to(&window, "Revoke key").await;
    window.press_key(Key::Enter).await;
    window.wait_for_text("was revoked.").await;
    window.assert_quiet_console().await;
}

#[tokio::test]
async fn the_first_tab_offers_to_skip_the_navigation() {
    let app = TestApp::start().await;
    let window = Window::signed_in(&app).await;
    window.open_path("/dashboard/developer").await;
    tab_to(&window, "Skip to content").await;
    window.press_key(Key::Enter).await;
    window
        .wait_until("the content has the focus", async || {
            window.run("return document.activeElement.id", Vec::new()).await == "content"
        })
        .await;
    window.press_key(Key::Tab).await;
    assert_eq!(window.run(FOCUS, Vec::new()).await[0], "New API key");
}

#[tokio::test]
async fn the_phone_menu_opens_with_the_keyboard() {
    let app = TestApp::start().await;
    let window = Window::signed_in(&app).await;
    window.set_screen(390, false).await;
    window.open_path("/dashboard").await;
    tab_to(&window, "Overview").await;
    window.press_key(Key::Enter).await;
    tab_to(&window, "Settings").await;
    window.press_key(Key::Enter).await;
    window.wait_for_text("Your sessions").await;
    window.assert_quiet_console().await;
}
