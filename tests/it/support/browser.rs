//! A browser without scripts: stores cookies, sends forms with their CSRF tokens, and does not follow redirects.

use std::collections::BTreeMap;
use std::sync::Mutex;

use domain::audit::Actor;
use domain::users;
use regex::Regex;
use reqwest::{Method, RequestBuilder};
use secrecy::{ExposeSecret, SecretString};
use url::form_urlencoded;

use super::{TestApp, TestResponse, Workspace, send};

/// The password used by all tests.
pub const PASSWORD: &str = "correct horse battery";

/// A browser for the dashboard.
pub struct Browser<'a> {
    app: &'a TestApp,
    base: String,
    cookies: Mutex<BTreeMap<String, String>>,
}

impl<'a> Browser<'a> {
    pub fn new(app: &'a TestApp) -> Self {
        Self::at(app, &app.base)
    }

    /// Creates a browser for the server with this base URL.
    pub fn at(app: &'a TestApp, base: &str) -> Self {
        Self { app, base: base.to_owned(), cookies: Mutex::default() }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.app.http.request(method, format!("{}{path}", self.base))
    }

    /// Requests the page at this path, with cookies.
    pub async fn get(&self, path: &str) -> TestResponse {
        self.send(self.request(Method::GET, path)).await
    }

    /// Sends the form of a page: its CSRF token and these fields.
    pub async fn submit(&self, page: &str, action: &str, fields: &[(&str, &str)]) -> TestResponse {
        let token = csrf(&self.get(page).await);
        self.post(action, &token, fields).await
    }

    /// Sends a form with this CSRF token.
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

    /// Sends a request with the cookies, and stores those of the response.
    pub async fn send(&self, request: RequestBuilder) -> TestResponse {
        let sent: Vec<String> =
            self.cookies.lock().unwrap().iter().map(|(name, value)| format!("{name}={value}")).collect();
        let response = send(request.header("cookie", sent.join("; "))).await;
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
    pub fn put(&self, name: &str, value: &str) {
        self.cookies.lock().unwrap().insert(name.to_owned(), value.to_owned());
    }

    /// Signs in.
    pub async fn sign_in(&self, email: &str, password: &str) -> TestResponse {
        self.submit("/login", "/login", &[("email", email), ("password", password)]).await
    }
}

impl<'a> Workspace<'a> {
    /// Adds a user with the [`PASSWORD`].
    pub async fn person(&self, email: &str) -> users::User {
        let app = &self.app.app;
        let token = self.link(email).await;
        let password = SecretString::from(PASSWORD);
        let set = users::set_password(app, &token, &password, |_| Actor::operator()).await.unwrap();
        set.expect("a new link opens")
    }

    /// Adds a user and returns the token of the password link.
    pub async fn link(&self, email: &str) -> String {
        let app = &self.app.app;
        let mut write = self.app.write().await;
        let user = users::ensure(app, &mut write, self.id, email).await.unwrap();
        let token = users::create_link(app, &mut write, &user, &Actor::operator()).await.unwrap();
        write.commit().await.unwrap();
        token.expose_secret().to_owned()
    }

    /// Returns a browser in which the owner is signed in.
    pub async fn signed_in(&self) -> Browser<'a> {
        let email = format!("owner@{}.example", self.name);
        self.person(&email).await;
        let browser = Browser::new(self.app);
        browser.sign_in(&email, PASSWORD).await.assert_status(303);
        browser
    }
}

/// Returns the page's HTML.
#[track_caller]
pub fn html(response: &TestResponse) -> String {
    assert!(response.header("content-type").starts_with("text/html"), "{response:?}");
    String::from_utf8(response.body.clone()).expect("UTF-8")
}

/// Returns the CSRF token of a page's forms.
#[track_caller]
pub fn csrf(response: &TestResponse) -> String {
    let page = html(response);
    let field = Regex::new("name=\"csrf\" value=\"([^\"]+)\"").expect("a pattern");
    field.captures(&page).unwrap_or_else(|| panic!("no form: {page}"))[1].to_owned()
}

/// Returns the first match of a pattern on a page: its group if it has one.
#[track_caller]
pub fn first(page: &str, pattern: &str) -> String {
    let found = Regex::new(pattern).expect("a pattern").captures(page);
    let found = found.unwrap_or_else(|| panic!("no {pattern}: {page}"));
    found.get(1).unwrap_or_else(|| found.get(0).expect("all of it")).as_str().to_owned()
}
