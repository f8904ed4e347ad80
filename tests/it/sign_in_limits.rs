//! Limits of sign-in attempts: per network, per account, and for devices that signed in before.

use std::time::Duration;

use crate::support::browser::{PASSWORD, csrf_token, html};
use crate::support::{Browser, TestApp, TestResponse};

const ADA: &str = "ada@acme.example";
const WINDOW: Duration = Duration::from_secs(15 * 60);

/// Starts a server behind a proxy, so that requests can come from any address.
async fn start() -> TestApp {
    let app = TestApp::start_with(&[("trusted_proxies", "127.0.0.1")]).await;
    app.workspace("acme").await.add_user(ADA).await;
    app
}

/// Submits the sign-in form from this address.
async fn sign_in(browser: &Browser<'_>, address: &str, email: &str, password: &str) -> TestResponse {
    let page = browser.get("/dashboard/settings").await;
    let page = if page.status == 200 { page } else { browser.get("/login").await };
    let form = browser.form("/login", &csrf_token(&page), &[("email", email), ("password", password)]);
    browser.send(form.header("x-forwarded-for", address)).await
}

/// Makes attempts with a wrong password from each address.
async fn guess(app: &TestApp, addresses: impl IntoIterator<Item = String>, email: &str, count: usize) {
    for address in addresses {
        let browser = Browser::new(app);
        for _ in 0..count {
            sign_in(&browser, &address, email, "a wrong password").await.assert_status(422);
        }
    }
}

/// Returns addresses of several networks.
fn networks(count: u8) -> impl Iterator<Item = String> {
    (1..=count).map(|n| format!("203.0.113.{n}"))
}

/// Uses the hundred attempts that strangers on all networks have, after one successful attempt.
async fn use_attempts_of_strangers(app: &TestApp) {
    guess(app, networks(9), ADA, 10).await;
    guess(app, ["203.0.113.10".to_owned()], ADA, 9).await;
}

#[tokio::test]
async fn an_account_has_ten_attempts_per_network_whether_or_not_it_exists() {
    let app = start().await;
    for email in [ADA, "eve@acme.example"] {
        guess(&app, networks(1), email, 10).await;
        let rejected = sign_in(&Browser::new(&app), "203.0.113.1", email, PASSWORD).await.assert_status(429);
        let page = html(&rejected);
        assert!(page.contains("Too many attempts. Try again in 15 minutes"), "{page}");
    }
    sign_in(&Browser::new(&app), "198.51.100.1", ADA, PASSWORD).await.assert_status(303);
    // The addresses of one IPv6 network count together.
    guess(&app, (1..=10).map(|n| format!("2001:db8:1:2::{n}")), ADA, 1).await;
    sign_in(&Browser::new(&app), "2001:db8:1:2:ffff::1", ADA, PASSWORD).await.assert_status(429);
    sign_in(&Browser::new(&app), "2001:db8:1:3::1", ADA, PASSWORD).await.assert_status(303);
    app.clock.advance(WINDOW);
    sign_in(&Browser::new(&app), "203.0.113.1", ADA, PASSWORD).await.assert_status(303);
}

#[tokio::test]
async fn a_network_has_thirty_attempts_at_all_accounts() {
    let app = start().await;
    for n in 0..30 {
        guess(&app, networks(1), &format!("{n}@acme.example"), 1).await;
    }
    sign_in(&Browser::new(&app), "203.0.113.1", ADA, PASSWORD).await.assert_status(429);
    sign_in(&Browser::new(&app), "203.0.113.2", ADA, PASSWORD).await.assert_status(303);
}

#[tokio::test]
#[ignore = "slow"]
async fn strangers_cannot_lock_out_a_device_that_signed_in_before() {
    let app = start().await;
    let device = Browser::new(&app);
    sign_in(&device, "198.51.100.1", ADA, PASSWORD).await.assert_status(303);
    device.submit("/logout", "/logout", &[]).await.assert_status(303);
    use_attempts_of_strangers(&app).await;
    sign_in(&Browser::new(&app), "203.0.113.99", ADA, PASSWORD).await.assert_status(429);
    sign_in(&Browser::new(&app), "198.51.100.1", ADA, PASSWORD).await.assert_status(429);

    // The device has attempts of its own, on every network.
    for _ in 0..9 {
        sign_in(&device, "203.0.113.1", ADA, "a wrong password").await.assert_status(422);
    }
    sign_in(&device, "203.0.113.2", ADA, PASSWORD).await.assert_status(303);
    sign_in(&device, "203.0.113.1", ADA, PASSWORD).await.assert_status(429);
    app.clock.advance(WINDOW);
    sign_in(&device, "203.0.113.1", ADA, PASSWORD).await.assert_status(303);
    sign_in(&Browser::new(&app), "203.0.113.1", ADA, PASSWORD).await.assert_status(303);
}

#[tokio::test]
async fn a_known_device_has_ten_sign_ins_and_keeps_its_cookie() {
    let app = start().await;
    let device = Browser::new(&app);
    sign_in(&device, "198.51.100.1", ADA, PASSWORD).await.assert_status(303);
    let cookie = device.cookie("device").expect("the device is marked");
    for _ in 0..10 {
        sign_in(&device, "198.51.100.1", ADA, PASSWORD).await.assert_status(303);
        assert_eq!(device.cookie("device").as_ref(), Some(&cookie));
    }
    sign_in(&device, "198.51.100.1", ADA, PASSWORD).await.assert_status(429);
    app.clock.advance(WINDOW);
    sign_in(&device, "198.51.100.1", ADA, PASSWORD).await.assert_status(303);
}

#[tokio::test]
#[ignore = "slow"]
async fn a_device_is_known_for_one_account_and_its_current_password() {
    let app = start().await;
    let acme = app.workspace("acme").await;
    acme.add_user("bo@acme.example").await;
    let (ada, bo) = (Browser::new(&app), Browser::new(&app));
    sign_in(&ada, "198.51.100.1", ADA, PASSWORD).await.assert_status(303);
    sign_in(&bo, "198.51.100.1", "bo@acme.example", PASSWORD).await.assert_status(303);
    use_attempts_of_strangers(&app).await;

    sign_in(&bo, "198.51.100.1", ADA, PASSWORD).await.assert_status(429);
    let cookie = ada.cookie("device").expect("the device is marked");
    let forged = Browser::new(&app);
    for cookie in [cookie.replace(&cookie[..4], "AAAA"), cookie[..cookie.len() - 4].to_owned(), String::new()]
    {
        forged.set_cookie("device", &cookie);
        sign_in(&forged, "198.51.100.1", ADA, PASSWORD).await.assert_status(429);
    }
    let copied = Browser::new(&app);
    copied.set_cookie("device", &cookie);
    sign_in(&copied, "198.51.100.1", "ADA@acme.example", PASSWORD).await.assert_status(303);

    // A new password, even the same one, makes the devices of the old one strangers.
    acme.add_user(ADA).await;
    sign_in(&ada, "198.51.100.1", ADA, PASSWORD).await.assert_status(429);
}

#[tokio::test]
#[ignore = "slow"]
async fn strangers_cannot_lock_out_the_browser_that_set_the_password() {
    let app = start().await;
    let token = app.workspace("acme").await.password_link_token(ADA).await;
    use_attempts_of_strangers(&app).await;
    guess(&app, ["203.0.113.11".to_owned()], ADA, 1).await;
    let browser = Browser::new(&app);
    browser.get(&format!("/set-password?token={token}")).await.assert_status(303);
    let fields = [("password", PASSWORD), ("again", PASSWORD)];
    browser.submit("/set-password", "/set-password", &fields).await.assert_status(303);
    sign_in(&browser, "198.51.100.1", ADA, PASSWORD).await.assert_status(303);
    sign_in(&Browser::new(&app), "198.51.100.2", ADA, PASSWORD).await.assert_status(429);
}
