//! Runs a server with demo data for the clients.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};

use crate::test::steps::cargo_command;

/// A running server. It is stopped on drop.
pub struct DemoServer {
    /// The URL, without a trailing slash.
    pub base_url: String,
    /// The API key of the demo, which has every scope of v1.
    pub key: String,
    /// Two API keys with every scope of the Developer API, separated by a space: each client rotates its own.
    pub developer_keys: String,
    /// A platform token with every scope.
    pub platform_token: String,
    child: Child,
    /// The data directory, which is deleted on drop.
    data: tempfile::TempDir,
}

impl DemoServer {
    /// Builds the server and starts it with demo data and a high quota, on a free port.
    ///
    /// # Errors
    /// Returns an error when the server does not compile, or exits before it is ready.
    pub fn start(workspace: &Path) -> anyhow::Result<Self> {
        let mut build = cargo_command();
        build.current_dir(workspace).args(["build", "--quiet", "--bin", "creator-api"]);
        if !build.status().context("cannot start cargo")?.success() {
            bail!("the server does not compile; see the output of cargo above");
        }
        let data = tempfile::tempdir().context("cannot create a folder for the demo data")?;
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), Into::into);
        let program = target.join("debug/creator-api");
        let mut child = Command::new(&program)
            .args(["demo", "--listen", "127.0.0.1:0", "--default-per-minute", "100000"])
            .args(["--default-per-day", "100000", "--data-dir"])
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
            let line = line.context("cannot read the server's output")?;
            let value = |label: &str| line.trim().strip_prefix(label).map(|value| value.trim().to_owned());
            if let Some(url) = value("listening on ") {
                base_url = Some(url);
            }
            if let (Some(key), Some(base_url)) = (value("API key"), base_url.clone()) {
                // Read all further output, so that the server never blocks on a full pipe.
                std::thread::spawn(move || lines.for_each(drop));
                let (developer_keys, platform_token) = (String::new(), String::new());
                let mut server = Self { base_url, key, developer_keys, platform_token, child, data };
                let scopes = "read:webhooks,write:webhooks,read:events,write:keys";
                let create_key =
                    ["keys", "create", "--workspace", "demo", "--name", "clients", "--scope", scopes];
                let keys = [server.command(&program, &create_key)?, server.command(&program, &create_key)?];
                server.developer_keys = keys.join(" ");
                let token = ["platform-tokens", "create", "--name", "clients", "--scope", "all"];
                server.platform_token = server.command(&program, &token)?;
                // All clients use the key of the demo.
                let quota = [
                    "workspaces",
                    "set-quota",
                    "--workspace",
                    "demo",
                    "--per-minute",
                    "1000000",
                    "--per-day",
                    "1000000",
                ];
                server.command(&program, &quota)?;
                return Ok(server);
            }
        }
        bail!("the server exited before it was ready: {}", child.wait()?)
    }

    /// Runs a command of the server's program and returns its output.
    fn command(&self, program: &Path, arguments: &[&str]) -> anyhow::Result<String> {
        let output = Command::new(program)
            .args(arguments)
            .arg("--data-dir")
            .arg(self.data.path())
            .current_dir(self.data.path())
            .output()
            .context("cannot start the server program")?;
        if !output.status.success() {
            bail!("`{}` failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8(output.stdout).context("the output is not UTF-8")?.trim().to_owned())
    }
}

impl Drop for DemoServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
