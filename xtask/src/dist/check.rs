//! `cargo xtask dist --check`: tests the Debian package in a container in which systemd runs.
//!
//! `xtask/dist/check/check.sh` runs in the container. It installs the package, uses the server, upgrades it under load, makes a
//! backup, and removes the package.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use super::{Release, SOURCE, debian};
use crate::TaskOutcome;
use crate::test::install::{find_in_path, user_id};
use crate::test::steps::run as run_command;

/// The folder of the container, in the workspace.
const FOLDER: &str = "target/dist-check";
/// The packages of the container. The test sends requests with curl.
const PACKAGES: &str =
    "--include=ca-certificates,curl,init-system-helpers,libnss-systemd,procps,systemd,systemd-sysv";
/// The time limit of the test in the container, for `timeout`.
const TIME_LIMIT: &str = "900";

/// Tests the package. Prints a message and succeeds if a program is missing.
///
/// # Errors
/// Returns an error when the container cannot be created.
pub(super) fn run(release: &Release, package: &Path) -> Result<TaskOutcome> {
    if let Some(reason) = missing() {
        println!("the package is not tested: {reason}");
        return Ok(TaskOutcome::Success);
    }
    let system = Path::new(FOLDER).join("debian.tar");
    fs::create_dir_all(FOLDER)?;
    if !system.is_file() {
        let suite = suite()?;
        let mut command = Command::new("mmdebstrap");
        run_command(command.args(["--variant=minbase", PACKAGES, &suite]).arg(&system))?;
    }
    let root = Path::new(FOLDER).join("root");
    if root.exists() {
        fs::remove_dir_all(&root).with_context(|| format!("cannot remove {}", root.display()))?;
    }
    fs::create_dir(&root)?;
    run_command(
        Command::new("tar").arg("--extract").arg("--file").arg(&system).arg("--directory").arg(&root),
    )?;

    let check = root.join("check");
    fs::create_dir(&check)?;
    fs::copy(package, check.join("old.deb")).context("cannot copy the package")?;
    // The same program, as the next revision of the package.
    let upgrade = debian::write(release, "2")?;
    fs::rename(&upgrade, check.join("new.deb")).context("cannot move the package")?;
    fs::copy(Path::new(SOURCE).join("check/check.sh"), check.join("check.sh"))?;
    let units = root.join("etc/systemd/system");
    let wanted = units.join("multi-user.target.wants");
    fs::create_dir_all(&wanted)?;
    fs::copy(Path::new(SOURCE).join("check/check.service"), units.join("check.service"))?;
    symlink("../check.service", wanted.join("check.service"))?;

    let console = File::create(Path::new(FOLDER).join("console.log"))?;
    let mut container = Command::new("timeout");
    container.args([
        "--kill-after=10",
        TIME_LIMIT,
        "systemd-nspawn",
        "--quiet",
        "--boot",
        "--private-network",
    ]);
    container.args(["--register=no", "--keep-unit", "--machine=creator-api-check", "--console=pipe"]);
    // The container powers off when the test ends. A failed test leaves no file `passed`.
    let status =
        container.arg("--directory").arg(&root).stdout(console.try_clone()?).stderr(console).status();
    status.context("cannot start `systemd-nspawn`")?;
    print!("{}", fs::read_to_string(check.join("log")).unwrap_or_default());
    if check.join("passed").is_file() {
        println!("the package passed all checks");
        return Ok(TaskOutcome::Success);
    }
    println!("the package failed a check; the log of the container is {FOLDER}/console.log");
    Ok(TaskOutcome::Findings)
}

/// Returns why the package cannot be tested here.
fn missing() -> Option<String> {
    for (program, package) in [("mmdebstrap", "mmdebstrap"), ("systemd-nspawn", "systemd-container")] {
        if find_in_path(&[program]).is_none() {
            return Some(format!("{program} is missing; on Debian: `apt-get install {package}`"));
        }
    }
    (user_id() != Some(0)).then(|| "it needs root to start a container".to_owned())
}

/// Returns the name of this Debian release. The program needs a C library that is at least as new.
fn suite() -> Result<String> {
    let text = fs::read_to_string("/etc/os-release").context("cannot read /etc/os-release")?;
    let name = text.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    Ok(name.context("/etc/os-release contains no VERSION_CODENAME")?.trim_matches('"').to_owned())
}
