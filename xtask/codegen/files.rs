//! The generated folder: written, or compared.
//!
//! Owns which files are in it, and that no other file is. It never knows what is in them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Context;
use similar::TextDiff;

/// What every generated file of Rust begins with.
pub(crate) const HEADING: &str = "// Generated from ";

/// A file to be generated.
pub(crate) struct File {
    /// Its name inside the folder.
    pub name: String,
    /// Its whole text.
    pub text: String,
}

/// What a folder lacks to be fresh.
#[derive(Debug, PartialEq, Eq)]
pub enum Stale {
    /// A file has another text, or is missing.
    Differs {
        /// The file's path, from the workspace.
        path: String,
        /// The difference below the file's heading; empty when only the heading differs.
        diff: String,
    },
    /// A file that nothing generates.
    Orphan {
        /// The file's path, from the workspace.
        path: String,
    },
}

impl Stale {
    /// The file's path, from the workspace.
    pub(crate) fn path(&self) -> &str {
        match self {
            Self::Differs { path, .. } | Self::Orphan { path } => path,
        }
    }
}

/// Writes what differs and removes orphans; says what was done, one line each.
///
/// # Errors
/// When the folder cannot be read or written.
pub(crate) fn write(workspace: &Path, folder: &str, files: &[File]) -> anyhow::Result<Vec<String>> {
    fs::create_dir_all(workspace.join(folder)).with_context(|| format!("cannot make {folder}"))?;
    let mut done = Vec::new();
    for file in files {
        let path = format!("{folder}/{}", file.name);
        if fs::read_to_string(workspace.join(&path)).ok().as_deref() != Some(&file.text) {
            fs::write(workspace.join(&path), &file.text).with_context(|| format!("cannot write {path}"))?;
            done.push(format!("wrote {path}"));
        }
    }
    for path in orphans(workspace, folder, files)? {
        fs::remove_file(workspace.join(&path)).with_context(|| format!("cannot remove {path}"))?;
        done.push(format!("removed {path}, which nothing generates"));
    }
    Ok(done)
}

/// What differs between a folder and the files that belong there.
///
/// # Errors
/// When the folder cannot be read.
pub(crate) fn compare(workspace: &Path, folder: &str, files: &[File]) -> anyhow::Result<Vec<Stale>> {
    let mut stale = Vec::new();
    for file in files {
        let path = format!("{folder}/{}", file.name);
        let there = fs::read_to_string(workspace.join(&path)).unwrap_or_default();
        if there != file.text {
            let there = with_heading_of(&file.text, &there);
            let diff = TextDiff::from_lines(&there, &file.text)
                .unified_diff()
                .context_radius(2)
                .header(&format!("{path} (as it is)"), &format!("{path} (as the contract wants it)"))
                .to_string();
            stale.push(Stale::Differs { path, diff });
        }
    }
    stale.extend(orphans(workspace, folder, files)?.into_iter().map(|path| Stale::Orphan { path }));
    Ok(stale)
}

/// A generated text under the heading of another: of two headings nobody learns more than that the contract has changed.
fn with_heading_of(other: &str, text: &str) -> String {
    let parts = |text: &str| {
        let (heading, rest) = text.split_once('\n')?;
        heading.starts_with(HEADING).then(|| (heading.to_owned(), rest.to_owned()))
    };
    match (parts(other), parts(text)) {
        (Some((heading, _)), Some((_, rest))) => format!("{heading}\n{rest}"),
        _ => text.to_owned(),
    }
}

/// A file of the folder that a person may have written: Rust without the line that all generated Rust begins with, anything
/// else that nothing generates, and JSON where no generated Rust is.
///
/// # Errors
/// When the folder cannot be read.
pub(crate) fn foreign(workspace: &Path, folder: &str, files: &[File]) -> anyhow::Result<Option<String>> {
    let is_rust = |path: &str| Path::new(path).extension().is_some_and(|ending| ending == "rs");
    let is_ours = |path: &str| {
        is_rust(path)
            && fs::read(workspace.join(path)).is_ok_and(|there| there.starts_with(HEADING.as_bytes()))
    };
    let orphans = orphans(workspace, folder, files)?;
    let there = files.iter().map(|file| format!("{folder}/{}", file.name));
    let there: Vec<String> = there.filter(|path| workspace.join(path).exists()).collect();
    let has_generated = orphans.iter().chain(&there).any(|path| is_ours(path));
    let known = |path: &String| is_ours(path) || !is_rust(path) && has_generated;
    let stranger = there.into_iter().find(|path| !known(path));
    Ok(orphans.into_iter().find(|path| !is_ours(path)).or(stranger))
}

fn orphans(workspace: &Path, folder: &str, files: &[File]) -> anyhow::Result<BTreeSet<String>> {
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

    fn file(name: &str, text: &str) -> File {
        File { name: name.into(), text: text.into() }
    }

    #[test]
    fn what_was_written_is_fresh_and_writing_again_does_nothing() {
        let workspace = tempfile::tempdir().expect("a folder");
        let files = [file("a.rs", "one\n"), file("b.rs", "two\n")];
        let done = write(workspace.path(), "out", &files).expect("it is written");
        assert_eq!(done, ["wrote out/a.rs", "wrote out/b.rs"]);
        assert_eq!(compare(workspace.path(), "out", &files).expect("it is compared"), []);
        assert!(write(workspace.path(), "out", &files).expect("it is written").is_empty());
    }

    #[test]
    fn an_edited_file_is_shown_with_the_difference_and_written_anew() {
        let workspace = tempfile::tempdir().expect("a folder");
        let files = [file("a.rs", "one\ntwo\n")];
        write(workspace.path(), "out", &files).expect("it is written");
        fs::write(workspace.path().join("out/a.rs"), "one\n2\n").expect("somebody edits it");
        let stale = compare(workspace.path(), "out", &files).expect("it is compared");
        let [Stale::Differs { path, diff }] = &stale[..] else { panic!("{stale:?}") };
        assert_eq!(path, "out/a.rs");
        assert!(diff.contains("-2\n+two\n"), "{diff}");
        assert_eq!(write(workspace.path(), "out", &files).expect("it is written"), ["wrote out/a.rs"]);
    }

    #[test]
    fn another_heading_is_stale_and_no_difference_to_read() {
        let workspace = tempfile::tempdir().expect("a folder");
        let of = |version: &str, line: &str| [file("a.rs", &format!("{HEADING}v1 ({version})\n\n{line}\n"))];
        write(workspace.path(), "out", &of("old", "one")).expect("it is written");
        let stale = compare(workspace.path(), "out", &of("new", "one")).expect("it is compared");
        assert_eq!(stale, [Stale::Differs { path: "out/a.rs".into(), diff: String::new() }]);
        let stale = compare(workspace.path(), "out", &of("new", "two")).expect("it is compared");
        let [Stale::Differs { diff, .. }] = &stale[..] else { panic!("{stale:?}") };
        assert!(diff.contains("@@ -1,3 +1,3 @@") && diff.contains("-one\n+two\n"), "{diff}");
        assert!(!diff.contains("old"), "{diff}");
    }

    #[test]
    fn a_file_that_nothing_generates_is_reported_and_then_removed() {
        let workspace = tempfile::tempdir().expect("a folder");
        let files = [file("a.rs", "one\n")];
        write(workspace.path(), "out", &files).expect("it is written");
        fs::write(workspace.path().join("out/old.rs"), "").expect("something is left over");
        let stale = compare(workspace.path(), "out", &files).expect("it is compared");
        assert_eq!(stale, [Stale::Orphan { path: "out/old.rs".into() }]);
        write(workspace.path(), "out", &files).expect("it is written");
        assert!(!workspace.path().join("out/old.rs").exists());
    }
}
