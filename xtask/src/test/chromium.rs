//! Finds or installs the browser for the dashboard tests: Chromium and ChromeDriver.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

use super::install::{SystemPackages, apt, find_in_path};

/// The packages of the browser and of the driver. Both must have the same version, as in Debian.
const PACKAGES: SystemPackages = SystemPackages {
    name: "Chromium or its driver",
    debian: &["chromium", "chromium-driver"],
    other_systems: "Fedora: chromium and chromedriver, Arch: chromium, Alpine: chromium and chromium-chromedriver, \
                macOS: brew install chromium chromedriver",
};

/// Program names of the browser on different systems.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The paths of the browser and of its driver.
pub(super) struct BrowserPrograms {
    pub(super) browser: PathBuf,
    pub(super) driver: PathBuf,
}

impl BrowserPrograms {
    /// Finds both programs in `PATH`. If one is missing and `install` is set, installs both.
    ///
    /// # Errors
    /// Returns an error when a program is missing and is not or cannot be installed.
    pub(super) fn find_or_install(install: bool) -> Result<Self> {
        if let Some(programs) = Self::find() {
            return Ok(programs);
        }
        apt(&PACKAGES, install)?;
        Self::find().context(
            "Chromium is installed, but `chromium` or `chromedriver` is not in PATH; add both to PATH",
        )
    }

    fn find() -> Option<Self> {
        Some(Self { browser: find_in_path(&BROWSERS)?, driver: find_in_path(&["chromedriver"])? })
    }
}
