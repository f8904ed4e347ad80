//! Starts a Chromium for a test and ends it with the test, however the test ends.
//!
//! Driver and browser form one process group. A small shell process waits on a pipe that the test holds open. When the pipe
//! closes, because of a panic or because the test program was killed, it ends the group by its id and removes the folder.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};

use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

/// Waits until the pipe closes, then ends the process group and removes the folder.
const KEEPER: &str = r#"
read -r _
kill -s KILL -- "-$GROUP" 2>/dev/null
cd / && rm -rf "$FOLDER"
"#;

/// Arguments for a browser that root runs in a container.
const ARGUMENTS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--window-size=1440,900",
];

/// A running browser.
pub struct Chromium {
    driver: Child,
    keeper: Child,
    /// Held open, since the driver would end when it writes into a closed pipe.
    _output: BufReader<ChildStdout>,
}

impl Chromium {
    /// Starts a browser with a new profile.
    pub async fn start() -> (Self, Client) {
        let folder =
            tempfile::Builder::new().prefix("creator-api-chromium-").tempdir().expect("a folder").keep();
        let program = program("TEST_CHROMEDRIVER", "chromedriver");
        let mut driver = Command::new(&program)
            .arg("--port=0")
            .env("HOME", &folder)
            .env("XDG_CONFIG_HOME", &folder)
            .env("TMPDIR", &folder)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("cannot start `{program}`: {error}; `cargo xtask test --only browser` installs it")
            });
        let keeper = Command::new("sh")
            .args(["-c", KEEPER])
            .env("GROUP", driver.id().to_string())
            .env("FOLDER", &folder)
            .process_group(0)
            .stdin(Stdio::piped())
            .spawn()
            .expect("`sh` starts");
        let mut output = BufReader::new(driver.stdout.take().expect("its output"));
        let port = port(&mut output);
        // From here on, any failure ends the browser.
        let chromium = Self { driver, keeper, _output: output };
        let profile = folder.join("profile").display().to_string();
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities(&profile))
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("Chromium starts and is of the same version as its driver");
        (chromium, client)
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
        let _ = self.driver.wait();
    }
}

/// Returns the program that the test step found, or its name for a search in `PATH`.
fn program(variable: &str, name: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| name.to_owned())
}

/// Returns the port that the driver listens on.
fn port(output: &mut impl BufRead) -> u16 {
    let mut output_text = String::new();
    while output.read_line(&mut output_text).expect("the driver's output is text") > 0 {
        let line = output_text.lines().last().unwrap_or_default();
        if let Some((_, port)) = line.split_once("started successfully on port ") {
            return port.trim_end_matches('.').parse().expect("a port");
        }
    }
    panic!("the driver ended: {output_text}");
}

fn capabilities(profile: &str) -> serde_json::Map<String, Value> {
    let mut arguments: Vec<String> = ARGUMENTS.iter().map(|argument| (*argument).to_owned()).collect();
    arguments.push(format!("--user-data-dir={profile}"));
    let wanted = json!({
        "browserName": "chrome",
        "goog:loggingPrefs": {"browser": "ALL"},
        "goog:chromeOptions": {"binary": program("TEST_CHROMIUM", "/usr/bin/chromium"), "args": arguments},
    });
    wanted.as_object().expect("an object").clone()
}
