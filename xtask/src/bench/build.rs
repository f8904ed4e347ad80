//! Builds the server and the programs that measure or test it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::test::steps::cargo_command;

/// The programs of a benchmark run.
pub(super) struct Programs {
    /// The server, built as for a release.
    pub(super) server: PathBuf,
    /// The program that contains the load generators and the scenarios.
    pub(super) load: PathBuf,
}

/// Builds both programs. The server is built separately, so that the dependencies of the load programs do not change
/// its features.
///
/// # Errors
/// Returns an error when a program does not compile.
pub(super) fn programs() -> Result<Programs> {
    let release = Build { release: true, ..Build::default() };
    Ok(Programs {
        server: build(["--bin", "creator-api"], &release)?,
        load: build(["--bench", "load"], &release)?,
    })
}

/// How a program is built.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Build<'a> {
    /// Whether to use the release profile.
    pub(crate) release: bool,
    /// The folder of the source; the current folder if `None`.
    pub(crate) source: Option<&'a Path>,
    /// The target folder; that of the source if `None`.
    pub(crate) target: Option<&'a Path>,
}

/// Builds a program of the root package and returns its path. `flag` and `name` select it, such as `--bin` and
/// `creator-api`.
///
/// # Errors
/// Returns an error when it does not compile.
pub(crate) fn build([flag, name]: [&str; 2], options: &Build) -> Result<PathBuf> {
    let profile = if options.release { "release" } else { "dev" };
    eprintln!("building {name} with the {profile} profile");
    let mut command = cargo_command();
    command.args(["build", "--profile", profile, "--locked", "--package", "creator-api", flag, name]);
    command.args(["--message-format=json-render-diagnostics"]).stderr(Stdio::inherit());
    if let Some(source) = options.source {
        command.current_dir(source);
    }
    if let Some(target) = options.target {
        command.arg("--target-dir").arg(target);
    }
    let output = command.output().context("cannot start cargo")?;
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
