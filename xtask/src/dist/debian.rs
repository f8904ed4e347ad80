//! The Debian package, built by cargo-deb from `package.metadata.deb` in Cargo.toml.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Result, bail};

use super::{OUTPUT, Release};
use crate::test::install::find_in_path;
use crate::test::steps::{cargo_command, run};

/// Checks that cargo-deb is installed.
///
/// # Errors
/// Returns an error with the command that installs it.
pub(super) fn require_tool() -> Result<()> {
    if find_in_path(&["cargo-deb"]).is_none() {
        bail!(
            "cargo-deb is missing; install it with `cargo install cargo-deb --locked`, and add its folder to PATH"
        );
    }
    Ok(())
}

/// Writes the package with this revision, and returns its path.
///
/// # Errors
/// Returns an error when cargo-deb fails.
pub(super) fn write(release: &Release, revision: &str) -> Result<PathBuf> {
    let name = format!("creator-api_{}-{revision}_{}.deb", release.version, architecture(&release.target)?);
    let path = Path::new(OUTPUT).join(name);
    let mut command = cargo_command();
    command.args(["deb", "--quiet", "--package", "creator-api", "--no-build", "--no-strip"]);
    command.args(["--deb-revision", revision, "--output"]).arg(&path);
    // It prints the path of the package.
    run(command.env("SOURCE_DATE_EPOCH", release.epoch.to_string()).stdout(Stdio::null()))?;
    Ok(path)
}

/// Returns Debian's name of the processor.
fn architecture(target: &str) -> Result<&'static str> {
    match target.split('-').next() {
        Some("x86_64") => Ok("amd64"),
        Some("aarch64") => Ok("arm64"),
        _ => bail!("there is no Debian package for {target}; build on x86_64 or aarch64"),
    }
}
