//! The workspace, the sessions of whoever looks, and the audit log.

use askama::Template;
use poem::handler;
use poem::web::Path;

use crate::flash::Flash;
use crate::frame::{Frame, Section};
use crate::page::{Answer, Page};
use crate::query::Asked;
use crate::routes::{Route, get, post};
use crate::{position, ui};
use domain::Result;
use domain::audit::{self, Action, Actor, Entry};
use domain::keys::EffectiveQuota;
use domain::page::SortKey;
use domain::sessions::{self, Ended, Session};
use domain::users;
use domain::workspaces::Workspace;
use foundation::database::Write;
use foundation::id::SessionId;

const SETTINGS: &str = "/dashboard/settings";
const AUDIT: &str = "/dashboard/settings/audit";

pub(super) fn routes(route: Route) -> Route {
    route
        .at(SETTINGS, get(settings))
        .at(AUDIT, get(log))
        .at("/dashboard/settings/sessions/end-others", post(end_others))
        .at("/dashboard/settings/sessions/:session/end", post(end))
}

#[derive(Template)]
#[template(path = "settings/settings.html")]
struct SettingsPage<'a> {
    frame: Frame,
    workspace: &'a Workspace,
    others: &'a [Workspace],
    quota: String,
    people: usize,
    sessions: Vec<Session>,
    here: SessionId,
}

impl SettingsPage<'_> {
    /// The name of the workspace that a session is in.
    fn place(&self, session: &Session) -> &str {
        let other = self.others.iter().find(|other| other.id == session.workspace);
        &other.unwrap_or(self.workspace).name
    }
}

#[handler]
async fn settings(page: Page) -> Answer {
    let viewer = page.viewer();
    let quota = EffectiveQuota::of_workspace(viewer.workspace.quota, &page.app().config.limits);
    page.show(&SettingsPage {
        frame: page.frame(Section::Settings, "Settings"),
        workspace: &viewer.workspace,
        others: &viewer.others,
        quota: format!(
            "{} requests a minute and {} a day for each key",
            ui::number(quota.per_minute.requests),
            ui::number(quota.per_day.requests)
        ),
        people: users::list(page.app(), page.workspace()).await?.len(),
        sessions: sessions::list(page.app(), viewer).await?,
        here: viewer.session,
    })
}

#[handler]
async fn end(page: Page, Path(session): Path<String>) -> Answer {
    let session: SessionId = session.parse()?;
    let mut write = page.begin_write().await?;
    let ended = sessions::end(&mut write, page.viewer(), session).await?;
    tell_there(&page, &mut write, &ended, Action::SessionEnded, session.to_string()).await?;
    page.commit(write, Action::SessionEnded, session, "").await?;
    page.redirect_with(SETTINGS, &Flash::done("The session is ended."))
}

/// Tells the audit log of another workspace of sessions that were ended in it.
async fn tell_there(
    page: &Page,
    write: &mut Write,
    ended: &Ended,
    action: Action,
    subject: String,
) -> Result<()> {
    if ended.workspace == page.workspace() {
        return Ok(());
    }
    let actor = Actor { user: Some(ended.user), ..page.actor() };
    audit::append(page.app(), write, ended.workspace, &actor, (action, subject, "")).await
}

#[handler]
async fn end_others(page: Page) -> Answer {
    let viewer = page.viewer();
    let mut write = page.begin_write().await?;
    let ended = sessions::end_others(&mut write, viewer).await?;
    for there in &ended {
        tell_there(&page, &mut write, there, Action::SessionsEnded, there.user.to_string()).await?;
    }
    page.commit(write, Action::SessionsEnded, viewer.user, "").await?;
    let ended: u64 = ended.iter().map(|there| there.count).sum();
    let text =
        if ended == 1 { "One session is ended.".to_owned() } else { format!("{ended} sessions are ended.") };
    page.redirect_with(SETTINGS, &Flash::done(text))
}

#[derive(Template)]
#[template(path = "settings/audit.html")]
struct AuditPage {
    frame: Frame,
    entries: Vec<Entry>,
    pager: ui::Pager,
}

#[handler]
async fn log(page: Page, asked: Asked) -> Answer {
    let request = position::request(asked.after(), SortKey::CreatedAt);
    let found = audit::list(page.app(), page.workspace(), request).await?;
    let pager = ui::pager(AUDIT, asked.after(), found.next.map(position::text));
    let frame = page.frame(Section::Settings, "Audit log");
    page.show(&AuditPage { frame, entries: found.items, pager })
}
