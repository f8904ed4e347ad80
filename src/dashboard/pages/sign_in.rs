//! Signing in and out, and setting a password with a link.
//!
//! A wrong password and an unknown email address get the same response after the same amount of work, so that nobody can find
//! out which accounts exist.

use askama::Template;
use poem::http::StatusCode;
use poem::{Response, handler};
use secrecy::{ExposeSecret, SecretString};

use crate::context::{BrowserContext, PublicRequest};
use crate::cookies::{self, CookieKind};
use crate::device::{self, DeviceCookie};
use crate::flash::Flash;
use crate::form::{Form, FormErrors};
use crate::frame::Frame;
use crate::query::PageQuery;
use crate::request::{PageResponse, html, redirect, redirect_with, signed_out};
use crate::routes::{PUBLIC, RouteTable, get};
use crate::ui;
use domain::audit::{self, Action, Actor};
use domain::sessions::{self, SessionClient};
use domain::users::{self, PasswordVersion, User, VerifiedUser};
use domain::{Error, Result, email};
use foundation::database::Write;
use rate_limit::logins::SignInAttempt;

/// The page after signing in.
pub(super) const HOME: &str = "/dashboard";

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route
        .at("/login", get(PUBLIC, login_page).post(PUBLIC, login))
        .at("/logout", get(PUBLIC, logout_page).post(PUBLIC, logout))
        .at("/set-password", get(PUBLIC, set_password_page).post(PUBLIC, set_password))
}

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    frame: Frame,
    error: Option<&'a str>,
    email: &'a str,
    /// The path to redirect to after signing in.
    next: &'a str,
}

#[handler]
async fn login_page(request: PublicRequest, query: PageQuery) -> PageResponse {
    let next = safe_next(query.text("next"));
    if request.0.viewer.is_some() {
        return redirect(next);
    }
    let page = LoginPage { frame: request.frame("Sign in"), error: None, email: "", next };
    html(StatusCode::OK, &page)
}

#[handler]
async fn login(request: PublicRequest, form: Form) -> PageResponse {
    let (email, next) = (form.text("email").trim(), safe_next(form.text("next")));
    let context = &request.0;
    let show_error = |status, error: &str| {
        let page = LoginPage { frame: request.frame("Sign in"), error: Some(error), email, next };
        html(status, &page)
    };
    let account = email::comparison_key(email);
    let attempt = SignInAttempt {
        client: context.ip_address,
        account: &account,
        device: known_device(context, email).await?,
    };
    if let Err(seconds) = context.state.login_attempts.admit(&context.app().clock, attempt).await {
        return show_error(StatusCode::TOO_MANY_REQUESTS, &too_many_attempts(seconds));
    }
    let password = SecretString::from(form.text("password"));
    let verified = users::verify_login(context.app(), email, &password).await?;
    let token = match &verified {
        Some(verified) => start_session(context, verified).await?,
        None => None,
    };
    let (Some(verified), Some(token)) = (verified, token) else {
        return show_error(StatusCode::UNPROCESSABLE_ENTITY, "Incorrect email or password.");
    };
    context.state.login_attempts.reset(attempt);
    // A known device keeps its id, so that its attempts count together.
    let known = context.device.clone().filter(|_| attempt.device.is_some());
    let mut response = signed_in(context, &token, next)?;
    set_device(context, &mut response, known, &verified.password_version())?;
    Ok(response)
}

/// Sets the cookie by which the browser is recognized at its next attempt to sign in: the known one, or a new one.
fn set_device(
    context: &BrowserContext,
    response: &mut Response,
    known: Option<String>,
    version: &PasswordVersion,
) -> Result<()> {
    let cookie = match known {
        Some(cookie) => cookie,
        None => device::new_cookie(&context.state.device_key, version)?,
    };
    cookies::set(response.headers_mut(), CookieKind::Device, context.secure_cookies, &cookie);
    Ok(())
}

/// Returns the id of the browser if it signed in before with this email address and the current password.
async fn known_device(context: &BrowserContext, email: &str) -> Result<Option<u128>> {
    let Some(cookie) = context.device.as_deref().and_then(DeviceCookie::decode) else { return Ok(None) };
    let version = users::password_version(context.app(), email).await?;
    Ok(version.and_then(|version| device::id(&context.state.device_key, &version, &cookie)))
}

/// Returns the error of an attempt that is allowed again after this number of seconds.
pub(super) fn too_many_attempts(seconds: i64) -> String {
    let minutes = (seconds + 59) / 60;
    let unit = if minutes == 1 { "minute" } else { "minutes" };
    format!("Too many attempts. Try again in {minutes} {unit}.")
}

/// Starts a session and returns its token. Ends the browser's previous session, if any. Returns `None` when the password was
/// changed or the user was removed in the meantime.
async fn start_session(context: &BrowserContext, verified: &VerifiedUser) -> Result<Option<SecretString>> {
    let (app, user) = (context.app(), &verified.user);
    let mut write = app.begin_write().await?;
    let client = SessionClient { address: context.ip_address, agent: &context.user_agent };
    // Locks the user before a session is ended below. Setting a password locks in the same order, so the two cannot
    // deadlock.
    let Some((session, token)) = sessions::create(app, &mut write, verified, client).await? else {
        return Ok(None);
    };
    end_previous_session(context, &mut write).await?;
    let entry = (Action::SignedIn, session.to_string(), "");
    audit::append(app, &mut write, user.workspace, &actor(context, user), entry).await?;
    write.commit().await?;
    Ok(Some(token))
}

/// Ends the session that the browser had before, if any.
pub(super) async fn end_previous_session(context: &BrowserContext, write: &mut Write) -> Result<()> {
    let Some(previous) = &context.viewer else { return Ok(()) };
    // The session may have ended in the meantime.
    let ended = sessions::end_current(write, previous).await;
    ended.or_else(|error| if matches!(error, Error::NotFound(_)) { Ok(()) } else { Err(error) })
}

/// Redirects to a path of the dashboard with the cookie of a new session.
pub(super) fn signed_in(context: &BrowserContext, token: &SecretString, next: &str) -> PageResponse {
    let mut response = redirect(next)?;
    cookies::set(response.headers_mut(), CookieKind::Session, context.secure_cookies, token.expose_secret());
    cookies::clear(response.headers_mut(), CookieKind::Visitor, context.secure_cookies);
    Ok(response)
}

pub(super) fn actor(context: &BrowserContext, user: &User) -> Actor {
    Actor { user: Some(user.id), name: user.email.clone(), address: Some(context.ip_address) }
}

/// Returns the path if it is one of the dashboard, otherwise the home page. Prevents open redirects.
pub(super) fn safe_next(next: &str) -> &str {
    let is_plain = next.bytes().all(|b| b.is_ascii_graphic() && b != b'\\');
    let is_dashboard = next == HOME || next.starts_with("/dashboard/") || next.starts_with("/dashboard?");
    if is_plain && is_dashboard { next } else { HOME }
}

#[derive(Template)]
#[template(path = "confirm.html")]
struct LogoutPage<'a> {
    frame: Frame,
    confirm: ui::ConfirmForm<'a>,
}

#[handler]
async fn logout_page(request: PublicRequest) -> PageResponse {
    if request.0.viewer.is_none() {
        return redirect("/login");
    }
    let frame = request.frame("Sign out");
    let confirm = ui::ConfirmForm {
        csrf: frame.csrf(),
        text: "This ends your session in this browser.",
        action: "/logout",
        button: "Sign out",
        back: HOME,
    };
    html(StatusCode::OK, &LogoutPage { frame, confirm })
}

#[handler]
async fn logout(request: PublicRequest) -> PageResponse {
    let context = &request.0;
    if let Some(viewer) = &context.viewer {
        let app = context.app();
        let mut write = app.begin_write().await.map_err(Error::from)?;
        // The session may have ended in the meantime.
        if sessions::end(&mut write, viewer, viewer.session).await?.is_some() {
            let actor = Actor {
                user: Some(viewer.user),
                name: viewer.email.clone(),
                address: Some(context.ip_address),
            };
            let entry = (Action::SignedOut, viewer.session.to_string(), "");
            audit::append(app, &mut write, viewer.workspace.id, &actor, entry).await?;
        }
        write.commit().await.map_err(Error::from)?;
    }
    let mut response = redirect("/login")?;
    cookies::clear(response.headers_mut(), CookieKind::Session, context.secure_cookies);
    Ok(response)
}

#[derive(Template)]
#[template(path = "set_password.html")]
struct SetPasswordPage {
    frame: Frame,
    /// The user's email address; `None` if the link is invalid.
    email: Option<String>,
    errors: FormErrors,
    /// How long links are valid.
    hours: i64,
}

#[handler]
async fn set_password_page(request: PublicRequest, query: PageQuery) -> PageResponse {
    let context = &request.0;
    if let Some(token) = query.non_empty("token") {
        // Moves the token from the URL and the browser's history into an `HttpOnly` cookie.
        let mut response = redirect("/set-password")?;
        let text: String = token.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
        cookies::set(response.headers_mut(), CookieKind::Link, context.secure_cookies, &text);
        return Ok(response);
    }
    let user = match &context.link {
        Some(token) => users::by_link(context.app(), token.expose_secret()).await?,
        None => None,
    };
    set_password_form(&request, user.map(|user| user.email), FormErrors::default())
}

fn set_password_form(request: &PublicRequest, email: Option<String>, errors: FormErrors) -> PageResponse {
    let status = match (&email, errors.is_empty()) {
        (None, _) => StatusCode::NOT_FOUND,
        (Some(_), false) => StatusCode::UNPROCESSABLE_ENTITY,
        (Some(_), true) => StatusCode::OK,
    };
    let page =
        SetPasswordPage { frame: request.frame("Set a password"), email, errors, hours: users::LINK_HOURS };
    html(status, &page)
}

#[handler]
async fn set_password(request: PublicRequest, form: Form) -> PageResponse {
    let context = &request.0;
    let Some(token) = &context.link else { return set_password_form(&request, None, FormErrors::default()) };
    let show_errors = async |errors: FormErrors| {
        let user = users::by_link(context.app(), token.expose_secret()).await?;
        set_password_form(&request, user.map(|user| user.email), errors)
    };
    if form.text("password") != form.text("again") {
        let mut errors = FormErrors::default();
        errors.add("again", "The passwords do not match");
        return show_errors(errors).await;
    }
    let password = SecretString::from(form.text("password"));
    let result: Result<Option<User>> =
        users::set_password(context.app(), token.expose_secret(), &password, |user| actor(context, user))
            .await;
    match result {
        Err(Error::Invalid(errors)) => show_errors(errors.into()).await,
        Err(error) => Err(error.into()),
        Ok(None) => set_password_form(&request, None, FormErrors::default()),
        Ok(Some(user)) => {
            let mut response = after_setting_password(context, &user)?;
            // The link proves that the browser is the user's, as a sign-in does.
            if let Some(version) = users::password_version(context.app(), &user.email).await? {
                set_device(context, &mut response, None, &version)?;
            }
            cookies::clear(response.headers_mut(), CookieKind::Link, context.secure_cookies);
            Ok(response)
        }
    }
}

/// Redirects to the sign-in page. Setting the password has ended the user's session in this browser, if there was one.
fn after_setting_password(context: &BrowserContext, user: &User) -> PageResponse {
    let flash = Flash::success("Password set. Sign in with your new password.");
    // A person has one user id per workspace, and the sessions in all of them have ended.
    if !context.viewer.as_ref().is_some_and(|viewer| email::is_same(&viewer.email, &user.email)) {
        return redirect_with(context, "/login", &flash);
    }
    signed_out(context, &flash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signing_in_redirects_only_to_the_dashboard() {
        for valid in ["/dashboard", "/dashboard/developer?x=1"] {
            assert_eq!(safe_next(valid), valid);
        }
        for invalid in [
            "",
            "//evil.example",
            "https://evil.example",
            "/dashboardx",
            "/dashboard/\\x",
            "/dashboard/\nx",
            "/login",
        ] {
            assert_eq!(safe_next(invalid), HOME, "{invalid}");
        }
    }
}
