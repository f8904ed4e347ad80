//! The generated folder: written, or compared.
//!
//! Owns which files are in it, and that no other file is. It never knows what is in them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Context;
use similar::TextDiff;

/// A file to be generated.
pub struct File {
    /// Its name inside the folder.
    pub name: String,
    /// Its whole text.
    pub text: String,
}

/// What a folder lacks to be fresh.
#[derive(Debug, PartialEq, Eq)]
pub enum Stale {
    /// A file has another text, or is missing; with the difference.
    Differs { path: String, diff: String },
    /// A file that nothing generates.
    Orphan { path: String },
}

impl Stale {
    /// The file's path, from the workspace.
    pub fn path(&self) -> &str {
        match self {
            Self::Differs { path, .. } | Self::Orphan { path } => path,
        }
    }
}

/// Writes what differs and removes orphans; says what was done, one line each.
///
/// # Errors
/// When the folder cannot be read or written.
pub fn write(workspace: &Path, folder: &str, files: &[File]) -> anyhow::Result<Vec<String>> {
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
pub fn compare(workspace: &Path, folder: &str, files: &[File]) -> anyhow::Result<Vec<Stale>> {
    let mut stale = Vec::new();
    for file in files {
        let path = format!("{folder}/{}", file.name);
        let there = fs::read_to_string(workspace.join(&path)).unwrap_or_default();
        if there != file.text {
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
