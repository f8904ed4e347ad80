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
use crate::error::PageError;
use crate::flash::Flash;
use crate::form::{Form, FormErrors};
use crate::frame::Frame;
use crate::query::PageQuery;
use crate::request::{PageResponse, html, redirect, redirect_with, signed_out};
use crate::routes::{PUBLIC, RouteTable, get};
use crate::steps::{self, PendingCode, Step};
use crate::ui;
use domain::audit::{self, Action, Actor};
use domain::sessions::{self, FirstFactor, SessionClient};
use domain::users::{self, PasswordVersion, User, VerifiedUser};
use domain::{Error, Result, email, people};
use foundation::database::Write;
use rate_limit::logins::SignInAttempt;

/// The page after signing in.
pub(super) const HOME: &str = "/dashboard";
/// Why nobody can sign in with a password.
const PASSWORD_OFF: &str = "Password sign-in is switched off on this server.";

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
    /// Whether members can sign in with a password.
    has_password: bool,
    provider: Option<ProviderLink<'a>>,
    /// The URL that signs the person out of the provider, after they signed out here.
    sign_out_url: Option<String>,
}

/// The link that begins a sign-in with the OpenID Connect provider. Not a form, since forms must not lead to other servers.
struct ProviderLink<'a> {
    name: &'a str,
    path: String,
    /// Whether the provider responded when it was last asked.
    is_available: bool,
}

/// Renders the sign-in page.
async fn show_login(
    request: &PublicRequest,
    status: StatusCode,
    error: Option<&str>,
    (email, next): (&str, &str),
    is_signed_out: bool,
) -> PageResponse {
    let context = &request.0;
    let settings = &context.app().config.sign_in;
    let (mut provider, mut sign_out_url) = (None, None);
    if let Some(openid) = &context.state.provider {
        let next: String = url::form_urlencoded::byte_serialize(next.as_bytes()).collect();
        provider = Some(ProviderLink {
            name: settings.oidc_name.as_str(),
            path: format!("/sign-in/provider?next={next}"),
            is_available: openid.seems_available(&context.app().clock),
        });
        if is_signed_out {
            sign_out_url = openid.sign_out_url(&format!("{}/login", context.base_url)).await;
        }
    }
    let page = LoginPage {
        frame: request.frame("Sign in"),
        error,
        email,
        next,
        has_password: settings.password_sign_in,
        provider,
        sign_out_url: sign_out_url.map(String::from),
    };
    html(status, &page)
}

#[handler]
async fn login_page(request: PublicRequest, query: PageQuery) -> PageResponse {
    let next = safe_next(query.text("next"));
    if request.0.viewer.is_some() {
        return redirect(next);
    }
    let is_signed_out = query.non_empty("signed_out").is_some();
    show_login(&request, StatusCode::OK, None, ("", next), is_signed_out).await
}

#[handler]
async fn login(request: PublicRequest, form: Form) -> PageResponse {
    let (email, next) = (form.text("email").trim(), safe_next(form.text("next")));
    let context = &request.0;
    let show_error =
        async |status, error: &str| show_login(&request, status, Some(error), (email, next), false).await;
    if !context.app().config.sign_in.password_sign_in {
        return show_error(StatusCode::FORBIDDEN, PASSWORD_OFF).await;
    }
    let account = email::comparison_key(email);
    let attempt = SignInAttempt {
        client: context.ip_address,
        account: &account,
        device: known_device(context, email).await?,
    };
    if let Err(seconds) = context.state.login_attempts.admit(&context.app().clock, attempt).await {
        return show_error(StatusCode::TOO_MANY_REQUESTS, &too_many_attempts(seconds)).await;
    }
    let password = SecretString::from(form.text("password"));
    let wrong = "Incorrect email or password.";
    let Some(verified) = users::verify_login(context.app(), email, &password).await? else {
        return show_error(StatusCode::UNPROCESSABLE_ENTITY, wrong).await;
    };
    if people::has_second_factor(context.app(), email).await? {
        context.state.login_attempts.reset(attempt);
        return ask_for_code(context, &FirstFactor::Password(verified), next);
    }
    let Some(token) = start_session(context, &verified).await? else {
        return show_error(StatusCode::UNPROCESSABLE_ENTITY, wrong).await;
    };
    context.state.login_attempts.reset(attempt);
    let mut response = signed_in(context, &token, next)?;
    set_device(context, &mut response, attempt.device.is_some(), &verified.password_version())?;
    Ok(response)
}

/// Leads a person who proved a first factor to the page that asks for a code.
pub(super) fn ask_for_code(context: &BrowserContext, first: &FirstFactor, next: &str) -> PageResponse {
    let mut response = redirect("/sign-in/code")?;
    let step = Step::Code(PendingCode::new(first, next));
    steps::set(context, &mut response, step).map_err(PageError::Internal)?;
    Ok(response)
}

/// Sets the cookie by which the browser is recognized at its next attempt to sign in. A known device keeps its id, so that its
/// attempts count together.
pub(super) fn set_device(
    context: &BrowserContext,
    response: &mut Response,
    is_known: bool,
    version: &PasswordVersion,
) -> Result<()> {
    let cookie = match context.device.clone().filter(|_| is_known) {
        Some(cookie) => cookie,
        None => device::new_cookie(&context.state.device_key, version)?,
    };
    cookies::set(response.headers_mut(), CookieKind::Device, context.secure_cookies, &cookie);
    Ok(())
}

/// Returns the id of the browser if it signed in before with this email address and the current password.
pub(super) async fn known_device(context: &BrowserContext, email: &str) -> Result<Option<u128>> {
    let Some(cookie) = context.device.as_deref().and_then(DeviceCookie::decode) else { return Ok(None) };
    let version = users::password_version(context.app(), email).await?;
    Ok(version.and_then(|version| device::id(&context.state.device_key, &version, &cookie)))
}

/// Returns the error of an attempt that is allowed again after this number of seconds.
pub(super) fn too_many_attempts(seconds: i64) -> String {
    let minutes = (seconds + 59) / 60;
    let (count, unit) = match minutes {
        1 => (1, "minute"),
        2..120 => (minutes, "minutes"),
        _ => ((minutes + 59) / 60, "hours"),
    };
    format!("Too many attempts. Try again in {count} {unit}.")
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

/// Adds a flash message for the next page, which belongs to the session with this token.
pub(super) fn set_flash(
    context: &BrowserContext,
    response: &mut Response,
    token: &SecretString,
    flash: &Flash,
) {
    let secure = context.secure_cookies;
    cookies::set(response.headers_mut(), CookieKind::Flash, secure, &flash.sign(token));
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
            audit::append(app, &mut write, viewer.live_workspace.id, &actor, entry).await?;
        }
        write.commit().await.map_err(Error::from)?;
    }
    let uses_provider = context.viewer.as_ref().is_some_and(|viewer| viewer.proof.uses_provider);
    let mut response = redirect(if uses_provider { "/login?signed_out=1" } else { "/login" })?;
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
    /// Whether password sign-in is switched off.
    is_off: bool,
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
    let page = SetPasswordPage {
        frame: request.frame("Set a password"),
        email,
        errors,
        hours: users::LINK_HOURS,
        is_off: !request.0.app().config.sign_in.password_sign_in,
    };
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
                set_device(context, &mut response, false, &version)?;
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
