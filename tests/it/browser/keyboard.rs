//! The dashboard without a mouse: all is reached by Tab, and one sees where one is.

use fantoccini::key::Key;

use super::window::Window;
use crate::support::TestApp;
use crate::support::browser::PASSWORD;

/// What has the focus, as a screen reader would call it, and whether one sees it: a line of two pixels around it, on the
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

/// Presses Tab until this has the focus; sees the focus all the way.
async fn tab_to(window: &Window, words: &str) {
    let mut way = Vec::new();
    for _ in 0..40 {
        window.key(Key::Tab).await;
        let focus = window.run(FOCUS, Vec::new()).await;
        let name = focus[0].as_str().unwrap_or_default().to_owned();
        assert_eq!(focus[1], true, "the focus on {name:?} cannot be seen");
        if name.starts_with(words) {
            return;
        }
        way.push(name);
    }
    panic!("Tab does not lead to {words:?}, but over {way:?}");
}

#[tokio::test]
async fn the_keyboard_alone_signs_in_makes_a_key_and_revokes_it() {
    let app = TestApp::start().await;
    app.workspace("acme").await.person("ada@acme.example").await;
    let window = Window::open(&app).await;
    window.go("/login").await;
    tab_to(&window, "Email").await;
    window.types("ada@acme.example").await;
    tab_to(&window, "Password").await;
    window.types(PASSWORD).await;
    window.key(Key::Enter).await;
    window.sees("Needs attention").await;

    tab_to(&window, "API keys").await;
    window.key(Key::Enter).await;
    window.sees("No API keys yet").await;
    tab_to(&window, "New API key").await;
    window.key(Key::Enter).await;
    window.sees("Give what the program needs").await;
    tab_to(&window, "Name").await;
    window.types("CRM sync").await;
    tab_to(&window, "read:courses").await;
    window.types(" ").await;
    tab_to(&window, "Create key").await;
    window.key(Key::Enter).await;
    window.sees("Your new API key").await;
    tab_to(&window, "Copy svc_live_").await;
    tab_to(&window, "I have copied the key").await;
    window.key(Key::Enter).await;

    window.sees("read:courses").await;
    tab_to(&window, "Revoke CRM sync").await;
    window.key(Key::Enter).await;
    window.sees("A revoked key does not come back.").await;
    tab_to(&window, "Revoke key").await;
    window.key(Key::Enter).await;
    window.sees("is revoked.").await;
    window.is_quiet().await;
}

#[tokio::test]
async fn the_first_tab_offers_to_skip_the_navigation() {
    let app = TestApp::start().await;
    let window = Window::signed_in(&app).await;
    window.go("/dashboard/developer").await;
    tab_to(&window, "Skip to the content").await;
    window.key(Key::Enter).await;
    window
        .until("the content has the focus", async || {
            window.run("return document.activeElement.id", Vec::new()).await == "content"
        })
        .await;
    window.key(Key::Tab).await;
    assert_eq!(window.run(FOCUS, Vec::new()).await[0], "New API key");
}

#[tokio::test]
async fn the_menu_of_a_phone_opens_by_the_keyboard() {
    let app = TestApp::start().await;
    let window = Window::signed_in(&app).await;
    window.looks(390, false).await;
    window.go("/dashboard").await;
    tab_to(&window, "Overview").await;
    window.key(Key::Enter).await;
    tab_to(&window, "Settings").await;
    window.key(Key::Enter).await;
    window.sees("Your sessions").await;
    window.is_quiet().await;
}
