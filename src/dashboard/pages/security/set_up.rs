//! Setting up a second factor: a secret is shown as a QR code and as text, and its first code proves that the app knows it.
//!
//! The secret is only stored when the code is right. Until then, the form contains it encrypted for this session.

use askama::Template;
use poem::handler;
use poem::http::StatusCode;
use secrecy::ExposeSecret as _;

use super::{admit_code, codes_frame, show_codes};
use crate::cookies::{self, CookieKind};
use crate::error::{PageError, SECURITY};
use crate::flash::Flash;
use crate::form::Form;
use crate::frame::{Frame, Section};
use crate::request::{DashboardRequest, PageResponse, html};
use crate::routes::{RouteTable, post};
use crate::steps;
use crate::ui::{self, RawHtml};
use domain::Error;
use domain::audit::Action;
use domain::people::{self, NewSecret};
use domain::roles::Permission;
use domain::users::AccountEvent;

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route
        .at("/dashboard/settings/security/set-up", post(Permission::UseAccount, begin))
        .at("/dashboard/settings/security/set-up/confirm", post(Permission::UseAccount, confirm))
}

#[derive(Template)]
#[template(path = "settings/set_up_factor.html")]
struct SetUpPage<'a> {
    frame: Frame,
    error: Option<&'a str>,
    qr_code: RawHtml<String>,
    /// The secret as text.
    secret: String,
    /// The encrypted secret.
    sealed: String,
}

/// Renders the page with the secret. It is the response to a form and is not cached.
fn show(
    request: &DashboardRequest,
    status: StatusCode,
    secret: &NewSecret,
    error: Option<&str>,
) -> PageResponse {
    let (context, viewer) = (request.browser(), request.viewer());
    let server = url::Url::parse(&context.base_url).ok();
    let issuer = server.as_ref().and_then(|url| url.host_str()).unwrap_or("creator-api");
    let sealed = steps::seal(&context.state.step_seal, secret.bytes(), viewer.session.uuid().as_bytes());
    let page = SetUpPage {
        frame: request.frame(Section::Settings, "Set up a second factor"),
        error,
        qr_code: ui::qr_code(&secret.url(issuer, &viewer.email)),
        secret: secret.text(),
        sealed: sealed.map_err(PageError::Internal)?,
    };
    html(status, &page)
}

#[handler]
async fn begin(request: DashboardRequest) -> PageResponse {
    request.require_recent_sign_in(SECURITY)?;
    if people::has_second_factor(request.app(), &request.viewer().email).await? {
        return request.redirect_with(SECURITY, &Flash::info("Your second factor is set up already."));
    }
    let secret = NewSecret::generate().map_err(PageError::Internal)?;
    show(&request, StatusCode::OK, &secret, None)
}

#[handler]
async fn confirm(request: DashboardRequest, form: Form) -> PageResponse {
    request.require_recent_sign_in(SECURITY)?;
    let (context, viewer) = (request.browser(), request.viewer());
    let owner = viewer.session.uuid();
    let bytes = steps::open(&context.state.step_seal, form.text("secret"), owner.as_bytes());
    let Some(secret) = bytes.and_then(|bytes| NewSecret::from_bytes(&bytes)) else {
        return request.redirect_with(SECURITY, &Flash::info("Nothing was set up. Start again."));
    };
    if let Some(error) = admit_code(&request).await? {
        return show(&request, StatusCode::TOO_MANY_REQUESTS, &secret, Some(&error));
    }
    let mut write = request.begin_write().await?;
    let (app, seal, code) = (request.app(), &context.state.factor_seal, form.text("code"));
    match people::set_up_second_factor(app, &mut write, seal, viewer, &secret, code).await {
        Ok(Some((codes, token))) => {
            request.notify(&mut write, AccountEvent::SecondFactorSetUp).await?;
            request.commit(write, Action::SecondFactorSetUp, viewer.user, &viewer.email).await?;
            let frame = codes_frame(&request).for_session(context, &token);
            let mut response = show_codes(&request, frame, &codes)?;
            let (headers, secure) = (response.headers_mut(), context.secure_cookies);
            cookies::set(headers, CookieKind::Session, secure, token.expose_secret());
            Ok(response)
        }
        Ok(None) => {
            let error =
                "Incorrect code. Check that the clock of your device is right, and enter the current code.";
            show(&request, StatusCode::UNPROCESSABLE_ENTITY, &secret, Some(error))
        }
        Err(Error::Invalid(_)) => {
            drop(write);
            request.redirect_with(SECURITY, &Flash::info("Your second factor is set up already."))
        }
        Err(error) => Err(error.into()),
    }
}
