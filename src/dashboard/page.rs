//! What a page's author holds: who is signed in, the frame around the page, and the ways to answer.

use std::fmt::Display;
use std::sync::Arc;

use askama::Template;
use poem::http::{HeaderValue, StatusCode, header};
use poem::{FromRequest, Request, RequestBody, Response};
use secrecy::ExposeSecret;

use super::cookies::{self, Kind};
use super::failure::Failure;
use super::flash::Flash;
use super::form::Form;
use super::frame::{Frame, Section};
use super::visit::{Guest, Visit, visit};
use domain::app::App;
use domain::audit::{self, Action, Actor};
use domain::sessions::Viewer;
use domain::{Error, Result, token};
use foundation::database::Write;
use foundation::id::WorkspaceId;
use foundation::secret::Seal;

/// What a page comes to. A [`Failure`] becomes a page of its own.
pub(crate) type Answer = std::result::Result<Response, Failure>;

/// A request of somebody who is signed in. As an argument of a handler, it turns others away to sign in.
pub(crate) struct Page {
    visit: Arc<Visit>,
    viewer: Viewer,
}

impl<'a> FromRequest<'a> for Page {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        let visit = visit(request)?;
        let viewer = visit.viewer.clone().ok_or(Failure::SessionEnded)?;
        Ok(Self { visit, viewer })
    }
}

impl Page {
    /// The shared parts of the process.
    pub(crate) fn app(&self) -> &App {
        self.visit.app()
    }

    /// Who is signed in, and the workspace with its quota.
    pub(crate) fn viewer(&self) -> &Viewer {
        &self.viewer
    }

    /// The workspace that everything on the page belongs to.
    pub(crate) fn workspace(&self) -> WorkspaceId {
        self.viewer.workspace.id
    }

    /// The address of this server, as the reader reaches it, without a slash at its end.
    pub(crate) fn address(&self) -> &str {
        &self.visit.base
    }

    /// What the secrets of webhooks are sealed with.
    pub(crate) fn seal(&self) -> &Seal {
        &self.visit.shared.seal
    }

    /// Whether cookies are sent over protected connections alone.
    pub(crate) fn is_secure(&self) -> bool {
        self.visit.secure
    }

    /// Whether a script asked for a part of the page alone.
    pub(crate) fn is_partial(&self) -> bool {
        self.visit.partial
    }

    /// The frame around a page: title, navigation, messages, the token of its forms.
    pub(crate) fn frame(&self, section: Section, title: impl Into<String>) -> Frame {
        Frame::new(&self.visit, Some(section), title.into())
    }

    /// Begins a change; it ends with [`commit`](Self::commit).
    pub(crate) async fn begin_write(&self) -> Result<Write> {
        Ok(self.app().begin_write().await?)
    }

    /// Makes a change visible, together with the entry in the audit log that tells of it: what was done, the id of the
    /// record, and what the record is called.
    pub(crate) async fn commit(
        &self,
        mut write: Write,
        action: Action,
        subject: impl Display,
        detail: &str,
    ) -> Result<()> {
        let told = (action, subject.to_string(), detail);
        audit::append(self.app(), &mut write, self.workspace(), &self.actor(), told).await?;
        write.commit().await.map_err(Error::from)
    }

    /// [`commit`](Self::commit) for a form that makes something anew each time it is sent: sent again, by a reload or a second
    /// click, it changes nothing.
    ///
    /// # Errors
    /// [`Failure::Repeated`] when the form was sent before.
    pub(crate) async fn commit_once(
        &self,
        form: &Form,
        mut write: Write,
        action: Action,
        subject: impl Display,
        detail: &str,
    ) -> std::result::Result<(), Failure> {
        let told = (action, subject.to_string(), detail);
        let form = form.nonce().ok_or(Failure::Foreign)?;
        let (workspace, actor) = (self.workspace(), self.actor());
        if !audit::append_once(self.app(), &mut write, workspace, &actor, told, form).await? {
            return Err(Failure::Repeated);
        }
        Ok(write.commit().await.map_err(Error::from)?)
    }

    /// The person as the audit log names them.
    pub(crate) fn actor(&self) -> Actor {
        Actor {
            user: Some(self.viewer.user),
            name: self.viewer.email.clone(),
            address: Some(self.visit.address),
        }
    }

    /// The page.
    pub(crate) fn show(&self, template: &impl Template) -> Answer {
        html(StatusCode::OK, template)
    }

    /// The page again, with what is wrong beside the fields.
    pub(crate) fn show_faults(&self, template: &impl Template) -> Answer {
        html(StatusCode::UNPROCESSABLE_ENTITY, template)
    }

    /// Another page.
    pub(crate) fn redirect(&self, to: &str) -> Answer {
        redirect(to)
    }

    /// Another page, which says this at its top.
    pub(crate) fn redirect_with(&self, to: &str, flash: &Flash) -> Answer {
        redirect_with(&self.visit, to, flash)
    }

    /// The page to sign in, which says this at its top, for a reader whose session was just ended.
    pub(crate) fn signed_out(&self, flash: &Flash) -> Answer {
        signed_out(&self.visit, flash)
    }
}

impl Guest {
    /// The frame around a page for anybody.
    pub(crate) fn frame(&self, title: impl Into<String>) -> Frame {
        Frame::new(&self.0, None, title.into())
    }
}

/// A page with this status.
pub(crate) fn html(status: StatusCode, template: &impl Template) -> Answer {
    let text = template.render().map_err(|error| Failure::Internal(error.into()))?;
    Ok(Response::builder().status(status).content_type("text/html; charset=utf-8").body(text))
}

/// Another page, to be read.
pub(crate) fn redirect(to: &str) -> Answer {
    let to = HeaderValue::from_str(to).map_err(|error| Failure::Internal(error.into()))?;
    let mut response = Response::builder().status(StatusCode::SEE_OTHER).finish();
    response.headers_mut().insert(header::LOCATION, to);
    Ok(response)
}

/// Another page, which says this at its top.
pub(super) fn redirect_with(visit: &Visit, to: &str, flash: &Flash) -> Answer {
    let mut response = redirect(to)?;
    cookies::set(response.headers_mut(), Kind::Flash, visit.secure, &flash.seal(&visit.key));
    Ok(response)
}

/// The page to sign in, which says this at its top, for a browser whose session was just ended: it becomes a visitor's.
pub(super) fn signed_out(visit: &Visit, flash: &Flash) -> Answer {
    let mut response = redirect("/login")?;
    let headers = response.headers_mut();
    let visitor = token::generate().map_err(Failure::Internal)?;
    cookies::set(headers, Kind::Visitor, visit.secure, visitor.expose_secret());
    cookies::set(headers, Kind::Flash, visit.secure, &flash.seal(&visitor));
    cookies::clear(headers, Kind::Session, visit.secure);
    Ok(response)
}
