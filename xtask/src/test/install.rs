//! Gets the programs that tests need and the machine lacks.
//!
//! Says what it is about to do before it does it; where it cannot, it names what is missing.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use super::steps::run;

/// What tests need of the system, and where it comes from.
pub(super) struct Needed {
    /// What it is, as a sentence begins with it.
    pub(super) what: &'static str,
    /// The packages of Debian, in one go, so that they are of one version.
    pub(super) packages: &'static [&'static str],
    /// Where other systems have it.
    pub(super) elsewhere: &'static str,
}

/// Installs packages of Debian or Ubuntu.
///
/// # Errors
/// Another system, no right to install, or `--no-install`.
pub(super) fn apt(needed: &Needed, install: bool) -> Result<()> {
    let Needed { what, packages, elsewhere } = needed;
    let names = packages.join(" ");
    if !install {
        bail!("{what} is missing and --no-install was given; install it: apt-get install {names}");
    }
    if !is_debian() {
        bail!("{what} is missing; install it with this system's package manager ({elsewhere})");
    }
    println!("{what} is missing; installing it with `apt-get install --no-install-recommends {names}`");
    run(apt_get().arg("update"))?;
    run(apt_get().args(["install", "--yes", "--no-install-recommends"]).args(*packages))
}

/// Where the first of these programs stands on the path.
pub(super) fn on_path(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let places = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|program| program.is_file())
}

/// `apt-get`, through `sudo` for everyone but root.
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

/// The number of the user who runs this.
pub(super) fn user_id() -> Option<u32> {
    let output = Command::new("id").arg("-u").output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_leave_to_install_the_way_to_do_it_is_told() {
        let needed = Needed {
            what: "A browser",
            packages: &["browser", "browser-driver"],
            elsewhere: "Arch: browser",
        };
        let fault = apt(&needed, false).unwrap_err().to_string();
        assert_eq!(
            fault,
            "A browser is missing and --no-install was given; install it: apt-get install browser browser-driver"
        );
    }

    #[test]
    fn a_program_is_found_by_the_first_name_that_there_is() {
        assert!(on_path(&["no-such-program", "sh"]).is_some_and(|path| path.ends_with("sh")));
        assert_eq!(on_path(&["no-such-program"]), None);
    }
}
