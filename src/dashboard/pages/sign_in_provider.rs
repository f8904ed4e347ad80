//! Signing in with an OpenID Connect provider, and confirming the identity of a signed-in user with it.
//!
//! The browser is sent to the provider by a link and comes back with a code. Whatever happens then, the attempt is over: its cookie is
//! deleted, so that nothing is accepted twice.

use std::ops::Range;

use poem::handler;
use poem::http::StatusCode;
use secrecy::{ExposeSecret, SecretString};

use super::sign_in::{actor, end_previous_session, safe_next, set_flash, signed_in, too_many_attempts};
use crate::context::{BrowserContext, PublicRequest};
use crate::error::PageError;
use crate::flash::Flash;
use crate::query::PageQuery;
use crate::request::{DashboardRequest, PageResponse, redirect, redirect_with};
use crate::routes::{PUBLIC, RouteTable, get};
use crate::steps::{self, Cookie, PendingProvider, Step};
use domain::app::App;
use domain::audit::{self, Action, Actor};
use domain::people::{self, ProviderAccount, ProviderSignIn};
use domain::retry::retry_on_conflict;
use domain::roles::Permission;
use domain::sessions::{self, SessionClient, Viewer};
use domain::users::{self, AccountEvent, User};
use domain::{Result, email, token};
use foundation::database::Write;
use foundation::id::SessionId;
use openid::{Attempt, Identity, MAX_SKEW_MS, Provider, ProviderError};

pub(crate) const CALLBACK: &str = "/sign-in/provider/callback";

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route
        .at("/sign-in/provider", get(PUBLIC, start))
        .at(CALLBACK, get(PUBLIC, callback))
        .at("/dashboard/confirm/provider", get(Permission::UseAccount, start_confirmation))
}

/// Returns the provider.
///
/// # Errors
/// Returns [`PageError::NotFound`] if the operator configured none.
fn provider(context: &BrowserContext) -> std::result::Result<&Provider, PageError> {
    context.state.provider.as_ref().ok_or(PageError::NotFound)
}

#[handler]
async fn start(request: PublicRequest, query: PageQuery) -> PageResponse {
    begin(&request.0, safe_next(query.text("next")), None).await
}

#[handler]
async fn start_confirmation(request: DashboardRequest, query: PageQuery) -> PageResponse {
    begin(request.browser(), safe_next(query.text("next")), Some(request.viewer().session)).await
}

/// Sends the browser to the provider, to sign in or to confirm the identity of the user of a session.
async fn begin(context: &BrowserContext, next: &str, session: Option<SessionId>) -> PageResponse {
    let (provider, clock) = (provider(context)?, &context.app().clock);
    let random = || -> std::result::Result<String, PageError> {
        Ok(token::generate().map_err(PageError::Internal)?.expose_secret().to_owned())
    };
    let attempt = Attempt { state: random()?, nonce: random()?, verifier: random()? };
    let url = provider.authorization_url(clock, &attempt, &redirect_url(context), session.is_some()).await;
    match url {
        Ok(url) => {
            let mut response = redirect(url.as_str())?;
            let session = session.map(|session| session.to_string());
            let step = Step::Provider(PendingProvider { attempt, session, next: next.to_owned() });
            steps::set(context, &mut response, step).map_err(PageError::Internal)?;
            Ok(response)
        }
        Err(error) => {
            tracing::warn!(error = error.to_string(), "could not send a browser to the sign-in provider");
            if session.is_none() {
                // The page says that the provider does not respond.
                return redirect("/login");
            }
            redirect_with(context, next, &Flash::info("The provider does not respond. Try again later."))
        }
    }
}

/// Returns the URL to which the provider sends the browser back.
fn redirect_url(context: &BrowserContext) -> String {
    format!("{}{CALLBACK}", context.base_url)
}

#[handler]
async fn callback(request: PublicRequest, query: PageQuery) -> PageResponse {
    let context = &request.0;
    provider(context)?;
    let result = finish(context, &query).await;
    let mut response = result.unwrap_or_else(|error| error.response(context, false));
    steps::clear(context, &mut response);
    Ok(response)
}

/// Returns the error of a person who may not sign in, or cannot confirm their identity.
fn refused(problem: impl Into<String>) -> PageError {
    PageError::SignInFailed { status: StatusCode::FORBIDDEN, problem: problem.into() }
}

/// Exchanges the code with which the browser came back, and signs the person in or confirms their identity.
async fn finish(context: &BrowserContext, query: &PageQuery) -> PageResponse {
    let cookie = steps::read(context);
    let began_ms = cookie.as_ref().map_or(0, Cookie::began_ms);
    let Some(Step::Provider(pending)) = cookie.map(|cookie| cookie.step) else {
        return Err(refused("This browser began no sign-in in the last 10 minutes, or has finished it."));
    };
    complete(context, query, &pending, began_ms).await.map_err(|error| match error {
        PageError::SignInFailed { status, problem } if pending.session.is_some() => {
            PageError::ConfirmationFailed { status, problem, back: safe_next(&pending.next).to_owned() }
        }
        other => other,
    })
}

/// Continues the attempt that the browser began at this time, in milliseconds since the epoch.
async fn complete(
    context: &BrowserContext,
    query: &PageQuery,
    pending: &PendingProvider,
    began_ms: i64,
) -> PageResponse {
    let issuer = context.app().config.sign_in.oidc_issuer.as_ref().map(|issuer| issuer.as_str());
    let is_other_issuer = query.non_empty("iss").is_some_and(|iss| Some(&*iss) != issuer);
    if query.text("state") != pending.attempt.state || is_other_issuer {
        return Err(refused("The response does not belong to the sign-in that this browser began."));
    }
    if query.text("code").is_empty() {
        let (reason, description) = (query.text("error"), query.text("error_description"));
        tracing::info!(reason, description, "the sign-in provider returned an error");
        return Err(refused("The provider did not sign you in."));
    }
    let (provider, clock) = (provider(context)?, &context.app().clock);
    if let Err(seconds) = context.state.login_attempts.admit_provider_code(clock, context.ip_address).await {
        let problem = too_many_attempts(seconds);
        return Err(PageError::SignInFailed { status: StatusCode::TOO_MANY_REQUESTS, problem });
    }
    let identity =
        provider.identity(clock, &pending.attempt, &redirect_url(context), query.text("code")).await;
    let identity = identity.map_err(|error| {
        tracing::warn!(
            error = error.to_string(),
            "a sign-in with the provider failed; compare `oidc_client_id`, `oidc_client_secret` and the clock with those of the provider"
        );
        match error {
            ProviderError::Unavailable(_) => {
                let problem = "The provider does not respond. Try again later.".to_owned();
                PageError::SignInFailed { status: StatusCode::SERVICE_UNAVAILABLE, problem }
            }
            ProviderError::TooLongAgo => refused(
                "You entered your credentials at the provider more than 30 days ago. Sign out there, then sign in again.",
            ),
            ProviderError::Rejected(_) => refused(
                "The response of the provider is not valid. If this happens again, tell the operator of this server, whose log \
                 contains the reason.",
            ),
        }
    })?;
    let next = safe_next(&pending.next);
    match &pending.session {
        None => match retry_on_conflict(|| sign_in(context, &identity)).await? {
            Ok(token) => signed_in(context, &token, next),
            Err(refusal) => {
                tracing::info!(
                    refusal = refusal.name(),
                    subject = identity.subject,
                    "a person may not sign in with the provider"
                );
                Err(refused(explanation(&refusal, context.app().config.sign_in.password_sign_in)))
            }
        },
        Some(session) => {
            let viewer = context.viewer.as_ref().filter(|viewer| viewer.session.to_string() == *session);
            let viewer = viewer.ok_or(PageError::SessionEnded)?;
            if !has_entered_credentials(&identity, began_ms..clock.now_ms()) {
                tracing::info!(
                    "the provider sent no recent `auth_time`, so a member could not confirm their identity"
                );
                return Err(refused("The provider did not ask for your credentials again."));
            }
            match retry_on_conflict(|| confirm(context, viewer, &identity)).await? {
                Ok(token) => {
                    let mut response = signed_in(context, &token, next)?;
                    set_flash(context, &mut response, &token, &Flash::success("Your identity is confirmed."));
                    Ok(response)
                }
                Err(refusal @ (ProviderSignIn::EmailNotVerified | ProviderSignIn::ClaimMissing(_))) => {
                    Err(refused(explanation(&refusal, context.app().config.sign_in.password_sign_in)))
                }
                Err(_) => Err(refused("The account at the provider is not that of the signed-in user.")),
            }
        }
    }
}

/// Returns whether the person entered their credentials at the provider during the attempt.
fn has_entered_credentials(identity: &Identity, attempt: Range<i64>) -> bool {
    // The clock of the provider may differ, by as much as in the times of its tokens.
    let accepted = attempt.start - MAX_SKEW_MS..attempt.end + MAX_SKEW_MS;
    identity.authenticated_ms.is_some_and(|at_ms| accepted.contains(&at_ms))
}

fn account(identity: &Identity) -> ProviderAccount<'_> {
    ProviderAccount {
        issuer: &identity.issuer,
        subject: &identity.subject,
        verified_email: identity.verified_email.as_deref(),
        missing_claim: identity.missing_claim,
    }
}

/// Starts a session of the member to whom the account belongs, and returns its token. The error says why there is none.
async fn sign_in(
    context: &BrowserContext,
    identity: &Identity,
) -> Result<std::result::Result<SecretString, ProviderSignIn>> {
    let app = context.app();
    let mut write = app.begin_write().await?;
    let (user, is_new) = match people::sign_in_with_provider(app, &write, account(identity), false).await? {
        ProviderSignIn::Member { user, is_new } => (user, is_new),
        refusal => return Ok(Err(refusal)),
    };
    let client = SessionClient { address: context.ip_address, agent: &context.user_agent };
    let (session, token) =
        sessions::create_with_provider(app, &mut write, &user, client, identity.authenticated_ms).await?;
    end_previous_session(context, &mut write).await?;
    let mut entries = vec![(Action::SignedInByProvider, session.to_string(), "")];
    if is_new {
        entries.push((Action::ProviderLinked, user.id.to_string(), user.email.as_str()));
    }
    let actor = actor(context, &user);
    if is_new {
        notify_of_link(app, &mut write, &user, &actor).await?;
    }
    for entry in entries {
        audit::append(app, &mut write, user.workspace, &actor, entry).await?;
    }
    write.commit().await?;
    Ok(Ok(token))
}

/// Mails the user that an account was linked.
async fn notify_of_link(app: &App, write: &mut Write, user: &User, actor: &Actor) -> Result<()> {
    let event = AccountEvent::ProviderLinked;
    users::notify(app, write, user.workspace, &user.email, event, actor).await
}

/// Records that the signed-in user confirmed their identity, and returns the new token of their session. The error is the result for
/// the account, which can be another member.
async fn confirm(
    context: &BrowserContext,
    viewer: &Viewer,
    identity: &Identity,
) -> Result<std::result::Result<SecretString, ProviderSignIn>> {
    let app = context.app();
    let mut write = app.begin_write().await?;
    let has_second_factor = viewer.proof.has_second_factor;
    let (user, is_new) =
        match people::sign_in_with_provider(app, &write, account(identity), has_second_factor).await? {
            ProviderSignIn::Member { user, is_new } if email::is_same(&user.email, &viewer.email) => {
                (user, is_new)
            }
            refusal => return Ok(Err(refusal)),
        };
    let token = sessions::confirm(&write, viewer, false).await?;
    let mut entries = vec![(Action::IdentityConfirmed, viewer.session.to_string(), "")];
    if is_new {
        entries.push((Action::ProviderLinked, viewer.user.to_string(), viewer.email.as_str()));
    }
    let actor = Actor { user: Some(viewer.user), ..actor(context, &user) };
    if is_new {
        notify_of_link(app, &mut write, &user, &actor).await?;
    }
    for entry in entries {
        audit::append(app, &mut write, viewer.live_workspace.id, &actor, entry).await?;
    }
    write.commit().await?;
    Ok(Ok(token))
}

/// Explains to a person why they cannot sign in, and whom to ask.
fn explanation(refusal: &ProviderSignIn, has_passwords: bool) -> String {
    match refusal {
        ProviderSignIn::EmailNotVerified => {
            "The provider has not verified your email address. Verify it there, then sign in again."
                .to_owned()
        }
        ProviderSignIn::ClaimMissing(claim) => format!(
            "The provider did not send the claim {claim}, so it is not known who you are here. Ask the operator of this server: in its \
             ID tokens or its user info, the provider must send the claims email and email_verified for the scope email."
        ),
        ProviderSignIn::DomainNotAllowed(address) => format!(
            "Addresses of this domain may not sign in: {address}. Choose another account, or ask the operator of this server."
        ),
        ProviderSignIn::NoAccess(address) => format!(
            "{address} is not a member of a workspace. Ask an owner of your workspace to invite this address (Settings, Members)."
        ),
        ProviderSignIn::OtherAccount(address) => format!(
            "{address} signs in with another account of the provider. Ask the operator of this server, who can unlink it with \
             creator-api users unlink-provider."
        ),
        ProviderSignIn::SecondFactor(address) if !has_passwords => format!(
            "{address} has a second factor, and signs in with this provider for the first time. Ask the operator of this server to run \
             creator-api users reset-second-factor."
        ),
        ProviderSignIn::SecondFactor(address) => format!(
            "{address} has a second factor, and signs in with this provider for the first time. Sign in with your password and a \
             code. Then open the page /dashboard/confirm, and confirm your identity with the provider once. If that is not possible, \
             ask the operator of this server to run creator-api users reset-second-factor."
        ),
        ProviderSignIn::Member { .. } => String::new(),
    }
}
