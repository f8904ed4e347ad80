//! The licenses of the program and of all crates and scripts in it, as their authors publish them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use spdx::{Expression, ParseMode};

use super::dependencies::{Crate, Dependencies, ROOT};

/// The beginnings of the names of files with licenses or notices, in lowercase.
const FILE_NAMES: [&str; 5] = ["licen", "copying", "copyright", "notice", "unlicense"];
/// The licenses of scripts that are embedded in the program.
const SCRIPTS: [&str; 3] = [
    "src/dashboard/static/htmx.LICENSE",
    "src/portal/static/minisearch.LICENSE",
    "src/portal/static/prism.LICENSE",
];
/// The beginning of a text.
const SEPARATOR: &str =
    "================================================================================================";

/// Returns the text: a list of all crates with their licenses, each different license text with the crates that use it, and the
/// licenses of the scripts.
///
/// # Errors
/// Returns an error when a file cannot be read, or when the text of a license is unknown.
pub(super) fn text(dependencies: &Dependencies) -> Result<String> {
    let mut list = String::new();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in dependencies.crates.iter().filter(|package| package.source.is_some()) {
        let name = format!("{} {}", package.name, package.version);
        let license = package.license.as_deref().with_context(|| format!("{name} has no license"))?;
        let repository = package.repository.as_deref().unwrap_or_default();
        let _ = writeln!(list, "{}", format!("{name}: {license} {repository}").trim_end());
        for license_text in license_texts(package, license)? {
            texts.entry(license_text).or_default().push(name.clone());
        }
    }
    let mut text = format!("{ROOT} is licensed under MIT or Apache-2.0, at your choice.\n");
    for name in ["MIT", "Apache-2.0"] {
        let own = fs::read_to_string(format!(".licenses/{name}.txt"))?;
        let _ = write!(text, "\n{SEPARATOR}\n{ROOT}\n\n{}\n", own.trim_end());
    }
    let _ = write!(text, "\n{SEPARATOR}\nThe program contains these crates:\n\n{list}");
    // In the order of the first crate of each text.
    let mut texts: Vec<(String, Vec<String>)> = texts.into_iter().collect();
    texts.sort_by(|left, right| left.1.cmp(&right.1));
    for (license_text, names) in texts {
        let _ = write!(text, "\n{SEPARATOR}\n{}\n\n{license_text}\n", names.join(", "));
    }
    for path in SCRIPTS {
        let license_text = fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
        let _ = write!(text, "\n{SEPARATOR}\n{}\n", license_text.trim_end());
    }
    Ok(text)
}

/// Returns the license files of a crate, or the standard texts of its licenses if it has none.
fn license_texts(package: &Crate, license: &str) -> Result<Vec<String>> {
    let folder = package.manifest_path.parent().unwrap_or(Path::new("."));
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if entry.file_type()?.is_file() && FILE_NAMES.iter().any(|prefix| name.starts_with(prefix)) {
            let text = String::from_utf8_lossy(&fs::read(entry.path())?).replace("\r\n", "\n");
            texts.push(text.trim().to_owned());
        }
    }
    if !texts.is_empty() {
        return Ok(texts);
    }
    let expression = Expression::parse_mode(license, ParseMode::LAX)
        .with_context(|| format!("{}: the license {license} is no SPDX expression", package.name))?;
    for requirement in expression.requirements() {
        let id = requirement.req.license.id();
        let id = id.with_context(|| format!("{}: unknown license in {license}", package.name))?;
        texts.push(id.text().trim().to_owned());
    }
    Ok(texts)
}
