//! What is known of a request before a page looks at it: who asks, from where, by which browser.

use std::net::IpAddr;
use std::sync::Arc;

use poem::http::{HeaderMap, header};
use poem::{FromRequest, Request, RequestBody};
use secrecy::SecretString;
use url::Url;

use super::cookies::{self, Kind};
use super::failure::Failure;
use super::flash::Flash;
use super::origin;
use domain::app::App;
use domain::sessions::{self, Viewer};
use domain::token;
use foundation::secret::Seal;
use rate_limit::logins::Attempts;

/// What all visits share.
pub(super) struct Shared {
    pub(super) app: App,
    /// The address by which browsers reach this server, when one is configured.
    pub(super) public: Option<Url>,
    pub(super) attempts: Attempts,
    /// What the secrets of webhooks are sealed with.
    pub(super) seal: Seal,
}

/// One request of one browser.
pub(crate) struct Visit {
    pub(super) shared: Arc<Shared>,
    /// Who is signed in.
    pub(super) viewer: Option<Viewer>,
    /// The browser's token: of its session, or of a visitor.
    pub(super) key: SecretString,
    /// The visitor's token when it is new, to be set as a cookie.
    pub(super) new_visitor: Option<String>,
    pub(super) flash: Option<Flash>,
    /// The token of a link to set a password.
    pub(super) link: Option<SecretString>,
    pub(super) address: IpAddr,
    pub(super) agent: String,
    pub(super) secure: bool,
    /// The address of this server, as the reader reaches it.
    pub(super) base: String,
    /// Path and query.
    pub(super) path: String,
    /// Asked for by a script that replaces a part of a page.
    pub(super) partial: bool,
}

impl Visit {
    /// Reads the cookies and asks who is behind them.
    pub(super) async fn of(shared: &Arc<Shared>, request: &Request) -> Result<Self, Failure> {
        let headers = request.headers();
        let secure = origin::is_secure(headers, shared.public.as_ref());
        // A page that asks by itself is no sign that somebody is there.
        let partial = headers.contains_key("hx-request");
        let (viewer, session) = match cookies::read(headers, Kind::Session, secure) {
            Some(token) => (sessions::resume(&shared.app, &token, !partial).await?, Some(token)),
            None => (None, None),
        };
        let (key, new_visitor) = match (&viewer, session) {
            (Some(_), Some(token)) => (SecretString::from(token), None),
            _ => visitor(headers, secure)?,
        };
        let flash = cookies::read(headers, Kind::Flash, secure).and_then(|value| Flash::open(&key, &value));
        let text = |name: header::HeaderName| {
            headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
        };
        Ok(Self {
            shared: Arc::clone(shared),
            viewer,
            key,
            new_visitor,
            flash,
            link: cookies::read(headers, Kind::Link, secure).map(SecretString::from),
            address: web::access::of(request).client,
            agent: text(header::USER_AGENT),
            secure,
            base: match &shared.public {
                Some(public) => public.as_str().trim_end_matches('/').to_owned(),
                None => format!("http://{}", text(header::HOST)),
            },
            path: request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned(),
            partial,
        })
    }

    pub(super) fn app(&self) -> &App {
        &self.shared.app
    }
}

/// The token of a browser that is not signed in: the one it has, or a new one.
fn visitor(headers: &HeaderMap, secure: bool) -> Result<(SecretString, Option<String>), Failure> {
    use secrecy::ExposeSecret as _;
    if let Some(token) = cookies::read(headers, Kind::Visitor, secure).filter(|token| token.len() == 43) {
        return Ok((SecretString::from(token), None));
    }
    let token = token::generate().map_err(Failure::Internal)?;
    let text = token.expose_secret().to_owned();
    Ok((token, Some(text)))
}

/// The visit of a request; the gate has put it there.
pub(super) fn visit(request: &Request) -> Result<Arc<Visit>, Failure> {
    let visit = request.extensions().get::<Arc<Visit>>();
    visit.cloned().ok_or_else(|| Failure::Internal(anyhow::anyhow!("a page was asked for beside the gate")))
}

/// A page's reader who need not be signed in.
pub(crate) struct Guest(pub(super) Arc<Visit>);

impl<'a> FromRequest<'a> for Guest {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        Ok(Self(visit(request)?))
    }
}
