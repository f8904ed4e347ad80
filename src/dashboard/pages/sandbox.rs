//! The sandbox of the workspace: switching to it and back, its creation, reset and deletion.

use std::time::Duration;

use askama::Template;
use poem::handler;
use secrecy::SecretString;

use super::sign_in::{set_flash, signed_in};
use crate::error::PageError;
use crate::flash::Flash;
use crate::form::{Form, FormErrors};
use crate::frame::{Frame, Section};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get, post};
use crate::ui;
use domain::audit::Action;
use domain::roles::Permission;
use domain::sandbox::{self, SeededWorkspace};
use domain::sessions;
use domain::workspaces::Workspace;
use domain::{Error, FieldError};
use foundation::database::with_wait_budget;

const SANDBOX: &str = "/dashboard/sandbox";
const RESET: &str = "/dashboard/sandbox/reset";
const DELETE: &str = "/dashboard/sandbox/delete";
/// The page after switching.
const HOME: &str = "/dashboard";
/// How long the database may take to store the demo data, which is more than a page needs.
const SEED_TIMEOUT: Duration = Duration::from_secs(20);

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route
        .at(SANDBOX, get(Permission::UseSandbox, show).post(Permission::UseSandbox, create))
        .at("/dashboard/sandbox/enter", post(Permission::UseSandbox, enter))
        // Members who lose the role while they are in the sandbox can still leave it.
        .at("/dashboard/sandbox/leave", post(Permission::UseAccount, leave))
        .at(RESET, get(Permission::UseSandbox, confirm_reset).post(Permission::UseSandbox, reset))
        .at(DELETE, get(Permission::UseSandbox, confirm_delete).post(Permission::UseSandbox, delete))
}

#[derive(Template)]
#[template(path = "sandbox/sandbox.html")]
struct SandboxPage<'a> {
    frame: Frame,
    live_workspace: &'a Workspace,
    sandbox: Option<Workspace>,
}

#[handler]
async fn show(request: DashboardRequest) -> PageResponse {
    request.show(&SandboxPage {
        frame: request.frame(Section::Settings, "Sandbox"),
        live_workspace: &request.viewer().live_workspace,
        sandbox: sandbox::of(request.app(), request.account()).await?,
    })
}

/// Redirects with the new token of the session.
fn switched(request: &DashboardRequest, token: &SecretString, flash: Option<Flash>) -> PageResponse {
    let mut response = signed_in(request.browser(), token, HOME)?;
    if let Some(flash) = flash {
        set_flash(request.browser(), &mut response, token, &flash);
    }
    Ok(response)
}

/// Redirects to the page about the sandbox, with the reason why nothing was changed.
fn reject(request: &DashboardRequest, errors: Vec<FieldError>) -> PageResponse {
    let errors = FormErrors::from(errors);
    let reason = errors.message_for("workspace").unwrap_or("was not changed");
    request.redirect_with(SANDBOX, &Flash::info(ui::error_sentence("This workspace", reason)))
}

#[handler]
async fn enter(request: DashboardRequest) -> PageResponse {
    let write = request.begin_write().await?;
    match sessions::enter_sandbox(&write, request.viewer()).await {
        // The page offers to create one.
        Err(Error::NotFound(_)) => request.redirect(SANDBOX),
        Err(error) => Err(error.into()),
        Ok(token) => {
            request.commit(write, Action::SandboxEntered, request.viewer().session, "").await?;
            switched(&request, &token, None)
        }
    }
}

#[handler]
async fn leave(request: DashboardRequest) -> PageResponse {
    let write = request.begin_write().await?;
    let token = sessions::leave_sandbox(&write, request.viewer()).await?;
    request.commit(write, Action::SandboxLeft, request.viewer().session, "").await?;
    switched(&request, &token, None)
}

/// Writes the demo data for a new sandbox, or for one that it replaces. The error contains the reason why this is not possible.
async fn seed(
    request: &DashboardRequest,
    replaces: bool,
) -> Result<Result<SeededWorkspace, Vec<FieldError>>, PageError> {
    let seeding = sandbox::seed(request.app(), &request.viewer().live_workspace, replaces);
    match with_wait_budget(SEED_TIMEOUT, seeding).await {
        Ok(seeded) => Ok(Ok(seeded)),
        Err(Error::Invalid(errors)) => Ok(Err(errors)),
        Err(error) => Err(error.into()),
    }
}

#[handler]
async fn create(request: DashboardRequest, form: Form) -> PageResponse {
    let seeded = match seed(&request, false).await? {
        Ok(seeded) => seeded,
        Err(errors) => return reject(&request, errors),
    };
    let viewer = request.viewer();
    let mut write = request.begin_write().await?;
    match sandbox::create(&mut write, &viewer.live_workspace, seeded).await {
        Ok(created) => {
            let token = sessions::enter_sandbox(&write, viewer).await?;
            request.commit_once(&form, write, Action::SandboxCreated, created.id, &created.key).await?;
            let text = "The sandbox was created. Nothing that you do here changes live data.";
            switched(&request, &token, Some(Flash::success(text)))
        }
        Err(Error::Invalid(errors)) => {
            drop(write);
            reject(&request, errors)
        }
        Err(error) => Err(error.into()),
    }
}

#[derive(Template)]
#[template(path = "confirm.html")]
struct ConfirmPage<'a> {
    frame: Frame,
    confirm: ui::ConfirmForm<'a>,
}

/// Renders the form that confirms an action.
fn confirm(request: &DashboardRequest, title: &str, text: &str, action: &str, button: &str) -> PageResponse {
    let frame = request.frame(Section::Settings, title);
    let confirm = ui::ConfirmForm { csrf: frame.csrf(), text, action, button, back: SANDBOX };
    request.show(&ConfirmPage { frame, confirm })
}

#[handler]
async fn confirm_reset(request: DashboardRequest) -> PageResponse {
    let text = "All records, events, deliveries and logged requests of the sandbox are replaced by the demo data. API keys, webhooks and \
                the audit log stay. This cannot be undone.";
    confirm(&request, "Reset the sandbox?", text, RESET, "Reset sandbox")
}

#[handler]
async fn reset(request: DashboardRequest) -> PageResponse {
    let seeded = match seed(&request, true).await? {
        Ok(seeded) => seeded,
        Err(errors) => return reject(&request, errors),
    };
    let (app, live) = (request.app(), &request.viewer().live_workspace);
    let mut write = request.begin_write().await?;
    match sandbox::reset(app, &mut write, live, seeded).await {
        Ok(reset) => {
            request.commit(write, Action::SandboxReset, reset.id, &reset.key).await?;
            let text = "The sandbox has the demo data again. Its API keys and webhooks are the same.";
            request.redirect_with(SANDBOX, &Flash::success(text))
        }
        Err(Error::Invalid(errors)) => {
            drop(write);
            reject(&request, errors)
        }
        Err(error) => Err(error.into()),
    }
}

#[handler]
async fn confirm_delete(request: DashboardRequest) -> PageResponse {
    let text = "All data of the sandbox is deleted, with its API keys and webhooks. Requests with its keys will be rejected within 2 \
                seconds. This cannot be undone. You can create a new sandbox afterwards.";
    confirm(&request, "Delete the sandbox?", text, DELETE, "Delete sandbox")
}

#[handler]
async fn delete(request: DashboardRequest) -> PageResponse {
    let (app, live) = (request.app(), &request.viewer().live_workspace);
    let mut write = request.begin_write().await?;
    match sandbox::delete(app, &mut write, live).await {
        Ok(deleted) => {
            request.commit(write, Action::SandboxDeleted, deleted.id, &deleted.key).await?;
            request.redirect_with(HOME, &Flash::success("The sandbox was deleted. You see live data."))
        }
        Err(Error::Invalid(errors)) => {
            drop(write);
            reject(&request, errors)
        }
        Err(error) => Err(error.into()),
    }
}
