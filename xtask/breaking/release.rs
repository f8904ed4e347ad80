//! `cargo xtask release-contract`: replaces the released contract with the current one, and adds its changes to `CHANGELOG.md`.
//!
//! It fails if a breaking change of the current contract is not waived, or if the contract changed without an increase of its
//! version. A successful release deletes the waivers, which apply only to it.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::changelog_file::{self, Release};
use super::config::{FailOn, Settings};
use super::inputs::Input;
use super::problems::InvalidDocument;
use super::report::ComparisonResult;
use super::{Compatibility, ReportFormat, base, document, output, report, version};

/// The changes of the first release of a contract.
const FIRST_RELEASE: &str = "### Added\n\n- First release.\n";

/// The command-line arguments.
#[derive(Debug, clap::Args)]
pub struct ReleaseArgs {
    /// The contract to release, relative to the workspace root
    #[arg(long, value_name = "FILE", default_value = base::CONTRACT)]
    pub(crate) contract: String,
}

/// Copies the contract over the released one if each breaking change is waived, and adds the changes to `CHANGELOG.md`. Otherwise
/// returns [`Compatibility::Breaking`] and changes nothing. Without a released contract, the contract is validated and copied. A
/// contract with the version of the released one and without changes that clients can notice adds nothing to `CHANGELOG.md`.
///
/// # Errors
/// Returns an error when one of the contracts or the waivers cannot be read, when the contracts cannot be compared,
/// when a waiver is unused or has expired, when the version was not increased, when `CHANGELOG.md` already contains it, or when a
/// file cannot be written or deleted.
pub fn run(workspace: &Path, args: &ReleaseArgs) -> Result<Compatibility> {
    let contract = &args.contract;
    let released_name = base::released(contract);
    let revision = Input::from_file(workspace, contract)?;
    let text = revision.source.text.clone();
    let released = workspace.join(&released_name);
    let today = super::today();
    let (version, changes) = if released.exists() {
        let input = base::read_released(workspace, contract)?;
        let settings = Settings::project();
        let result = super::compare_documents(input, revision, &settings, today)?;
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
        ensure_version_increased(&result).with_context(|| format!("{released_name} was not changed"))?;
        let version = version::version(&result.revision);
        let is_new = version != version::version(&result.base);
        (version, is_new.then(|| report::release(&result)))
    } else {
        let document =
            document::read_with_files(revision.source, &revision.files).map_err(InvalidDocument)?;
        (version::version(&document), Some(FIRST_RELEASE.to_owned()))
    };
    if let Some(directory) = released.parent() {
        fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    }
    if let Some(changes) = changes {
        let release = Release { contract, version: &version, date: today, changes: &changes };
        let changelog = changelog_file::add(workspace, &release)?;
        output::print(&format!("added version {version} to {changelog}\n"))?;
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

/// Returns an error if the contract changed without an increase of its version. The major version must increase only with `/v2`,
/// because breaking changes within a version are waived.
fn ensure_version_increased(result: &ComparisonResult) -> Result<()> {
    let rules = ["api-version-not-bumped", "api-version-decreased"];
    match result.findings.iter().find(|finding| rules.contains(&finding.id.as_str())) {
        Some(finding) => bail!("{}: {}; increase `info.version`", finding.path, finding.message),
        None => Ok(()),
    }
}
