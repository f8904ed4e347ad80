//! The second step of signing in: the code of the second factor, or a recovery code.

use askama::Template;
use poem::handler;
use poem::http::StatusCode;

use super::sign_in::{
    actor, end_previous_session, known_device, set_device, set_flash, signed_in, too_many_attempts,
};
use crate::context::{BrowserContext, PublicRequest};
use crate::flash::Flash;
use crate::form::Form;
use crate::frame::Frame;
use crate::request::{PageResponse, html, redirect};
use crate::routes::{PUBLIC, RouteTable, get};
use crate::steps::{self, Step};
use crate::ui;
use domain::audit::{self, Action, Actor};
use domain::sessions::{self, CodeSignIn, FirstFactor, SessionClient};
use domain::users::{self, AccountEvent};
use domain::{Error, Result, email};
use foundation::id::WorkspaceId;

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route.at("/sign-in/code", get(PUBLIC, code_page).post(PUBLIC, check_code))
}

#[derive(Template)]
#[template(path = "sign_in_code.html")]
struct CodePage<'a> {
    frame: Frame,
    error: Option<&'a str>,
}

fn show(request: &PublicRequest, status: StatusCode, error: Option<&str>) -> PageResponse {
    html(status, &CodePage { frame: request.frame("Enter your code"), error })
}

/// Returns the first factor that the browser proved, and the page after signing in. `None` if the browser starts again.
async fn pending(context: &BrowserContext) -> Result<Option<(FirstFactor, String)>> {
    let Some(Step::Code(code)) = steps::read(context).map(|cookie| cookie.step) else { return Ok(None) };
    let app = context.app();
    let first = match (code.version, code.token) {
        (Some(version), _) => {
            let (Ok(workspace), Ok(user)) = (code.workspace.parse(), code.user.parse()) else {
                return Ok(None);
            };
            users::verified_before(app, workspace, user, &version).await?.map(FirstFactor::Password)
        }
        (None, Some(token)) => users::opened_link(app, token.into()).await?.map(FirstFactor::Link),
        (None, None) => None,
    };
    Ok(first.map(|first| (first, code.next)))
}

#[handler]
async fn code_page(request: PublicRequest) -> PageResponse {
    match pending(&request.0).await? {
        Some(_) => show(&request, StatusCode::OK, None),
        None => redirect("/login"),
    }
}

#[handler]
async fn check_code(request: PublicRequest, form: Form) -> PageResponse {
    let context = &request.0;
    let Some((first, next)) = pending(context).await? else { return redirect("/login") };
    let (app, user) = (context.app(), first.user());
    let account = email::comparison_key(&user.email);
    let attempts = &context.state.login_attempts;
    let device = known_device(context, &user.email).await?;
    if let Err(seconds) = attempts.admit_code(&app.clock, &account, device).await {
        return show(&request, StatusCode::TOO_MANY_REQUESTS, Some(&too_many_attempts(seconds)));
    }
    let mut write = app.begin_write().await.map_err(Error::from)?;
    let client = SessionClient { address: context.ip_address, agent: &context.user_agent };
    let (seal, code) = (&context.state.factor_seal, form.text("code"));
    let (session, token, left) =
        match sessions::create_with_code(app, &mut write, seal, &first, code, client).await? {
            CodeSignIn::Started(session, token, left) => (session, token, left),
            CodeSignIn::WrongCode => {
                drop(write);
                record_wrong_code(context, user.workspace, &actor(context, user)).await?;
                let error = "Incorrect code. A code works once; wait for the next one.";
                return show(&request, StatusCode::UNPROCESSABLE_ENTITY, Some(error));
            }
            CodeSignIn::Expired => return redirect("/login"),
        };
    end_previous_session(context, &mut write).await?;
    let action = match &first {
        FirstFactor::Password(_) => Action::SignedIn,
        FirstFactor::Link(_) => Action::SignedInByLink,
    };
    let mut entries = vec![(action, session.to_string(), "")];
    let actor = actor(context, user);
    if let Some(left) = left {
        entries.push((Action::RecoveryCodeUsed, user.id.to_string(), user.email.as_str()));
        let event = AccountEvent::RecoveryCodeUsed { left };
        users::notify(app, &mut write, user.workspace, &user.email, event, &actor).await?;
    }
    for entry in entries {
        audit::append(app, &mut write, user.workspace, &actor, entry).await?;
    }
    write.commit().await.map_err(Error::from)?;
    let mut response = signed_in(context, &token, &next)?;
    if let FirstFactor::Password(verified) = &first {
        set_device(context, &mut response, device.is_some(), &verified.password_version())?;
    }
    if let Some(left) = left {
        let text = format!(
            "You used a recovery code; {left} are left. You can create new ones in Settings, Second factor."
        );
        set_flash(context, &mut response, &token, &Flash::info(text));
    }
    steps::clear(context, &mut response);
    Ok(response)
}

/// Records a wrong code of the actor, who is a user, in the audit log. Mails the user if there were many: somebody may know the first
/// factor, but not the second one.
pub(super) async fn record_wrong_code(
    context: &BrowserContext,
    workspace: WorkspaceId,
    actor: &Actor,
) -> Result<()> {
    let (app, address) = (context.app(), actor.name.as_str());
    let account = email::comparison_key(address);
    let is_notice_due = context.state.login_attempts.is_notice_due(&app.clock, &account).await;
    let mut write = app.begin_write().await?;
    let user = actor.user.map(|user| user.to_string()).unwrap_or_default();
    audit::append(app, &mut write, workspace, actor, (Action::WrongCode, user, address)).await?;
    if is_notice_due {
        users::notify(app, &mut write, workspace, address, AccountEvent::WrongCodes, actor).await?;
    }
    Ok(write.commit().await?)
}
