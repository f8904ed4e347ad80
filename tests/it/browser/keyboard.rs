//! The dashboard can be used with the keyboard only: Tab reaches every element, and the focus is always visible.

use fantoccini::key::Key;

use super::window::Window;
use crate::support::TestApp;
use crate::support::browser::PASSWORD;

/// Returns the accessible name of the focused element, and whether its focus is visible: the element has an outline of
/// at least two pixels and is on the screen. Without a focused element, returns an empty name and true.
const FOCUS: &str = "
const element = document.activeElement;
if (!element || element === document.body) return ['', true];
const label = element.labels && element.labels.length ? element.labels[0].innerText : element.innerText;
const style = getComputedStyle(element);
const box = element.getBoundingClientRect();
const outlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
const onScreen = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
return [(element.getAttribute('aria-label') || label || '').trim(), outlined && onScreen && box.width > 0];";

/// Presses Tab, up to 40 times, until an element whose name starts with this text has the focus. Asserts that the
/// focus is always visible.
async fn tab_to(window: &Window, expected_name: &str) {
    let mut focused_names = Vec::new();
    for _ in 0..40 {
        window.press_key(Key::Tab).await;
        let focus = window.run(FOCUS, Vec::new()).await;
        let name = focus[0].as_str().unwrap_or_default().to_owned();
        assert_eq!(focus[1], true, "the focus on {name:?} is not visible");
        if name.starts_with(expected_name) {
            return;
        }
        focused_names.push(name);
    }
    panic!("Tab does not reach {expected_name:?}, only {focused_names:?}");
}

#[tokio::test]
async fn a_key_is_created_and_revoked_with_the_keyboard() {
    let app = TestApp::start().await;
    app.workspace("acme").await.add_user("ada@acme.example").await;
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
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn the_first_tab_offers_to_skip_the_navigation() {
    let app = TestApp::start().await;
    let window = Window::open_signed_in(&app).await;
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
    let window = Window::open_signed_in(&app).await;
    window.set_screen(390, false).await;
    window.open_path("/dashboard").await;
    tab_to(&window, "Overview").await;
    window.press_key(Key::Enter).await;
    tab_to(&window, "Settings").await;
    window.press_key(Key::Enter).await;
    window.wait_for_text("Your sessions").await;
    window.assert_no_console_entries().await;
}
