//! The Platform API: tokens, imports, the event feed, and sign-in links.

mod address;
mod change_contract;
pub mod changes;
mod coverage;
mod cut_imports;
mod event_feed;
mod guide;
pub mod sign_in_links;
mod tokens;

use domain::platform_tokens::{self, NewPlatformToken, PlatformScope};
use jiff::Timestamp;
use secrecy::ExposeSecret;

use crate::support::{TestApp, TestKey};

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
