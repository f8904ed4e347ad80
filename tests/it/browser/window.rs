//! A browser window for tests: finds fields by label and buttons by text.
//!
//! No fixed sleeps: each expectation is checked repeatedly until it holds or ten seconds have passed.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use fantoccini::actions::{InputSource as _, KeyAction, KeyActions};
use fantoccini::elements::Element;
use fantoccini::error::CmdError;
use fantoccini::key::Key;
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, Locator};
use serde_json::{Value, json};
use url::{ParseError, Url};

use super::chromium::Chromium;
use crate::support::TestApp;

/// Maximum time until an expectation holds.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Interval between two checks.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A window on one server. Dropping it closes the browser.
pub struct Window {
    client: Client,
    base: String,
    _chromium: Chromium,
}

/// A command of Chromium's driver that is not part of the standard.
#[derive(Debug)]
struct DriverCommand {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for DriverCommand {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (reqwest::Method, Option<String>) {
        (reqwest::Method::POST, Some(self.body.to_string()))
    }
}

impl Window {
    /// Opens a window in a new browser.
    pub async fn open(app: &TestApp) -> Self {
        let (chromium, client) = Chromium::start().await;
        let window = Self { client, base: app.base.clone(), _chromium: chromium };
        window.devtools("Emulation.setFocusEmulationEnabled", json!({"enabled": true})).await;
        window
    }

    /// Opens this path and waits until the page is loaded.
    pub async fn open_path(&self, path: &str) {
        self.client.goto(&format!("{}{path}", self.base)).await.expect("the page is loaded");
    }

    /// Goes back in the history.
    pub async fn back(&self) {
        self.client.back().await.expect("there is a page before");
    }

    /// Returns the path and query of the page.
    pub async fn path(&self) -> String {
        let url = self.client.current_url().await.expect("a page").to_string();
        url.strip_prefix(&self.base).unwrap_or(&url).to_owned()
    }

    /// Fills the field with this label, replacing its content.
    pub async fn fill(&self, label: &str, text: &str) {
        let field = self.find(&format!("//*[@id=//label[normalize-space()='{label}']/@for]")).await;
        field.clear().await.expect("the field can be emptied");
        field.send_keys(text).await.expect("the field takes text");
    }

    /// Selects the checkbox with this label.
    pub async fn select(&self, label: &str) {
        let path = format!("//label[contains(@class,'box')][.//*[normalize-space()='{label}']]");
        self.find(&path).await.click().await.expect("the box can be ticked");
    }

    /// Clicks the first visible button or link with this text or accessible label.
    pub async fn click(&self, words: &str) {
        let path = format!(
            "//*[self::button or self::a or self::summary][normalize-space()='{words}' or @aria-label='{words}']"
        );
        self.wait_until(&format!("{words:?} can be pressed"), async || {
            for one in self.client.find_all(Locator::XPath(&path)).await.unwrap_or_default() {
                if one.is_displayed().await.unwrap_or_default() {
                    return one.click().await.is_ok();
                }
            }
            false
        })
        .await;
    }

    /// Returns the element with this XPath, once it exists.
    pub async fn find(&self, path: &str) -> Element {
        let found =
            self.client.wait().at_most(TIMEOUT).every(POLL_INTERVAL).for_element(Locator::XPath(path)).await;
        match found {
            Ok(element) => element,
            Err(error) => panic!("no {path} on {}: {error}\n{}", self.path().await, self.text().await),
        }
    }

    /// Waits until the page contains this text.
    pub async fn wait_for_text(&self, words: &str) {
        self.wait_until(&format!("the page says {words:?}"), async || self.text().await.contains(words))
            .await;
    }

    /// Waits until the condition holds.
    pub async fn wait_until(&self, condition: &str, mut holds: impl AsyncFnMut() -> bool) {
        let start = Instant::now();
        while !holds().await {
            if start.elapsed() > TIMEOUT {
                panic!(
                    "not within {TIMEOUT:?}: {condition}\n{} shows:\n{}",
                    self.path().await,
                    self.text().await
                );
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Returns the visible text, or an empty string while a page loads.
    pub async fn text(&self) -> String {
        let body = match self.client.find(Locator::Css("body")).await {
            Ok(body) => body.text().await,
            Err(error) => Err(error),
        };
        body.unwrap_or_default()
    }

    /// Presses a key.
    pub async fn press_key(&self, key: Key) {
        self.send_keys(&[char::from(key)]).await;
    }

    /// Types text into the focused element.
    pub async fn type_text(&self, text: &str) {
        self.send_keys(&text.chars().collect::<Vec<_>>()).await;
    }

    async fn send_keys(&self, keys: &[char]) {
        let mut actions = KeyActions::new("keyboard".to_owned());
        for &value in keys {
            actions = actions.then(KeyAction::Down { value }).then(KeyAction::Up { value });
        }
        self.client.perform_actions(actions).await.expect("keys can be pressed");
    }

    /// Returns the result of a JavaScript function with this body and these arguments. It runs outside of the page's
    /// Content-Security-Policy.
    pub async fn run(&self, body: &str, arguments: Vec<Value>) -> Value {
        self.try_run(body, arguments).await.unwrap_or_else(|error| panic!("{body:.200}: {error}"))
    }

    /// Runs a function like [`run`](Self::run), on a page that may be unloading.
    pub async fn try_run(&self, body: &str, arguments: Vec<Value>) -> Result<Value, CmdError> {
        self.client.execute(body, arguments).await
    }

    /// Returns the value that the function passes to its last argument.
    pub async fn run_async(&self, body: &str, arguments: Vec<Value>) -> Value {
        let value = self.client.execute_async(body, arguments).await;
        value.unwrap_or_else(|error| panic!("{body:.200}: {error}"))
    }

    /// Sends a command to the browser's developer tools.
    pub async fn devtools(&self, cmd: &str, params: Value) -> Value {
        self.send_command("goog/cdp/execute", json!({"cmd": cmd, "params": params})).await
    }

    /// Grants a permission to the pages of this server.
    pub async fn grant_permission(&self, name: &str) {
        self.send_command("permissions", json!({"descriptor": {"name": name}, "state": "granted"})).await;
    }

    async fn send_command(&self, path: &'static str, body: Value) -> Value {
        let answer = self.client.issue_cmd(DriverCommand { path, body }).await;
        answer.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Sets the width of the screen and the color scheme.
    pub async fn set_screen(&self, width: u32, dark: bool) {
        let screen = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600});
        self.devtools("Emulation.setDeviceMetricsOverride", screen).await;
        let scheme = if dark { "dark" } else { "light" };
        // Disables transitions, in which colors are between light and dark.
        let media = json!({"features": [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]});
        self.devtools("Emulation.setEmulatedMedia", media).await;
    }

    /// Returns a screenshot of the whole page, as PNG.
    pub async fn screenshot(&self) -> Vec<u8> {
        let size = self.devtools("Page.getLayoutMetrics", json!({})).await["cssContentSize"].clone();
        let clip = json!({"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1});
        let wanted =
            json!({"format": "png", "captureBeyondViewport": true, "optimizeForSpeed": true, "clip": clip});
        let picture = self.devtools("Page.captureScreenshot", wanted).await;
        BASE64_STANDARD.decode(picture["data"].as_str().expect("a screenshot")).expect("base64")
    }

    /// Signs in with this session token, or signs out.
    pub async fn set_session(&self, session: Option<&str>) {
        self.devtools("Network.clearBrowserCookies", json!({})).await;
        if let Some(value) = session {
            let cookie = json!({"name": "session", "value": value, "url": self.base, "httpOnly": true});
            self.devtools("Network.setCookie", cookie).await;
        }
    }

    /// Returns the new entries of the console: script errors, policy violations and warnings. Leaves out error statuses of
    /// pages.
    pub async fn console(&self) -> Vec<String> {
        let entries = self.send_command("se/log", json!({"type": "browser"})).await;
        let entries = entries.as_array().cloned().unwrap_or_default();
        let is_page = |text: &str| {
            text.contains("the server responded with a status of 4") && !text.contains("/dashboard/static/")
        };
        let texts = entries.iter().map(|entry| format!("{} {}", entry["level"], entry["message"]));
        texts.filter(|text| !is_page(text)).collect()
    }

    /// Fails if the console has new entries.
    pub async fn assert_quiet_console(&self) {
        let said = self.console().await;
        assert!(said.is_empty(), "the console says on {}: {said:#?}", self.path().await);
    }
}
