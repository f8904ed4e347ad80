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
async fn who_runs_two_workspaces_goes_from_one_to_the_other() {
    let app = TestApp::start().await;
    app.workspace("acme").await.person("ada@acme.example").await;
    app.workspace("beta").await.person("ada@acme.example").await;
    let window = Window::open(&app).await;
    window.go("/login").await;
    window.fill("Email", "ada@acme.example").await;
    window.fill("Password", PASSWORD).await;
    window.press("Sign in").await;
    let school = async || {
        window.sees("Needs attention").await;
        window.find("//a[@class='brand']").await.text().await.expect("a text")
    };
    let first = school().await;
    let other = if first == "acme" { "beta" } else { "acme" };
    window.press(&format!("Go to {other}")).await;
    window.find(&format!("//a[@class='brand'][.='{other}']")).await;
    window.press(&format!("Go to {first}")).await;
    window.find(&format!("//a[@class='brand'][.='{first}']")).await;
    window.is_quiet().await;
}

#[tokio::test]
async fn a_filter_by_time_speaks_the_zone_of_the_times_beside_it() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    acme.course("ink", 1).await;
    acme.student("ada").await;
    let items = [json!({"course": "ink", "unit_amount": 100})];
    let order = json!({"key": "o1", "number": "2026-1", "student": "ada", "currency": "EUR", "items": items});
    acme.change("order.pay", order).await;
    let window = Window::signed_in(&app).await;
    window.devtools("Emulation.setLocaleOverride", json!({"locale": "en-GB"})).await;
    window.devtools("Emulation.setTimezoneOverride", json!({"timezoneId": "Asia/Tokyo"})).await;
    window.go("/dashboard/orders").await;
    window.sees("2 Mar 2026, 19:00").await;
    window.sees("Paid from, Asia/Tokyo").await;
    let choose = "document.getElementById('from').value = arguments[0];";
    window.run(choose, vec![json!("2026-03-02T19:00")]).await;
    window.press("Search").await;
    window.sees("Clear").await;
    window.sees("2026-1").await;
    // The address speaks UTC, so that it means the same to whoever it is sent to; the field speaks the reader's.
    assert_eq!(window.path().await, "/dashboard/orders?q=&status=&from=2026-03-02T10%3A00&to=");
    let shown = async || window.run("return document.getElementById('from').value", Vec::new()).await;
    assert_eq!(shown().await, "2026-03-02T19:00");
    window.run(choose, vec![json!("2026-03-02T19:01")]).await;
    window.press("Search").await;
    window.sees("No order fits").await;
    window.devtools("Emulation.setTimezoneOverride", json!({"timezoneId": "America/New_York"})).await;
    window.go("/dashboard/orders?from=2026-03-02T10:00").await;
    assert_eq!(shown().await, "2026-03-02T05:00");
    window.sees("2026-1").await;
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
