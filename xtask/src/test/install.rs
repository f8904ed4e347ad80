//! Installs missing system packages that tests and benchmarks need.
//!
//! Prints each installation before it starts. If it cannot install a package, the error names the package.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use super::steps::run;

/// Programs that tests need, and the packages that contain them.
pub(crate) struct SystemPackages {
    /// What is missing, as the beginning of a sentence: `A browser`.
    pub(crate) name: &'static str,
    /// The packages of Debian, installed together, so that their versions match.
    pub(crate) debian: &'static [&'static str],
    /// The packages of other systems, for the error message.
    pub(crate) other_systems: &'static str,
}

/// Installs packages of Debian or Ubuntu.
///
/// # Errors
/// Returns an error when the system is not Debian or Ubuntu, when the installation fails, or when `install` is false
/// (`--no-install`).
pub(crate) fn apt(packages: &SystemPackages, install: bool) -> Result<()> {
    let SystemPackages { name, debian, other_systems } = packages;
    let names = debian.join(" ");
    if !install {
        bail!("{name} is missing and --no-install is set; install it with `apt-get install {names}`");
    }
    if !is_debian() {
        bail!("{name} is missing; install it with the package manager of this system ({other_systems})");
    }
    println!("{name} is missing; installing it with `apt-get install --no-install-recommends {names}`");
    run(apt_get().arg("update"))?;
    run(apt_get().args(["install", "--yes", "--no-install-recommends"]).args(*debian))
}

/// Returns the path of the first of these programs that is in `PATH`.
pub(crate) fn find_in_path(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let candidates = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    candidates.into_iter().find(|program| program.is_file())
}

/// Returns the command `apt-get`, with `sudo` unless the user is root.
fn apt_get() -> Command {
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

/// Returns the id of the current user, or `None` if `id` cannot run.
pub(crate) fn user_id() -> Option<u32> {
    let output = Command::new("id").arg("-u").output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_permission_to_install_the_error_contains_the_command() {
        let packages = SystemPackages {
            name: "A browser",
            debian: &["browser", "browser-driver"],
            other_systems: "Arch: browser",
        };
        let error = apt(&packages, false).unwrap_err().to_string();
        assert_eq!(
            error,
            "A browser is missing and --no-install is set; install it with `apt-get install browser browser-driver`"
        );
    }

    #[test]
    fn a_program_is_found_by_the_first_existing_name() {
        assert!(find_in_path(&["no-such-program", "sh"]).is_some_and(|path| path.ends_with("sh")));
        assert_eq!(find_in_path(&["no-such-program"]), None);
    }
}
