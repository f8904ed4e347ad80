//! Platform tokens: which requests they allow, and when they stop being valid.

use std::time::Duration;

use domain::platform_tokens;
use reqwest::Method;
use serde_json::json;

use crate::support::platform::{platform_token, platform_token_until};
use crate::support::program::TestProgram;
use crate::support::{TestApp, in_transaction, outage, send, wait_until, well_formed_unknown_secret};

const EVENTS: &str = "/platform/v1/events";

#[tokio::test]
async fn a_token_allows_only_the_operations_of_its_scopes() {
    let app = TestApp::start().await;
    app.workspace("acme").await;
    let reader = platform_token(&app, "read:events").await;
    reader.get(EVENTS).await.assert_status(200);
    let link = json!({"workspace": "acme", "email": "ada@example.com"});
    let forbidden = reader.post("/platform/v1/dashboard-links", link.clone()).await.assert_status(403);
    assert_eq!(forbidden.code(), "forbidden");
    assert_eq!(forbidden.message(), "This token does not have the scope `write:dashboard_links`.");
    let linker = platform_token(&app, "write:dashboard_links").await;
    linker.get(EVENTS).await.assert_status(403);
    linker.post("/platform/v1/dashboard-links", link).await.assert_status(201);
}

#[tokio::test]
async fn keys_and_tokens_are_not_valid_on_the_other_api() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let rejected = key.get(EVENTS).await.assert_status(401);
    assert_eq!(rejected.message(), "The platform token is missing or not valid.");
    assert_eq!(rejected.header("www-authenticate"), "Bearer");
    assert_eq!(rejected.header("cache-control"), "private, no-store");
    let token = platform_token(&app, "write:changes read:events write:dashboard_links").await;
    token.get("/api/v1/courses").await.assert_status(401);
    app.get(EVENTS).await.assert_status(401);
}

#[tokio::test]
async fn a_revoked_or_expired_token_is_rejected_at_the_next_request() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "read:events").await;
    token.get(EVENTS).await.assert_status(200);
    let id = token.id.parse().expect("an id");
    in_transaction(&app, async |write| platform_tokens::revoke(write, id).await).await.unwrap();
    token.get(EVENTS).await.assert_status(401);
    let is_recorded = async || {
        let tokens = platform_tokens::list(&app.app).await.unwrap();
        tokens[0].last_used_at == Some(app.clock.now())
    };
    wait_until("the use is recorded", is_recorded).await;
}

#[tokio::test]
async fn guessed_tokens_of_an_exhausted_address_cause_no_queries() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "read:events").await;
    let guess = async || {
        let secret = well_formed_unknown_secret("svc_plat_");
        send(app.request(Method::GET, EVENTS).bearer_auth(secret)).await.assert_status(401)
    };
    for _ in 0..60 {
        guess().await;
    }
    let outage = outage::begin(&app).await;
    for _ in 0..3 {
        // The process has not read yet which tokens exist, so it does not say that the token is not valid.
        token.get(EVENTS).await.assert_status(500);
    }
    outage.end(&app).await;
    app.clock.advance(Duration::from_secs(2));
    token.get(EVENTS).await.assert_status(200);
    guess().await;
    let outage = outage::begin(&app).await;
    // The process has read which tokens exist, so these cause no query that could fail.
    for _ in 0..100 {
        guess().await;
    }
    outage.end(&app).await;

    app.clock.advance(Duration::from_secs(2));
    let new = platform_token(&app, "read:events").await;
    new.get(EVENTS).await.assert_status(200);
}

#[tokio::test]
async fn unknown_paths_and_methods_have_the_error_envelope() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "read:events").await;
    let unknown = token.get("/platform/v1/nothing").await.assert_status(404);
    assert_eq!(unknown.code(), "not_found");
    let wrong = token.post(EVENTS, json!({})).await.assert_status(405);
    assert_eq!((wrong.header("allow"), wrong.code().as_str()), ("GET, HEAD", "invalid_request"));
}

#[tokio::test]
async fn tokens_are_created_listed_and_revoked_on_the_command_line() {
    let program = TestProgram::new().await;
    let created =
        program.run(&["platform-tokens", "create", "--name", "sync", "--scope", "read:events"]).await;
    let secret = created.stdout.trim();
    assert!(secret.starts_with("svc_plat_") && secret.len() == 47, "{secret}");
    let listed = program.run(&["platform-tokens", "list", "--json"]).await;
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).expect("JSON");
    let token = &listed[0];
    assert_eq!((&token["name"], &token["scopes"]), (&json!("sync"), &json!(["read:events"])));
    assert!(secret.ends_with(token["last4"].as_str().expect("text")));
    assert!(!listed.to_string().contains(secret));
    let id = token["id"].as_str().expect("an id");
    let revoked = program.run(&["platform-tokens", "revoke", id]).await;
    assert_eq!(revoked.stderr, format!("platform token {id} (sync) is revoked\n"));
    let listed = program.run(&["platform-tokens", "list"]).await.stdout;
    assert!(listed.contains("revoked"), "{listed}");
}

#[tokio::test]
async fn a_token_is_rejected_from_its_expiry_on() {
    let app = TestApp::start().await;
    let expires_at = Some(app.clock.now() + jiff::SignedDuration::from_secs(60));
    let token = platform_token_until(&app, "read:events", expires_at).await;
    app.clock.advance(Duration::from_secs(59));
    token.get(EVENTS).await.assert_status(200);
    app.clock.advance(Duration::from_secs(1));
    token.get(EVENTS).await.assert_status(401);
}
