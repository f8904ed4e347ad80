//! Requesting a link to set a forgotten password.
//!
//! The answer is the same for every email address, and does not wait for the account: the link is created in the background. So
//! nobody can find out which accounts exist.

use askama::Template;
use poem::handler;
use poem::http::StatusCode;

use super::sign_in::too_many_attempts;
use crate::context::PublicRequest;
use crate::flash::Flash;
use crate::form::Form;
use crate::frame::Frame;
use crate::request::{PageResponse, html, redirect_with};
use crate::routes::{PUBLIC, RouteTable, get};
use crate::ui;
use domain::app::App;
use domain::retry::retry_on_conflict;
use domain::{email, users};
use foundation::telemetry::activity::inherit_activity;

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route.at("/reset-password", get(PUBLIC, reset_page).post(PUBLIC, request_link))
}

#[derive(Template)]
#[template(path = "reset_password.html")]
struct ResetPage<'a> {
    frame: Frame,
    error: Option<&'a str>,
    email: &'a str,
    /// Whether password sign-in is switched off.
    is_off: bool,
    /// Whether the server can mail links.
    can_mail: bool,
    /// Whether mail is written to the data folder.
    has_mail_server: bool,
}

impl<'a> ResetPage<'a> {
    fn new(request: &PublicRequest, email: &'a str, error: Option<&'a str>) -> Self {
        let config = &request.0.app().config;
        Self {
            frame: request.frame("Reset your password"),
            error,
            email,
            is_off: !config.sign_in.password_sign_in,
            can_mail: config.server.url_for_links().is_some(),
            has_mail_server: config.mail.smtp_url.is_some(),
        }
    }
}

#[handler]
async fn reset_page(request: PublicRequest) -> PageResponse {
    html(StatusCode::OK, &ResetPage::new(&request, "", None))
}

#[handler]
async fn request_link(request: PublicRequest, form: Form) -> PageResponse {
    let (context, address) = (&request.0, form.text("email").trim());
    let page = ResetPage::new(&request, address, None);
    if !page.can_mail || page.is_off {
        return html(StatusCode::UNPROCESSABLE_ENTITY, &page);
    }
    let (app, account) = (context.app(), email::comparison_key(address));
    match context.state.login_attempts.admit_link(&app.clock, context.ip_address, &account).await {
        Err(seconds) => {
            let error = too_many_attempts(seconds);
            let page = ResetPage { error: Some(&error), ..page };
            return html(StatusCode::TOO_MANY_REQUESTS, &page);
        }
        Ok(true) => mail_in_background(app.clone(), address.to_owned()),
        Ok(false) => {}
    }
    let text = "If a member of a workspace has this address, we mailed them a link to set a password. It works once, within an \
                hour.";
    redirect_with(context, "/login", &Flash::info(text))
}

/// Mails a link to the person with this address, if there is one. If the server stops in the meantime, no mail is sent.
fn mail_in_background(app: App, address: String) {
    tokio::spawn(inherit_activity(async move {
        if let Err(error) = retry_on_conflict(|| users::mail_reset_link(&app, &address)).await {
            tracing::error!(error = error.to_string(), "could not mail a requested password link");
        }
    }));
}
