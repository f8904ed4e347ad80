//! A certified OpenID Connect provider: the npm package `oidc-provider`.

use std::path::PathBuf;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// The variable with the folder whose `node_modules` contain the package.
const FOLDER: &str = "TEST_OIDC_PROVIDER";
const SCRIPT: &str = include_str!("provider.mjs");

/// A provider that runs until it is dropped.
pub struct CertifiedProvider {
    pub issuer: String,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _process: Child,
}

impl CertifiedProvider {
    /// Starts a provider. Returns `None` if the package is not installed.
    pub async fn start() -> Option<Self> {
        let folder = std::env::var_os(FOLDER).map(PathBuf::from)?;
        if !folder.join("node_modules/oidc-provider").is_dir() {
            return None;
        }
        // A script from the command line finds packages in the current folder.
        let mut process = Command::new("node")
            .args(["--no-warnings", "--input-type=module", "--eval", SCRIPT])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .ok()?;
        let input = process.stdin.take().expect("stdin is piped");
        let output = BufReader::new(process.stdout.take().expect("stdout is piped"));
        let mut provider = Self { issuer: String::new(), input, output, _process: process };
        provider.issuer = provider.line().await;
        Some(provider)
    }

    /// Accepts sign-ins of the server with this URL.
    pub async fn serve(&mut self, server: &str) {
        self.input.write_all(format!("{server}\n").as_bytes()).await.expect("the provider reads");
        assert_eq!(self.line().await, "ready");
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).await.expect("the provider prints text");
        line.lines().find(|line| !line.is_empty()).expect("the provider runs").to_owned()
    }
}
