//! Signing in with a link from the platform.
//!
//! The link is used at once when a browser navigates to it. The person confirms first if the browser has a session of another
//! person, or if the browser loads the page in advance or inside another page. A link counts as one factor: who has a second one is
//! asked for its code.

use askama::Template;
use poem::http::StatusCode;
use poem::{Request, handler};

use super::sign_in::{HOME, actor, ask_for_code, end_previous_session, signed_in};
use crate::context::{BrowserContext, PublicRequest};
use crate::form::Form;
use crate::frame::Frame;
use crate::query::PageQuery;
use crate::request::{PageResponse, html};
use crate::routes::{PUBLIC, RouteTable, get};
use domain::audit::{self, Action};
use domain::email;
use domain::retry::retry_on_conflict;
use domain::sessions::{FirstFactor, SessionClient, Viewer};
use domain::users::{self, OpenedLink, Redeemed};
use secrecy::SecretString;

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route.at("/sign-in", get(PUBLIC, sign_in_page).post(PUBLIC, sign_in))
}

#[derive(Template)]
#[template(path = "sign_in_link.html")]
struct SignInLinkPage<'a> {
    frame: Frame,
    /// `None` if the link is not valid.
    link: Option<UnusedLink<'a>>,
}

/// A valid link, and whose session it would end.
struct UnusedLink<'a> {
    token: &'a str,
    /// The email address of the person that it signs in.
    email: String,
    /// The email address of the person who is signed in, if it is another one.
    current: Option<&'a str>,
}

#[handler]
async fn sign_in_page(request: PublicRequest, query: PageQuery, http: &Request) -> PageResponse {
    let (context, token) = (&request.0, query.text("token"));
    let user = users::by_sign_in_link(context.app(), token).await?;
    let Some(user) = user else { return html(StatusCode::NOT_FOUND, &page_without_link(&request)) };
    let is_other = |viewer: &&Viewer| !email::is_same(&viewer.email, &user.email);
    let other = context.viewer.as_ref().filter(is_other);
    if other.is_none() && is_navigation(http) {
        return redeem(&request, token).await;
    }
    let link = UnusedLink { token, email: user.email.clone(), current: other.map(|other| &*other.email) };
    html(StatusCode::OK, &SignInLinkPage { frame: request.frame("Sign in"), link: Some(link) })
}

/// Returns whether a person opens the page, as far as the browser says so (Fetch Metadata Request Headers).
fn is_navigation(request: &Request) -> bool {
    let is_absent_or =
        |name: &str, expected: &str| request.header(name).is_none_or(|value| value == expected);
    // Programs that check links send HEAD.
    !web::request_context::of(request).is_head()
        && is_absent_or("sec-fetch-mode", "navigate")
        && is_absent_or("sec-fetch-dest", "document")
        && request.header("sec-purpose").is_none()
        && request.header("purpose").is_none()
}

#[handler]
async fn sign_in(request: PublicRequest, form: Form) -> PageResponse {
    redeem(&request, form.text("token")).await
}

/// Uses the link, and replaces the session of the browser.
async fn redeem(request: &PublicRequest, token: &str) -> PageResponse {
    let context = &request.0;
    match retry_on_conflict(|| start_session(context, token)).await? {
        Some(LinkOutcome::Started(session)) => signed_in(context, &session, HOME),
        Some(LinkOutcome::NeedsCode(opened)) => ask_for_code(context, &FirstFactor::Link(opened), HOME),
        None => html(StatusCode::NOT_FOUND, &page_without_link(request)),
    }
}

/// The result of using a valid link.
enum LinkOutcome {
    /// The token of the new session.
    Started(SecretString),
    /// The user must enter a code of their second factor.
    NeedsCode(OpenedLink),
}

/// Uses a link, and starts a session unless the user has a second factor. `None` if the link is not valid.
async fn start_session(context: &BrowserContext, token: &str) -> domain::Result<Option<LinkOutcome>> {
    let app = context.app();
    let mut write = app.begin_write().await?;
    let client = SessionClient { address: context.ip_address, agent: &context.user_agent };
    let redeemed = users::redeem_sign_in_link(app, &mut write, token, client).await?;
    let (user, session, token) = match redeemed {
        None => return Ok(None),
        Some(Redeemed::NeedsCode(opened)) => {
            write.commit().await?;
            return Ok(Some(LinkOutcome::NeedsCode(opened)));
        }
        Some(Redeemed::Started(user, session, token)) => (user, session, token),
    };
    end_previous_session(context, &mut write).await?;
    let entry = (Action::SignedInByLink, session.to_string(), "");
    audit::append(app, &mut write, user.workspace, &actor(context, &user), entry).await?;
    write.commit().await?;
    Ok(Some(LinkOutcome::Started(token)))
}

fn page_without_link(request: &PublicRequest) -> SignInLinkPage<'static> {
    SignInLinkPage { frame: request.frame("This link is not valid"), link: None }
}
