//! Errors, rendered as pages that state what to do next. Internal causes are only logged.

use askama::Template;
use poem::Response;
use poem::error::ResponseError;
use poem::http::{HeaderName, HeaderValue, StatusCode, header};

use super::context::BrowserContext;
use super::frame::Frame;
use super::request::{html, redirect};
use domain::error::NotFound;
use domain::retry::Conflict;
use domain::{Error, FieldError};
use foundation::id::ParseIdError;

/// The path of the page about the user's second factor.
pub(crate) const SECURITY: &str = "/dashboard/settings/security";
/// The path of the page on which the user confirms their identity.
pub(crate) const CONFIRM: &str = "/dashboard/confirm";

/// The header with which a response makes htmx load another page.
const HX_REDIRECT: HeaderName = HeaderName::from_static("hx-redirect");

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    /// The page or record does not exist in this workspace.
    #[error("page not found")]
    NotFound,
    /// The path does not accept this method.
    #[error("method not allowed")]
    MethodNotAllowed {
        /// The methods that the path accepts, separated by commas.
        allowed: &'static str,
    },
    /// The form was not rendered for this browser, or came from another site.
    #[error("form rejected")]
    UntrustedForm,
    /// The form was loaded when the session showed another workspace.
    #[error("form of another workspace")]
    OtherWorkspace,
    /// The browser sent no cookie with a form. Browsers reject `Secure` cookies over plain `http` from another machine.
    #[error("browser sent no cookie")]
    MissingCookie,
    /// The form was already submitted, and may be submitted only once.
    #[error("form already submitted")]
    DuplicateForm,
    /// The form exceeds the size limit.
    #[error("form too large")]
    FormTooLarge,
    /// The form was incomplete, or took too long to arrive.
    #[error("form incomplete")]
    IncompleteForm,
    /// The session has ended, or the browser never had one.
    #[error("session ended")]
    SessionEnded,
    /// The user's roles do not allow the action.
    #[error("not allowed by the user's roles")]
    Forbidden,
    /// The action concerns the members, but the session shows the sandbox.
    #[error("not possible in the sandbox")]
    LiveDataNeeded,
    /// The workspace requires a second factor that the user has not used.
    #[error("second factor required")]
    SecondFactorRequired,
    /// The user must confirm their identity first.
    #[error("identity not confirmed recently")]
    IdentityNotConfirmed {
        /// The page to return to: path and query.
        back: String,
    },
    /// The person could not sign in.
    #[error("sign-in failed")]
    SignInFailed {
        /// The status of the response.
        status: StatusCode,
        /// The explanation for the person.
        problem: String,
    },
    /// The user could not confirm their identity with the provider.
    #[error("confirmation of the identity failed")]
    ConfirmationFailed {
        /// The status of the response.
        status: StatusCode,
        /// The explanation for the user.
        problem: String,
        /// The page to return to after another try: path and query.
        back: String,
    },
    /// Validation errors that do not belong to a field of the form.
    #[error("{}", .0.iter().map(FieldError::to_string).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<FieldError>),
    /// An internal error.
    #[error("internal: {0:#}")]
    Internal(anyhow::Error),
}

impl ResponseError for PageError {
    fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed { .. } => StatusCode::METHOD_NOT_ALLOWED,
            Self::UntrustedForm
            | Self::MissingCookie
            | Self::SessionEnded
            | Self::Forbidden
            | Self::SecondFactorRequired
            | Self::IdentityNotConfirmed { .. } => StatusCode::FORBIDDEN,
            Self::SignInFailed { status, .. } | Self::ConfirmationFailed { status, .. } => *status,
            Self::DuplicateForm | Self::OtherWorkspace | Self::LiveDataNeeded => StatusCode::CONFLICT,
            Self::FormTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::IncompleteForm => StatusCode::REQUEST_TIMEOUT,
            Self::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl Conflict for PageError {
    fn is_conflict(&self) -> bool {
        matches!(self, Self::Internal(cause) if cause.is_conflict())
    }
}

impl From<Error> for PageError {
    fn from(error: Error) -> Self {
        match error {
            Error::NotFound(
                NotFound::Record { .. }
                | NotFound::Workspace { .. }
                | NotFound::OtherMode { .. }
                | NotFound::NotAnId(_),
            ) => Self::NotFound,
            Error::Invalid(errors) => Self::Invalid(errors),
            Error::Internal(cause) => Self::Internal(cause),
        }
    }
}

impl From<ParseIdError> for PageError {
    fn from(_: ParseIdError) -> Self {
        Self::NotFound
    }
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    frame: Frame,
    status: u16,
    title: &'a str,
    advice: &'a str,
    errors: &'a [FieldError],
    /// Link to the next page: URL and label.
    link: (&'a str, &'a str),
}

impl PageError {
    /// Converts an error of the framework.
    pub(super) fn from_framework(error: poem::Error) -> Self {
        match error.status() {
            StatusCode::NOT_FOUND if error.downcast_ref::<Self>().is_none() => Self::NotFound,
            _ => error.downcast::<Self>().unwrap_or_else(|error| Self::Internal(anyhow::anyhow!("{error}"))),
        }
    }

    /// Renders the error page, and logs an internal error. If the session has ended, redirects to the sign-in page
    /// instead, unless the request submits a form.
    pub(super) fn response(&self, context: &BrowserContext, is_form: bool) -> Response {
        if let Self::Internal(cause) = self {
            let error = format!("{cause:#}");
            tracing::error!(error, "could not serve a page");
        }
        if matches!(self, Self::SessionEnded) && !is_form {
            return sign_in(context);
        }
        let next_step = self.next_step();
        if let Some((path, _)) = &next_step
            && !is_form
            && !matches!(self, Self::ConfirmationFailed { .. })
        {
            return redirect_or_reload(context, path);
        }
        let link = match &next_step {
            Some((path, label)) => (path.as_str(), *label),
            None if context.viewer.is_some() => ("/dashboard", "Go to the dashboard"),
            None => ("/login", "Sign in"),
        };
        let (title, advice) = self.heading_and_advice();
        let errors: &[FieldError] = if let Self::Invalid(errors) = self { errors } else { &[] };
        let frame = Frame::new(context, None, title.to_owned());
        let page = ErrorPage { frame, status: self.status().as_u16(), title, advice, errors, link };
        let mut response = html(self.status(), &page)
            .unwrap_or_else(|_| Response::builder().status(StatusCode::INTERNAL_SERVER_ERROR).finish());
        if let &Self::MethodNotAllowed { allowed } = self {
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
        }
        if matches!(self, Self::IncompleteForm) {
            // The rest of the body is not another request.
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// Returns the page on which the user can do what is missing, and the label of its link.
    fn next_step(&self) -> Option<(String, &'static str)> {
        match self {
            Self::SecondFactorRequired => Some((SECURITY.to_owned(), "Set up a second factor")),
            Self::IdentityNotConfirmed { back } | Self::ConfirmationFailed { back, .. } => {
                let next: String = url::form_urlencoded::byte_serialize(back.as_bytes()).collect();
                Some((format!("{CONFIRM}?next={next}"), "Confirm your identity"))
            }
            _ => None,
        }
    }

    /// Returns the heading and the advice.
    fn heading_and_advice(&self) -> (&'static str, &str) {
        match self {
            Self::NotFound => (
                "Page not found",
                "This page does not exist in this workspace. The URL may be mistyped, or the record was deleted.",
            ),
            Self::MethodNotAllowed { .. } => (
                "Method not allowed",
                "This URL does not accept this kind of request. Go to the dashboard and try again.",
            ),
            Self::UntrustedForm => (
                "Form rejected",
                "The form was not sent from a current page of this dashboard. No changes were made. Go back, reload the page, \
                 and submit the form again.",
            ),
            Self::OtherWorkspace => (
                "This page shows other data",
                "The form was loaded before you switched between live data and the sandbox, or before the sandbox was reset or deleted. \
                 No changes were made. Open the page again, and check at the top which data it shows.",
            ),
            Self::MissingCookie => (
                "Cookies required",
                "Your browser sent no cookie with this form. No changes were made. Over http, browsers accept the cookies of \
                 this server only on the machine that it runs on. Use https, and start the server with --public-url set to \
                 its https URL.",
            ),
            Self::DuplicateForm => (
                "Form already submitted",
                "This form was already submitted. No further changes were made. A secret from the first submission is not \
                 shown again. To repeat the action, open the form again.",
            ),
            Self::FormTooLarge => ("Form too large", "No changes were made. Go back and shorten your input."),
            Self::IncompleteForm => (
                "Form incomplete",
                "The form was interrupted or took too long to arrive. No changes were made. Go back and submit it again.",
            ),
            Self::SessionEnded => {
                ("Your session has ended", "No changes were made. Sign in and submit the form again.")
            }
            Self::Forbidden => (
                "Your role does not allow this",
                "No changes were made. Members with the role owner can give you another role (Settings, Members).",
            ),
            Self::LiveDataNeeded => (
                "Switch to live data first",
                "The members of the sandbox are those of the live workspace, and changes of members are real. No changes were made. \
                 Switch to live data at the top of the page, then try again.",
            ),
            Self::SignInFailed { problem, .. } => ("Sign-in failed", problem.as_str()),
            Self::ConfirmationFailed { problem, .. } => ("Your identity is not confirmed", problem.as_str()),
            Self::SecondFactorRequired => (
                "Second factor required",
                "No changes were made. This workspace requires a second factor from its members.",
            ),
            Self::IdentityNotConfirmed { .. } => (
                "Confirm your identity",
                "No changes were made, because you have not entered your credentials in the last 10 minutes. Confirm your identity, \
                 then fill in the form again.",
            ),
            Self::Invalid(_) => {
                ("Invalid request", "No changes were made. Go back and correct the following fields.")
            }
            Self::Internal(_) => (
                "Internal server error",
                "The request could not be completed. The error has been logged. Try again in a moment.",
            ),
        }
    }
}

/// Redirects to the sign-in page, which leads back after signing in. A partial update makes the script load the sign-in page.
fn sign_in(context: &BrowserContext) -> Response {
    let next: String = url::form_urlencoded::byte_serialize(context.path.as_bytes()).collect();
    let to = if context.path == "/dashboard" { "/login".to_owned() } else { format!("/login?next={next}") };
    redirect_or_reload(context, if context.is_partial { "/login" } else { &to })
}

/// Redirects to another page. A partial update makes the script load that page.
fn redirect_or_reload(context: &BrowserContext, to: &str) -> Response {
    if context.is_partial {
        let mut response = Response::builder().status(StatusCode::NO_CONTENT).finish();
        response.headers_mut().extend(HeaderValue::from_str(to).ok().map(|to| (HX_REDIRECT, to)));
        return response;
    }
    redirect(to).unwrap_or_else(|_| Response::builder().status(StatusCode::INTERNAL_SERVER_ERROR).finish())
}
