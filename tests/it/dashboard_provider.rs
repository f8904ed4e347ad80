//! Signing in with an OpenID Connect provider.

use foundation::secret::MasterKeys;
use jiff::SignedDuration;
use reqwest::Method;
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::support::browser::{PASSWORD, csrf_token, html};
use crate::support::members::audit_entries;
use crate::support::program::TestProgram;
use crate::support::provider::{Account, CALLBACK, FakeProvider, ProviderKey, Variant};
use crate::support::second_factor::set_up;
use crate::support::{Browser, START, TestApp};

const ADA: Account = Account::new("subject-1", "Ada@acme.example");
const HOME: &str = "/dashboard";

/// Starts a server with the provider and the member Ada.
async fn start(provider: &FakeProvider) -> TestApp {
    let app = provider.start_app(&[]).await;
    app.workspace("acme").await.add_user("ada@acme.example").await;
    app
}

async fn is_signed_in(browser: &Browser<'_>) -> bool {
    browser.get(HOME).await.status == 200
}

#[tokio::test]
async fn a_member_signs_in_returns_and_signs_out() {
    let provider = FakeProvider::start().await;
    let app = start(&provider).await;
    let acme = app.workspace("acme").await;
    let browser = Browser::new(&app);
    let page = html(&browser.get("/login?next=/dashboard/settings").await.assert_status(200));
    assert!(
        page.contains("Sign in with single sign-on") && page.contains("next=%2Fdashboard%2Fsettings"),
        "{page}"
    );
    let sent = browser.get("/sign-in/provider?next=/dashboard/settings").await.assert_status(303);
    let back = provider.authorize(sent.header("location"), &ADA, Variant::default());
    let visitor = browser.cookie("visitor");
    let signed_in = browser.get(&back).await.assert_status(303);
    assert_eq!(signed_in.header("location"), "/dashboard/settings");
    assert!(is_signed_in(&browser).await);
    let session = browser.cookie("session").expect("a new session");
    assert_ne!(Some(session.clone()), visitor);
    let entries = audit_entries(&acme).await;
    assert!(entries[0].starts_with("ada@acme.example Linked an account for single sign-on"), "{entries:?}");
    assert!(entries[1].starts_with("ada@acme.example Signed in with single sign-on"), "{entries:?}");
    assert_eq!(acme.only_mail().await.subject, "Single sign-on was set up for your dashboard account");

    // The attempt is over, and its code is used up.
    let again = html(&browser.get(&back).await.assert_status(403));
    assert!(again.contains("began no sign-in"), "{again}");

    let out = browser.submit("/logout", "/logout", &[]).await.assert_status(303);
    let page = html(&browser.get(out.header("location")).await.assert_status(200));
    assert!(page.contains(&format!("{}/sign-out?", provider.issuer())), "{page}");
    assert!(!is_signed_in(&browser).await);

    // Later, the id of the account decides, whatever its email address is.
    let renamed = Account { email: "ada@other.example", is_verified: false, ..ADA };
    provider.sign_in(&browser, &renamed).await.assert_status(303);
    assert!(is_signed_in(&browser).await);
    assert_ne!(browser.cookie("session"), Some(session.clone()), "each sign-in has a new session");
    let old = Browser::new(&app);
    old.set_cookie("session", &session);
    assert!(!is_signed_in(&old).await);
}

#[tokio::test]
async fn responses_that_are_not_valid_are_refused() {
    let provider = FakeProvider::start().await;
    let app = start(&provider).await;
    let now = START.parse::<jiff::Timestamp>().unwrap().as_second();
    let claims = |claims: Value| Variant { claims, ..Variant::default() };
    let hostile = [
        ("another issuer", claims(json!({"iss": "https://evil.example"}))),
        ("another audience", claims(json!({"aud": "another client"}))),
        ("a further audience", claims(json!({"aud": ["dashboard", "another client"]}))),
        ("another nonce", claims(json!({"nonce": "another"}))),
        ("no nonce", claims(json!({"nonce": null}))),
        ("expired", claims(json!({"exp": now}))),
        ("from the future", claims(json!({"iat": now + 61, "exp": now + 600}))),
        ("issued long ago", claims(json!({"iat": now - 601}))),
        ("unsigned", Variant { algorithm: Some("none"), unsigned: true, ..Variant::default() }),
        ("without its signature", Variant { unsigned: true, ..Variant::default() }),
        ("signed with the client secret", Variant { algorithm: Some("HS256"), ..Variant::default() }),
        ("with another signature", Variant { tampered: true, ..Variant::default() }),
        ("another algorithm", Variant { algorithm: Some("ES256"), ..Variant::default() }),
    ];
    for (name, variant) in hostile {
        let browser = Browser::new(&app);
        let path = provider.begin(&browser, &ADA, variant).await;
        let page = html(&browser.get(&path).await.assert_status(403));
        assert!(page.contains("The response of the provider is not valid."), "{name}: {page}");
        assert_eq!(browser.cookie("session"), None, "{name}");
        assert_eq!(browser.cookie("steps"), None, "{name}: the attempt is over");
    }
    // Tokens may be a minute ahead.
    let browser = Browser::new(&app);
    let path = provider.begin(&browser, &ADA, claims(json!({"iat": now + 60}))).await;
    browser.get(&path).await.assert_status(303);
    assert!(is_signed_in(&browser).await);
}

#[tokio::test]
async fn a_response_belongs_to_one_attempt_of_one_browser() {
    let provider = FakeProvider::start().await;
    let app = start(&provider).await;
    let (ours, theirs) = (Browser::new(&app), Browser::new(&app));
    let back = provider.begin(&theirs, &ADA, Variant::default()).await;
    ours.get(&back).await.assert_status(403);
    provider.begin(&ours, &ADA, Variant::default()).await;
    let page = html(&ours.get(&back).await.assert_status(403));
    assert!(page.contains("does not belong to the sign-in"), "{page}");
    let back = provider.begin(&ours, &ADA, Variant::default()).await;
    ours.get(&format!("{back}&iss=https%3A%2F%2Fevil.example")).await.assert_status(403);
    assert_eq!(ours.cookie("session"), None);

    // A code that was used cannot be exchanged, not even with the cookie of its attempt.
    let back = provider.begin(&ours, &ADA, Variant::default()).await;
    let steps = ours.cookie("steps").unwrap();
    ours.get(&back).await.assert_status(303);
    theirs.set_cookie("steps", &steps);
    theirs.get(&back).await.assert_status(403);
    assert_eq!(theirs.cookie("session"), None);

    // An attempt lasts ten minutes, and an error of the provider ends it.
    let browser = Browser::new(&app);
    let back = provider.begin(&browser, &ADA, Variant::default()).await;
    provider.advance(&app, 600);
    browser.get(&back).await.assert_status(403);
    let back = provider.begin(&browser, &ADA, Variant::default()).await;
    let state = back.split("state=").nth(1).unwrap();
    let refused =
        browser.get(&format!("{CALLBACK}?error=access_denied&state={state}")).await.assert_status(403);
    assert!(html(&refused).contains("The provider did not sign you in."));
}

#[tokio::test]
async fn signing_in_redirects_only_to_the_dashboard() {
    let provider = FakeProvider::start().await;
    let app = start(&provider).await;
    for next in ["https%3A%2F%2Fevil.example", "%2F%2Fevil.example", "%2Fdashboard%2F%5Cevil"] {
        let browser = Browser::new(&app);
        let sent = browser.get(&format!("/sign-in/provider?next={next}")).await.assert_status(303);
        let back = provider.authorize(sent.header("location"), &ADA, Variant::default());
        assert_eq!(browser.get(&back).await.assert_status(303).header("location"), HOME, "{next}");
    }
}

#[tokio::test]
async fn new_keys_of_the_provider_are_read_again() {
    let provider = FakeProvider::start().await;
    let app = start(&provider).await;
    let browser = Browser::new(&app);
    provider.sign_in(&browser, &ADA).await.assert_status(303);
    provider.replace_keys(ProviderKey::p256("second"));
    provider.advance(&app, 61);
    let browser = Browser::new(&app);
    provider.sign_in(&browser, &ADA).await.assert_status(303);
    assert!(is_signed_in(&browser).await);
}

#[tokio::test]
async fn a_new_key_with_the_id_of_the_old_one_is_read_again() {
    let provider = FakeProvider::start().await;
    provider.replace_keys(ProviderKey::p256("first"));
    let app = start(&provider).await;
    provider.sign_in(&Browser::new(&app), &ADA).await.assert_status(303);
    provider.replace_keys(ProviderKey::p256("first"));
    let browser = Browser::new(&app);
    provider.sign_in(&browser, &ADA).await.assert_status(403);
    provider.advance(&app, 11);
    provider.sign_in(&browser, &ADA).await.assert_status(303);
    assert!(is_signed_in(&browser).await);
}

#[tokio::test]
async fn a_failed_exchange_makes_the_next_sign_in_read_the_metadata_again() {
    let provider = FakeProvider::start().await;
    let app = start(&provider).await;
    provider.sign_in(&Browser::new(&app), &ADA).await.assert_status(303);
    // A code that the provider rejects is no reason to read anything again.
    let browser = Browser::new(&app);
    let back = provider.begin(&browser, &ADA, Variant::default()).await;
    browser.get(&back.replace("code=code-", "code=guess-")).await.assert_status(403);
    assert_eq!(provider.metadata_requests(), 1);
    provider.move_endpoints("/v2");
    provider.sign_in(&browser, &ADA).await.assert_status(403);
    provider.sign_in(&browser, &ADA).await.assert_status(303);
    assert!(is_signed_in(&browser).await);
    assert_eq!(provider.metadata_requests(), 2);
}

#[tokio::test]
async fn old_metadata_sends_nobody_to_a_provider_that_is_down() {
    let provider = FakeProvider::start().await;
    let app = start(&provider).await;
    provider.sign_in(&Browser::new(&app), &ADA).await.assert_status(303);
    provider.set_up(false);
    provider.advance(&app, 60 * 60);
    let browser = Browser::new(&app);
    let refused = browser.get("/sign-in/provider").await.assert_status(303);
    assert_eq!(refused.header("location"), "/login");
    let page = html(&browser.get("/login").await.assert_status(200));
    assert!(page.contains("the provider cannot be reached") && !page.contains("/sign-in/provider"), "{page}");
    assert!(page.contains("name=\"password\""), "{page}");

    provider.set_up(true);
    provider.advance(&app, 11);
    provider.sign_in(&browser, &ADA).await.assert_status(303);
    assert!(is_signed_in(&browser).await);
}

#[tokio::test]
async fn without_the_provider_members_sign_in_with_their_password() {
    let provider = FakeProvider::start().await;
    provider.set_up(false);
    let app = start(&provider).await;
    let browser = Browser::new(&app);
    // The page does not wait for the provider.
    let page = html(&browser.get("/login").await.assert_status(200));
    assert!(page.contains("/sign-in/provider"), "{page}");
    let refused = browser.get("/sign-in/provider").await.assert_status(303);
    assert_eq!(refused.header("location"), "/login");
    let page = html(&browser.get("/login").await.assert_status(200));
    assert!(page.contains("the provider cannot be reached") && !page.contains("/sign-in/provider"), "{page}");
    browser.sign_in("ada@acme.example", PASSWORD).await.assert_status(303);
    assert!(is_signed_in(&browser).await);

    provider.set_up(true);
    provider.advance(&app, 11);
    let browser = Browser::new(&app);
    let page = html(&browser.get("/login").await);
    assert!(page.contains("/sign-in/provider"), "{page}");
    // The metadata is known, but the code cannot be exchanged.
    let back = provider.begin(&browser, &ADA, Variant::default()).await;
    provider.set_up(false);
    let page = html(&browser.get(&back).await.assert_status(503));
    assert!(page.contains("The provider does not respond."), "{page}");
    assert_eq!(browser.cookie("session"), None);
}

#[tokio::test]
async fn the_provider_is_reached_only_within_the_address_policy() {
    let provider = FakeProvider::start().await;
    let issuer = provider.issuer();
    let app = TestApp::start_with(&[("oidc_issuer", issuer.as_str()), ("oidc_client_id", "dashboard")]).await;
    let browser = Browser::new(&app);
    browser.get("/sign-in/provider").await.assert_status(303);
    let page = html(&browser.get("/login").await.assert_status(200));
    assert!(page.contains("the provider cannot be reached"), "loopback needs --oidc-allow: {page}");
}

#[tokio::test]
async fn an_account_that_may_not_sign_in_is_told_whom_to_ask() {
    let provider = FakeProvider::start().await;
    let app = provider.start_app(&[("oidc_email_domains", "acme.example")]).await;
    let acme = app.workspace("acme").await;
    let ada = acme.add_user("ada@acme.example").await;
    let refusal = async |account: Account| {
        let browser = Browser::new(&app);
        let page = html(&provider.sign_in(&browser, &account).await.assert_status(403));
        assert_eq!(browser.cookie("session"), None, "{account:?}");
        page
    };
    let unverified = Account { is_verified: false, ..ADA };
    assert!(refusal(unverified).await.contains("has not verified your email address"));
    let stranger = Account::new("subject-2", "eve@acme.example");
    assert!(refusal(stranger).await.contains("eve@acme.example is not a member of a workspace"));
    acme.add_user("eve@evil-acme.example").await;
    let foreign = Account::new("subject-3", "eve@evil-acme.example");
    assert!(refusal(foreign).await.contains("Addresses of this domain may not sign in"));

    let browser = Browser::new(&app);
    provider.sign_in(&browser, &ADA).await.assert_status(303);
    // Another account with the same address does not become Ada.
    let other = Account { subject: "subject-4", ..ADA };
    assert!(refusal(other).await.contains("signs in with another account of the provider"));

    let write = app.begin_write().await;
    domain::users::remove(&write, acme.id, ada.id).await.unwrap();
    write.commit().await.unwrap();
    assert!(!is_signed_in(&browser).await, "the sessions of a removed member end");
    assert!(refusal(ADA).await.contains("ada@acme.example is not a member of a workspace"));
}

#[tokio::test]
async fn the_email_address_can_be_in_the_user_info_response() {
    let provider = FakeProvider::start().await;
    provider.hide_email();
    let app = start(&provider).await;
    let browser = Browser::new(&app);
    provider.sign_in(&browser, &ADA).await.assert_status(303);
    assert!(is_signed_in(&browser).await);
    let unverified = Account { subject: "subject-2", is_verified: false, ..ADA };
    let page = html(&provider.sign_in(&Browser::new(&app), &unverified).await.assert_status(403));
    assert!(page.contains("has not verified your email address"), "{page}");
}

#[tokio::test]
async fn a_provider_that_sends_no_email_address_is_a_matter_for_the_operator() {
    let provider = FakeProvider::start().await;
    let app = start(&provider).await;
    let sign_in = async |browser: &Browser<'_>| {
        let path = provider.begin(browser, &ADA, Variant::default()).await;
        html(&browser.get(&path).await.assert_status(403))
    };
    for claim in ["email", "email_verified"] {
        provider.omit_claim(claim);
        let page = sign_in(&Browser::new(&app)).await;
        assert!(page.contains(&format!("did not send the claim {claim},")), "{claim}: {page}");
        assert!(
            page.contains("Ask the operator of this server") && page.contains("for the scope email"),
            "{page}"
        );
    }
    // A member who is signed in with a password sees the same reason.
    let browser = Browser::new(&app);
    browser.sign_in("ada@acme.example", PASSWORD).await.assert_status(303);
    let sent = browser.get("/dashboard/confirm/provider?next=/dashboard").await.assert_status(303);
    let back = provider.authorize(sent.header("location"), &ADA, Variant::default());
    let page = html(&browser.get(&back).await.assert_status(403));
    assert!(page.contains("did not send the claim email_verified,"), "{page}");
}

#[tokio::test]
async fn password_sign_in_can_be_switched_off_while_a_link_is_open() {
    let provider = FakeProvider::start().await;
    let app = start(&provider).await;
    let acme = app.workspace("acme").await;
    let token = acme.password_link_token("ada@acme.example").await;
    let browser = Browser::new(&app);
    browser.get(&format!("/set-password?token={token}")).await.assert_status(303);
    let csrf = csrf_token(&browser.get("/set-password").await.assert_status(200));
    let cookies = ["link", "visitor"].map(|name| (name, browser.cookie(name).expect("a cookie")));
    let owner = acme.owner_browser().await;
    let members = async |owner: &Browser<'_>| {
        html(&owner.get("/dashboard/settings/people").await.assert_status(200)).contains("Send new link")
    };
    assert!(members(&owner).await);
    let session = owner.cookie("session").expect("a cookie");

    let issuer = provider.issuer();
    let settings = [
        ("oidc_issuer", issuer.as_str()),
        ("oidc_client_id", "dashboard"),
        ("oidc_allow", "127.0.0.0/8"),
        ("password_sign_in", "off"),
    ];
    let app = app.restart_with(&settings).await;
    let after = Browser::new(&app);
    for (name, value) in &cookies {
        after.set_cookie(name, value);
    }
    let owner = Browser::new(&app);
    owner.set_cookie("session", &session);
    assert!(!members(&owner).await, "the link would not work");
    let fields = [("password", "a new long password"), ("again", "a new long password")];
    let page = html(&after.post("/set-password", &csrf, &fields).await.assert_status(404));
    assert!(page.contains("Password sign-in is switched off on this server."), "{page}");
    let fields = [("email", "ada@acme.example"), ("password", PASSWORD)];
    let page = html(&after.post("/login", &csrf, &fields).await.assert_status(403));
    assert!(
        page.contains("Password sign-in is switched off") && !page.contains("name=\"password\""),
        "{page}"
    );
    after.post("/reset-password", &csrf, &[("email", "ada@acme.example")]).await.assert_status(422);
    let password = SecretString::from(PASSWORD);
    assert!(domain::users::verify_login(&app.app, "ada@acme.example", &password).await.unwrap().is_none());
}

#[tokio::test]
async fn a_member_confirms_their_identity_with_the_provider() {
    let provider = FakeProvider::start().await;
    let app = start(&provider).await;
    let acme = app.workspace("acme").await;
    acme.add_user("eve@acme.example").await;
    let browser = Browser::new(&app);
    provider.sign_in(&browser, &ADA).await.assert_status(303);
    let new_key = "/dashboard/developer/keys/new";
    browser.get(new_key).await.assert_status(200);
    provider.advance(&app, 601);
    let sent = browser.get(new_key).await.assert_status(303);
    assert_eq!(sent.header("location"), "/dashboard/confirm?next=%2Fdashboard%2Fdeveloper%2Fkeys%2Fnew");
    let page = html(&browser.get(sent.header("location")).await.assert_status(200));
    assert!(page.contains("Confirm with single sign-on"), "{page}");

    let confirm = async |account: &Account, variant: Variant| {
        let path = "/dashboard/confirm/provider?next=/dashboard/developer/keys/new";
        let sent = browser.get(path).await.assert_status(303);
        let url = sent.header("location");
        assert!(url.contains("prompt=login") && url.contains("max_age=0"), "{url}");
        browser.get(&provider.authorize(url, account, variant)).await
    };
    let eve = Account::new("subject-2", "eve@acme.example");
    let page = html(&confirm(&eve, Variant::default()).await.assert_status(403));
    assert!(page.contains("not that of the signed-in user"), "{page}");
    assert!(page.contains("Your identity is not confirmed") && !page.contains("Sign-in failed"), "{page}");
    assert!(
        page.contains("href=\"/dashboard/confirm?next=%2Fdashboard%2Fdeveloper%2Fkeys%2Fnew\""),
        "the next try leads back: {page}"
    );
    let now = app.clock.now().as_second();
    let old = Variant { claims: json!({"auth_time": now - 61}), ..Variant::default() };
    confirm(&ADA, old).await.assert_status(403);
    let without = Variant { claims: json!({"auth_time": null}), ..Variant::default() };
    confirm(&ADA, without).await.assert_status(403);
    browser.get(new_key).await.assert_status(303);
    let old = browser.cookie("session");
    let during = Variant { claims: json!({"auth_time": now - 60}), ..Variant::default() };
    assert_eq!(confirm(&ADA, during).await.assert_status(303).header("location"), new_key);
    assert!(html(&browser.get(new_key).await.assert_status(200)).contains("Your identity is confirmed."));
    assert_ne!(browser.cookie("session"), old, "the session has a new token");

    // A clock that is set back does not extend the time.
    app.clock.set(app.clock.now() - SignedDuration::from_mins(5));
    browser.get(new_key).await.assert_status(303);
    app.clock.set(app.clock.now() + SignedDuration::from_mins(5));
    browser.get(new_key).await.assert_status(200);

    // Signing in confirms nothing if the provider did not ask for the credentials.
    let silent = Browser::new(&app);
    let sent = silent.get("/sign-in/provider?next=/dashboard").await.assert_status(303);
    let old = Variant { claims: json!({"auth_time": now - 601}), ..Variant::default() };
    silent.get(&provider.authorize(sent.header("location"), &ADA, old)).await.assert_status(303);
    silent.get("/dashboard").await.assert_status(200);
    silent.get(new_key).await.assert_status(303);
    let oldest = now - 30 * 86_400 - 60;
    for (auth_time, status) in [(oldest, 303), (oldest - 1, 403)] {
        let person = Browser::new(&app);
        let sent = person.get("/sign-in/provider?next=/dashboard").await.assert_status(303);
        let old = Variant { claims: json!({"auth_time": auth_time}), ..Variant::default() };
        person.get(&provider.authorize(sent.header("location"), &ADA, old)).await.assert_status(status);
    }
}

#[tokio::test]
async fn a_person_with_a_second_factor_uses_it_before_an_account_is_linked() {
    let provider = FakeProvider::start().await;
    let app = start(&provider).await;
    let (browser, other) = (Browser::new(&app), Browser::new(&app));
    browser.sign_in("ada@acme.example", PASSWORD).await.assert_status(303);
    set_up(&app, &browser).await;
    let page = html(&provider.sign_in(&other, &ADA).await.assert_status(403));
    assert!(page.contains("ada@acme.example has a second factor"), "{page}");
    assert!(!is_signed_in(&other).await);

    let sent = browser.get("/dashboard/confirm/provider?next=/dashboard").await.assert_status(303);
    let back = provider.authorize(sent.header("location"), &ADA, Variant::default());
    browser.get(&back).await.assert_status(303);
    provider.sign_in(&other, &ADA).await.assert_status(303);
    assert!(is_signed_in(&other).await);
}

#[tokio::test]
async fn the_operator_unlinks_an_account() {
    let provider = FakeProvider::start().await;
    let mut app = start(&provider).await;
    let session = {
        let browser = Browser::new(&app);
        provider.sign_in(&browser, &ADA).await.assert_status(303);
        browser.cookie("session").expect("a session")
    };
    app.stop().await;
    MasterKeys::create(app.folder()).expect("a master key is created");
    let program = TestProgram { app, database_url: None };
    let is_listed_as_linked = async || {
        let output = program.run(&["users", "list", "--workspace", "acme", "--json"]).await;
        let users: Value = serde_json::from_str(&output.stdout).expect("JSON");
        let ada = users.as_array().unwrap().iter().find(|user| user["email"] == "ada@acme.example");
        ada.expect("Ada is a member")["has_linked_account"] == true
    };
    assert!(is_listed_as_linked().await);
    let unlink = ["users", "unlink-provider", "--workspace", "acme"];
    let output = program.run(&[&unlink[..], &["--all"]].concat()).await;
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), ""), "{output:?}");
    assert!(output.stderr.ends_with("unlinked accounts: 1\n"), "{output:?}");
    let again = program.run(&[&unlink[..], &["--email", "ada@acme.example"]].concat()).await;
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("ada@acme.example has no linked account"), "{again:?}");
    assert!(!is_listed_as_linked().await);

    let app = program.app.restart().await;
    let browser = Browser::new(&app);
    browser.set_cookie("session", &session);
    assert!(!is_signed_in(&browser).await, "the sessions end");
    let subjects: Vec<String> =
        app.workspace("acme").await.mails().await.into_iter().map(|mail| mail.subject).collect();
    let expected = "Single sign-on was removed from your dashboard account";
    assert!(subjects.iter().any(|subject| subject == expected), "{subjects:?}");
}

#[tokio::test]
async fn returns_from_the_provider_are_limited() {
    let provider = FakeProvider::start().await;
    let app = start(&provider).await;
    let browser = Browser::new(&app);
    let mut statuses = std::collections::BTreeMap::<u16, usize>::new();
    for _ in 0..102 {
        let back = provider.begin(&browser, &ADA, Variant::default()).await;
        let guessed = back.replace("code=code-", "code=guess-");
        *statuses.entry(browser.get(&guessed).await.status).or_default() += 1;
    }
    assert_eq!(statuses, [(403, 100), (429, 2)].into());
    provider.advance(&app, 15 * 60);
    provider.sign_in(&browser, &ADA).await.assert_status(303);
}

#[tokio::test]
async fn without_a_provider_its_pages_do_not_exist() {
    let app = TestApp::start().await;
    for path in ["/sign-in/provider", CALLBACK] {
        crate::support::send(app.request(Method::GET, path)).await.assert_status(404);
    }
}
