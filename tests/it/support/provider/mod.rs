//! An OpenID Connect provider that signs its tokens itself, and misbehaves as a test requests.
//!
//! The tests of `browser/` use a certified provider instead.

mod keys;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::io::AsyncWriteExt;
use url::Url;

use super::receiver::{Receiver, read_request};
use super::{Browser, START, TestApp, TestResponse};
pub use keys::ProviderKey;

/// The path to which the provider sends the browser back.
pub const CALLBACK: &str = "/sign-in/provider/callback";
const CLIENT: &str = "dashboard";
const SECRET: &str = "a client secret";

/// An account at the provider.
#[derive(Debug, Clone)]
pub struct Account {
    pub subject: &'static str,
    pub email: &'static str,
    pub is_verified: bool,
}

impl Account {
    /// Returns an account with a verified email address.
    pub const fn new(subject: &'static str, email: &'static str) -> Self {
        Self { subject, email, is_verified: true }
    }
}

/// How a response differs from a valid one.
#[derive(Debug, Clone, Default)]
pub struct Variant {
    /// Claims that replace those of the token. `null` removes one.
    pub claims: Value,
    /// Replaces the algorithm in the header of the token.
    pub algorithm: Option<&'static str>,
    /// Removes the signature.
    pub unsigned: bool,
    /// Changes the signature.
    pub tampered: bool,
}

/// A code that the provider issued, and can be exchanged once.
struct Grant {
    account: Account,
    nonce: String,
    challenge: String,
    variant: Variant,
}

struct State {
    issuer: String,
    /// The time, in seconds since the epoch.
    now: i64,
    is_up: bool,
    /// Whether the email address is only in the user info response, as with the certified provider.
    hides_email: bool,
    /// The start of the paths of the endpoints.
    prefix: &'static str,
    /// The number of requests for the metadata.
    metadata_requests: usize,
    /// A claim that neither tokens nor user info contain.
    omitted: Option<&'static str>,
    keys: Vec<ProviderKey>,
    grants: HashMap<String, Grant>,
    /// The accounts by access token.
    sessions: HashMap<String, Account>,
    issued: usize,
}

/// A provider that listens until it is dropped.
pub struct FakeProvider {
    receiver: Receiver,
    state: Arc<Mutex<State>>,
}

impl FakeProvider {
    pub async fn start() -> Self {
        let now = START.parse::<jiff::Timestamp>().expect("a time").as_second();
        let state = Arc::new(Mutex::new(State {
            issuer: String::new(),
            now,
            is_up: true,
            hides_email: false,
            prefix: "",
            metadata_requests: 0,
            omitted: None,
            keys: vec![ProviderKey::rsa("first")],
            grants: HashMap::new(),
            sessions: HashMap::new(),
            issued: 0,
        }));
        let shared = Arc::clone(&state);
        let receiver = Receiver::start(move |mut stream| {
            let state = Arc::clone(&shared);
            async move {
                loop {
                    let bytes = read_request(&mut stream).await;
                    if bytes.is_empty() {
                        return;
                    }
                    let (status, body) = state.lock().expect("not poisoned").respond(&bytes);
                    let body = body.to_string();
                    let head = format!(
                        "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                        body.len()
                    );
                    if stream.write_all((head + &body).as_bytes()).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await;
        let provider = Self { receiver, state };
        provider.state().issuer = provider.issuer();
        provider
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("not poisoned")
    }

    pub fn issuer(&self) -> String {
        format!("http://{}", self.receiver.address)
    }

    /// Starts a server that uses this provider, with further settings.
    pub async fn start_app(&self, settings: &[(&'static str, &str)]) -> TestApp {
        let issuer = self.issuer();
        let own = [
            ("oidc_issuer", issuer.as_str()),
            ("oidc_client_id", CLIENT),
            ("oidc_client_secret", SECRET),
            ("oidc_allow", "127.0.0.0/8"),
        ];
        TestApp::start_with(&[&own[..], settings].concat()).await
    }

    /// Moves the clocks of the provider and of the server.
    pub fn advance(&self, app: &TestApp, seconds: u64) {
        app.clock.advance(std::time::Duration::from_secs(seconds));
        self.state().now += i64::try_from(seconds).expect("a short time");
    }

    /// Makes the provider respond, or fail.
    pub fn set_up(&self, is_up: bool) {
        self.state().is_up = is_up;
    }

    /// Leaves the email address out of tokens.
    pub fn hide_email(&self) {
        self.state().hides_email = true;
    }

    /// Serves the endpoints under another prefix from now on. The former paths do not exist any longer.
    pub fn move_endpoints(&self, prefix: &'static str) {
        self.state().prefix = prefix;
    }

    /// Returns how often the metadata was requested.
    pub fn metadata_requests(&self) -> usize {
        self.state().metadata_requests
    }

    /// Leaves a claim out of tokens and user info.
    pub fn omit_claim(&self, claim: &'static str) {
        self.state().omitted = Some(claim);
    }

    /// Signs with another key from now on.
    pub fn replace_keys(&self, key: ProviderKey) {
        self.state().keys = vec![key];
    }

    /// Signs in to the account, as a person does at the provider. `redirect` is the URL to which the server sent the browser. Returns
    /// the path and query with which the browser comes back.
    pub fn authorize(&self, redirect: &str, account: &Account, variant: Variant) -> String {
        let url = Url::parse(redirect).expect("a URL");
        assert!(redirect.starts_with(&self.issuer()) && url.path().ends_with("/authorize"), "{redirect}");
        let query: HashMap<String, String> = url.query_pairs().into_owned().collect();
        assert_eq!((query["response_type"].as_str(), query["client_id"].as_str()), ("code", CLIENT));
        assert_eq!(
            (query["code_challenge_method"].as_str(), query["scope"].as_str()),
            ("S256", "openid email")
        );
        assert!(query["redirect_uri"].ends_with(CALLBACK), "{redirect}");
        let mut state = self.state();
        state.issued += 1;
        let code = format!("code-{}", state.issued);
        let grant = Grant {
            account: account.clone(),
            nonce: query["nonce"].clone(),
            challenge: query["code_challenge"].clone(),
            variant,
        };
        state.grants.insert(code.clone(), grant);
        format!("{CALLBACK}?code={code}&state={}", query["state"])
    }

    /// Begins a sign-in in the browser, and returns the path with which it comes back.
    pub async fn begin(&self, browser: &Browser<'_>, account: &Account, variant: Variant) -> String {
        let sent = browser.get("/sign-in/provider").await.assert_status(303);
        self.authorize(sent.header("location"), account, variant)
    }

    /// Signs in, and returns the response of the server.
    pub async fn sign_in(&self, browser: &Browser<'_>, account: &Account) -> TestResponse {
        let path = self.begin(browser, account, Variant::default()).await;
        browser.get(&path).await
    }
}

impl State {
    fn respond(&mut self, request: &[u8]) -> (u16, Value) {
        if !self.is_up {
            return (503, json!({}));
        }
        let text = String::from_utf8_lossy(request).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").expect("a complete head");
        let path = head.split(' ').nth(1).expect("a path");
        if path == "/.well-known/openid-configuration" {
            self.metadata_requests += 1;
            return (200, self.metadata());
        }
        let Some(endpoint) = path.strip_prefix(self.prefix) else { return (404, json!({})) };
        match endpoint {
            "/keys" => {
                let keys: Vec<Value> = self.keys.iter().map(ProviderKey::public).collect();
                (200, json!({"keys": keys}))
            }
            "/token" => self.exchange(head, body),
            "/user" => {
                let token = header(head, "authorization").replace("Bearer ", "");
                let account = self.sessions.get(&token).expect("a known access token");
                let claims = json!({"sub": account.subject, "email": account.email, "email_verified": account.is_verified});
                (200, self.without_omitted(claims))
            }
            other => panic!("the server requested {other}"),
        }
    }

    fn metadata(&self) -> Value {
        let url = |path: &str| format!("{}{}{path}", self.issuer, self.prefix);
        json!({
            "issuer": self.issuer,
            "authorization_endpoint": url("/authorize"),
            "token_endpoint": url("/token"),
            "userinfo_endpoint": url("/user"),
            "jwks_uri": url("/keys"),
            "end_session_endpoint": url("/sign-out"),
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256", "ES256", "HS256", "none"],
        })
    }

    /// Exchanges a code as RFC 6749, section 4.1.3, and RFC 7636, section 4.6, require.
    fn exchange(&mut self, head: &str, body: &str) -> (u16, Value) {
        let fields: HashMap<String, String> =
            url::form_urlencoded::parse(body.as_bytes()).into_owned().collect();
        let credentials = format!("{CLIENT}:{}", SECRET.replace(' ', "+"));
        assert_eq!(
            header(head, "authorization"),
            format!("Basic {}", BASE64_STANDARD.encode(credentials)),
            "the server authenticates"
        );
        let Some(grant) = self.grants.remove(&fields["code"]) else {
            return (400, json!({"error": "invalid_grant"}));
        };
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&fields["code_verifier"]));
        assert_eq!(challenge, grant.challenge, "the code belongs to the attempt");
        let access_token = format!("access-{}", fields["code"]);
        self.sessions.insert(access_token.clone(), grant.account.clone());
        let token = self.token(&grant);
        (200, json!({"access_token": access_token, "token_type": "Bearer", "id_token": token}))
    }

    fn without_omitted(&self, mut claims: Value) -> Value {
        claims.as_object_mut().expect("an object").retain(|name, _| Some(name.as_str()) != self.omitted);
        claims
    }

    fn token(&self, grant: &Grant) -> String {
        let mut claims = json!({
            "iss": self.issuer,
            "sub": grant.account.subject,
            "aud": CLIENT,
            "nonce": grant.nonce,
            "iat": self.now,
            "exp": self.now + 300,
            "auth_time": self.now,
        });
        if !self.hides_email {
            claims["email"] = grant.account.email.into();
            claims["email_verified"] = grant.account.is_verified.into();
        }
        for (name, value) in grant.variant.claims.as_object().into_iter().flatten() {
            claims[name] = value.clone();
        }
        claims.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
        let claims = self.without_omitted(claims);
        let key = &self.keys[0];
        let algorithm = grant.variant.algorithm.unwrap_or(key.algorithm());
        let header = json!({"typ": "JWT", "alg": algorithm, "kid": key.id()});
        let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&header), part(&claims));
        let mut signature = key.sign(signed.as_bytes(), algorithm, SECRET);
        if grant.variant.tampered {
            signature[10] ^= 1;
        }
        if grant.variant.unsigned {
            signature.clear();
        }
        format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
    }
}

/// Returns the value of a header; empty if it is absent.
fn header(head: &str, name: &str) -> String {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    let mut values = lines.filter(|(header, _)| header.eq_ignore_ascii_case(name));
    values.next().map(|(_, value)| value.to_owned()).unwrap_or_default()
}
