//! A simulated browser without scripts: it stores cookies, sends forms with their CSRF tokens, and does not follow
//! redirects.
//!
//! The tests in `browser/` use Chromium instead.

use std::collections::BTreeMap;
use std::sync::Mutex;

use domain::audit::Actor;
use domain::users;
use regex::Regex;
use reqwest::{Method, RequestBuilder};
use secrecy::{ExposeSecret, SecretString};
use url::form_urlencoded;

use super::{TestApp, TestResponse, TestWorkspace, send};

/// The password of all users in tests.
pub const PASSWORD: &str = "correct horse battery";

/// The path of the list of webhooks.
pub const WEBHOOKS: &str = "/dashboard/developer/webhooks";

/// A simulated browser that uses the dashboard.
pub struct Browser<'a> {
    app: &'a TestApp,
    base_url: String,
    cookies: Mutex<BTreeMap<String, String>>,
}

impl<'a> Browser<'a> {
    pub fn new(app: &'a TestApp) -> Self {
        Self::at(app, &app.base_url)
    }

    /// Creates a browser for the server with this base URL.
    pub fn at(app: &'a TestApp, base_url: &str) -> Self {
        Self { app, base_url: base_url.to_owned(), cookies: Mutex::default() }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.app.http.request(method, format!("{}{path}", self.base_url))
    }

    /// Requests the page at this path, with cookies.
    pub async fn get(&self, path: &str) -> TestResponse {
        self.send(self.request(Method::GET, path)).await
    }

    /// Loads `page`, and submits these fields with the page's CSRF token to `action`.
    pub async fn submit(&self, page: &str, action: &str, fields: &[(&str, &str)]) -> TestResponse {
        let token = csrf_token(&self.get(page).await);
        self.post(action, &token, fields).await
    }

    /// Submits these fields with this CSRF token to `action`.
    pub async fn post(&self, action: &str, token: &str, fields: &[(&str, &str)]) -> TestResponse {
        self.send(self.form(action, token, fields)).await
    }

    /// Builds a form request with this CSRF token.
    pub fn form(&self, action: &str, token: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.append_pair("csrf", token).extend_pairs(fields);
        let request = self.request(Method::POST, action).body(body.finish());
        request.header("content-type", "application/x-www-form-urlencoded")
    }

    /// Sends a request with the stored cookies, and sets or deletes cookies as the response requests.
    pub async fn send(&self, request: RequestBuilder) -> TestResponse {
        let cookies: Vec<String> =
            self.cookies.lock().unwrap().iter().map(|(name, value)| format!("{name}={value}")).collect();
        let response = send(request.header("cookie", cookies.join("; "))).await;
        for line in response.headers.get_all("set-cookie") {
            let line = line.to_str().expect("ASCII");
            let (name, value) = line.split(';').next().unwrap().split_once('=').expect("a cookie");
            let mut cookies = self.cookies.lock().unwrap();
            if line.contains("Max-Age=0") {
                cookies.remove(name);
            } else {
                cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        response
    }

    /// Returns a cookie's value.
    pub fn cookie(&self, name: &str) -> Option<String> {
        self.cookies.lock().unwrap().get(name).cloned()
    }

    /// Sets a cookie.
    pub fn set_cookie(&self, name: &str, value: &str) {
        self.cookies.lock().unwrap().insert(name.to_owned(), value.to_owned());
    }

    /// Submits the sign-in form.
    pub async fn sign_in(&self, email: &str, password: &str) -> TestResponse {
        self.submit("/login", "/login", &[("email", email), ("password", password)]).await
    }
}

impl<'a> TestWorkspace<'a> {
    /// Adds a user, unless the user exists, and sets the user's password to [`PASSWORD`].
    pub async fn add_user(&self, email: &str) -> users::User {
        let app = &self.app.app;
        let token = self.password_link_token(email).await;
        let password = SecretString::from(PASSWORD);
        let user = users::set_password(app, &token, &password, |_| Actor::operator()).await.unwrap();
        user.expect("the new link is valid")
    }

    /// Adds a user, unless the user exists, and returns the token of a new password link.
    pub async fn password_link_token(&self, email: &str) -> String {
        let app = &self.app.app;
        let mut write = self.app.begin_write().await;
        let user = users::ensure(app, &mut write, self.id, email).await.unwrap();
        let token = users::create_link(app, &mut write, &user, &Actor::operator()).await.unwrap();
        write.commit().await.unwrap();
        token.expose_secret().to_owned()
    }

    /// Returns a browser in which the owner of the workspace is signed in.
    pub async fn owner_browser(&self) -> Browser<'a> {
        let email = format!("owner@{}.example", self.name);
        self.add_user(&email).await;
        let browser = Browser::new(self.app);
        browser.sign_in(&email, PASSWORD).await.assert_status(303);
        browser
    }
}

/// Returns the page's HTML.
#[track_caller]
pub fn html(response: &TestResponse) -> String {
    assert!(response.header("content-type").starts_with("text/html"), "{response:?}");
    String::from_utf8(response.body.clone()).expect("the page is UTF-8")
}

/// Returns the CSRF token of a page's forms.
#[track_caller]
pub fn csrf_token(response: &TestResponse) -> String {
    let page = html(response);
    let field = Regex::new("name=\"csrf\" value=\"([^\"]+)\"").expect("a valid pattern");
    field.captures(&page).unwrap_or_else(|| panic!("no form with a CSRF token: {page}"))[1].to_owned()
}

/// Returns the first match of a regular expression in a page; if the expression has a group, the match of the group.
#[track_caller]
pub fn first_match(page: &str, pattern: &str) -> String {
    let captures = Regex::new(pattern).expect("a valid pattern").captures(page);
    let captures = captures.unwrap_or_else(|| panic!("no match of {pattern}: {page}"));
    captures.get(1).unwrap_or_else(|| captures.get(0).expect("the whole match")).as_str().to_owned()
}

/// Requests a partial update of a page, as the page's script does.
pub async fn partial_update(browser: &Browser<'_>, app: &TestApp, path: &str) -> TestResponse {
    browser.send(app.request(Method::GET, path).header("hx-request", "true")).await
}
