//! Runs `tests/clients/changing_server.py`, which shows clients what the server could send one day.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};

/// The secret that signs its events.
pub const WEBHOOK_SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// A running server. It is stopped on drop.
pub struct ChangingServer {
    /// The URL, without a trailing slash.
    pub url: String,
    child: Child,
}

impl ChangingServer {
    /// Starts the server in front of another one, on a free port.
    ///
    /// # Errors
    /// Returns an error when Python is missing or the server exits before it is ready.
    pub fn start(workspace: &Path, upstream: &str) -> anyhow::Result<Self> {
        let mut child = Command::new("python3")
            .arg(workspace.join("tests/clients/changing_server.py"))
            .env("UPSTREAM", upstream)
            .env("WEBHOOK_SECRET", WEBHOOK_SECRET)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start python3")?;
        let output = child.stdout.take().context("the server has no output")?;
        let mut url = String::new();
        BufReader::new(output).read_line(&mut url).context("cannot read the server's output")?;
        if url.is_empty() {
            bail!("tests/clients/changing_server.py exited before it was ready: {}", child.wait()?);
        }
        Ok(Self { url: url.trim().to_owned(), child })
    }
}

impl Drop for ChangingServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
