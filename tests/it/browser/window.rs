//! A window of the browser, as a story uses it: fields by their labels, buttons by what they say.
//!
//! Nothing waits for a time: what is expected is asked for again until it is there, or ten seconds have passed.

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

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks.
const AGAIN: Duration = Duration::from_millis(20);

/// A window on one server. It closes, and its browser ends, when this is dropped.
pub struct Window {
    client: Client,
    base: String,
    _chromium: Chromium,
}

/// A command beside the standard, which Chromium's driver takes.
#[derive(Debug)]
struct Extra {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Extra {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (reqwest::Method, Option<String>) {
        (reqwest::Method::POST, Some(self.body.to_string()))
    }
}

impl Window {
    /// A window in a browser of its own.
    pub async fn open(app: &TestApp) -> Self {
        let (chromium, client) = Chromium::start().await;
        let window = Self { client, base: app.base.clone(), _chromium: chromium };
        window.devtools("Emulation.setFocusEmulationEnabled", json!({"enabled": true})).await;
        window
    }

    /// Goes to this path, and waits until the page is there.
    pub async fn go(&self, path: &str) {
        self.client.goto(&format!("{}{path}", self.base)).await.expect("the page is loaded");
    }

    /// Goes back, as the button of the browser does.
    pub async fn back(&self) {
        self.client.back().await.expect("there is a page before");
    }

    /// Where the window is, without the server.
    pub async fn path(&self) -> String {
        let url = self.client.current_url().await.expect("a page").to_string();
        url.strip_prefix(&self.base).unwrap_or(&url).to_owned()
    }

    /// Writes into the field with this label, in place of what it holds.
    pub async fn fill(&self, label: &str, text: &str) {
        let field = self.find(&format!("//*[@id=//label[normalize-space()='{label}']/@for]")).await;
        field.clear().await.expect("the field can be emptied");
        field.send_keys(text).await.expect("the field takes text");
    }

    /// Ticks the box with this label.
    pub async fn tick(&self, label: &str) {
        let path = format!("//label[contains(@class,'box')][.//*[normalize-space()='{label}']]");
        self.find(&path).await.click().await.expect("the box can be ticked");
    }

    /// Presses the button, or follows the link, that says this or is described so: the first that can be seen.
    pub async fn press(&self, words: &str) {
        let path = format!(
            "//*[self::button or self::a or self::summary][normalize-space()='{words}' or @aria-label='{words}']"
        );
        self.until(&format!("{words:?} can be pressed"), async || {
            for one in self.client.find_all(Locator::XPath(&path)).await.unwrap_or_default() {
                if one.is_displayed().await.unwrap_or_default() {
                    return one.click().await.is_ok();
                }
            }
            false
        })
        .await;
    }

    /// The element that this XPath names, once it is there.
    pub async fn find(&self, path: &str) -> Element {
        let found = self.client.wait().at_most(PATIENCE).every(AGAIN).for_element(Locator::XPath(path)).await;
        match found {
            Ok(element) => element,
            Err(error) => panic!("no {path} on {}: {error}\n{}", self.path().await, self.text().await),
        }
    }

    /// Waits until the page says this.
    pub async fn sees(&self, words: &str) {
        self.until(&format!("the page says {words:?}"), async || self.text().await.contains(words)).await;
    }

    /// Waits until this holds.
    pub async fn until(&self, what: &str, mut holds: impl AsyncFnMut() -> bool) {
        let start = Instant::now();
        while !holds().await {
            if start.elapsed() > PATIENCE {
                panic!(
                    "not within {PATIENCE:?}: {what}\n{} shows:\n{}",
                    self.path().await,
                    self.text().await
                );
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// What a reader sees; empty while one page follows another.
    pub async fn text(&self) -> String {
        let body = match self.client.find(Locator::Css("body")).await {
            Ok(body) => body.text().await,
            Err(error) => Err(error),
        };
        body.unwrap_or_default()
    }

    /// Presses a key, with nothing but the keyboard.
    pub async fn key(&self, key: Key) {
        self.typed(&[char::from(key)]).await;
    }

    /// Types this where the focus is.
    pub async fn types(&self, text: &str) {
        self.typed(&text.chars().collect::<Vec<_>>()).await;
    }

    async fn typed(&self, keys: &[char]) {
        let mut actions = KeyActions::new("keyboard".to_owned());
        for &value in keys {
            actions = actions.then(KeyAction::Down { value }).then(KeyAction::Up { value });
        }
        self.client.perform_actions(actions).await.expect("keys can be pressed");
    }

    /// What a function with this body returns, given these arguments. It runs beside the page's policy.
    pub async fn run(&self, body: &str, arguments: Vec<Value>) -> Value {
        self.try_run(body, arguments).await.unwrap_or_else(|error| panic!("{body:.200}: {error}"))
    }

    /// The same, where the page may be leaving.
    pub async fn try_run(&self, body: &str, arguments: Vec<Value>) -> Result<Value, CmdError> {
        self.client.execute(body, arguments).await
    }

    /// What a promise comes to: the body calls its last argument with it.
    pub async fn run_async(&self, body: &str, arguments: Vec<Value>) -> Value {
        let value = self.client.execute_async(body, arguments).await;
        value.unwrap_or_else(|error| panic!("{body:.200}: {error}"))
    }

    /// Asks the browser's developer tools.
    pub async fn devtools(&self, cmd: &str, params: Value) -> Value {
        self.extra("goog/cdp/execute", json!({"cmd": cmd, "params": params})).await
    }

    /// Lets this page and others of its server do this, as a reader may.
    pub async fn permits(&self, name: &str) {
        self.extra("permissions", json!({"descriptor": {"name": name}, "state": "granted"})).await;
    }

    async fn extra(&self, path: &'static str, body: Value) -> Value {
        let answer = self.client.issue_cmd(Extra { path, body }).await;
        answer.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Looks through a screen of this width, in light or dark.
    pub async fn looks(&self, width: u32, dark: bool) {
        let screen = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600});
        self.devtools("Emulation.setDeviceMetricsOverride", screen).await;
        let scheme = if dark { "dark" } else { "light" };
        // Nothing moves: colours that are on their way from light to dark are neither.
        let media = json!({"features": [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]});
        self.devtools("Emulation.setEmulatedMedia", media).await;
    }

    /// A picture of the whole page, as PNG.
    pub async fn picture(&self) -> Vec<u8> {
        let size = self.devtools("Page.getLayoutMetrics", json!({})).await["cssContentSize"].clone();
        let clip = json!({"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1});
        let wanted =
            json!({"format": "png", "captureBeyondViewport": true, "optimizeForSpeed": true, "clip": clip});
        let picture = self.devtools("Page.captureScreenshot", wanted).await;
        BASE64_STANDARD.decode(picture["data"].as_str().expect("a picture")).expect("base64")
    }

    /// Is whoever this session's token is of, and nobody with none.
    pub async fn is_signed_in(&self, session: Option<&str>) {
        self.devtools("Network.clearBrowserCookies", json!({})).await;
        if let Some(value) = session {
            let cookie = json!({"name": "session", "value": value, "url": self.base, "httpOnly": true});
            self.devtools("Network.setCookie", cookie).await;
        }
    }

    /// What the console says since it was last asked: faults of scripts, breaches of the policy, advice of the browser. That a
    /// page came with a status of its own is none of it.
    pub async fn console(&self) -> Vec<String> {
        let entries = self.extra("se/log", json!({"type": "browser"})).await;
        let entries = entries.as_array().cloned().unwrap_or_default();
        let is_page = |text: &str| {
            text.contains("the server responded with a status of 4") && !text.contains("/dashboard/static/")
        };
        let texts = entries.iter().map(|entry| format!("{} {}", entry["level"], entry["message"]));
        texts.filter(|text| !is_page(text)).collect()
    }

    /// Fails when the console says anything.
    pub async fn is_quiet(&self) {
        let said = self.console().await;
        assert!(said.is_empty(), "the console says on {}: {said:#?}", self.path().await);
    }
}
