//! Finds or installs the server program of Valkey or Redis, which the tests of shared rate limits start.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

use super::install::{SystemPackages, apt, find_in_path};

/// The package of the server.
const PACKAGE: SystemPackages = SystemPackages {
    name: "Valkey or Redis",
    debian: &["redis-server"],
    other_systems: "Fedora and Arch: valkey, Alpine: valkey, macOS: brew install valkey",
};

/// The program names of both servers.
const PROGRAMS: [&str; 2] = ["valkey-server", "redis-server"];

/// Returns the path of the program. If it is missing and `install` is set, installs it.
///
/// # Errors
/// Returns an error when the program is missing and is not or cannot be installed.
pub(crate) fn find_or_install(install: bool) -> Result<PathBuf> {
    if let Some(program) = find_in_path(&PROGRAMS) {
        return Ok(program);
    }
    apt(&PACKAGE, install)?;
    find_in_path(&PROGRAMS).context("Redis is installed, but `redis-server` is not in PATH; add it to PATH")
}
