//! The file `CHANGELOG.md` beside the contracts: the changes of each release of each contract, the newest first.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use jiff::civil::Date;

/// The text of the file before the first release.
const TITLE: &str = "# Changelog\n";

/// A release of a contract.
pub(crate) struct Release<'a> {
    /// The contract, relative to the workspace.
    pub contract: &'a str,
    /// Its version.
    pub version: &'a str,
    /// The date of the release (UTC).
    pub date: Date,
    /// The changes, grouped under headings of level 3.
    pub changes: &'a str,
}

/// Adds a release above the earlier ones, and creates the file if it does not exist. Returns its path, relative to the workspace.
///
/// # Errors
/// Returns an error when the file already contains the version, or cannot be read or written.
pub(crate) fn add(workspace: &Path, release: &Release<'_>) -> Result<String> {
    let contract = Path::new(release.contract);
    let path = contract.with_file_name("CHANGELOG.md").display().to_string();
    let file = workspace.join(&path);
    let text = if file.exists() {
        fs::read_to_string(&file).with_context(|| format!("cannot read {path}"))?
    } else {
        TITLE.to_owned()
    };
    let name = contract.file_stem().unwrap_or_default().display();
    let title = format!("## {name} {} - ", release.version);
    ensure!(
        text.lines().all(|line| !line.starts_with(&title)),
        "{path} already contains {name} {}; increase `info.version` of {}, or remove the section",
        release.version,
        release.contract
    );
    let section = format!("{title}{}\n\n{}", release.date, release.changes);
    fs::write(&file, insert(&text, &section)).with_context(|| format!("cannot write {path}"))?;
    Ok(path)
}

/// Inserts a section above the first one. Blank lines separate the parts.
fn insert(text: &str, section: &str) -> String {
    let first_section =
        if text.starts_with("## ") { Some(0) } else { text.find("\n## ").map(|position| position + 1) };
    let (before, after) = text.split_at(first_section.unwrap_or(text.len()));
    let parts = [before, section, after].map(str::trim_end);
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n") + "\n"
}
