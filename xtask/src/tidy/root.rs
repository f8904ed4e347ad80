//! Lists the files of the repository, and checks which files are in its root and where modules are.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::TidyFinding;

/// The allowed files and folders in the root, except for hidden ones.
const ALLOWED_IN_ROOT: &[&str] =
    &["Cargo.toml", "Cargo.lock", "README.md", "openapi", "src", "entity", "migration", "tests", "xtask"];

/// Returns all existing files that git tracks or would add, with slashes as separators.
pub(super) fn repository_files(repository: &Path) -> Result<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(repository)
        .output()
        .context("cannot start `git`")?;
    if !output.status.success() {
        bail!("`git ls-files` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let output = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
    let files: BTreeSet<&str> = output.split('\0').filter(|file| !file.is_empty()).collect();
    // A file that was deleted but not yet committed is still listed.
    Ok(files.into_iter().filter(|file| repository.join(file).exists()).map(str::to_owned).collect())
}

/// Returns a finding for each file or folder that is not allowed in the root.
pub(super) fn check(files: &[String]) -> Vec<TidyFinding> {
    let entries: BTreeSet<&str> = files.iter().filter_map(|file| file.split('/').next()).collect();
    entries
        .into_iter()
        .filter(|entry| !entry.starts_with('.') && !ALLOWED_IN_ROOT.contains(entry))
        .map(|entry| {
            let remedy = format!("the root can contain only hidden files and {}", ALLOWED_IN_ROOT.join(", "));
            TidyFinding::new(entry, 1, "not allowed in the root", remedy)
        })
        .collect()
}

/// Returns a finding for each module in a file beside the folder with its submodules.
pub(super) fn check_modules(files: &[String]) -> Vec<TidyFinding> {
    let sources: Vec<&str> = files.iter().map(String::as_str).filter(|file| file.ends_with(".rs")).collect();
    let with_folder = sources.iter().filter_map(|file| {
        let folder = format!("{}/", file.strip_suffix(".rs")?);
        sources.iter().any(|other| other.starts_with(&folder)).then_some((file, folder))
    });
    with_folder
        .map(|(file, folder)| {
            TidyFinding::new(
                file,
                1,
                "a file beside the folder of its modules",
                format!("move it to {folder}mod.rs"),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_with_submodules_is_in_their_folder() {
        let files = ["a.rs", "a/b.rs", "c/mod.rs", "c/d.rs", "e.rs", "e/f.snap"].map(str::to_owned);
        let findings = check_modules(&files);
        assert!(matches!(&findings[..], [finding] if finding.file == "a.rs"), "{findings:?}");
    }

    #[test]
    fn the_root_can_contain_listed_and_hidden_files() {
        let files = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(check(&files(&["src/a.rs", "src/b.rs", "README.md", ".ci/run"])).is_empty());
        assert_eq!(check(&files(&["docs/a.md", "docs/b.md"])).len(), 1);
    }
}
