//! Signing in, switching workspaces, and local times in a browser.

use serde_json::json;

use super::window::Window;
use crate::platform::sign_in_links::link;
use crate::support::browser::{PASSWORD, first_match};
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
    let path = link(&app, "acme", "ada@example.com").await;
    let window = Window::open(&app).await;
    window.open_path(&path).await;
    window.wait_for_text("ada@example.com").await;
    assert_eq!(window.path().await, "/dashboard");

    let other = link(&app, "acme", "bo@example.com").await;
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
    window.devtools("Emulation.setLocaleOverride", json!({"locale": "en-GB"})).await;
    window.devtools("Emulation.setTimezoneOverride", json!({"timezoneId": "Asia/Tokyo"})).await;
    window.open_path("/dashboard/orders").await;
    window.wait_for_text("2 Mar 2026, 19:00").await;
    window.wait_for_text("Paid from, Asia/Tokyo").await;
    let set_start = "document.getElementById('from').value = arguments[0];";
    window.run(set_start, vec![json!("2026-03-02T19:00")]).await;
    window.click("Search").await;
    window.wait_for_text("Clear").await;
    window.wait_for_text("2026-1").await;
    // The URL contains UTC, because other users may open it in another time zone. The field shows local time.
    assert_eq!(window.path().await, "/dashboard/orders?q=&status=&from=2026-03-02T10%3A00&to=");
    let shown_start = async || window.run("return document.getElementById('from').value", Vec::new()).await;
    assert_eq!(shown_start().await, "2026-03-02T19:00");
    window.run(set_start, vec![json!("2026-03-02T19:01")]).await;
    window.click("Search").await;
    window.wait_for_text("No matching orders").await;
    window.devtools("Emulation.setTimezoneOverride", json!({"timezoneId": "America/New_York"})).await;
    window.open_path("/dashboard/orders?from=2026-03-02T10:00").await;
    assert_eq!(shown_start().await, "2026-03-02T05:00");
    window.wait_for_text("2026-1").await;
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn times_are_shown_in_the_browser_s_time_zone_with_utc_on_hover() {
    let app = TestApp::start().await;
    let window = Window::open_signed_in(&app).await;
    window.devtools("Emulation.setLocaleOverride", json!({"locale": "en-GB"})).await;
    for (zone, shown) in [("Asia/Tokyo", "2 Mar 2026, 19:00"), ("America/New_York", "2 Mar 2026, 05:00")] {
        window.devtools("Emulation.setTimezoneOverride", json!({"timezoneId": zone})).await;
        window.open_path("/dashboard/settings").await;
        window.wait_for_text(shown).await;
        let time = window.find("//dt[.='Created']/following-sibling::dd/time").await;
        assert_eq!(time.text().await.unwrap(), shown);
        assert_eq!(time.attr("title").await.unwrap().as_deref(), Some("2026-03-02 10:00:30 UTC"));
    }
    window.assert_no_console_entries().await;
}
