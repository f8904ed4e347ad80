//! Setting up a second factor, signing in with it, and losing it.

use std::time::Duration;

use domain::people::NewSecret;

use super::window::Window;
use crate::support::TestApp;
use crate::support::browser::PASSWORD;
use crate::support::second_factor::{SECURITY, decode_base32};

const ADA: &str = "ada@acme.example";

async fn sign_in(window: &Window, code: &str) {
    window.open_path("/login").await;
    window.fill("Email", ADA).await;
    window.fill("Password", PASSWORD).await;
    window.click("Sign in").await;
    window.wait_for_text("Enter your code").await;
    window.fill("Code", code).await;
    window.click("Sign in").await;
}

#[tokio::test]
async fn a_second_factor_is_set_up_used_lost_and_recovered() {
    let app = TestApp::start().await;
    app.workspace("acme").await.add_user(ADA).await;
    let window = Window::open(&app).await;
    window.open_path("/login").await;
    window.fill("Email", ADA).await;
    window.fill("Password", PASSWORD).await;
    window.click("Sign in").await;
    window.wait_for_text("Needs attention").await;

    window.open_path(SECURITY).await;
    window.click("Set up").await;
    window.find("//*[name()='svg' and @class='qr']").await;
    // The outlines of icons would make the code unreadable.
    window
        .wait_for(
            "[...document.querySelectorAll('.qr path')].every((path) => getComputedStyle(path).stroke === 'none')",
        )
        .await;
    let text = window.find("//p[@class='reveal']//code").await.text().await.expect("the secret");
    let secret = NewSecret::from_bytes(&decode_base32(&text.replace(' ', ""))).expect("a secret");
    window.fill("Code", &secret.code_at(app.clock.now_ms())).await;
    window.click("Set up").await;
    window.wait_for_text("These codes are shown only once").await;
    let codes = window.find("//pre").await.text().await.expect("recovery codes");
    let recovery_code = codes.lines().next().expect("a code").trim().to_owned();
    window.click("I have stored the codes").await;
    window.wait_for_text("Unused recovery codes").await;
    window.click("Sign out").await;

    app.clock.advance(Duration::from_secs(30));
    sign_in(&window, &secret.code_at(app.clock.now_ms())).await;
    window.wait_for_text("Needs attention").await;
    window.click("Sign out").await;

    // Without the phone.
    sign_in(&window, &recovery_code).await;
    window.wait_for_text("You used a recovery code; 9 are left.").await;
    window.assert_no_console_entries().await;
}
