//! Signing in, switching workspaces, and local times in a browser.

use serde_json::json;

use super::window::Window;
use crate::support::browser::{PASSWORD, first_match};
use crate::support::platform::sign_in_link;
use crate::support::{TestApp, wait_until};

#[tokio::test]
async fn signing_in_leads_to_the_requested_page() {
    let app = TestApp::start().await;
    app.workspace("acme").await.add_user("ada@acme.example").await;
    let window = Window::open(&app).await;
    window.open_path("/dashboard/settings").await;
    window.wait_for_text("Sign in").await;

    window.fill("Email", "ada@acme.example").await;
    window.fill("Password", "not this one").await;
    window.click("Sign in").await;
    window.wait_for_text("Incorrect email or password.").await;

    window.fill("Password", PASSWORD).await;
    window.click("Sign in").await;
    window.wait_for_text("Your sessions").await;
    assert_eq!(window.path().await, "/dashboard/settings");

    window.click("Sign out").await;
    window.wait_for_text("Password").await;
    window.back().await;
    window.open_path("/dashboard/settings").await;
    assert_eq!(window.path().await, "/login?next=%2Fdashboard%2Fsettings");
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn a_forgotten_password_is_replaced_with_a_mailed_link() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    acme.add_user("ada@acme.example").await;
    let window = Window::open(&app).await;
    window.open_path("/login").await;
    window.click("Request a link to set one").await;
    window.fill("Email", "ada@acme.example").await;
    window.click("Send link").await;
    window.wait_for_text("we mailed them a link to set a password").await;
    wait_until("the mail is queued", async || !acme.mails().await.is_empty()).await;

    let path = first_match(&acme.only_mail().await.text_body, "/set-password\\?token=[A-Za-z0-9_-]{43}");
    window.open_path(&path).await;
    window.wait_for_text("ada@acme.example").await;
    window.fill("Password", "a new long password").await;
    window.fill("Confirm password", "a new long password").await;
    window.click("Set password").await;
    window.wait_for_text("Password set. Sign in with your new password.").await;
    window.fill("Email", "ada@acme.example").await;
    window.fill("Password", "a new long password").await;
    window.click("Sign in").await;
    window.wait_for_text("Needs attention").await;
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn a_link_of_the_platform_signs_a_person_in() {
    let app = TestApp::start().await;
    app.workspace("acme").await;
    let path = sign_in_link(&app, "acme", "ada@example.com").await;
    let window = Window::open(&app).await;
    window.open_path(&path).await;
    window.wait_for_text("ada@example.com").await;
    assert_eq!(window.path().await, "/dashboard");

    let other = sign_in_link(&app, "acme", "bo@example.com").await;
    window.open_path(&other).await;
    window.click("Sign in as bo@example.com").await;
    window.wait_for_text("Needs attention").await;
    window.wait_for_text("bo@example.com").await;
    window.open_path(&other).await;
    window.wait_for_text("This link is no longer valid.").await;
}

#[tokio::test]
async fn a_user_of_two_workspaces_switches_between_them() {
    let app = TestApp::start().await;
    app.workspace("acme").await.add_user("ada@acme.example").await;
    app.workspace("beta").await.add_user("ada@acme.example").await;
    let window = Window::open(&app).await;
    window.open_path("/login").await;
    window.fill("Email", "ada@acme.example").await;
    window.fill("Password", PASSWORD).await;
    window.click("Sign in").await;
    let current_workspace = async || {
        window.wait_for_text("Needs attention").await;
        window.find("//a[@class='brand']").await.text().await.expect("the name of the workspace is shown")
    };
    let first = current_workspace().await;
    let other = if first == "acme" { "beta" } else { "acme" };
    window.click(&format!("Switch to {other}")).await;
    window.find(&format!("//a[@class='brand'][.='{other}']")).await;
    window.click(&format!("Switch to {first}")).await;
    window.find(&format!("//a[@class='brand'][.='{first}']")).await;
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn a_time_filter_uses_the_browser_s_time_zone() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    acme.course("ink", 1).await;
    acme.student("ada").await;
    let items = [json!({"course": "ink", "unit_amount": 100})];
    let order = json!({"key": "o1", "number": "2026-1", "student": "ada", "currency": "EUR", "items": items});
    acme.change("order.pay", order).await;
    let window = Window::open_signed_in(&app).await;
    window.devtools("Emulation.setTimezoneOverride", json!({"timezoneId": "Asia/Tokyo"})).await;
    // The script of a page stores the browser's time zone, which the server uses from the next page on.
    window.open_path("/dashboard/orders").await;
    window.open_path("/dashboard/orders").await;
    window.wait_for_text("2026-03-02 19:00:30").await;
    window.wait_for_text("Times in Asia/Tokyo").await;
    let set_start = "document.getElementById('from').value = arguments[0];";
    window.run(set_start, vec![json!("2026-03-02T19:00")]).await;
    window.click("Search").await;
    window.wait_for_text("Clear").await;
    window.wait_for_text("2026-1").await;
    let filtered = "/dashboard/orders?q=&status=&zone=Asia%2FTokyo&from=2026-03-02T19%3A00&to=";
    assert_eq!(window.path().await, filtered);
    let shown_start = async || window.run("return document.getElementById('from').value", Vec::new()).await;
    assert_eq!(shown_start().await, "2026-03-02T19:00");
    window.click("Use UTC").await;
    window.wait_for_text("Times in UTC").await;
    window.wait_for_text("2026-1").await;
    assert_eq!((window.path().await.as_str(), shown_start().await), (filtered, json!("2026-03-02T10:00")));
    window.run(set_start, vec![json!("2026-03-02T10:01")]).await;
    window.click("Search").await;
    window.wait_for_text("No matching orders").await;
    window.click("Use local time").await;
    window.wait_for_text("Times in Asia/Tokyo").await;
    assert_eq!(shown_start().await, "2026-03-02T19:01");
    window.assert_no_console_entries().await;
}
