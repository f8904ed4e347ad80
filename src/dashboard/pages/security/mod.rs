//! The second factor of the signed-in user, and whether the workspace requires one.

mod set_up;

use askama::Template;
use poem::handler;
use poem::http::StatusCode;
use secrecy::{ExposeSecret, SecretString};

use super::sign_in::{known_device, too_many_attempts};
use super::sign_in_code::record_wrong_code;
use crate::error::SECURITY;
use crate::flash::Flash;
use crate::form::Form;
use crate::frame::{Frame, Section};
use crate::request::{DashboardRequest, PageResponse, html};
use crate::routes::{RouteTable, get, post};
use crate::ui;
use domain::audit::Action;
use domain::people::{self, CodeCheck, SecondFactor};
use domain::roles::Permission;
use domain::users::AccountEvent;
use domain::{Error, Result, email, workspaces};

pub(super) fn routes(route: RouteTable) -> RouteTable {
    set_up::routes(route)
        .at(SECURITY, get(Permission::UseAccount, show_page))
        .at("/dashboard/settings/security/codes", post(Permission::UseAccount, new_codes))
        .at("/dashboard/settings/security/remove", post(Permission::UseAccount, remove))
        .at("/dashboard/settings/security/require", post(Permission::ManageMembers, require))
}

#[derive(Template)]
#[template(path = "settings/security.html")]
struct SecurityPage<'a> {
    frame: Frame,
    error: Option<&'a str>,
    factor: Option<SecondFactor>,
    /// Whether the workspace requires a second factor.
    is_required: bool,
    /// Whether the user can use nothing else until a second factor is set up.
    is_missing: bool,
    /// Whether the user signed in with the provider.
    uses_provider: bool,
}

async fn show(request: &DashboardRequest, status: StatusCode, error: Option<&str>) -> PageResponse {
    let viewer = request.viewer();
    let page = SecurityPage {
        frame: request.frame(Section::Settings, "Second factor"),
        error,
        factor: people::second_factor(request.app(), &viewer.email).await?,
        is_required: viewer.live_workspace.requires_second_factor,
        is_missing: viewer.lacks_second_factor(),
        uses_provider: viewer.proof.uses_provider,
    };
    html(status, &page)
}

#[handler]
async fn show_page(request: DashboardRequest) -> PageResponse {
    show(&request, StatusCode::OK, None).await
}

/// Counts an attempt at a code. Returns the error if there were too many.
async fn admit_code(request: &DashboardRequest) -> Result<Option<String>> {
    let (context, address) = (request.browser(), &request.viewer().email);
    let (account, device) = (email::comparison_key(address), known_device(context, address).await?);
    let admitted = context.state.login_attempts.admit_code(&request.app().clock, &account, device).await;
    Ok(admitted.err().map(too_many_attempts))
}

/// Records the incorrect code, and shows the page with an error. The transaction that checked the code must have ended.
async fn show_wrong_code(request: &DashboardRequest) -> PageResponse {
    record_wrong_code(request.browser(), request.account(), &request.actor()).await?;
    let error = "Incorrect code. A code works once; wait for the next one.";
    show(request, StatusCode::UNPROCESSABLE_ENTITY, Some(error)).await
}

#[derive(Template)]
#[template(path = "settings/recovery_codes.html")]
struct RecoveryCodesPage<'a> {
    frame: Frame,
    codes: Vec<&'a str>,
}

/// Renders the only page that shows recovery codes. It is the response to the form and is not cached.
fn show_codes(request: &DashboardRequest, frame: Frame, codes: &[SecretString]) -> PageResponse {
    let codes = codes.iter().map(|code| code.expose_secret()).collect();
    request.show(&RecoveryCodesPage { frame, codes })
}

/// Returns the frame of the page that shows recovery codes.
fn codes_frame(request: &DashboardRequest) -> Frame {
    request.frame(Section::Settings, "Recovery codes")
}

#[handler]
async fn new_codes(request: DashboardRequest, form: Form) -> PageResponse {
    if let Some(error) = admit_code(&request).await? {
        return show(&request, StatusCode::TOO_MANY_REQUESTS, Some(&error)).await;
    }
    let (viewer, seal) = (request.viewer(), &request.browser().state.factor_seal);
    let mut write = request.begin_write().await?;
    let checked = people::check_code(&write, seal, &viewer.email, form.text("code")).await?;
    let codes = match checked {
        CodeCheck::Wrong => None,
        CodeCheck::Right | CodeCheck::Recovery { .. } => {
            people::replace_recovery_codes(&write, &viewer.email).await?
        }
    };
    let Some(codes) = codes else {
        drop(write);
        return show_wrong_code(&request).await;
    };
    request.notify(&mut write, AccountEvent::RecoveryCodesCreated).await?;
    request.commit(write, Action::RecoveryCodesCreated, viewer.user, "").await?;
    show_codes(&request, codes_frame(&request), &codes)
}

#[handler]
async fn remove(request: DashboardRequest, form: Form) -> PageResponse {
    if let Some(error) = admit_code(&request).await? {
        return show(&request, StatusCode::TOO_MANY_REQUESTS, Some(&error)).await;
    }
    let (viewer, seal) = (request.viewer(), &request.browser().state.factor_seal);
    let mut write = request.begin_write().await?;
    let checked = people::remove_own_second_factor(&mut write, seal, viewer, form.text("code")).await?;
    if checked == CodeCheck::Wrong {
        drop(write);
        return show_wrong_code(&request).await;
    }
    request.notify(&mut write, AccountEvent::SecondFactorRemoved).await?;
    request.commit(write, Action::SecondFactorRemoved, viewer.user, &viewer.email).await?;
    request.redirect_with(SECURITY, &Flash::success("The second factor was removed."))
}

#[handler]
async fn require(request: DashboardRequest, form: Form) -> PageResponse {
    request.require_recent_sign_in(SECURITY)?;
    let (viewer, is_required) = (request.viewer(), form.text("required") == "on");
    if is_required && !viewer.proof.has_second_factor && !viewer.proof.uses_provider {
        return request.redirect_with(SECURITY, &Flash::info("Set up your own second factor first."));
    }
    let mut write = request.begin_write().await?;
    let workspace = request.account();
    if !workspaces::require_second_factor(request.app(), &mut write, workspace, is_required).await? {
        write.rollback().await.map_err(Error::from)?;
        return request.redirect(SECURITY);
    }
    let detail = if is_required { "required" } else { "not required" };
    request.commit(write, Action::SecondFactorRequirement, workspace, detail).await?;
    let text = match is_required {
        true => "Members who sign in with a password or from the platform now need a second factor.",
        false => "Members no longer need a second factor.",
    };
    request.redirect_with(SECURITY, &Flash::success(text))
}
