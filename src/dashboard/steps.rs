//! The state of a sign-in with several steps, in an encrypted cookie: what the browser has proved, and what it waits for.
//!
//! Except for opened sign-in links, the server stores nothing until the last step, so abandoned attempts need no cleanup. A cookie is
//! valid for ten minutes.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use domain::sessions::FirstFactor;
use foundation::secret::Seal;
use openid::Attempt;
use poem::Response;
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};

use super::context::{BrowserContext, DashboardState};
use super::cookies::{self, CookieKind};

/// How long a step is valid, in milliseconds.
const LIFETIME_MS: i64 = 10 * 60_000;
/// The owner of the encrypted cookies.
const OWNER: &[u8] = b"cookie";

/// The step that the browser is at.
#[derive(Serialize, Deserialize)]
pub(crate) enum Step {
    /// A person proved a first factor, and is asked for a code.
    Code(PendingCode),
    /// The browser was sent to the OpenID Connect provider.
    Provider(PendingProvider),
}

/// A person who proved a first factor. Servers of the previous release wrote the same fields without `token`, and their cookies are
/// still read, so that nobody starts again during an upgrade.
#[derive(Serialize, Deserialize)]
pub(crate) struct PendingCode {
    /// The workspace.
    pub workspace: String,
    /// The id of the user in the workspace.
    pub user: String,
    /// The version of the verified password; `None` if the first factor was a link.
    pub version: Option<Vec<u8>>,
    /// The new token of the opened link; `None` if the first factor was a password.
    #[serde(default)]
    pub token: Option<String>,
    /// The page after signing in.
    pub next: String,
}

impl PendingCode {
    /// Returns the step after this first factor.
    pub(crate) fn new(first: &FirstFactor, next: &str) -> Self {
        let (version, token) = match first {
            FirstFactor::Password(verified) => (Some(verified.password_version().as_bytes().to_vec()), None),
            FirstFactor::Link(opened) => (None, Some(opened.token.expose_secret().to_owned())),
        };
        let user = first.user();
        let (workspace, user) = (user.workspace.to_string(), user.id.to_string());
        Self { workspace, user, version, token, next: next.to_owned() }
    }
}

/// A browser that was sent to the provider.
#[derive(Serialize, Deserialize)]
pub(crate) struct PendingProvider {
    /// The random values of the attempt.
    pub attempt: Attempt,
    /// The session whose user confirms their identity; `None` to sign in.
    pub session: Option<String>,
    /// The page after signing in.
    pub next: String,
}

/// The content of a cookie.
#[derive(Serialize, Deserialize)]
pub(crate) struct Cookie {
    /// The step.
    pub step: Step,
    expires_ms: i64,
}

impl Cookie {
    /// Returns when the step began, in milliseconds since the epoch.
    pub(crate) const fn began_ms(&self) -> i64 {
        self.expires_ms - LIFETIME_MS
    }
}

/// Sets the cookie with the next step.
///
/// # Errors
/// Returns an error when the system provides no random bytes.
pub(crate) fn set(context: &BrowserContext, response: &mut Response, step: Step) -> anyhow::Result<()> {
    let DashboardState { app, step_seal, .. } = &*context.state;
    let cookie = Cookie { step, expires_ms: app.clock.now_ms() + LIFETIME_MS };
    let text = seal(step_seal, &serde_json::to_vec(&cookie)?, OWNER)?;
    cookies::set(response.headers_mut(), CookieKind::Steps, context.secure_cookies, &text);
    Ok(())
}

/// Returns the cookie with the step of the browser. `None` if it has no valid one.
pub(crate) fn read(context: &BrowserContext) -> Option<Cookie> {
    let bytes = open(&context.state.step_seal, context.steps.as_deref()?, OWNER)?;
    let cookie: Cookie = serde_json::from_slice(&bytes).ok()?;
    Some(cookie).filter(|cookie| cookie.expires_ms > context.app().clock.now_ms())
}

/// Deletes the cookie, so that the step is not repeated.
pub(crate) fn clear(context: &BrowserContext, response: &mut Response) {
    cookies::clear(response.headers_mut(), CookieKind::Steps, context.secure_cookies);
}

/// Encrypts bytes as text that fits into a cookie or a hidden field. Only [`open`] with the same owner decrypts it.
///
/// # Errors
/// Returns an error when the system provides no random bytes.
pub(crate) fn seal(seal: &Seal, bytes: &[u8], owner: &[u8]) -> anyhow::Result<String> {
    Ok(BASE64_URL_SAFE_NO_PAD.encode(seal.encrypt(bytes, owner)?))
}

/// Decrypts text that [`seal`] returned for this owner. `None` if it was changed.
pub(crate) fn open(seal: &Seal, text: &str, owner: &[u8]) -> Option<Vec<u8>> {
    let encrypted = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
    seal.decrypt(&encrypted, owner).ok().map(|bytes| bytes.to_vec())
}
