//! Settings: the workspace, the user's sessions, and the audit log.

use askama::Template;
use poem::handler;
use poem::web::Path;

use crate::flash::Flash;
use crate::frame::{Frame, Section};
use crate::query::PageQuery;
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get, post};
use crate::{position, ui};
use domain::audit::{self, Action, Actor, AuditEntry};
use domain::keys::EffectiveQuota;
use domain::page::SortKey;
use domain::roles::{Permission, Roles};
use domain::sessions::{self, EndedSessions, Session};
use domain::users;
use domain::workspaces::Workspace;
use domain::{Error, Result, email};
use foundation::database::Write;
use foundation::id::SessionId;

const SETTINGS: &str = "/dashboard/settings";
const AUDIT: &str = "/dashboard/settings/audit";

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route
        .at(SETTINGS, get(Permission::UseAccount, settings))
        .at(AUDIT, get(Permission::ReadAuditLog, audit_log))
        .at("/dashboard/settings/sessions/end-others", post(Permission::UseAccount, end_others))
        .at("/dashboard/settings/sessions/:session/end", post(Permission::UseAccount, end))
}

#[derive(Template)]
#[template(path = "settings/settings.html")]
struct SettingsPage<'a> {
    frame: Frame,
    workspace: &'a Workspace,
    /// The workspace to which the user belongs.
    live_workspace: &'a Workspace,
    /// The user's other workspaces.
    other_workspaces: &'a [Workspace],
    quota: String,
    /// The user's roles.
    roles: Roles,
    /// Whether the user can leave the workspace. The owner cannot, and nobody can from the sandbox.
    can_leave: bool,
    /// Whether members can sign in with a password.
    has_password_sign_in: bool,
    /// The number of members.
    member_count: usize,
    sessions: Vec<Session>,
    /// The session of this browser.
    current: SessionId,
}

impl SettingsPage<'_> {
    /// Returns the name of a session's workspace.
    fn workspace_name(&self, session: &Session) -> &str {
        let other = self.other_workspaces.iter().find(|workspace| workspace.id == session.workspace);
        &other.unwrap_or(self.live_workspace).name
    }
}

#[handler]
async fn settings(request: DashboardRequest) -> PageResponse {
    let viewer = request.viewer();
    let quota = EffectiveQuota::of_workspace(viewer.workspace.quota, &request.app().config.limits);
    request.show(&SettingsPage {
        frame: request.frame(Section::Settings, "Settings"),
        workspace: &viewer.workspace,
        live_workspace: &viewer.live_workspace,
        other_workspaces: &viewer.other_workspaces,
        quota: format!(
            "{} requests per minute and {} per day",
            ui::number(quota.per_minute.requests),
            ui::number(quota.per_day.requests)
        ),
        roles: viewer.roles,
        can_leave: !viewer.is_in_sandbox()
            && !email::is_same(&viewer.live_workspace.owner_email, &viewer.email),
        has_password_sign_in: request.app().config.sign_in.password_sign_in,
        member_count: users::list(request.app(), request.account()).await?.len(),
        sessions: sessions::list(request.app(), viewer).await?,
        current: viewer.session,
    })
}

#[handler]
async fn end(request: DashboardRequest, Path(session): Path<String>) -> PageResponse {
    let session: SessionId = session.parse()?;
    let mut write = request.begin_write().await?;
    let Some(ended) = sessions::end(&mut write, request.viewer(), session).await? else {
        // Sign-in links may have been invalidated.
        write.commit().await.map_err(Error::from)?;
        return Err(Error::not_found("session", session).into());
    };
    append_to_other_workspace(&request, &mut write, &ended, Action::SessionEnded, session.to_string())
        .await?;
    request.commit(write, Action::SessionEnded, session, "").await?;
    request.redirect_with(SETTINGS, &Flash::success("Session signed out."))
}

/// Appends the end of sessions in another workspace to that workspace's audit log. Does nothing for sessions in the
/// current workspace, whose entry the caller commits.
async fn append_to_other_workspace(
    request: &DashboardRequest,
    write: &mut Write,
    ended: &EndedSessions,
    action: Action,
    subject: String,
) -> Result<()> {
    if ended.workspace == request.account() {
        return Ok(());
    }
    let actor = Actor { user: Some(ended.user), ..request.actor() };
    audit::append(request.app(), write, ended.workspace, &actor, (action, subject, "")).await
}

#[handler]
async fn end_others(request: DashboardRequest) -> PageResponse {
    let viewer = request.viewer();
    let mut write = request.begin_write().await?;
    let ended = sessions::end_others(&mut write, viewer).await?;
    if ended.is_empty() {
        // Sign-in links may have been invalidated.
        write.commit().await.map_err(Error::from)?;
        return request.redirect_with(SETTINGS, &Flash::info("There are no other sessions."));
    }
    for sessions in &ended {
        append_to_other_workspace(
            &request,
            &mut write,
            sessions,
            Action::SessionsEnded,
            sessions.user.to_string(),
        )
        .await?;
    }
    request.commit(write, Action::SessionsEnded, viewer.user, "").await?;
    let ended: u64 = ended.iter().map(|sessions| sessions.count).sum();
    let text =
        if ended == 1 { "1 session signed out.".to_owned() } else { format!("{ended} sessions signed out.") };
    request.redirect_with(SETTINGS, &Flash::success(text))
}

#[derive(Template)]
#[template(path = "settings/audit.html")]
struct AuditPage {
    frame: Frame,
    entries: Vec<AuditEntry>,
    pager: ui::Pager,
}

#[handler]
async fn audit_log(request: DashboardRequest, query: PageQuery) -> PageResponse {
    let page_request = position::page_request(query.after(), SortKey::CreatedAt);
    let page = audit::list(request.app(), request.workspace(), page_request).await?;
    let pager = ui::pager(AUDIT, query.after(), page.next.map(position::format));
    let frame = request.frame(Section::Settings, "Audit log");
    request.show(&AuditPage { frame, entries: page.items, pager })
}
