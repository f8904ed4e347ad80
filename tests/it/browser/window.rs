//! A Chromium window for tests. It finds fields by label, and buttons and links by text.
//!
//! Its methods wait at most a minute for an expected state, and panic if it does not occur.

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

/// The maximum time that a method waits for an expected state.
const TIMEOUT: Duration = Duration::from_mins(1);
/// The interval between two checks of an expected state.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The beginnings of the paths of files that pages load.
const FILES: [&str; 4] = ["/dashboard/static/", "/docs/static/", "/docs/search.json", "/openapi/"];

/// A browser window that opens pages of one server. Dropping it closes the browser.
pub struct Window {
    client: Client,
    base_url: String,
    _chromium: Chromium,
}

/// A command of Chromium's driver that is not part of the WebDriver standard.
#[derive(Debug)]
struct DriverCommand {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for DriverCommand {
    fn endpoint(&self, base_url: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base_url.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (reqwest::Method, Option<String>) {
        (reqwest::Method::POST, Some(self.body.to_string()))
    }
}

impl Window {
    /// Opens a window in a new browser.
    pub async fn open(app: &TestApp) -> Self {
        Self::open_at(&app.base_url).await
    }

    /// Opens a window in a new browser, for the server with this URL.
    pub async fn open_at(base_url: &str) -> Self {
        let (chromium, client) = Chromium::start().await;
        let window = Self { client, base_url: base_url.to_owned(), _chromium: chromium };
        window.devtools("Emulation.setFocusEmulationEnabled", json!({"enabled": true})).await;
        window
    }

    /// Opens this path and waits until the page is loaded.
    pub async fn open_path(&self, path: &str) {
        self.client.goto(&format!("{}{path}", self.base_url)).await.expect("the page is loaded");
    }

    /// Opens this path and waits until the page contains this text.
    pub async fn open_page(&self, path: &str, text: &str) {
        self.open_path(path).await;
        self.wait_for_text(text).await;
    }

    /// Goes back to the previous page.
    pub async fn back(&self) {
        self.client.back().await.expect("the window goes back");
    }

    /// Returns the path and query of the page.
    pub async fn path(&self) -> String {
        let url = self.client.current_url().await.expect("the window has a URL").to_string();
        url.strip_prefix(&self.base_url).unwrap_or(&url).to_owned()
    }

    /// Fills the field with this label, replacing its content.
    pub async fn fill(&self, label: &str, text: &str) {
        let field = self.find(&format!("//*[@id=//label[normalize-space()='{label}']/@for]")).await;
        field.clear().await.expect("the field can be emptied");
        field.send_keys(text).await.expect("text can be typed into the field");
    }

    /// Selects the checkbox with this label.
    pub async fn select(&self, label: &str) {
        let xpath = format!("//label[contains(@class,'box')][.//*[normalize-space()='{label}']]");
        self.find(&xpath).await.click().await.expect("the checkbox can be clicked");
    }

    /// Clicks the first visible button, link or `<summary>` with this text or accessible label.
    pub async fn click(&self, label: &str) {
        let xpath = format!(
            "//*[self::button or self::a or self::summary][normalize-space()='{label}' or @aria-label='{label}']"
        );
        self.wait_until(&format!("{label:?} can be clicked"), async || {
            for element in self.client.find_all(Locator::XPath(&xpath)).await.unwrap_or_default() {
                if element.is_displayed().await.unwrap_or_default() {
                    return element.click().await.is_ok();
                }
            }
            false
        })
        .await;
    }

    /// Waits until an element with this XPath exists, and returns it.
    pub async fn find(&self, xpath: &str) -> Element {
        let element =
            self.client.wait().at_most(TIMEOUT).every(POLL_INTERVAL).for_element(Locator::XPath(xpath)).await;
        match element {
            Ok(element) => element,
            Err(error) => {
                panic!("no element {xpath} on {}: {error}\n{}", self.path().await, self.text().await)
            }
        }
    }

    /// Waits until the page contains this text.
    pub async fn wait_for_text(&self, text: &str) {
        self.wait_until(&format!("the page contains {text:?}"), async || self.text().await.contains(text))
            .await;
    }

    /// Waits until the condition is true. `condition` describes it for the panic message.
    pub async fn wait_until(&self, condition: &str, mut is_true: impl AsyncFnMut() -> bool) {
        let start = Instant::now();
        while !is_true().await {
            if start.elapsed() > TIMEOUT {
                panic!(
                    "timed out after {TIMEOUT:?}: {condition}\n{} shows:\n{}",
                    self.path().await,
                    self.text().await
                );
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Returns the visible text, or an empty string while a page loads.
    pub async fn text(&self) -> String {
        // The browser does this much faster than the driver, whose scripts examine the style of each element.
        let text = self.try_run("return document.body.innerText", Vec::new()).await;
        text.ok().and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Presses this key of the keyboard.
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
        self.client.perform_actions(actions).await.expect("the keys are pressed");
    }

    /// Calls a JavaScript function with this body and these arguments, and returns its result. The page's
    /// Content-Security-Policy does not apply to it.
    pub async fn run(&self, body: &str, arguments: Vec<Value>) -> Value {
        self.try_run(body, arguments).await.unwrap_or_else(|error| panic!("{body:.200}: {error}"))
    }

    /// Like [`run`](Self::run), but returns an error, for example while another page is being loaded.
    pub async fn try_run(&self, body: &str, arguments: Vec<Value>) -> Result<Value, CmdError> {
        self.client.execute(body, arguments).await
    }

    /// Like [`run`](Self::run), but the function is asynchronous: it passes its result to its last argument, a
    /// callback.
    pub async fn run_async(&self, body: &str, arguments: Vec<Value>) -> Value {
        let value = self.client.execute_async(body, arguments).await;
        value.unwrap_or_else(|error| panic!("{body:.200}: {error}"))
    }

    /// Waits until this JavaScript expression is true.
    pub async fn wait_for(&self, expression: &str) {
        let body = format!("return Boolean({expression})");
        self.wait_until(expression, async || {
            self.try_run(&body, Vec::new()).await.is_ok_and(|value| value == true)
        })
        .await;
    }

    /// Sends a command to the browser's developer tools.
    pub async fn devtools(&self, command: &str, params: Value) -> Value {
        self.send_command("goog/cdp/execute", json!({"cmd": command, "params": params})).await
    }

    /// Grants a permission to the pages of this server.
    pub async fn grant_permission(&self, name: &str) {
        self.send_command("permissions", json!({"descriptor": {"name": name}, "state": "granted"})).await;
    }

    async fn send_command(&self, path: &'static str, body: Value) -> Value {
        let response = self.client.issue_cmd(DriverCommand { path, body }).await;
        response.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Sets the width of the screen in pixels, and the color scheme. Screens below 600 pixels are phones.
    pub async fn set_screen(&self, width: u32, dark: bool) {
        let screen = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600});
        self.devtools("Emulation.setDeviceMetricsOverride", screen).await;
        let scheme = if dark { "dark" } else { "light" };
        // Disables transitions, during which colors would be between light and dark.
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
        let options =
            json!({"format": "png", "captureBeyondViewport": true, "optimizeForSpeed": true, "clip": clip});
        let screenshot = self.devtools("Page.captureScreenshot", options).await;
        BASE64_STANDARD.decode(screenshot["data"].as_str().expect("a screenshot")).expect("base64")
    }

    /// Deletes all cookies, and sets the session cookie to this token unless it is `None`.
    pub async fn set_session(&self, session: Option<&str>) {
        self.devtools("Network.clearBrowserCookies", json!({})).await;
        if let Some(value) = session {
            self.set_cookie("session", value).await;
        }
    }

    /// Sets a cookie.
    pub async fn set_cookie(&self, name: &str, value: &str) {
        let cookie =
            json!({"name": name, "value": value, "url": self.base_url, "httpOnly": name == "session"});
        self.devtools("Network.setCookie", cookie).await;
    }

    /// Returns the entries of the console since the last call: script errors, policy violations and warnings. Omits
    /// entries about pages and API calls with a 4xx status, which tests request on purpose. Files must exist.
    pub async fn console(&self) -> Vec<String> {
        let entries = self.send_command("se/log", json!({"type": "browser"})).await;
        let entries = entries.as_array().cloned().unwrap_or_default();
        let is_page_status = |text: &str| {
            text.contains("the server responded with a status of 4")
                && !FILES.iter().any(|path| text.contains(path))
        };
        let texts = entries.iter().map(|entry| format!("{} {}", entry["level"], entry["message"]));
        texts.filter(|text| !is_page_status(text)).collect()
    }

    /// Asserts that the console has no new entries.
    pub async fn assert_no_console_entries(&self) {
        let entries = self.console().await;
        assert!(entries.is_empty(), "the console has entries on {}: {entries:#?}", self.path().await);
    }
}
