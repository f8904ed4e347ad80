//! The request pipeline of the dashboard: static files, session, CSRF checks, handler, security headers.
//!
//! Handlers never receive a form that another site sent, or whose CSRF token does not belong to the browser.

use std::sync::Arc;
use std::time::Duration;

use poem::error::ReadBodyError;
use poem::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use poem::{Body, Endpoint, IntoResponse, Request, Response, Route};
use url::Url;

use super::context::{BrowserContext, CurrentRoles, DashboardState};
use super::cookies::{self, CookieKind};
use super::csrf::{self, TokenCheck};
use super::error::PageError;
use super::form::Form;
use super::request::PageResponse;
use super::{assets, origin, pages};
use domain::app::App;
use domain::retry::retry_on_conflict;
use domain::roles::Roles;
use domain::sessions;
use foundation::config::{SignInConfig, WebUrl};
use foundation::database::{REQUEST_TIMEOUT, with_wait_budget};
use foundation::secret::{MasterKeys, Purpose, Seal};
use openid::{Provider, ProviderSettings};
use rate_limit::LimitStore;
use rate_limit::logins::Attempts;
use secrecy::SecretString;
use web::compress::Compressible;
use web::panics::catch_panic;
use web::request_context::LogSubject;

/// Maximum size of a form, well above that of every form of the dashboard.
const MAX_FORM_BYTES: usize = 256 * 1024;
/// How long the server waits for the body of a form.
const FORM_TIMEOUT: Duration = Duration::from_secs(30);

/// Allows only files of this server. Inline scripts and styles are blocked.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The dashboard's endpoint.
pub struct Dashboard {
    state: Arc<DashboardState>,
    pages: Route,
}

impl Dashboard {
    /// Creates the dashboard. Sign-in attempts are counted in the limit store. `operations` are the ids of the API's operations,
    /// by which the request log can be filtered.
    ///
    /// # Errors
    /// Returns an error when TLS cannot be set up for the OpenID Connect provider.
    pub fn new(
        app: App,
        master: &MasterKeys,
        limit_store: LimitStore,
        operations: Vec<&'static str>,
    ) -> anyhow::Result<Self> {
        let public_url = app.config.server.public_url.as_ref().and_then(|url| Url::parse(url.base()).ok());
        let seal = Seal::new(master, Purpose::WebhookSecrets);
        let factor_seal = Seal::new(master, Purpose::SecondFactors);
        let step_seal = Seal::new(master, Purpose::SignInSteps);
        let provider = provider(&app.config.sign_in, app.config.server.public_url.as_ref())?;
        let login_attempts = Attempts::new(limit_store, master.derive(Purpose::SignInAttempts));
        let device_key = master.derive(Purpose::KnownDevices);
        let state = Arc::new(DashboardState {
            app,
            operations,
            public_url,
            login_attempts,
            device_key,
            seal,
            factor_seal,
            step_seal,
            provider,
        });
        Ok(Self { state, pages: pages::routes().router() })
    }

    /// Checks the request and calls its handler.
    async fn handle(&self, context: &Arc<BrowserContext>, mut request: Request) -> PageResponse {
        let mut roles = context.viewer.as_ref().map(|viewer| viewer.roles);
        if request.method() == Method::POST {
            let form = self.checked_form(context, &mut request, &mut roles).await?;
            request.extensions_mut().insert(form);
        }
        if let Some(roles) = roles {
            request.extensions_mut().insert(CurrentRoles(roles));
        }
        request.extensions_mut().insert(Arc::clone(context));
        let is_sign_in = request.uri().path() == "/login";
        if request.method() == Method::POST && context.viewer.is_some() && !is_sign_in {
            // A conflict rolls the transaction of the form back, so that the form can be retried. Forms of visitors are
            // not retried, since each run of the sign-in form counts as an attempt to sign in.
            return retry_on_conflict(|| self.call_handler(copy_request(&request))).await;
        }
        self.call_handler(request).await
    }

    async fn call_handler(&self, request: Request) -> PageResponse {
        match self.pages.call(request).await {
            Ok(response) => Ok(response.into_response()),
            Err(error) => Err(PageError::from_framework(error)),
        }
    }

    /// Reads the form and checks that it is a valid form of this browser. Replaces the roles of the user by those that the user has
    /// when the form has arrived.
    async fn checked_form(
        &self,
        context: &BrowserContext,
        request: &mut Request,
        roles: &mut Option<Roles>,
    ) -> Result<Form, PageError> {
        let headers = request.headers();
        if context.secure_cookies
            && origin::may_be_insecure(headers)
            && !cookies::has_any(headers, context.secure_cookies)
        {
            return Err(PageError::MissingCookie);
        }
        if !origin::is_same_origin(headers, self.state.public_url.as_ref()) {
            return Err(PageError::UntrustedForm);
        }
        let declared_length =
            headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if declared_length.is_some_and(|length: usize| length > MAX_FORM_BYTES) {
            return Err(PageError::FormTooLarge);
        }
        let form = read_body(request.take_body(), FORM_TIMEOUT).await?;
        // The session was loaded before the body arrived, which can take long. In the meantime, it may have ended, or the roles may
        // have changed.
        if let Some(viewer) = &context.viewer {
            *roles = sessions::current_roles(&self.state.app, viewer).await?;
            if roles.is_none() {
                return Err(PageError::SessionEnded);
            }
        }
        let is_page_of_members = request.uri().path().starts_with("/dashboard");
        match csrf::check(&context.browser_token, context.shown_workspace(), form.text(csrf::FIELD)) {
            TokenCheck::Valid => Ok(form),
            // Signing out concerns no workspace.
            TokenCheck::OtherWorkspace if !is_page_of_members => Ok(form),
            TokenCheck::OtherWorkspace => Err(PageError::OtherWorkspace),
            TokenCheck::Invalid if context.viewer.is_none() && is_page_of_members => {
                Err(PageError::SessionEnded)
            }
            TokenCheck::Invalid => Err(PageError::UntrustedForm),
        }
    }

    /// Returns the response of the handler, or an error page.
    async fn respond(&self, context: &Arc<BrowserContext>, request: Request) -> Response {
        let is_form = request.method() == Method::POST;
        let outcome = catch_panic(self.handle(context, request)).await;
        let result =
            outcome.unwrap_or_else(|panic| Err(PageError::Internal(anyhow::anyhow!("panicked: {panic}"))));
        let mut response = result.unwrap_or_else(|error| error.response(context, is_form));
        // A partial update cannot show the flash message. It stays for the next full page.
        let shows_flash = !response.status().is_redirection() && !context.is_partial;
        let headers = response.headers_mut();
        if let Some(visitor) = &context.new_visitor {
            cookies::set(headers, CookieKind::Visitor, context.secure_cookies, visitor);
        }
        if context.flash.is_some() && shows_flash {
            cookies::clear(headers, CookieKind::Flash, context.secure_cookies);
        }
        if let Some(viewer) = context.viewer.as_ref().filter(|viewer| viewer.has_lost_sandbox && shows_flash)
            && let Err(error) = sessions::forget_sandbox(&self.state.app, viewer).await
        {
            tracing::debug!(error = error.to_string(), "could not record that a message was shown");
        }
        response
    }
}

/// Returns the OpenID Connect provider of the configuration, if there is one. Does not contact it.
fn provider(settings: &SignInConfig, public_url: Option<&WebUrl>) -> anyhow::Result<Option<Provider>> {
    let (Some(issuer), Some(client_id)) = (&settings.oidc_issuer, &settings.oidc_client_id) else {
        return Ok(None);
    };
    let issuer_url = issuer.as_str();
    match public_url {
        Some(url) => {
            let redirect_uri = format!("{}{}", url.base(), pages::sign_in_provider::CALLBACK);
            let post_logout_redirect_uri = format!("{}/login", url.base());
            tracing::info!(
                issuer = issuer_url,
                redirect_uri,
                post_logout_redirect_uri,
                "members can sign in with the provider"
            );
        }
        None => tracing::warn!(
            issuer = issuer_url,
            "without `public_url`, providers accept sign-ins only from browsers on this machine"
        ),
    }
    let settings = ProviderSettings {
        issuer: issuer.as_str().to_owned(),
        client_id: client_id.as_str().to_owned(),
        client_secret: settings.oidc_client_secret.as_ref().map(|secret| SecretString::from(secret.expose())),
        allowed_networks: settings.oidc_allow.clone(),
    };
    Ok(Some(Provider::new(settings)?))
}

impl Endpoint for Dashboard {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        Ok(with_wait_budget(REQUEST_TIMEOUT, self.respond_to(request)).await)
    }
}

impl Dashboard {
    /// Returns a static file, or the response to a request of a member or visitor.
    async fn respond_to(&self, request: Request) -> Response {
        let request_context = web::request_context::of(&request);
        request_context.allow_compression(Compressible::Once);
        if let Some(file) = assets::find(request.uri().path()) {
            return file;
        }
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        request_context.set_log_subject(LogSubject::Page { method, path });
        let mut response = match BrowserContext::load(&self.state, &request).await {
            Ok(context) => self.respond(&Arc::new(context), request).await,
            Err(error) => {
                tracing::error!(error = error.to_string(), "could not load the session");
                plain_text(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "Internal server error. Try again in a moment.\n",
                )
            }
        };
        set_security_headers(response.headers_mut());
        response
    }
}

/// Copies a request for a retry. The form is among the extensions, since the body was read before.
fn copy_request(request: &Request) -> Request {
    let mut copy = Request::builder().method(request.method().clone()).uri(request.uri().clone()).finish();
    copy.headers_mut().clone_from(request.headers());
    copy.extensions_mut().clone_from(request.extensions());
    copy
}

/// Reads a form from a body.
async fn read_body(body: Body, timeout: Duration) -> Result<Form, PageError> {
    match tokio::time::timeout(timeout, body.into_bytes_limit(MAX_FORM_BYTES)).await {
        Ok(Ok(bytes)) => Ok(Form::read(&bytes)),
        Ok(Err(ReadBodyError::PayloadTooLarge)) => Err(PageError::FormTooLarge),
        Ok(Err(_)) | Err(_) => Err(PageError::IncompleteForm),
    }
}

/// Sets the security headers of every page.
fn set_security_headers(headers: &mut HeaderMap) {
    const PAIRS: [(HeaderName, &str); 6] = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
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

/// Returns a response in plain text.
fn plain_text(status: StatusCode, text: &'static str) -> Response {
    Response::builder().status(status).content_type("text/plain; charset=utf-8").body(text)
}

#[cfg(test)]
mod tests {
    use std::io;

    use bytes::Bytes;
    use futures_util::{Stream, StreamExt, stream};

    use super::*;

    /// Reads a form whose body starts with fixed fields and continues with `rest`.
    async fn read_form(
        rest: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    ) -> Result<Form, PageError> {
        let start = stream::iter([Ok(Bytes::from_static(b"name=CRM&note="))]);
        read_body(Body::from_bytes_stream(start.chain(rest)), Duration::from_millis(50)).await
    }

    #[tokio::test]
    async fn an_incomplete_form_times_out() {
        let form = read_form(stream::iter([Ok(Bytes::from_static(b"x"))])).await.unwrap();
        assert_eq!((form.text("name"), form.text("note")), ("CRM", "x"));
        assert!(
            matches!(read_form(stream::pending()).await, Err(PageError::IncompleteForm)),
            "no more data arrives"
        );
        let trickle = stream::repeat_with(|| Ok(Bytes::from_static(b"x"))).then(async |chunk| {
            tokio::time::sleep(Duration::from_millis(5)).await;
            chunk
        });
        assert!(
            matches!(read_form(trickle).await, Err(PageError::IncompleteForm)),
            "data arrives byte by byte"
        );
        let aborted = read_form(stream::iter([Err(io::ErrorKind::UnexpectedEof.into())])).await;
        assert!(matches!(aborted, Err(PageError::IncompleteForm)), "the body is aborted");
        let large = read_form(stream::iter([Ok(Bytes::from(vec![b'x'; MAX_FORM_BYTES]))])).await;
        assert!(matches!(large, Err(PageError::FormTooLarge)));
    }
}
