//! Maps a name on the command line to a file or to a git revision, for both programs.
//!
//! A name that is both is an error: a change under review can add a file with the name of a git revision, which would
//! replace the base, the configuration or the waivers.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use super::file_resolver::without_dots;
use super::git;

/// The content of a text file, such as the waivers.
#[derive(Debug)]
pub(crate) struct TextFile {
    /// The name in messages.
    pub name: String,
    /// The text.
    pub text: String,
    /// Whether the file was read from a git revision.
    pub is_from_git: bool,
}

/// Returns a name if it is that of an existing file or folder, relative to `directory`.
pub(crate) fn existing_file(directory: &Path, name: &str) -> Option<String> {
    (!name.is_empty() && directory.join(name).exists()).then(|| name.to_owned())
}

/// Checks that the name of an existing file cannot be that of a git revision, or of a file at a git revision.
///
/// # Errors
/// Returns an error that contains an unambiguous name of each.
pub(crate) fn ensure_only_file(directory: &Path, name: &str) -> Result<()> {
    // git accepts no such names for revisions.
    if ["/", "./", "../"].iter().any(|start| name.starts_with(start)) {
        return Ok(());
    }
    let (revision, path) =
        name.split_once(':').map_or((name, None), |(revision, path)| (revision, Some(path)));
    let is_revision = match (revision, path) {
        ("", _) => git::run(directory, &["rev-parse", "--git-dir"])?.is_some(),
        _ => git::is_revision(directory, revision),
    };
    if is_revision {
        let path = path.map_or_else(String::new, |path| format!(":{path}"));
        let revision = unambiguous_revision(directory, revision);
        bail!("`{name}` is ambiguous; write `./{name}` for the file or `{revision}{path}` for the revision");
    }
    Ok(())
}

/// Returns the full name of a git revision: its reference if it has one. The name of the index is `:0`.
fn unambiguous_revision(directory: &Path, revision: &str) -> String {
    if revision.is_empty() {
        return ":0".to_owned();
    }
    let arguments =
        ["rev-parse", "--symbolic-full-name", "--verify", "--quiet", "--end-of-options", revision];
    let output = git::run(directory, &arguments).ok().flatten().unwrap_or_default();
    match String::from_utf8_lossy(&output).trim() {
        reference if reference.starts_with("refs/") && reference != revision => reference.to_owned(),
        _ => format!("{revision}^{{commit}}"),
    }
}

/// Checks that a file in the repository (without one, in `directory`) is there even if its path contains symbolic links:
/// a change under review can add links to other files of the machine. The user can name files elsewhere.
///
/// # Errors
/// Returns an error if a symbolic link leads out of the repository.
pub(crate) fn ensure_link_is_inside(directory: &Path, name: &str) -> Result<()> {
    let (Ok(folder), Ok(target)) = (directory.canonicalize(), directory.join(name).canonicalize()) else {
        // Reading it fails with a message.
        return Ok(());
    };
    let written = without_dots(&folder.join(name));
    if written == target {
        return Ok(());
    }
    let repository = git::run(directory, &["rev-parse", "--show-toplevel"]).ok().flatten();
    let (root, shown_root) = match repository.and_then(|path| String::from_utf8(path).ok()) {
        Some(path) => (PathBuf::from(path.trim_end_matches('\n')).canonicalize()?, "repository"),
        None => (folder, "current folder"),
    };
    ensure!(
        !written.starts_with(&root) || target.starts_with(&root),
        "{name} leads out of the {shown_root} by a symbolic link; specify the file to which it leads"
    );
    Ok(())
}

/// Reads the file that an argument names: a file, `REVISION:PATH`, or a git revision that contains `path`, which is
/// relative to `directory`. `file` is the path of the file with that name, if it exists; `content` is what the file
/// contains, and the name of the argument.
///
/// # Errors
/// Returns an error with a remedy when the name is ambiguous or nothing has it, or when the file cannot be read.
pub(crate) fn read_file_or_revision(
    directory: &Path,
    name: &str,
    file: Option<String>,
    path: &str,
    content: &str,
) -> Result<TextFile> {
    ensure!(!name.is_empty(), "--{content} is empty; specify a file or a git revision");
    if let Some(file) = file {
        ensure_only_file(directory, name)?;
        return read_file(directory, &file);
    }
    ensure!(!name.contains("://"), "--{content}: {name} is a URL, and files are not downloaded");
    let (revision, path) = match name.split_once(':') {
        Some((revision, path)) => (revision, path.to_owned()),
        None => (name, format!("./{path}")),
    };
    git::ensure_revision(directory, revision).with_context(|| format!("{content} not found"))?;
    let text = read_in_revision(directory, revision, &path)?;
    let shown_path = path.strip_prefix("./").unwrap_or(&path);
    text.with_context(|| {
        format!("{content} not found: {} does not contain {shown_path}", shown_revision(revision))
    })
}

/// Returns the name of a git revision in messages.
pub(crate) fn shown_revision(revision: &str) -> String {
    if revision.is_empty() { "the index".to_owned() } else { format!("git revision `{revision}`") }
}

/// Reads a file of the file system. `name` is relative to `directory`.
///
/// # Errors
/// Returns an error if the file cannot be read, is too large or is not UTF-8.
pub(crate) fn read_file(directory: &Path, name: &str) -> Result<TextFile> {
    ensure_link_is_inside(directory, name)?;
    let text = contract::read_file(directory, name)?.text;
    Ok(TextFile { name: name.to_owned(), text, is_from_git: false })
}

/// Reads a file at a git revision, or returns `None` if the git revision does not contain it. `path` is relative to
/// `directory`.
///
/// # Errors
/// Returns an error if git cannot be started, or if the file is not UTF-8.
pub(crate) fn read_at_revision(directory: &Path, revision: &str, path: &str) -> Result<Option<TextFile>> {
    read_in_revision(directory, revision, &format!("./{path}"))
}

/// Reads a file at a git revision, or returns `None` if the git revision does not contain it. `path` is relative to the
/// repository or, if it begins with `./` or `../`, to `directory`.
fn read_in_revision(directory: &Path, revision: &str, path: &str) -> Result<Option<TextFile>> {
    let Some(bytes) = git::contents(directory, &format!("{revision}:{path}"))? else { return Ok(None) };
    let name = format!("{revision}:{}", path.strip_prefix("./").unwrap_or(path));
    let text = String::from_utf8(bytes).with_context(|| format!("{name} is not UTF-8"))?;
    Ok(Some(TextFile { name, text, is_from_git: true }))
}
