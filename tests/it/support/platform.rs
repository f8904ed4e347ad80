//! Tokens, changes and links of the Platform API.

use domain::platform_tokens::{self, NewPlatformToken, PlatformScope};
use jiff::Timestamp;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use super::{TestApp, TestKey};

/// The media type of changes and their results.
pub const NDJSON: &str = "application/x-ndjson";

/// Creates a platform token with these scopes, separated by spaces.
pub async fn platform_token(app: &TestApp, scopes: &str) -> TestKey {
    platform_token_until(app, scopes, None).await
}

/// Creates a platform token that expires at this time.
pub async fn platform_token_until(app: &TestApp, scopes: &str, expires_at: Option<Timestamp>) -> TestKey {
    let scopes = scopes.split(' ').map(|scope| scope.parse::<PlatformScope>().expect("a scope")).collect();
    let new = NewPlatformToken { name: "test".to_owned(), scopes, expires_at };
    let mut write = app.begin_write().await;
    let (token, secret) = platform_tokens::create(&app.app, &mut write, new).await.expect("a valid token");
    write.commit().await.expect("the commit succeeds");
    app.key_with_secret(token.id.to_string(), secret.expose_secret().to_owned())
}

/// Returns the line of a change that creates the workspace `acme`.
pub fn workspace_line(id: &str) -> String {
    line(id, "workspace.upsert", &json!({"key": "acme", "name": "Acme", "owner_email": "o@acme.example"}))
}

/// Returns the line of a change in the workspace `acme`.
pub fn line(id: &str, change: &str, data: &Value) -> String {
    let at = "2026-03-01T09:00:00Z";
    format!("{}\n", json!({"change": change, "id": id, "workspace": "acme", "at": at, "data": data}))
}

/// Creates a link for a person in the workspace with this key, and returns its path with the token.
pub async fn sign_in_link(app: &TestApp, workspace: &str, email: &str) -> String {
    let token = platform_token(app, "write:dashboard_links").await;
    let body = json!({"workspace": workspace, "email": email, "name": "Ada Osei"});
    let link = token.post("/platform/v1/dashboard-links", body).await.assert_status(201).json();
    let url = link["url"].as_str().expect("a URL");
    url.strip_prefix("http://api.test").expect("the public URL").to_owned()
}
