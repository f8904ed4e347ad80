//! Signing in with a certified OpenID Connect provider.

use foundation::clock::Clock;

use super::axe;
use super::certified::CertifiedProvider;
use super::window::Window;
use crate::support::{TestApp, skip};

/// The email address of the member, and the name of the account at the provider.
const ADA: &str = "ada@acme.example";

/// Signs in at the provider, whose pages are the current ones. Any password is right.
async fn sign_in_at_provider(window: &Window, name: &str) {
    window.find("//input[@name='login']").await.send_keys(name).await.expect("the name is typed");
    window.find("//input[@name='password']").await.send_keys("any").await.expect("the password is typed");
    window.find("//button[@type='submit']").await.click().await.expect("the form is sent");
    // Whether this server may read the email address.
    window.wait_for_text("Authorize").await;
    window.find("//button[@type='submit']").await.click().await.expect("the form is sent");
}

/// Checks the current page with axe on all screens.
async fn check_sign_in_page(window: &Window, name: &str) {
    let violations = axe::violations_on_each_screen(window).await;
    assert!(violations.is_empty(), "{name}: {violations:#?}");
}

#[tokio::test]
async fn a_member_signs_in_with_a_certified_provider_and_out() {
    let Some(mut provider) = CertifiedProvider::start().await else {
        return skip("TEST_OIDC_PROVIDER names no folder with the npm package oidc-provider");
    };
    let issuer = provider.issuer.clone();
    let settings = [
        ("oidc_issuer", issuer.as_str()),
        ("oidc_client_id", "dashboard"),
        ("oidc_client_secret", "a client secret"),
        ("oidc_allow", "127.0.0.0/8"),
        ("oidc_name", "the school account"),
    ];
    let app = TestApp::start_with(&settings).await;
    // The provider has no simulated clock.
    app.clock.set(Clock::system().now());
    provider.serve(&app.base_url).await;
    let acme = app.workspace("acme").await;
    let ada = acme.add_user(ADA).await;

    let window = Window::open(&app).await;
    axe::install(&window).await;
    window.open_path("/dashboard/settings").await;
    check_sign_in_page(&window, "login-provider").await;
    window.click("Sign in with the school account").await;
    sign_in_at_provider(&window, ADA).await;
    window.wait_for_text("Your sessions").await;
    assert_eq!(window.path().await, "/dashboard/settings");

    window.click("Sign out").await;
    window.click("Sign out there, too").await;
    window.click("Yes, sign me out").await;
    window.wait_for_text("Sign in with the school account").await;
    assert!(window.path().await.starts_with("/login"), "the provider leads back");

    // Another person, and a member who was removed, see whom to ask.
    window.click("Sign in with the school account").await;
    sign_in_at_provider(&window, "eve@acme.example").await;
    window.wait_for_text("eve@acme.example is not a member of a workspace.").await;
    let write = app.begin_write().await;
    domain::users::remove(&write, acme.id, ada.id).await.unwrap();
    write.commit().await.unwrap();
    window.open_path("/login").await;
    window.wait_for_text("Sign in with the school account").await;

    // Without the provider, the page says so, and the password works.
    drop(provider);
    let app = app.restart_with(&settings).await;
    let acme = app.workspace("acme").await;
    acme.add_user(ADA).await;
    let window = Window::open(&app).await;
    axe::install(&window).await;
    window.open_path("/login").await;
    window.click("Sign in with the school account").await;
    window.wait_for_text("the provider cannot be reached").await;
    check_sign_in_page(&window, "login-provider-down").await;
    window.fill("Email", ADA).await;
    window.fill("Password", crate::support::browser::PASSWORD).await;
    window.click("Sign in").await;
    window.wait_for_text("Needs attention").await;
}
