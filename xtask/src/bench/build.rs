//! Builds the server and the load programs with the release profile.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::test::steps::cargo_command;

/// The programs of a benchmark run.
pub(super) struct Programs {
    /// The server, built as for a release.
    pub(super) server: PathBuf,
    /// The load programs.
    pub(super) load: PathBuf,
}

/// Builds both programs. The server is built separately, so that the dependencies of the load programs do not change
/// its features.
///
/// # Errors
/// Returns an error when a program does not compile.
pub(super) fn programs() -> Result<Programs> {
    Ok(Programs { server: build(["--bin", "creator-api"])?, load: build(["--bench", "load"])? })
}

fn build([kind, name]: [&str; 2]) -> Result<PathBuf> {
    println!("building {name} with the release profile");
    let output = cargo_command()
        .args(["build", "--release", "--locked", "--package", "creator-api", kind, name])
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        bail!("`{name}` does not build");
    }
    let text = String::from_utf8(output.stdout)?;
    let artifacts = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let path = artifacts
        .filter(|message| message["target"]["name"] == name)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from));
    path.with_context(|| format!("cargo does not report the path of `{name}`"))
}
