//! Writes the generated folder, or compares it with the expected files.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Context;
use similar::TextDiff;

/// The start of the first line of every generated Rust file.
pub(crate) const HEADING: &str = "// Generated from ";

/// A generated file.
pub(crate) struct GeneratedFile {
    /// The name inside the folder.
    pub name: String,
    /// The complete text.
    pub text: String,
}

/// A file that is out of date.
#[derive(Debug, PartialEq, Eq)]
pub enum StaleFile {
    /// The text of the file differs from the generated text, or the file is missing.
    Differs {
        /// The path of the file, relative to the workspace.
        path: String,
        /// The difference below the first line. Empty if only the first line differs.
        diff: String,
    },
    /// A file in the generated folder that the generator does not create.
    Orphan {
        /// The path of the file, relative to the workspace.
        path: String,
    },
}

impl StaleFile {
    /// The path of the file, relative to the workspace.
    pub(crate) fn path(&self) -> &str {
        match self {
            Self::Differs { path, .. } | Self::Orphan { path } => path,
        }
    }
}

/// Writes the files that differ and removes the files that are not generated. Returns one line for each action.
///
/// # Errors
/// Returns an error when the folder cannot be read or written.
pub(crate) fn write(workspace: &Path, folder: &str, files: &[GeneratedFile]) -> anyhow::Result<Vec<String>> {
    fs::create_dir_all(workspace.join(folder)).with_context(|| format!("cannot create {folder}"))?;
    let mut actions = Vec::new();
    for file in files {
        let path = format!("{folder}/{}", file.name);
        if fs::read_to_string(workspace.join(&path)).ok().as_deref() != Some(&file.text) {
            fs::write(workspace.join(&path), &file.text).with_context(|| format!("cannot write {path}"))?;
            actions.push(format!("wrote {path}"));
        }
    }
    for path in orphans(workspace, folder, files)? {
        fs::remove_file(workspace.join(&path)).with_context(|| format!("cannot remove {path}"))?;
        actions.push(format!("removed {path}, which is not generated"));
    }
    Ok(actions)
}

/// Compares a folder with the expected files.
///
/// # Errors
/// Returns an error when an entry of the folder cannot be read.
pub(crate) fn compare(
    workspace: &Path,
    folder: &str,
    files: &[GeneratedFile],
) -> anyhow::Result<Vec<StaleFile>> {
    let mut stale = Vec::new();
    for file in files {
        let path = format!("{folder}/{}", file.name);
        let current = fs::read_to_string(workspace.join(&path)).unwrap_or_default();
        if current != file.text {
            let current = with_heading_of(&file.text, &current);
            let diff = TextDiff::from_lines(&current, &file.text)
                .unified_diff()
                .context_radius(2)
                .header(&format!("{path} (current)"), &format!("{path} (generated from the contract)"))
                .to_string();
            stale.push(StaleFile::Differs { path, diff });
        }
    }
    stale.extend(orphans(workspace, folder, files)?.into_iter().map(|path| StaleFile::Orphan { path }));
    Ok(stale)
}

/// Replaces the first line of a generated text with that of `model`. Otherwise the diff would contain the digest of the
/// contract.
fn with_heading_of(model: &str, text: &str) -> String {
    let parts = |text: &str| {
        let (heading, rest) = text.split_once('\n')?;
        heading.starts_with(HEADING).then(|| (heading.to_owned(), rest.to_owned()))
    };
    match (parts(model), parts(text)) {
        (Some((heading, _)), Some((_, rest))) => format!("{heading}\n{rest}"),
        _ => text.to_owned(),
    }
}

/// Returns a file of the folder that the generator probably did not create: Rust without the first line of generated
/// files, another file with an unexpected name, or JSON in a folder without generated Rust. Returns `None` if there is
/// no such file.
///
/// # Errors
/// Returns an error when an entry of the folder cannot be read.
pub(crate) fn find_foreign_file(
    workspace: &Path,
    folder: &str,
    files: &[GeneratedFile],
) -> anyhow::Result<Option<String>> {
    let is_rust = |path: &str| Path::new(path).extension().is_some_and(|extension| extension == "rs");
    let is_generated = |path: &str| {
        is_rust(path)
            && fs::read(workspace.join(path)).is_ok_and(|bytes| bytes.starts_with(HEADING.as_bytes()))
    };
    let orphans = orphans(workspace, folder, files)?;
    let existing = files.iter().map(|file| format!("{folder}/{}", file.name));
    let existing: Vec<String> = existing.filter(|path| workspace.join(path).exists()).collect();
    let has_generated = orphans.iter().chain(&existing).any(|path| is_generated(path));
    let is_known = |path: &String| is_generated(path) || !is_rust(path) && has_generated;
    let unknown = existing.into_iter().find(|path| !is_known(path));
    Ok(orphans.into_iter().find(|path| !is_generated(path)).or(unknown))
}

/// Returns the paths of all entries of the folder except for `files`, or none if the folder cannot be opened.
fn orphans(workspace: &Path, folder: &str, files: &[GeneratedFile]) -> anyhow::Result<BTreeSet<String>> {
    let mut orphans = BTreeSet::new();
    let Ok(entries) = fs::read_dir(workspace.join(folder)) else { return Ok(orphans) };
    for entry in entries {
        let name = entry.with_context(|| format!("cannot read {folder}"))?.file_name();
        let name = name.to_string_lossy();
        if !files.iter().any(|file| file.name == name) {
            orphans.insert(format!("{folder}/{name}"));
        }
    }
    Ok(orphans)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> GeneratedFile {
        GeneratedFile { name: name.into(), text: text.into() }
    }

    #[test]
    fn written_files_are_up_to_date_and_are_not_written_again() {
        let workspace = tempfile::tempdir().expect("a temporary folder");
        let files = [file("a.rs", "one\n"), file("b.rs", "two\n")];
        let actions = write(workspace.path(), "out", &files).expect("the folder is writable");
        assert_eq!(actions, ["wrote out/a.rs", "wrote out/b.rs"]);
        assert_eq!(compare(workspace.path(), "out", &files).expect("the folder is readable"), []);
        assert!(write(workspace.path(), "out", &files).expect("the folder is writable").is_empty());
    }

    #[test]
    fn an_edited_file_is_reported_with_a_diff_and_overwritten() {
        let workspace = tempfile::tempdir().expect("a temporary folder");
        let files = [file("a.rs", "one\ntwo\n")];
        write(workspace.path(), "out", &files).expect("the folder is writable");
        fs::write(workspace.path().join("out/a.rs"), "one\n2\n").expect("the file is writable");
        let stale = compare(workspace.path(), "out", &files).expect("the folder is readable");
        let [StaleFile::Differs { path, diff }] = &stale[..] else { panic!("{stale:?}") };
        assert_eq!(path, "out/a.rs");
        assert!(diff.contains("-2\n+two\n"), "{diff}");
        assert_eq!(
            write(workspace.path(), "out", &files).expect("the folder is writable"),
            ["wrote out/a.rs"]
        );
    }

    #[test]
    fn a_different_first_line_is_reported_without_a_diff() {
        let workspace = tempfile::tempdir().expect("a temporary folder");
        let files =
            |version: &str, line: &str| [file("a.rs", &format!("{HEADING}v1 ({version})\n\n{line}\n"))];
        write(workspace.path(), "out", &files("old", "one")).expect("the folder is writable");
        let stale = compare(workspace.path(), "out", &files("new", "one")).expect("the folder is readable");
        assert_eq!(stale, [StaleFile::Differs { path: "out/a.rs".into(), diff: String::new() }]);
        let stale = compare(workspace.path(), "out", &files("new", "two")).expect("the folder is readable");
        let [StaleFile::Differs { diff, .. }] = &stale[..] else { panic!("{stale:?}") };
        assert!(diff.contains("@@ -1,3 +1,3 @@") && diff.contains("-one\n+two\n"), "{diff}");
        assert!(!diff.contains("old"), "{diff}");
    }

    #[test]
    fn a_file_that_is_not_generated_is_reported_and_removed() {
        let workspace = tempfile::tempdir().expect("a temporary folder");
        let files = [file("a.rs", "one\n")];
        write(workspace.path(), "out", &files).expect("the folder is writable");
        fs::write(workspace.path().join("out/old.rs"), "").expect("the folder is writable");
        let stale = compare(workspace.path(), "out", &files).expect("the folder is readable");
        assert_eq!(stale, [StaleFile::Orphan { path: "out/old.rs".into() }]);
        write(workspace.path(), "out", &files).expect("the folder is writable");
        assert!(!workspace.path().join("out/old.rs").exists());
    }
}
