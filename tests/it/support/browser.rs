//! A browser without scripts: keeps cookies, sends forms with their tokens, follows nothing by itself.

use std::collections::BTreeMap;
use std::sync::Mutex;

use domain::audit::Actor;
use domain::users;
use regex::Regex;
use reqwest::{Method, RequestBuilder};
use secrecy::{ExposeSecret, SecretString};
use url::form_urlencoded;

use super::{Answer, TestApp, Workspace, send};

/// The password of every story.
pub const PASSWORD: &str = "correct horse battery";

/// A browser on the dashboard.
pub struct Browser<'a> {
    app: &'a TestApp,
    base: String,
    cookies: Mutex<BTreeMap<String, String>>,
}

impl<'a> Browser<'a> {
    pub fn new(app: &'a TestApp) -> Self {
        Self::at(app, &app.base)
    }

    /// A browser on the server with this address.
    pub fn at(app: &'a TestApp, base: &str) -> Self {
        Self { app, base: base.to_owned(), cookies: Mutex::default() }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.app.http.request(method, format!("{}{path}", self.base))
    }

    /// The page at this path, cookies sent and kept.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    /// Sends the form of a page: its token, and these fields.
    pub async fn submit(&self, page: &str, action: &str, fields: &[(&str, &str)]) -> Answer {
        let token = csrf(&self.get(page).await);
        self.post(action, &token, fields).await
    }

    /// Sends a form with this token.
    pub async fn post(&self, action: &str, token: &str, fields: &[(&str, &str)]) -> Answer {
        self.send(self.form(action, token, fields)).await
    }

    /// A form with this token, still to be sent.
    pub fn form(&self, action: &str, token: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.append_pair("csrf", token).extend_pairs(fields);
        let request = self.request(Method::POST, action).body(body.finish());
        request.header("content-type", "application/x-www-form-urlencoded")
    }

    /// Sends a request with the cookies, and keeps those that come back.
    pub async fn send(&self, request: RequestBuilder) -> Answer {
        let sent: Vec<String> =
            self.cookies.lock().unwrap().iter().map(|(name, value)| format!("{name}={value}")).collect();
        let answer = send(request.header("cookie", sent.join("; "))).await;
        for line in answer.headers.get_all("set-cookie") {
            let line = line.to_str().expect("ASCII");
            let (name, value) = line.split(';').next().unwrap().split_once('=').expect("a cookie");
            let mut cookies = self.cookies.lock().unwrap();
            if line.contains("Max-Age=0") {
                cookies.remove(name);
            } else {
                cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        answer
    }

    /// A cookie's value.
    pub fn cookie(&self, name: &str) -> Option<String> {
        self.cookies.lock().unwrap().get(name).cloned()
    }

    /// Puts a cookie in by hand.
    pub fn put(&self, name: &str, value: &str) {
        self.cookies.lock().unwrap().insert(name.to_owned(), value.to_owned());
    }

    /// Signs in.
    pub async fn sign_in(&self, email: &str, password: &str) -> Answer {
        self.submit("/login", "/login", &[("email", email), ("password", password)]).await
    }
}

impl<'a> Workspace<'a> {
    /// Lets somebody in, with the [`PASSWORD`].
    pub async fn person(&self, email: &str) -> users::User {
        let app = &self.app.app;
        let token = self.link(email).await;
        let password = SecretString::from(PASSWORD);
        let set = users::set_password(app, &token, &password, |_| Actor::operator()).await.unwrap();
        set.expect("a new link opens")
    }

    /// Lets somebody in; the token of the link to set a password.
    pub async fn link(&self, email: &str) -> String {
        let app = &self.app.app;
        let mut write = self.app.write().await;
        let user = users::ensure(app, &mut write, self.id, email).await.unwrap();
        let token = users::link(app, &mut write, &user, &Actor::operator()).await.unwrap();
        write.commit().await.unwrap();
        token.expose_secret().to_owned()
    }

    /// A browser in which the owner is signed in.
    pub async fn signed_in(&self) -> Browser<'a> {
        let email = format!("owner@{}.example", self.name);
        self.person(&email).await;
        let browser = Browser::new(self.app);
        browser.sign_in(&email, PASSWORD).await.assert_status(303);
        browser
    }
}

/// The page's text.
#[track_caller]
pub fn html(answer: &Answer) -> String {
    assert!(answer.header("content-type").starts_with("text/html"), "{answer:?}");
    String::from_utf8(answer.body.clone()).expect("UTF-8")
}

/// The token of a page's forms.
#[track_caller]
pub fn csrf(answer: &Answer) -> String {
    let page = html(answer);
    let field = Regex::new("name=\"csrf\" value=\"([^\"]+)\"").expect("a pattern");
    field.captures(&page).unwrap_or_else(|| panic!("no form: {page}"))[1].to_owned()
}

/// What a pattern finds first on a page: its group, when it has one.
#[track_caller]
pub fn first(page: &str, pattern: &str) -> String {
    let found = Regex::new(pattern).expect("a pattern").captures(page);
    let found = found.unwrap_or_else(|| panic!("no {pattern}: {page}"));
    found.get(1).unwrap_or_else(|| found.get(0).expect("all of it")).as_str().to_owned()
}
