//! Coming in, and what a page shows of times.

use serde_json::json;

use super::window::Window;
use crate::support::TestApp;
use crate::support::browser::PASSWORD;

#[tokio::test]
async fn a_wrong_password_is_refused_and_the_right_one_leads_where_one_wanted_to_go() {
    let app = TestApp::start().await;
    app.workspace("acme").await.person("ada@acme.example").await;
    let window = Window::open(&app).await;
    window.go("/dashboard/settings").await;
    window.sees("Sign in").await;

    window.fill("Email", "ada@acme.example").await;
    window.fill("Password", "not this one").await;
    window.press("Sign in").await;
    window.sees("The address or the password is wrong.").await;

    window.fill("Password", PASSWORD).await;
    window.press("Sign in").await;
    window.sees("Your sessions").await;
    assert_eq!(window.path().await, "/dashboard/settings");

    window.press("Sign out").await;
    window.sees("Password").await;
    window.back().await;
    window.go("/dashboard/settings").await;
    assert_eq!(window.path().await, "/login?next=%2Fdashboard%2Fsettings");
    window.is_quiet().await;
}

#[tokio::test]
async fn times_are_those_of_the_reader_s_zone_and_say_utc_on_hover() {
    let app = TestApp::start().await;
    let window = Window::signed_in(&app).await;
    window.devtools("Emulation.setLocaleOverride", json!({"locale": "en-GB"})).await;
    for (zone, shown) in [("Asia/Tokyo", "2 Mar 2026, 19:00"), ("America/New_York", "2 Mar 2026, 05:00")] {
        window.devtools("Emulation.setTimezoneOverride", json!({"timezoneId": zone})).await;
        window.go("/dashboard/settings").await;
        window.sees(shown).await;
        let time = window.find("//dt[.='Created']/following-sibling::dd/time").await;
        assert_eq!(time.text().await.unwrap(), shown);
        assert_eq!(time.attr("title").await.unwrap().as_deref(), Some("2026-03-02 10:00:30 UTC"));
    }
    window.is_quiet().await;
}
