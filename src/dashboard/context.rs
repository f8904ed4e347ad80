//! The context of a request: the browser's session and cookies, its IP address, and the server's base URL.

use std::net::IpAddr;
use std::sync::Arc;

use poem::http::{HeaderMap, HeaderName, Method, header};
use poem::{FromRequest, Request, RequestBody};
use secrecy::SecretString;
use url::Url;
use uuid::Uuid;

use super::cookies::{self, CookieKind};
use super::error::PageError;
use super::flash::Flash;
use super::origin;
use super::ui::PageZone;
use domain::app::App;
use domain::roles::Roles;
use domain::sessions::{self, Viewer};
use domain::token;
use foundation::secret::{Seal, SecretKey};
use openid::Provider;
use rate_limit::logins::Attempts;

/// The header of a partial update with the time zone of its page.
const ZONE_HEADER: HeaderName = HeaderName::from_static("x-time-zone");

/// The message for a user whose session showed a sandbox that was deleted.
const LOST_SANDBOX: &str = "The sandbox was deleted. You see live data now.";

/// State shared by all requests.
pub(super) struct DashboardState {
    pub(super) app: App,
    /// The ids of the API's operations, in the order of the contract.
    pub(super) operations: Vec<&'static str>,
    /// The configured public URL of the server.
    pub(super) public_url: Option<Url>,
    /// Recent attempts to sign in, which are throttled.
    pub(super) login_attempts: Attempts,
    /// Authenticates the cookies of known devices.
    pub(super) device_key: SecretKey,
    /// The key that encrypts webhook secrets.
    pub(super) seal: Seal,
    /// The key that encrypts the secrets of second factors.
    pub(super) factor_seal: Seal,
    /// The key that encrypts the state of a sign-in with several steps.
    pub(super) step_seal: Seal,
    /// The OpenID Connect provider, if there is one.
    pub(super) provider: Option<Provider>,
}

/// The roles of the signed-in user, read after the form arrived. Attached to each request of a signed-in user.
#[derive(Clone, Copy)]
pub(super) struct CurrentRoles(pub(super) Roles);

/// The context of one request.
pub(crate) struct BrowserContext {
    pub(super) state: Arc<DashboardState>,
    /// The signed-in user; `None` for a visitor.
    pub(super) viewer: Option<Viewer>,
    /// The browser's token: that of its session, or its visitor token.
    pub(super) browser_token: SecretString,
    /// A new visitor token, to be set as a cookie; `None` if the browser has a token.
    pub(super) new_visitor: Option<String>,
    pub(super) flash: Option<Flash>,
    /// The token of a link to set a password, from its cookie.
    pub(super) link: Option<SecretString>,
    /// The cookie of a device that signed in before.
    pub(super) device: Option<String>,
    /// The cookie with the state of a sign-in with several steps.
    pub(super) steps: Option<String>,
    pub(super) ip_address: IpAddr,
    pub(super) user_agent: String,
    /// Whether cookies must be `Secure`.
    pub(super) secure_cookies: bool,
    /// The base URL of this server, as the browser reaches it.
    pub(super) base_url: String,
    /// Path and query.
    pub(super) path: String,
    /// Whether the request is a GET request, so that the page can be opened again by its path.
    pub(super) is_get: bool,
    /// The browser's time zone; UTC if it is unknown.
    pub(super) browser_zone: PageZone,
    /// The time zone of the page.
    pub(super) page_zone: PageZone,
    /// Whether a script requests a partial update of the page.
    pub(super) is_partial: bool,
}

impl BrowserContext {
    /// Reads the cookies and loads the session.
    pub(super) async fn load(state: &Arc<DashboardState>, request: &Request) -> Result<Self, PageError> {
        let headers = request.headers();
        let secure = origin::requires_secure_cookies(headers, state.public_url.as_ref());
        // A partial update, which a script requests periodically, does not extend the session.
        let is_partial = headers.contains_key("hx-request");
        let (viewer, session) = match cookies::read(headers, CookieKind::Session, secure) {
            Some(token) => (sessions::resume(&state.app, &token, !is_partial).await?, Some(token)),
            None => (None, None),
        };
        let (browser_token, new_visitor) = match (&viewer, session) {
            (Some(_), Some(token)) => (SecretString::from(token), None),
            _ => visitor_token(headers, secure)?,
        };
        let flash = cookies::read(headers, CookieKind::Flash, secure)
            .and_then(|value| Flash::verify(&browser_token, &value));
        let has_lost_sandbox = viewer.as_ref().is_some_and(|viewer| viewer.has_lost_sandbox);
        let flash = flash.or_else(|| has_lost_sandbox.then(|| Flash::info(LOST_SANDBOX)));
        let header_text = |name: header::HeaderName| {
            headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
        };
        let time_zone = cookies::read(headers, CookieKind::TimeZone, secure);
        let browser_zone = PageZone::UTC.or_named(time_zone.as_deref().unwrap_or_default());
        let shows_utc = cookies::read(headers, CookieKind::ShowUtc, secure).is_some();
        let chosen_zone = if shows_utc { PageZone::UTC } else { browser_zone.clone() };
        // A partial update is in the time zone of its page, even if the browser's cookies have changed since.
        let page_zone =
            if is_partial { chosen_zone.or_named(&header_text(ZONE_HEADER)) } else { chosen_zone };
        Ok(Self {
            state: Arc::clone(state),
            viewer,
            browser_token,
            new_visitor,
            flash,
            link: cookies::read(headers, CookieKind::Link, secure).map(SecretString::from),
            device: cookies::read(headers, CookieKind::Device, secure),
            steps: cookies::read(headers, CookieKind::Steps, secure),
            ip_address: web::request_context::of(request).client,
            user_agent: header_text(header::USER_AGENT),
            secure_cookies: secure,
            base_url: match &state.public_url {
                Some(public) => public.as_str().trim_end_matches('/').to_owned(),
                None => format!("http://{}", header_text(header::HOST)),
            },
            path: request
                .uri()
                .path_and_query()
                .map_or("/", |path_and_query| path_and_query.as_str())
                .to_owned(),
            is_get: request.method() == Method::GET,
            browser_zone,
            page_zone,
            is_partial,
        })
    }

    pub(super) fn app(&self) -> &App {
        &self.state.app
    }

    /// Returns the workspace that the session shows; the nil UUID for a visitor.
    pub(super) fn shown_workspace(&self) -> Uuid {
        self.viewer.as_ref().map(|viewer| viewer.workspace.id.uuid()).unwrap_or_default()
    }
}

/// Returns the visitor token of a browser that is not signed in, and the same token as text when it is new.
fn visitor_token(headers: &HeaderMap, secure: bool) -> Result<(SecretString, Option<String>), PageError> {
    use secrecy::ExposeSecret as _;
    /// The number of characters of every token.
    const TOKEN_LENGTH: usize = 43;
    if let Some(token) =
        cookies::read(headers, CookieKind::Visitor, secure).filter(|token| token.len() == TOKEN_LENGTH)
    {
        return Ok((SecretString::from(token), None));
    }
    let token = token::generate().map_err(PageError::Internal)?;
    let text = token.expose_secret().to_owned();
    Ok((token, Some(text)))
}

/// Returns the context that the pipeline attached to a request.
pub(super) fn context(request: &Request) -> Result<Arc<BrowserContext>, PageError> {
    let context = request.extensions().get::<Arc<BrowserContext>>();
    context.cloned().ok_or_else(|| {
        PageError::Internal(anyhow::anyhow!("a handler requested the context outside of the pipeline"))
    })
}

/// A request to a public page. The user may be signed in.
pub(crate) struct PublicRequest(pub(super) Arc<BrowserContext>);

impl<'a> FromRequest<'a> for PublicRequest {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        Ok(Self(context(request)?))
    }
}
