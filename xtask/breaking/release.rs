//! `cargo xtask release-contract`: replaces the released contract with the current one.
//!
//! It fails if a breaking change of the current contract is not waived. A successful release deletes the waivers, which
//! apply only to it.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::config::{FailOn, Settings};
use super::inputs::Input;
use super::problems::InvalidDocument;
use super::{Compatibility, ReportFormat, base, document, output, report};

/// The command-line arguments.
#[derive(Debug, clap::Args)]
pub struct ReleaseArgs {
    /// The contract to release, relative to the workspace root
    #[arg(long, value_name = "FILE", default_value = base::CONTRACT)]
    pub(crate) contract: String,
}

/// Copies the contract over the released one if each breaking change is waived. Otherwise returns
/// [`Compatibility::Breaking`] and changes nothing. Without a released contract, the contract is validated and copied.
///
/// # Errors
/// Returns an error when one of the contracts or the waivers cannot be read, when the contracts cannot be compared,
/// when a waiver is unused or has expired, or when a file cannot be written or deleted.
pub fn run(workspace: &Path, args: &ReleaseArgs) -> Result<Compatibility> {
    let contract = &args.contract;
    let released_name = base::released(contract);
    let revision = Input::from_file(workspace, contract)?;
    let text = revision.source.text.clone();
    let released = workspace.join(&released_name);
    if released.exists() {
        let input = base::read_released(workspace, contract)?;
        let settings = Settings::project();
        let result = super::compare_documents(input, revision, &settings, super::today())?;
        let compatibility = super::compatibility(&result, FailOn::Error);
        if !matches!(compatibility, Ok(Compatibility::Compatible)) {
            output::print(&report::breaking_changes(&result, ReportFormat::Text))?;
        }
        if compatibility.with_context(|| format!("{released_name} was not changed"))?
            == Compatibility::Breaking
        {
            output::print(&format!(
                "{released_name} was not changed: clients of the released contract would break\n"
            ))?;
            return Ok(Compatibility::Breaking);
        }
    } else {
        document::read_with_files(revision.source, &revision.files).map_err(InvalidDocument)?;
    }
    if let Some(directory) = released.parent() {
        fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    }
    fs::write(&released, text).with_context(|| format!("cannot write {released_name}"))?;
    let waivers = workspace.join(base::waivers_path(&released_name));
    if waivers.exists() {
        fs::remove_file(&waivers).with_context(|| format!("cannot remove {}", waivers.display()))?;
        output::print(&format!(
            "deleted {}: its waivers applied to this release\n",
            base::waivers_path(&released_name).display()
        ))?;
    }
    output::print(&format!("updated {released_name} from {contract}\n"))?;
    Ok(Compatibility::Compatible)
}
