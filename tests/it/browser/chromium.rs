//! Starts a Chromium for a test, and stops it at the end of the test, even if the test panics or its process is killed.
//!
//! The driver and the browser form one process group. A shell process, the cleaner, reads a pipe that the test holds
//! open. When the pipe closes, because the test ended or its process was killed, the cleaner kills the group and
//! removes its folder.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

/// Waits until the pipe closes, then kills the process group and removes the folder.
const CLEANER: &str = r#"
read -r _
kill -s KILL -- "-$GROUP" 2>/dev/null
cd / && rm -rf "$FOLDER"
"#;

/// Arguments for a browser that can run as root in a container.
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

/// Maximum time of a script that the driver runs, such as a check of a long page on a busy machine.
const SCRIPT_TIMEOUT: Duration = Duration::from_mins(3);

/// How often the driver is started at most. It ends when another program takes the port that it chose.
const MAX_STARTS: usize = 3;

/// A running browser.
pub struct Chromium {
    driver: Child,
    cleaner: Child,
    /// Held open, because the driver would end when it writes to a closed pipe.
    output: BufReader<ChildStdout>,
}

impl Chromium {
    /// Starts a browser with a new profile, and connects a WebDriver client to it.
    pub async fn start() -> (Self, Client) {
        let mut started = Self::start_driver();
        for _ in 1..MAX_STARTS {
            started = started.or_else(|_| Self::start_driver());
        }
        // Dropping `chromium` stops the browser, also when a later step fails.
        let (chromium, port, folder) = started.unwrap_or_else(|output| panic!("the driver ended: {output}"));
        let profile = folder.join("profile").display().to_string();
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities(&profile))
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("Chromium starts, and has the same version as its driver");
        (chromium, client)
    }

    /// Starts the driver. Returns its port and the folder of its files. If it ends, returns its output.
    fn start_driver() -> Result<(Self, u16, PathBuf), String> {
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
        let cleaner = Command::new("sh")
            .args(["-c", CLEANER])
            .env("GROUP", driver.id().to_string())
            .env("FOLDER", &folder)
            .process_group(0)
            .stdin(Stdio::piped())
            .spawn()
            .expect("`sh` starts");
        let output = BufReader::new(driver.stdout.take().expect("stdout is piped"));
        let mut chromium = Self { driver, cleaner, output };
        let port = read_port(&mut chromium.output)?;
        Ok((chromium, port, folder))
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        drop(self.cleaner.stdin.take());
        let _ = self.cleaner.wait();
        let _ = self.driver.wait();
    }
}

/// Returns the value of an environment variable that `cargo xtask test` sets to the path of a program, or else
/// `default`, which is a path or a name to find in `PATH`.
fn program(variable: &str, default: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| default.to_owned())
}

/// Returns the port that the driver listens on, or its output if it ends.
fn read_port(output: &mut impl BufRead) -> Result<u16, String> {
    let mut lines = String::new();
    while output.read_line(&mut lines).expect("the driver's output is text") > 0 {
        let line = lines.lines().last().unwrap_or_default();
        if let Some((_, port)) = line.split_once("started successfully on port ") {
            return Ok(port.trim_end_matches('.').parse().expect("a port"));
        }
    }
    Err(lines)
}

/// Returns the WebDriver capabilities for a browser with this profile folder.
fn capabilities(profile: &str) -> serde_json::Map<String, Value> {
    let mut arguments: Vec<String> = ARGUMENTS.iter().map(|argument| (*argument).to_owned()).collect();
    arguments.push(format!("--user-data-dir={profile}"));
    let capabilities = json!({
        "browserName": "chrome",
        "timeouts": {"script": SCRIPT_TIMEOUT.as_millis()},
        "goog:loggingPrefs": {"browser": "ALL"},
        "goog:chromeOptions": {"binary": program("TEST_CHROMIUM", "/usr/bin/chromium"), "args": arguments},
    });
    capabilities.as_object().expect("an object").clone()
}
