//! Gets the programs that tests need and the machine lacks.
//!
//! Says what it is about to do before it does it; where it cannot, it names what is missing.

use std::process::Command;

use anyhow::{Result, bail};

use super::steps::run;

/// Installs a package of Debian or Ubuntu.
///
/// # Errors
/// Another system, no right to install, or `--no-install`.
pub(super) fn apt_package(package: &str, what: &str, install: bool) -> Result<()> {
    if !install {
        bail!("{what} is missing and --no-install was given; install the package `{package}`");
    }
    if !is_debian() {
        bail!(
            "{what} is missing; install PostgreSQL's server with this system's package manager \
             (Fedora: postgresql-server, Arch and Alpine: postgresql, macOS: brew install postgresql)"
        );
    }
    println!("{what} is missing; installing it with `apt-get install --no-install-recommends {package}`");
    run(apt().arg("update"))?;
    run(apt().args(["install", "--yes", "--no-install-recommends", package]))
}

/// `apt-get`, through `sudo` for everyone but root.
fn apt() -> Command {
    let mut command = if user_id() == Some(0) {
        Command::new("apt-get")
    } else {
        let mut sudo = Command::new("sudo");
        sudo.args(["--non-interactive", "--preserve-env=DEBIAN_FRONTEND", "apt-get"]);
        sudo
    };
    command.env("DEBIAN_FRONTEND", "noninteractive").arg("--quiet");
    command
}

fn is_debian() -> bool {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    release.lines().any(|line| {
        let (key, value) = line.split_once('=').unwrap_or_default();
        matches!(key, "ID" | "ID_LIKE") && value.trim_matches('"').split(' ').any(|id| id == "debian")
    })
}

/// The number of the user who runs this.
pub(super) fn user_id() -> Option<u32> {
    let output = Command::new("id").arg("-u").output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
