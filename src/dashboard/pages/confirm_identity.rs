//! Confirming one's identity: the password, with a code if the user has a second factor, or a new sign-in at the provider.

use askama::Template;
use poem::handler;
use poem::http::StatusCode;
use secrecy::SecretString;

use super::sign_in::{known_device, safe_next, signed_in, too_many_attempts};
use super::sign_in_code::record_wrong_code;
use crate::error::CONFIRM;
use crate::form::Form;
use crate::frame::{Frame, Section};
use crate::query::PageQuery;
use crate::request::{DashboardRequest, PageResponse, html};
use crate::routes::{RouteTable, get};
use crate::ui;
use domain::audit::Action;
use domain::people::{self, CodeCheck};
use domain::roles::Permission;
use domain::users::{self, AccountEvent};
use domain::{email, sessions};
use rate_limit::logins::SignInAttempt;

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route.at(CONFIRM, get(Permission::UseAccount, show_form).post(Permission::UseAccount, confirm))
}

#[derive(Template)]
#[template(path = "confirm_identity.html")]
struct ConfirmPage<'a> {
    frame: Frame,
    error: Option<&'a str>,
    email: &'a str,
    /// The page to return to.
    next: &'a str,
    has_password: bool,
    has_second_factor: bool,
    /// The name of the provider and the link to it.
    provider: Option<(&'a str, String)>,
}

async fn show(
    request: &DashboardRequest,
    status: StatusCode,
    error: Option<&str>,
    next: &str,
) -> PageResponse {
    let (viewer, app) = (request.viewer(), request.app());
    let user = users::get(app, request.account(), viewer.user).await?;
    let encoded: String = url::form_urlencoded::byte_serialize(next.as_bytes()).collect();
    let provider = request.browser().state.provider.as_ref().map(|_| {
        (app.config.sign_in.oidc_name.as_str(), format!("/dashboard/confirm/provider?next={encoded}"))
    });
    let page = ConfirmPage {
        frame: request.frame(Section::Settings, "Confirm your identity"),
        error,
        email: &viewer.email,
        next,
        has_password: user.has_password && app.config.sign_in.password_sign_in,
        has_second_factor: people::has_second_factor(app, &viewer.email).await?,
        provider,
    };
    html(status, &page)
}

#[handler]
async fn show_form(request: DashboardRequest, query: PageQuery) -> PageResponse {
    show(&request, StatusCode::OK, None, safe_next(query.text("next"))).await
}

#[handler]
async fn confirm(request: DashboardRequest, form: Form) -> PageResponse {
    let (context, next) = (request.browser(), safe_next(form.text("next")));
    let (app, address) = (request.app(), &request.viewer().email);
    let account = email::comparison_key(address);
    let device = known_device(context, address).await?;
    let attempt = SignInAttempt { client: context.ip_address, account: &account, device };
    if let Err(seconds) = context.state.login_attempts.admit(&app.clock, attempt).await {
        let error = too_many_attempts(seconds);
        return show(&request, StatusCode::TOO_MANY_REQUESTS, Some(&error), next).await;
    }
    let wrong = Some("Incorrect password or code.");
    let password = SecretString::from(form.text("password"));
    if users::verify_login(app, address, &password).await?.is_none() {
        return show(&request, StatusCode::UNPROCESSABLE_ENTITY, wrong, next).await;
    }
    let has_second_factor = people::has_second_factor(app, address).await?;
    if has_second_factor
        && let Err(seconds) = context.state.login_attempts.admit_code(&app.clock, &account, device).await
    {
        let error = too_many_attempts(seconds);
        return show(&request, StatusCode::TOO_MANY_REQUESTS, Some(&error), next).await;
    }
    let mut write = request.begin_write().await?;
    let mut detail = String::new();
    if has_second_factor {
        match people::check_code(&write, &context.state.factor_seal, address, form.text("code")).await? {
            CodeCheck::Wrong => {
                drop(write);
                record_wrong_code(context, request.account(), &request.actor()).await?;
                return show(&request, StatusCode::UNPROCESSABLE_ENTITY, wrong, next).await;
            }
            CodeCheck::Right => {}
            CodeCheck::Recovery { left } => {
                request.notify(&mut write, AccountEvent::RecoveryCodeUsed { left }).await?;
                detail = format!("with a recovery code, {left} left");
            }
        }
    }
    let token = sessions::confirm(&write, request.viewer(), has_second_factor).await?;
    request.commit(write, Action::IdentityConfirmed, request.viewer().session, &detail).await?;
    context.state.login_attempts.reset(attempt);
    signed_in(context, &token, next)
}
