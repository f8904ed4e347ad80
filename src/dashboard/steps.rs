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

/// A person who proved a first factor.
#[derive(Serialize, Deserialize)]
pub(crate) struct PendingCode {
    /// The first factor.
    pub first: PendingFactor,
    /// The page after signing in.
    pub next: String,
}

/// A first factor, as far as it is needed to find out whether it is still valid.
#[derive(Serialize, Deserialize)]
pub(crate) enum PendingFactor {
    /// The password of a user in a workspace, and the version of it that was verified.
    Password { workspace: String, user: String, version: Vec<u8> },
    /// An opened sign-in link, by its new token.
    Link { token: String },
}

impl PendingCode {
    /// Returns the step after this first factor.
    pub(crate) fn new(first: &FirstFactor, next: &str) -> Self {
        let first = match first {
            FirstFactor::Password(verified) => PendingFactor::Password {
                workspace: verified.user.workspace.to_string(),
                user: verified.user.id.to_string(),
                version: verified.password_version().as_bytes().to_vec(),
            },
            FirstFactor::Link(opened) => {
                PendingFactor::Link { token: opened.token.expose_secret().to_owned() }
            }
        };
        Self { first, next: next.to_owned() }
    }
}

/// A browser that was sent to the provider.
#[derive(Serialize, Deserialize)]
pub(crate) struct PendingProvider {
    /// The random values of the attempt.
    pub attempt: Attempt,
    /// The session whose user confirms their identity; `None` to sign in.
    pub session: Option<String>,
    /// When the browser was sent to the provider, in milliseconds since the epoch.
    pub began_ms: i64,
    /// The page after signing in.
    pub next: String,
}

/// The content of a cookie.
#[derive(Serialize, Deserialize)]
struct Cookie {
    step: Step,
    expires_ms: i64,
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

/// Returns the step of the browser. `None` if it has no valid cookie.
pub(crate) fn read(context: &BrowserContext) -> Option<Step> {
    let bytes = open(&context.state.step_seal, context.steps.as_deref()?, OWNER)?;
    let cookie: Cookie = serde_json::from_slice(&bytes).ok()?;
    (cookie.expires_ms > context.app().clock.now_ms()).then_some(cookie.step)
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
