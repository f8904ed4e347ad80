//! A server with the demo's data, for as long as the clients run.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};

use crate::test::steps::cargo_command;

/// A running server; dropping it ends it.
pub struct Running {
    /// Its address, without a slash at its end.
    pub base_url: String,
    /// The demo's key, which has every scope.
    pub key: String,
    child: Child,
    _data: tempfile::TempDir,
}

impl Running {
    /// Builds the server and starts it on the demo's data, on a free port.
    ///
    /// # Errors
    /// When it does not build, or ends before it is ready.
    pub fn start(workspace: &Path) -> anyhow::Result<Self> {
        let mut build = cargo_command();
        build.current_dir(workspace).args(["build", "--quiet", "--bin", "creator-api"]);
        if !build.status().context("cannot start cargo")?.success() {
            bail!("the server does not build; see above");
        }
        let data = tempfile::tempdir().context("cannot make a folder for the demo")?;
        let mut child = Command::new(workspace.join("target/debug/creator-api"))
            .args(["demo", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(data.path())
            .current_dir(data.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start the server")?;
        let output = child.stdout.take().context("the server has no output")?;
        let mut base_url = None;
        let mut lines = BufReader::new(output).lines();
        for line in lines.by_ref() {
            let line = line.context("the server's output breaks off")?;
            let word = |start: &str| line.trim().strip_prefix(start).map(|rest| rest.trim().to_owned());
            if let Some(url) = word("listening on ") {
                base_url = Some(url);
            }
            if let (Some(key), Some(base_url)) = (word("API key"), base_url.clone()) {
                // What it prints later is read, so that it never waits for a reader.
                std::thread::spawn(move || lines.for_each(drop));
                return Ok(Self { base_url, key, child, _data: data });
            }
        }
        bail!("the server ended before it was ready: {}", child.wait()?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
