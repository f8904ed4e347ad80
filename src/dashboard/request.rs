//! The handler's view of a request: the signed-in user, the page frame, and the kinds of responses.

use std::fmt::Display;
use std::sync::Arc;

use askama::Template;
use poem::http::{HeaderValue, StatusCode, header};
use poem::{FromRequest, Request, RequestBody, Response};
use secrecy::ExposeSecret;

use super::context::{BrowserContext, PublicRequest, context};
use super::cookies::{self, CookieKind};
use super::error::PageError;
use super::flash::Flash;
use super::form::Form;
use super::frame::{Frame, Section};
use super::ui::PageZone;
use domain::app::App;
use domain::audit::{self, Action, Actor};
use domain::roles::Permission;
use domain::sessions::{self, Viewer};
use domain::users::{self, AccountEvent};
use domain::workspaces::{self, Mode};
use domain::{Error, Result, token};
use foundation::database::Write;
use foundation::id::WorkspaceId;
use foundation::secret::Seal;

/// The response of a handler. A [`PageError`] is rendered as an error page.
pub(crate) type PageResponse = std::result::Result<Response, PageError>;

/// A request of a signed-in user. As a handler's argument, it rejects requests of visitors with
/// [`PageError::SessionEnded`], which redirects to the sign-in page unless a form was submitted.
pub(crate) struct DashboardRequest {
    context: Arc<BrowserContext>,
    viewer: Viewer,
    /// The permission that the route requires.
    permission: Permission,
}

impl<'a> FromRequest<'a> for DashboardRequest {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        let context = context(request)?;
        let viewer = context.viewer.clone().ok_or(PageError::SessionEnded)?;
        let permission = request.extensions().get::<Permission>().copied().ok_or_else(|| {
            PageError::Internal(anyhow::anyhow!("a handler of a public route requires a signed-in user"))
        })?;
        Ok(Self { context, viewer, permission })
    }
}

impl DashboardRequest {
    /// Returns the application state.
    pub(crate) fn app(&self) -> &App {
        self.context.app()
    }

    /// Returns the browser and the state that all requests share.
    pub(crate) fn browser(&self) -> &BrowserContext {
        &self.context
    }

    /// Checks that the user proved their identity recently. A form needs this before it shows a secret or changes members. `back`
    /// is the page to return to.
    ///
    /// # Errors
    /// Returns [`PageError::IdentityNotConfirmed`], which leads to the page that asks for the password.
    pub(crate) fn require_recent_sign_in(&self, back: &str) -> std::result::Result<(), PageError> {
        if self.viewer.is_recently_authenticated(self.app().clock.now()) {
            Ok(())
        } else {
            Err(PageError::IdentityNotConfirmed { back: back.to_owned() })
        }
    }

    /// Returns the ids of the API's operations, in the order of the contract.
    pub(crate) fn operations(&self) -> &[&'static str] {
        &self.context.state.operations
    }

    /// Returns the signed-in user, and the workspace with its quota.
    pub(crate) fn viewer(&self) -> &Viewer {
        &self.viewer
    }

    /// Returns the current workspace, which can be a sandbox.
    pub(crate) fn workspace(&self) -> WorkspaceId {
        self.viewer.workspace.id
    }

    /// Returns the workspace to which the members, their sessions and their accounts belong. It is never a sandbox.
    pub(crate) fn account(&self) -> WorkspaceId {
        self.viewer.live_workspace.id
    }

    /// Returns the workspace whose audit log contains an action.
    fn audited(&self, action: Action) -> WorkspaceId {
        if action.concerns_account() { self.account() } else { self.workspace() }
    }

    /// Returns the base URL of this server as the browser reaches it, without a trailing slash.
    pub(crate) fn base_url(&self) -> &str {
        &self.context.base_url
    }

    /// Returns the key that encrypts webhook secrets.
    pub(crate) fn seal(&self) -> &Seal {
        &self.context.state.seal
    }

    /// Returns whether cookies must be `Secure`.
    pub(crate) fn uses_secure_cookies(&self) -> bool {
        self.context.secure_cookies
    }

    /// Returns the time zone of the page.
    pub(crate) fn zone(&self) -> &PageZone {
        &self.context.page_zone
    }

    /// Returns whether a script requests a partial update of the page.
    pub(crate) fn is_partial(&self) -> bool {
        self.context.is_partial
    }

    /// Returns the frame of a page in this section.
    pub(crate) fn frame(&self, section: Section, title: impl Into<String>) -> Frame {
        Frame::new(&self.context, Some(section), title.into())
    }

    /// Begins a write transaction. Finish it with [`commit`](Self::commit).
    ///
    /// # Errors
    /// Returns an error like [`authorize`](Self::authorize).
    pub(crate) async fn begin_write(&self) -> std::result::Result<Write, PageError> {
        let write = self.app().begin_write().await.map_err(Error::from)?;
        self.authorize(&write).await?;
        Ok(write)
    }

    /// Checks again, in the transaction, that the user is signed in and has the permission that the route requires.
    ///
    /// # Errors
    /// Returns [`PageError::SessionEnded`] when the session has ended, for example because the user was removed, and
    /// [`PageError::Forbidden`] when the user's roles were changed.
    pub(crate) async fn authorize(&self, write: &Write) -> std::result::Result<(), PageError> {
        let roles = sessions::current_roles_in(write, &self.viewer).await?.ok_or(PageError::SessionEnded)?;
        if roles.allow(self.permission) { Ok(()) } else { Err(PageError::Forbidden) }
    }

    /// Checks that a change of the sandbox is not lost because the sandbox was reset or deleted since the request began.
    async fn check_workspace(&self, write: &Write, action: Action) -> std::result::Result<(), PageError> {
        let workspace = &self.viewer.workspace;
        let is_in_sandbox = workspace.mode == Mode::Test && !action.concerns_account();
        if is_in_sandbox && !workspaces::lock_shared(write, workspace.id).await? {
            return Err(PageError::OtherWorkspace);
        }
        Ok(())
    }

    /// Commits a transaction together with its audit log entry. `subject` is the id of the changed record. `detail` is
    /// the record's name or describes the change; it can be empty.
    ///
    /// # Errors
    /// Returns [`PageError::OtherWorkspace`] when the action is about a sandbox that was reset or deleted.
    pub(crate) async fn commit(
        &self,
        mut write: Write,
        action: Action,
        subject: impl Display,
        detail: &str,
    ) -> std::result::Result<(), PageError> {
        self.check_workspace(&write, action).await?;
        let entry = (action, subject.to_string(), detail);
        audit::append(self.app(), &mut write, self.audited(action), &self.actor(), entry).await?;
        Ok(write.commit().await.map_err(Error::from)?)
    }

    /// Commits like [`commit`](Self::commit), once per rendered form. Use it for forms that create something, so that a reload
    /// or a second click changes nothing.
    ///
    /// # Errors
    /// Returns [`PageError::DuplicateForm`] when the form was sent before, and [`PageError::UntrustedForm`] when it
    /// contains no CSRF token.
    pub(crate) async fn commit_once(
        &self,
        form: &Form,
        mut write: Write,
        action: Action,
        subject: impl Display,
        detail: &str,
    ) -> std::result::Result<(), PageError> {
        self.check_workspace(&write, action).await?;
        let entry = (action, subject.to_string(), detail);
        let nonce = form.nonce().ok_or(PageError::UntrustedForm)?;
        let (workspace, actor) = (self.audited(action), self.actor());
        if !audit::append_once(self.app(), &mut write, workspace, &actor, entry, nonce).await? {
            return Err(PageError::DuplicateForm);
        }
        Ok(write.commit().await.map_err(Error::from)?)
    }

    /// Notifies the user by mail of an event of their account. Call it before [`commit`](Self::commit).
    pub(crate) async fn notify(&self, write: &mut Write, event: AccountEvent) -> Result<()> {
        let (workspace, address) = (self.account(), &self.viewer.email);
        users::notify(self.app(), write, workspace, address, event, &self.actor()).await
    }

    /// Returns the user as the actor of audit log entries.
    pub(crate) fn actor(&self) -> Actor {
        Actor {
            user: Some(self.viewer.user),
            name: self.viewer.email.clone(),
            address: Some(self.context.ip_address),
        }
    }

    /// Renders a page.
    pub(crate) fn show(&self, template: &impl Template) -> PageResponse {
        html(StatusCode::OK, template)
    }

    /// Renders the page of an invalid form, with status 422.
    pub(crate) fn show_errors(&self, template: &impl Template) -> PageResponse {
        html(StatusCode::UNPROCESSABLE_ENTITY, template)
    }

    /// Redirects to another page.
    pub(crate) fn redirect(&self, to: &str) -> PageResponse {
        redirect(to)
    }

    /// Redirects to another page, with a flash message.
    pub(crate) fn redirect_with(&self, to: &str, flash: &Flash) -> PageResponse {
        redirect_with(&self.context, to, flash)
    }

    /// Redirects to the sign-in page, with a flash message, after the user's session has ended.
    pub(crate) fn signed_out(&self, flash: &Flash) -> PageResponse {
        signed_out(&self.context, flash)
    }
}

impl PublicRequest {
    /// Returns the frame of a public page.
    pub(crate) fn frame(&self, title: impl Into<String>) -> Frame {
        Frame::new(&self.0, None, title.into())
    }
}

/// Renders a page with this status.
pub(crate) fn html(status: StatusCode, template: &impl Template) -> PageResponse {
    let text = template.render().map_err(|error| PageError::Internal(error.into()))?;
    Ok(Response::builder().status(status).content_type("text/html; charset=utf-8").body(text))
}

/// Redirects to another page with `GET`.
pub(crate) fn redirect(to: &str) -> PageResponse {
    let to = HeaderValue::from_str(to).map_err(|error| PageError::Internal(error.into()))?;
    let mut response = Response::builder().status(StatusCode::SEE_OTHER).finish();
    response.headers_mut().insert(header::LOCATION, to);
    Ok(response)
}

/// Redirects to another page, with a flash message.
pub(super) fn redirect_with(context: &BrowserContext, to: &str, flash: &Flash) -> PageResponse {
    let mut response = redirect(to)?;
    cookies::set(
        response.headers_mut(),
        CookieKind::Flash,
        context.secure_cookies,
        &flash.sign(&context.browser_token),
    );
    Ok(response)
}

/// Redirects to the sign-in page, with a flash message, after the browser's session has ended. The browser gets a new visitor
/// token.
pub(super) fn signed_out(context: &BrowserContext, flash: &Flash) -> PageResponse {
    let mut response = redirect("/login")?;
    let headers = response.headers_mut();
    let visitor = token::generate().map_err(PageError::Internal)?;
    cookies::set(headers, CookieKind::Visitor, context.secure_cookies, visitor.expose_secret());
    cookies::set(headers, CookieKind::Flash, context.secure_cookies, &flash.sign(&visitor));
    cookies::clear(headers, CookieKind::Session, context.secure_cookies);
    Ok(response)
}
