//! What is in the repository, and what may lie in its root.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::Finding;

/// What the visible root holds, and nothing else.
const VISIBLE: &[&str] =
    &["Cargo.toml", "Cargo.lock", "README.md", "openapi", "src", "entity", "migration", "tests", "xtask"];

/// Every file that git knows or would add, with slashes.
pub(super) fn tracked(repository: &Path) -> Result<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(repository)
        .output()
        .context("cannot start `git`")?;
    if !output.status.success() {
        bail!("`git ls-files` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let listed = String::from_utf8(output.stdout).context("a file's name is not UTF-8")?;
    let files: BTreeSet<&str> = listed.split('\0').filter(|file| !file.is_empty()).collect();
    // A file that was deleted but not yet committed is still listed.
    Ok(files.into_iter().filter(|file| repository.join(file).exists()).map(str::to_owned).collect())
}

/// What lies in the root and does not belong there.
pub(super) fn check(files: &[String]) -> Vec<Finding> {
    let entries: BTreeSet<&str> = files.iter().filter_map(|file| file.split('/').next()).collect();
    entries
        .into_iter()
        .filter(|entry| !entry.starts_with('.') && !VISIBLE.contains(entry))
        .map(|entry| {
            let remedy = format!("the visible root holds {} and nothing else", VISIBLE.join(", "));
            Finding::new(entry, 1, "does not belong into the root", remedy)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_holds_what_is_listed_and_dot_files() {
        let files = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(check(&files(&["src/a.rs", "src/b.rs", "README.md", ".ci/run"])).is_empty());
        assert_eq!(check(&files(&["docs/a.md", "docs/b.md"])).len(), 1);
    }
}
