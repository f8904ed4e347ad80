//! The provider: its metadata and keys, which are cached, and the two requests of a sign-in.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use foundation::clock::Clock;
use foundation::config::Network;
use foundation::outbound::{OutboundClient, OutboundError};
use openidconnect::core::{
    CoreAuthPrompt, CoreAuthenticationFlow, CoreClient, CoreClientAuthMethod, CoreIdToken, CoreUserInfoClaims,
};
use openidconnect::{
    AuthType, AuthorizationCode, ClaimsVerificationError, ClientId, ClientSecret, CsrfToken,
    EndpointMaybeSet, EndpointNotSet, EndpointSet, IssuerUrl, LogoutRequest, Nonce, OAuth2TokenResponse,
    PkceCodeChallenge, PkceCodeVerifier, PostLogoutRedirectUrl, ProviderMetadataWithLogout, RedirectUrl,
    RequestTokenError, Scope, SignatureVerificationError, SubjectIdentifier, TokenResponse, UserInfoError,
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use url::Url;

use crate::http::HttpClient;
use crate::validation::{self, Identity, MAX_SKEW_MS};

/// Time limit of a request to the provider.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time since the person entered their credentials at the provider, in milliseconds. A provider that is asked for it must say
/// when that was (`auth_time`), but some do not.
const MAX_AGE_MS: u32 = 30 * 24 * 60 * 60_000;
/// How long metadata and keys are used, in milliseconds. Then they must be read again before anybody signs in.
const FRESH_MS: i64 = 60 * 60_000;
/// Minimum time between two attempts to read the metadata, in milliseconds.
const RETRY_MS: i64 = 10_000;

/// The settings of the provider.
#[derive(Debug)]
pub struct ProviderSettings {
    /// The URL that identifies the provider.
    pub issuer: String,
    /// The id of this server at the provider.
    pub client_id: String,
    /// The secret of this server at the provider; `None` for a public client.
    pub client_secret: Option<SecretString>,
    /// Networks that may be reached in addition to public addresses.
    pub allowed_networks: Vec<Network>,
}

/// The random values of one attempt to sign in. Only the browser that makes the attempt keeps them, and they are used once.
#[derive(Serialize, Deserialize)]
pub struct Attempt {
    /// Ties the redirect back to the browser that was redirected to the provider.
    pub state: String,
    /// Ties the ID token to this attempt.
    pub nonce: String,
    /// Ties the code to this attempt (RFC 7636). Has 43 characters of base64url.
    pub verifier: String,
}

/// Why a person cannot sign in.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// The provider does not respond, or not as OpenID Connect requires.
    #[error("the provider is unavailable: {0}")]
    Unavailable(String),
    /// The response to the sign-in is not valid.
    #[error("the provider's response is rejected: {0}")]
    Rejected(String),
    /// The provider did not ask for the credentials again, although they were entered longer ago than `max_age` allows.
    #[error("the provider ignores `max_age`: the person entered their credentials more than 30 days ago")]
    TooLongAgo,
}

/// Metadata and keys, and when they were read.
#[derive(Debug, Default)]
struct Cache {
    metadata: Option<Arc<ProviderMetadataWithLogout>>,
    read_ms: i64,
    /// When the last attempt to read them failed, and why.
    failed: Option<(i64, String)>,
}

impl Cache {
    /// Returns why the last attempt failed, if it is too early for another one.
    fn recent_problem(&self, now_ms: i64) -> Option<&str> {
        let recent = self.failed.as_ref().filter(|(failed_ms, _)| (now_ms - failed_ms).abs() < RETRY_MS);
        recent.map(|(_, problem)| problem.as_str())
    }
}

type Client = CoreClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// An OpenID Connect provider.
#[derive(Debug)]
pub struct Provider {
    settings: ProviderSettings,
    http: HttpClient,
    cache: Mutex<Cache>,
}

impl Provider {
    /// Creates a provider without contacting it.
    ///
    /// # Errors
    /// Returns an error when TLS cannot be set up.
    pub fn new(settings: ProviderSettings) -> Result<Self, OutboundError> {
        let http = HttpClient(OutboundClient::new(&settings.allowed_networks, TIMEOUT)?);
        Ok(Self { settings, http, cache: Mutex::default() })
    }

    /// Returns whether the last attempt to read the metadata did not fail just now. Sends no request and waits for none, so that
    /// pages appear at once even if the provider hangs.
    pub fn seems_available(&self, clock: &Clock) -> bool {
        let Ok(cache) = self.cache.try_lock() else { return true };
        cache.recent_problem(clock.now_ms()).is_none()
    }

    /// Returns the URL of the provider that the browser is sent to. The provider sends it back to `redirect`. With `again`, the
    /// person must enter their credentials even if they are signed in at the provider.
    ///
    /// # Errors
    /// Returns [`ProviderError::Unavailable`] when the metadata cannot be read.
    pub async fn authorization_url(
        &self,
        clock: &Clock,
        attempt: &Attempt,
        redirect: &str,
        again: bool,
    ) -> Result<Url, ProviderError> {
        let metadata = self.metadata(clock.now_ms()).await?;
        let client = self.client(&metadata);
        let (state, nonce) = (CsrfToken::new(attempt.state.clone()), Nonce::new(attempt.nonce.clone()));
        let verifier = PkceCodeVerifier::new(attempt.verifier.clone());
        let mut request = client
            .authorize_url(CoreAuthenticationFlow::AuthorizationCode, move || state, move || nonce)
            .add_scope(Scope::new("email".to_owned()))
            .set_redirect_uri(Cow::Owned(redirect_url(redirect)?))
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier));
        if again {
            request = request.add_prompt(CoreAuthPrompt::Login);
        }
        let max_age_ms = if again { 0 } else { MAX_AGE_MS };
        Ok(request.set_max_age(Duration::from_millis(max_age_ms.into())).url().0)
    }

    /// Exchanges the code with which the browser came back, and returns the person.
    ///
    /// # Errors
    /// Returns [`ProviderError::Rejected`] when the provider does not accept the code, or its token is not valid,
    /// [`ProviderError::TooLongAgo`] when the provider asked for no credentials in 30 days, and [`ProviderError::Unavailable`] when it
    /// does not respond.
    pub async fn identity(
        &self,
        clock: &Clock,
        attempt: &Attempt,
        redirect: &str,
        code: &str,
    ) -> Result<Identity, ProviderError> {
        let metadata = self.metadata(clock.now_ms()).await?;
        let client = self.client(&metadata);
        let exchange = client.exchange_code(AuthorizationCode::new(code.to_owned())).map_err(rejected)?;
        let response = exchange
            .set_pkce_verifier(PkceCodeVerifier::new(attempt.verifier.clone()))
            .set_redirect_uri(Cow::Owned(redirect_url(redirect)?))
            .request_async(&self.http)
            .await;
        let response = match response {
            Ok(response) => response,
            // The provider decided about the code.
            Err(error @ RequestTokenError::ServerResponse(_)) => return Err(rejected(error)),
            Err(error) => {
                // It may have another endpoint now.
                self.discard(&metadata).await;
                return Err(match error {
                    RequestTokenError::Request(cause) => ProviderError::Unavailable(describe(&cause)),
                    other => rejected(other),
                });
            }
        };
        let no_token = || ProviderError::Rejected("the response contains no ID token".to_owned());
        let token = response.id_token().ok_or_else(no_token)?;
        let nonce = Nonce::new(attempt.nonce.clone());
        let mut identity = match validate(&client, token, &nonce, clock.now_ms()) {
            Err(ClaimsVerificationError::SignatureVerification(
                SignatureVerificationError::NoMatchingKey | SignatureVerificationError::CryptoError(_),
            )) => {
                // The provider may have new keys.
                let metadata = self.read_again(clock.now_ms(), &metadata).await?;
                validate(&self.client(&metadata), token, &nonce, clock.now_ms()).map_err(rejected)?
            }
            result => result.map_err(rejected)?,
        };
        let oldest_ms = clock.now_ms() - i64::from(MAX_AGE_MS) - MAX_SKEW_MS;
        if identity.authenticated_ms.is_some_and(|at_ms| at_ms < oldest_ms) {
            return Err(ProviderError::TooLongAgo);
        }
        if identity.verified_email.is_none() && client.user_info_url().is_some() {
            let subject = SubjectIdentifier::new(identity.subject.clone());
            let request =
                client.user_info(response.access_token().clone(), Some(subject)).map_err(rejected)?;
            let claims: Result<CoreUserInfoClaims, _> = request.request_async(&self.http).await;
            let claims = claims.map_err(|error| match error {
                UserInfoError::Request(cause) => ProviderError::Unavailable(describe(&cause)),
                other => rejected(other),
            })?;
            identity.add_email(&claims);
        }
        Ok(identity)
    }

    /// Returns the URL that signs the person out of the provider, which then sends the browser back to `back`. `None` if the
    /// provider has none, or is not known.
    pub async fn sign_out_url(&self, back: &str) -> Option<Url> {
        let cache = self.cache.lock().await;
        let endpoint = cache.metadata.as_ref()?.additional_metadata().end_session_endpoint.clone()?;
        let request = LogoutRequest::from(endpoint)
            .set_client_id(ClientId::new(self.settings.client_id.clone()))
            .set_post_logout_redirect_uri(PostLogoutRedirectUrl::new(back.to_owned()).ok()?);
        Some(request.http_get_url())
    }

    /// Returns the metadata and keys.
    async fn metadata(&self, now_ms: i64) -> Result<Arc<ProviderMetadataWithLogout>, ProviderError> {
        let mut cache = self.cache.lock().await;
        let is_fresh = (now_ms - cache.read_ms).abs() < FRESH_MS;
        match &cache.metadata {
            Some(metadata) if is_fresh => Ok(Arc::clone(metadata)),
            _ => self.read(&mut cache, now_ms).await,
        }
    }

    /// Makes the next sign-in read the metadata and keys again, unless another request has read newer ones than `known`.
    async fn discard(&self, known: &Arc<ProviderMetadataWithLogout>) {
        let mut cache = self.cache.lock().await;
        if cache.metadata.as_ref().is_some_and(|metadata| Arc::ptr_eq(metadata, known)) {
            cache.read_ms = 0;
        }
    }

    /// Reads the metadata and keys again, unless another request has read newer ones than `known`.
    async fn read_again(
        &self,
        now_ms: i64,
        known: &Arc<ProviderMetadataWithLogout>,
    ) -> Result<Arc<ProviderMetadataWithLogout>, ProviderError> {
        let mut cache = self.cache.lock().await;
        match &cache.metadata {
            Some(metadata) if !Arc::ptr_eq(metadata, known) => Ok(Arc::clone(metadata)),
            // An unknown key is no reason to send many requests to the provider.
            Some(metadata) if (now_ms - cache.read_ms).abs() < RETRY_MS => Ok(Arc::clone(metadata)),
            _ => self.read(&mut cache, now_ms).await,
        }
    }

    async fn read(
        &self,
        cache: &mut Cache,
        now_ms: i64,
    ) -> Result<Arc<ProviderMetadataWithLogout>, ProviderError> {
        if let Some(problem) = cache.recent_problem(now_ms) {
            return Err(ProviderError::Unavailable(problem.to_owned()));
        }
        match self.discover().await {
            Ok(metadata) => {
                let metadata = Arc::new(metadata);
                *cache = Cache { metadata: Some(Arc::clone(&metadata)), read_ms: now_ms, failed: None };
                Ok(metadata)
            }
            Err(problem) => {
                tracing::warn!(
                    problem,
                    issuer = self.settings.issuer,
                    "could not read the metadata of the sign-in provider"
                );
                cache.failed = Some((now_ms, problem.clone()));
                Err(ProviderError::Unavailable(problem))
            }
        }
    }

    async fn discover(&self) -> Result<ProviderMetadataWithLogout, String> {
        let issuer = IssuerUrl::new(self.settings.issuer.clone()).map_err(|error| error.to_string())?;
        let metadata = ProviderMetadataWithLogout::discover_async(issuer, &self.http).await;
        metadata.map_err(|error| describe(&error))
    }

    fn client(&self, metadata: &ProviderMetadataWithLogout) -> Client {
        let secret = self.settings.client_secret.as_ref();
        let secret = secret.map(|secret| ClientSecret::new(secret.expose_secret().to_owned()));
        let client_id = ClientId::new(self.settings.client_id.clone());
        let client = CoreClient::from_provider_metadata(metadata.clone(), client_id, secret);
        let methods = metadata.token_endpoint_auth_methods_supported();
        let accepts_basic =
            methods.is_none_or(|methods| methods.contains(&CoreClientAuthMethod::ClientSecretBasic));
        client.set_auth_type(if accepts_basic { AuthType::BasicAuth } else { AuthType::RequestBody })
    }
}

/// Validates an ID token, and returns its person.
fn validate(
    client: &Client,
    token: &CoreIdToken,
    nonce: &Nonce,
    now_ms: i64,
) -> Result<Identity, ClaimsVerificationError> {
    let verifier = validation::with_rules(client.id_token_verifier(), now_ms);
    token.claims(&verifier, nonce).map(Identity::new)
}

fn redirect_url(redirect: &str) -> Result<RedirectUrl, ProviderError> {
    RedirectUrl::new(redirect.to_owned()).map_err(rejected)
}

fn rejected(error: impl std::error::Error) -> ProviderError {
    ProviderError::Rejected(describe(&error))
}

/// Returns an error with its causes.
fn describe(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        text = format!("{text}: {source}");
        cause = source.source();
    }
    text
}
