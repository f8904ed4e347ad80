//! Signing in with a link from the platform.
//!
//! The link is used at once, unless the browser has a session of another person: then the person confirms first, so that nobody
//! is signed in as somebody else without noticing.

use askama::Template;
use poem::http::StatusCode;
use poem::{Request, handler};

use super::sign_in::{HOME, actor, end_previous_session, signed_in};
use crate::context::{BrowserContext, PublicRequest};
use crate::form::Form;
use crate::frame::Frame;
use crate::query::PageQuery;
use crate::request::{PageResponse, html};
use crate::routes::{RouteTable, get};
use domain::Error;
use domain::audit::{self, Action};
use domain::retry::retry_on_conflict;
use domain::sessions::SessionClient;
use domain::users;

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route.at("/sign-in", get(sign_in_page).post(sign_in))
}

#[derive(Template)]
#[template(path = "sign_in_link.html")]
struct SignInLinkPage<'a> {
    frame: Frame,
    /// `None` if the link is not valid.
    link: Option<UnusedLink<'a>>,
}

/// A valid link, and the session that it would end.
struct UnusedLink<'a> {
    token: &'a str,
    /// The email address of the person that it signs in.
    email: String,
    /// The email address of the person who is signed in.
    current: &'a str,
}

#[handler]
async fn sign_in_page(request: PublicRequest, query: PageQuery, http: &Request) -> PageResponse {
    let (context, token) = (&request.0, query.text("token"));
    let user = users::by_sign_in_link(context.app(), token).await?;
    let Some(user) = user else { return invalid(&request) };
    match context.viewer.as_ref().filter(|viewer| !users::is_same_email(&viewer.email, &user.email)) {
        Some(viewer) => {
            let link = UnusedLink { token, email: user.email, current: &viewer.email };
            html(StatusCode::OK, &SignInLinkPage { frame: request.frame("Sign in"), link: Some(link) })
        }
        // Programs that check links send HEAD, which must not use the link.
        None if web::request_context::of(http).is_head() => {
            html(StatusCode::OK, &page_without_link(&request))
        }
        None => redeem(&request, token).await,
    }
}

#[handler]
async fn sign_in(request: PublicRequest, form: Form) -> PageResponse {
    redeem(&request, form.text("token")).await
}

/// Uses the link, and replaces the session of the browser.
async fn redeem(request: &PublicRequest, token: &str) -> PageResponse {
    let context = &request.0;
    match retry_on_conflict(|| start_session(context, token)).await? {
        Some(session) => signed_in(context, &session, HOME),
        None => invalid(request),
    }
}

/// Starts a session with a link, and returns the session's token. `None` if the link is not valid.
async fn start_session(
    context: &BrowserContext,
    token: &str,
) -> domain::Result<Option<secrecy::SecretString>> {
    let app = context.app();
    let mut write = app.begin_write().await?;
    let client = SessionClient { address: context.ip_address, agent: &context.user_agent };
    let redeemed = users::redeem_sign_in_link(app, &mut write, token, client).await?;
    let Some((user, session, token)) = redeemed else { return Ok(None) };
    end_previous_session(context, &mut write).await?;
    let entry = (Action::SignedInByLink, session.to_string(), "");
    audit::append(app, &mut write, user.workspace, &actor(context, &user), entry).await?;
    write.commit().await.map_err(Error::from)?;
    Ok(Some(token))
}

fn page_without_link(request: &PublicRequest) -> SignInLinkPage<'static> {
    SignInLinkPage { frame: request.frame("This link is not valid"), link: None }
}

fn invalid(request: &PublicRequest) -> PageResponse {
    html(StatusCode::NOT_FOUND, &page_without_link(request))
}
