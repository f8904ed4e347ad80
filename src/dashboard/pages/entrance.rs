//! Signing in and out, and setting a password by a link.
//!
//! A wrong password and an unknown address get the same answer, after the same work.

use askama::Template;
use poem::handler;
use poem::http::StatusCode;
use secrecy::{ExposeSecret, SecretString};

use crate::cookies::{self, Kind};
use crate::flash::Flash;
use crate::form::{Faults, Form};
use crate::frame::Frame;
use crate::page::{Answer, html, redirect, redirect_with, signed_out};
use crate::query::Asked;
use crate::routes::{Route, get};
use crate::ui;
use crate::visit::{Guest, Visit};
use domain::audit::{self, Action, Actor};
use domain::sessions::{self, Origin};
use domain::students::fold;
use domain::users::{self, Recognised, User};
use domain::{Error, Result};

/// Where one goes after signing in.
const HOME: &str = "/dashboard";

pub(super) fn routes(route: Route) -> Route {
    route
        .at("/login", get(login_page).post(login))
        .at("/logout", get(logout_page).post(logout))
        .at("/set-password", get(set_password_page).post(set_password))
}

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    frame: Frame,
    refusal: Option<&'a str>,
    email: &'a str,
    next: &'a str,
}

#[handler]
async fn login_page(guest: Guest, asked: Asked) -> Answer {
    let next = inside(asked.text("next"));
    if guest.0.viewer.is_some() {
        return redirect(next);
    }
    let page = LoginPage { frame: guest.frame("Sign in"), refusal: None, email: "", next };
    html(StatusCode::OK, &page)
}

#[handler]
async fn login(guest: Guest, form: Form) -> Answer {
    let (email, next) = (form.text("email").trim(), inside(form.text("next")));
    let visit = &guest.0;
    let refused = |status, refusal: &str| {
        let page = LoginPage { frame: guest.frame("Sign in"), refusal: Some(refusal), email, next };
        html(status, &page)
    };
    let account = fold(email);
    if let Err(seconds) = visit.shared.attempts.admit(visit.address, &account, visit.app().clock.now_ms()) {
        let minutes = (seconds + 59) / 60;
        let refusal = format!("Too many attempts. Wait {minutes} minutes, then try again.");
        return refused(StatusCode::TOO_MANY_REQUESTS, &refusal);
    }
    let password = SecretString::from(form.text("password"));
    let token = match users::recognise(visit.app(), email, &password).await? {
        Some(known) => admit(visit, &known).await?,
        None => None,
    };
    let Some(token) = token else {
        return refused(StatusCode::UNPROCESSABLE_ENTITY, "The address or the password is wrong.");
    };
    visit.shared.attempts.succeeded(&account);
    let mut response = redirect(next)?;
    cookies::set(response.headers_mut(), Kind::Session, visit.secure, token.expose_secret());
    cookies::clear(response.headers_mut(), Kind::Visitor, visit.secure);
    Ok(response)
}

/// Begins the person's session, in place of the one that this browser may have; its token. `None` when another password was
/// set meanwhile.
async fn admit(visit: &Visit, known: &Recognised) -> Result<Option<SecretString>> {
    let (app, user) = (visit.app(), &known.user);
    let mut write = app.begin_write().await?;
    // First, since it holds the person: whoever sets a password does so too before ending sessions.
    let origin = Origin { address: visit.address, agent: &visit.agent };
    let Some((session, token)) = sessions::begin(app, &mut write, known, origin).await? else {
        return Ok(None);
    };
    if let Some(before) = &visit.viewer {
        // It may have ended meanwhile.
        let ended = sessions::leave(&mut write, before).await;
        ended.or_else(|error| if matches!(error, Error::NotFound(_)) { Ok(()) } else { Err(error) })?;
    }
    let told = (Action::SignedIn, session.to_string(), "");
    audit::append(app, &mut write, user.workspace, &actor(visit, user), told).await?;
    write.commit().await?;
    Ok(Some(token))
}

fn actor(visit: &Visit, user: &User) -> Actor {
    Actor { user: Some(user.id), name: user.email.clone(), address: Some(visit.address) }
}

/// An address of the dashboard, whatever is given.
fn inside(next: &str) -> &str {
    let plain = next.bytes().all(|b| b.is_ascii_graphic() && b != b'\\');
    let ours = next == HOME || next.starts_with("/dashboard/") || next.starts_with("/dashboard?");
    if plain && ours { next } else { HOME }
}

#[derive(Template)]
#[template(path = "confirm.html")]
struct LogoutPage<'a> {
    frame: Frame,
    confirm: ui::Confirm<'a>,
}

#[handler]
async fn logout_page(guest: Guest) -> Answer {
    if guest.0.viewer.is_none() {
        return redirect("/login");
    }
    let frame = guest.frame("Sign out");
    let confirm = ui::Confirm {
        csrf: frame.csrf(),
        text: "Your session in this browser ends.",
        action: "/logout",
        button: "Sign out",
        back: HOME,
    };
    html(StatusCode::OK, &LogoutPage { frame, confirm })
}

#[handler]
async fn logout(guest: Guest) -> Answer {
    let visit = &guest.0;
    if let Some(viewer) = &visit.viewer {
        let app = visit.app();
        let mut write = app.begin_write().await.map_err(Error::from)?;
        sessions::leave(&mut write, viewer).await?;
        let actor =
            Actor { user: Some(viewer.user), name: viewer.email.clone(), address: Some(visit.address) };
        let told = (Action::SignedOut, viewer.session.to_string(), "");
        audit::append(app, &mut write, viewer.workspace.id, &actor, told).await?;
        write.commit().await.map_err(Error::from)?;
    }
    let mut response = redirect("/login")?;
    cookies::clear(response.headers_mut(), Kind::Session, visit.secure);
    Ok(response)
}

#[derive(Template)]
#[template(path = "set_password.html")]
struct SetPasswordPage {
    frame: Frame,
    /// Whose password it is; `None` when the link opens nothing.
    email: Option<String>,
    faults: Faults,
    hours: i64,
}

#[handler]
async fn set_password_page(guest: Guest, asked: Asked) -> Answer {
    let visit = &guest.0;
    if let Some(token) = asked.given("token") {
        // Out of the address and the history, into a cookie that no script can read.
        let mut response = redirect("/set-password")?;
        let text: String = token.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
        cookies::set(response.headers_mut(), Kind::Link, visit.secure, &text);
        return Ok(response);
    }
    let holder = match &visit.link {
        Some(token) => users::holder(visit.app(), token.expose_secret()).await?,
        None => None,
    };
    set_password_form(&guest, holder.map(|user| user.email), Faults::default())
}

fn set_password_form(guest: &Guest, email: Option<String>, faults: Faults) -> Answer {
    let status = match (&email, faults.is_empty()) {
        (None, _) => StatusCode::NOT_FOUND,
        (Some(_), false) => StatusCode::UNPROCESSABLE_ENTITY,
        (Some(_), true) => StatusCode::OK,
    };
    let page =
        SetPasswordPage { frame: guest.frame("Set a password"), email, faults, hours: users::LINK_HOURS };
    html(status, &page)
}

#[handler]
async fn set_password(guest: Guest, form: Form) -> Answer {
    let visit = &guest.0;
    let Some(token) = &visit.link else { return set_password_form(&guest, None, Faults::default()) };
    let again = async |faults: Faults| {
        let holder = users::holder(visit.app(), token.expose_secret()).await?;
        set_password_form(&guest, holder.map(|user| user.email), faults)
    };
    if form.text("password") != form.text("again") {
        let mut faults = Faults::default();
        faults.add("again", "is not what stands above");
        return again(faults).await;
    }
    let password = SecretString::from(form.text("password"));
    let set: Result<Option<User>> =
        users::set_password(visit.app(), token.expose_secret(), &password, |user| actor(visit, user)).await;
    match set {
        Err(Error::Invalid(faults)) => again(faults.into()).await,
        Err(error) => Err(error.into()),
        Ok(None) => set_password_form(&guest, None, Faults::default()),
        Ok(Some(user)) => {
            let mut response = password_is_set(visit, &user)?;
            cookies::clear(response.headers_mut(), Kind::Link, visit.secure);
            Ok(response)
        }
    }
}

/// The page to sign in, which says so. With the password, the person's session in this browser has ended: whoever comes
/// there is a visitor again.
fn password_is_set(visit: &Visit, user: &User) -> Answer {
    let flash = Flash::done("The password is set. Sign in with it.");
    if !visit.viewer.as_ref().is_some_and(|viewer| users::same_address(&viewer.email, &user.email)) {
        return redirect_with(visit, "/login", &flash);
    }
    signed_out(visit, &flash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_never_leaves_the_dashboard_by_signing_in() {
        for good in ["/dashboard", "/dashboard/developer?x=1"] {
            assert_eq!(inside(good), good);
        }
        for bad in [
            "",
            "//evil.example",
            "https://evil.example",
            "/dashboardx",
            "/dashboard/\\x",
            "/dashboard/\nx",
            "/login",
        ] {
            assert_eq!(inside(bad), HOME, "{bad}");
        }
    }
}
