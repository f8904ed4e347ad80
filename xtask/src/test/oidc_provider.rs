//! Finds or installs the npm package `oidc-provider`, with which the browser tests sign in.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::install::find_in_path;
use super::steps::run;

/// The version of the package.
const PACKAGE: &str = "oidc-provider@9.13.3";

/// Returns the folder whose `node_modules` contain the package. Installs it there if it is missing and `install` is set. Returns `None`
/// without npm, or if it is missing and not installed; the tests are then skipped.
///
/// # Errors
/// Returns an error when npm cannot install the package.
pub(super) fn find_or_install(install: bool) -> Result<Option<PathBuf>> {
    let folder = Path::new("target/oidc-provider");
    if !folder.join("node_modules/oidc-provider").is_dir() {
        if !install || find_in_path(&["npm"]).is_none() {
            return Ok(None);
        }
        println!("{PACKAGE} is missing; installing it with npm in {}", folder.display());
        std::fs::create_dir_all(folder)?;
        let arguments = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"];
        run(Command::new("npm").args(arguments).arg(folder).arg(PACKAGE))?;
    }
    Ok(Some(folder.canonicalize()?))
}
