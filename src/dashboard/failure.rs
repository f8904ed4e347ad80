//! What goes wrong with a page, as a page: in the same frame, with what to do about it, and without the cause.

use askama::Template;
use poem::Response;
use poem::error::ResponseError;
use poem::http::{HeaderValue, StatusCode, header};

use super::frame::Frame;
use super::page::{html, redirect};
use super::visit::Visit;
use domain::error::Missing;
use domain::retry::Conflict;
use domain::{Error, Fault};
use foundation::id::ParseIdError;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Nothing is here, or not in this workspace.
    #[error("nothing is here")]
    NotFound,
    /// The path takes other methods.
    #[error("the path takes other methods")]
    WrongMethod,
    /// A form that no page of ours showed to this browser.
    #[error("the form is not one of ours")]
    Foreign,
    /// A form from a browser that keeps none of our cookies, as none does that comes by plain `http` from another machine.
    #[error("the browser sent no cookie")]
    Cookieless,
    /// A form that may be sent once, sent again.
    #[error("the form was sent before")]
    Repeated,
    /// A form of more bytes than any of ours can have.
    #[error("the form is too large")]
    TooLarge,
    /// A form that broke off, or took too long to arrive.
    #[error("the form did not arrive whole")]
    Unfinished,
    /// Nobody is signed in any more.
    #[error("the session has ended")]
    SessionEnded,
    /// Faults of a form that the page has no field for.
    #[error("{}", .0.iter().map(Fault::to_string).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<Fault>),
    /// The server's own fault.
    #[error("internal: {0:#}")]
    Internal(anyhow::Error),
}

impl ResponseError for Failure {
    fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
            Self::Foreign | Self::Cookieless | Self::SessionEnded => StatusCode::FORBIDDEN,
            Self::Repeated => StatusCode::CONFLICT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unfinished => StatusCode::REQUEST_TIMEOUT,
            Self::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl Conflict for Failure {
    fn is_conflict(&self) -> bool {
        matches!(self, Self::Internal(cause) if cause.is_conflict())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::NotFound(Missing::Record { .. } | Missing::Workspace { .. } | Missing::NotAnId(_)) => {
                Self::NotFound
            }
            Error::Invalid(faults) => Self::Invalid(faults),
            Error::Internal(cause) => Self::Internal(cause),
        }
    }
}

impl From<ParseIdError> for Failure {
    fn from(_: ParseIdError) -> Self {
        Self::NotFound
    }
}

#[derive(Template)]
#[template(path = "failure.html")]
struct FailurePage<'a> {
    frame: Frame,
    status: u16,
    title: &'a str,
    advice: &'a str,
    faults: &'a [Fault],
    /// Where to go from here.
    link: (&'a str, &'a str),
}

impl Failure {
    /// What the framework's own error comes to.
    pub(super) fn of(error: poem::Error) -> Self {
        match error.status() {
            StatusCode::NOT_FOUND if error.downcast_ref::<Self>().is_none() => Self::NotFound,
            StatusCode::METHOD_NOT_ALLOWED => Self::WrongMethod,
            _ => error.downcast::<Self>().unwrap_or_else(|error| Self::Internal(anyhow::anyhow!("{error}"))),
        }
    }

    /// The page that tells of it.
    pub(super) fn response(&self, visit: &Visit, is_form: bool) -> Response {
        if let Self::Internal(cause) = self {
            let error = format!("{cause:#}");
            tracing::error!(error, "a page could not be made");
        }
        if matches!(self, Self::SessionEnded) && !is_form {
            return sign_in(visit);
        }
        let home = if visit.viewer.is_some() {
            ("/dashboard", "Go to the dashboard")
        } else {
            ("/login", "Sign in")
        };
        let (title, advice) = self.words();
        let faults: &[Fault] = if let Self::Invalid(faults) = self { faults } else { &[] };
        let frame = Frame::new(visit, None, title.to_owned());
        let page = FailurePage { frame, status: self.status().as_u16(), title, advice, faults, link: home };
        let mut response = html(self.status(), &page)
            .unwrap_or_else(|_| Response::builder().status(StatusCode::INTERNAL_SERVER_ERROR).finish());
        if matches!(self, Self::Unfinished) {
            // What still comes of the form is not another request.
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// The heading, and what to do.
    fn words(&self) -> (&'static str, &'static str) {
        match self {
            Self::NotFound => (
                "Nothing is here",
                "The address leads nowhere in this workspace. It may be mistyped, or what it named was deleted.",
            ),
            Self::WrongMethod => {
                ("This address is not a page", "It only takes what a form sends. Begin at the dashboard.")
            }
            Self::Foreign => (
                "This form cannot be taken",
                "It was not sent by a current page of this dashboard. Nothing was changed. Go back, load the page again, \
                 and send the form once more.",
            ),
            Self::Cookieless => (
                "Your browser sent no cookie",
                "Every form needs the cookie that its page has set. Over http, a browser keeps it on the server's own machine \
                 alone: reach the server by https, and start it with that address as --public-url. Nothing was changed.",
            ),
            Self::Repeated => (
                "This form was sent before",
                "What it asks for was done the first time; nothing was changed now. A secret that was shown then is not shown \
                 again. To do it once more, open the form anew.",
            ),
            Self::TooLarge => ("This form is too large", "Nothing was changed. Go back and send less text."),
            Self::Unfinished => (
                "This form did not arrive whole",
                "It broke off, or took too long. Nothing was changed. Go back, and send the form once more.",
            ),
            Self::SessionEnded => {
                ("Your session has ended", "Nothing was changed. Sign in, and send the form again.")
            }
            Self::Invalid(_) => {
                ("This cannot be done", "Nothing was changed. Go back and mend what is named here.")
            }
            Self::Internal(_) => (
                "The server failed",
                "The page could not be made. It is not your fault, and it has been logged. Try again in a moment.",
            ),
        }
    }
}

/// The way to the sign-in page, and back afterwards. A script that replaces parts of a page is sent there whole.
fn sign_in(visit: &Visit) -> Response {
    let next: String = url::form_urlencoded::byte_serialize(visit.path.as_bytes()).collect();
    let to = if visit.path == "/dashboard" { "/login".to_owned() } else { format!("/login?next={next}") };
    if visit.partial {
        let mut response = Response::builder().status(StatusCode::NO_CONTENT).finish();
        response.headers_mut().insert("hx-redirect", HeaderValue::from_static("/login"));
        return response;
    }
    redirect(&to).unwrap_or_else(|_| Response::builder().status(StatusCode::INTERNAL_SERVER_ERROR).finish())
}
