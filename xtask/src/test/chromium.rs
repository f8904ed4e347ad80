//! The browser that the dashboard's stories are told in: Chromium, and the program that drives it.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

use super::install::{Needed, apt, on_path};

/// Where both come from. They must be of one version, as those of Debian are.
const NEEDED: Needed = Needed {
    what: "Chromium or its driver",
    packages: &["chromium", "chromium-driver"],
    elsewhere: "Fedora: chromium and chromedriver, Arch: chromium, Alpine: chromium and chromium-chromedriver, \
                macOS: brew install chromium chromedriver",
};

/// The names under which systems have the browser.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A browser and its driver.
pub(super) struct Chromium {
    pub(super) browser: PathBuf,
    pub(super) driver: PathBuf,
}

impl Chromium {
    /// Finds both on the path, or installs them.
    ///
    /// # Errors
    /// One of them is missing and cannot be installed.
    pub(super) fn find_or_install(install: bool) -> Result<Self> {
        if let Some(found) = Self::find() {
            return Ok(found);
        }
        apt(&NEEDED, install)?;
        Self::find().context(
            "Chromium was installed, yet it or `chromedriver` is nowhere on the path; put both into PATH",
        )
    }

    fn find() -> Option<Self> {
        Some(Self { browser: on_path(&BROWSERS)?, driver: on_path(&["chromedriver"])? })
    }
}
