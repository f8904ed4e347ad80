//! Everything around the pages, in order: files, who asks, whether a form is ours, the page, the headers.
//!
//! A form that another site sent, or whose token is not of this browser, never reaches a page.

use std::sync::Arc;
use std::time::Duration;

use poem::error::ReadBodyError;
use poem::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use poem::{Body, Endpoint, IntoResponse, Request, Response, Route};
use url::Url;

use super::cookies::{self, Kind};
use super::failure::Failure;
use super::form::Form;
use super::page::Answer;
use super::visit::{Shared, Visit};
use super::{assets, csrf, origin, pages};
use domain::app::App;
use domain::retry::retrying;
use domain::sessions;
use foundation::secret::{MasterKey, Purpose, Seal};
use rate_limit::logins::Attempts;
use web::access::LogSubject;
use web::compress::Compressible;
use web::layer::catch;

/// Bytes that a form may have: far more than any of ours.
const MOST_FORM_BYTES: usize = 256 * 1024;
/// How long a form may take to arrive.
const PATIENCE: Duration = Duration::from_secs(30);

/// Nothing but our own files; no script or style inside a page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The dashboard, as the server calls it.
pub struct Dashboard {
    shared: Arc<Shared>,
    pages: Route,
}

impl Dashboard {
    /// Puts the pages behind the gate.
    pub fn new(app: App, master: &MasterKey) -> Self {
        let public = app.config.server.public_url.as_ref().and_then(|url| Url::parse(url.base()).ok());
        let seal = Seal::new(master, Purpose::WebhookSecrets);
        let shared = Arc::new(Shared { app, public, attempts: Attempts::default(), seal });
        Self { shared, pages: pages::routes().router() }
    }

    /// Goes through the checks and on to the page.
    async fn answer(&self, visit: &Arc<Visit>, mut request: Request) -> Answer {
        if request.method() == Method::POST {
            let form = self.form(visit, &mut request).await?;
            request.extensions_mut().insert(form);
        } else if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Err(Failure::WrongMethod);
        }
        request.extensions_mut().insert(Arc::clone(visit));
        if request.method() == Method::POST && visit.viewer.is_some() {
            // A form makes its change in one transaction, of which nothing is left after a conflict. Signing in counts attempts.
            return retrying(|| self.page(copy(&request))).await;
        }
        self.page(request).await
    }

    async fn page(&self, request: Request) -> Answer {
        match self.pages.call(request).await {
            Ok(response) => Ok(response.into_response()),
            Err(error) => Err(Failure::of(error)),
        }
    }

    /// The form, when it is one of ours.
    async fn form(&self, visit: &Visit, request: &mut Request) -> Result<Form, Failure> {
        let headers = request.headers();
        if visit.secure && origin::may_be_plain(headers) && !cookies::are_there(headers, visit.secure) {
            return Err(Failure::Cookieless);
        }
        if !origin::is_same(headers, self.shared.public.as_ref()) {
            return Err(Failure::Foreign);
        }
        let declared =
            headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if declared.is_some_and(|length: usize| length > MOST_FORM_BYTES) {
            return Err(Failure::TooLarge);
        }
        let form = arrived(request.take_body(), PATIENCE).await?;
        // The session was looked up before the form arrived, which may take long. It may have ended meanwhile.
        if let Some(viewer) = &visit.viewer
            && !sessions::is_open(&self.shared.app, viewer).await?
        {
            return Err(Failure::SessionEnded);
        }
        if csrf::is_ours(&visit.key, form.text(csrf::FIELD)) {
            Ok(form)
        } else if visit.viewer.is_none() && request.uri().path().starts_with("/dashboard") {
            Err(Failure::SessionEnded)
        } else {
            Err(Failure::Foreign)
        }
    }

    /// A page, or one that says why not.
    async fn visited(&self, visit: &Arc<Visit>, request: Request) -> Response {
        let is_form = request.method() == Method::POST;
        let outcome = catch(self.answer(visit, request)).await;
        let answer =
            outcome.unwrap_or_else(|panic| Err(Failure::Internal(anyhow::anyhow!("panicked: {panic}"))));
        let mut response = answer.unwrap_or_else(|failure| failure.response(visit, is_form));
        // A part of a page has no place for the message, which waits for the page that has.
        let shown = !response.status().is_redirection() && !visit.partial;
        let headers = response.headers_mut();
        if let Some(visitor) = &visit.new_visitor {
            cookies::set(headers, Kind::Visitor, visit.secure, visitor);
        }
        if visit.flash.is_some() && shown {
            cookies::clear(headers, Kind::Flash, visit.secure);
        }
        response
    }
}

impl Endpoint for Dashboard {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let access = web::access::of(&request);
        access.allow_compression(Compressible::Once);
        if let Some(file) = assets::find(request.uri().path()) {
            return Ok(file);
        }
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        access.set(LogSubject::Page { method, path });
        let mut response = match Visit::of(&self.shared, &request).await {
            Ok(visit) => self.visited(&Arc::new(visit), request).await,
            Err(failure) => {
                tracing::error!(error = failure.to_string(), "a visitor could not be recognised");
                plain(StatusCode::INTERNAL_SERVER_ERROR, "The server failed. Try again in a moment.\n")
            }
        };
        guard(response.headers_mut());
        Ok(response)
    }
}

/// The same request once more. Its body was read before, and the form is among the extensions.
fn copy(request: &Request) -> Request {
    let mut copy = Request::builder().method(request.method().clone()).uri(request.uri().clone()).finish();
    copy.headers_mut().clone_from(request.headers());
    copy.extensions_mut().clone_from(request.extensions());
    copy
}

/// The form that a body holds, once all of it has come.
async fn arrived(body: Body, patience: Duration) -> Result<Form, Failure> {
    match tokio::time::timeout(patience, body.into_bytes_limit(MOST_FORM_BYTES)).await {
        Ok(Ok(bytes)) => Ok(Form::read(&bytes)),
        Ok(Err(ReadBodyError::PayloadTooLarge)) => Err(Failure::TooLarge),
        Ok(Err(_)) | Err(_) => Err(Failure::Unfinished),
    }
}

/// The headers that every page has.
fn guard(headers: &mut HeaderMap) {
    const PAIRS: [(HeaderName, &str); 6] = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in PAIRS {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    Response::builder().status(status).content_type("text/plain; charset=utf-8").body(text)
}

#[cfg(test)]
mod tests {
    use std::io;

    use bytes::Bytes;
    use futures_util::{Stream, StreamExt, stream};

    use super::*;

    /// A form that begins so, and goes on as this does.
    async fn begun(rest: impl Stream<Item = io::Result<Bytes>> + Send + 'static) -> Result<Form, Failure> {
        let begun = stream::iter([Ok(Bytes::from_static(b"name=CRM&note="))]);
        arrived(Body::from_bytes_stream(begun.chain(rest)), Duration::from_millis(50)).await
    }

    #[tokio::test]
    async fn a_form_is_waited_for_but_not_for_ever() {
        let whole = begun(stream::iter([Ok(Bytes::from_static(b"x"))])).await.unwrap();
        assert_eq!((whole.text("name"), whole.text("note")), ("CRM", "x"));
        assert!(matches!(begun(stream::pending()).await, Err(Failure::Unfinished)), "nothing more comes");
        let trickle = stream::repeat_with(|| Ok(Bytes::from_static(b"x"))).then(async |piece| {
            tokio::time::sleep(Duration::from_millis(5)).await;
            piece
        });
        assert!(matches!(begun(trickle).await, Err(Failure::Unfinished)), "it comes letter by letter");
        let torn = begun(stream::iter([Err(io::ErrorKind::UnexpectedEof.into())])).await;
        assert!(matches!(torn, Err(Failure::Unfinished)), "it breaks off");
        let large = begun(stream::iter([Ok(Bytes::from(vec![b'x'; MOST_FORM_BYTES]))])).await;
        assert!(matches!(large, Err(Failure::TooLarge)));
    }
}
