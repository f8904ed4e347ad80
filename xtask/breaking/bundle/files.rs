//! The files beside a document, to which its references lead.

use std::cell::RefCell;
use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::git;

/// Where the files beside a document are read.
#[derive(Debug)]
pub(crate) enum ReferencedFiles {
    /// Nowhere: the document comes from standard input.
    None,
    /// A folder of the file system.
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The folder in messages.
        shown_folder: PathBuf,
    },
    /// A folder at a git revision.
    Revision {
        /// The directory in which git runs.
        directory: PathBuf,
        /// The git revision and the folder of the document, as git expects them before the name of a file: for example
        /// `HEAD:`, `main:api/` or `main:./api/`. The git revision is empty for the index.
        prefix: String,
        /// The git process that returns the files, once one was read.
        reader: RefCell<Option<git::FileReader>>,
    },
}

impl ReferencedFiles {
    /// Reads a file. `path` is relative to the folder of the document and contains no `.` and no `..`.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be read.
    pub(super) fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        match self {
            Self::None => Err("a document from standard input cannot refer to files".to_owned()),
            Self::Folder { folder, .. } => read_in_folder(folder, path),
            Self::Revision { directory, prefix, reader } => {
                let mut reader = reader.borrow_mut();
                let contents = match &mut *reader {
                    Some(reader) => Ok(reader),
                    empty => git::FileReader::start(directory).map(|started| empty.insert(started)),
                };
                let contents = contents.and_then(|reader| reader.read(&format!("{prefix}{path}")));
                contents.map_err(|error| format!("{error:#}"))?.ok_or_else(|| {
                    match prefix.split(':').next().unwrap_or_default() {
                        "" => "the file is not in the index".to_owned(),
                        revision => format!("git revision `{revision}` does not contain the file"),
                    }
                })
            }
        }
    }

    /// Returns the name of a file in messages.
    pub(super) fn name(&self, path: &str) -> impl fmt::Display {
        match self {
            Self::None => path.to_owned(),
            Self::Folder { shown_folder, .. } => shown_folder.join(path).display().to_string(),
            Self::Revision { prefix, .. } => format!("{}{path}", prefix.replacen(":./", ":", 1)),
        }
    }
}

fn read_in_folder(folder: &Path, path: &str) -> Result<Vec<u8>, String> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let resolved = |path: &Path| {
        path.canonicalize().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => "the file does not exist".to_owned(),
            _ => error.to_string(),
        })
    };
    let file = resolved(&folder.join(path))?;
    // A symbolic link can lead out of the folder.
    let folder = resolved(folder)?;
    let Ok(path_in_folder) = file.strip_prefix(&folder) else {
        return Err("the file is outside of the folder of the document".to_owned());
    };
    check_name(&path_in_folder.to_string_lossy())?;
    if !file.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut contents = Vec::new();
    let file = std::fs::File::open(file).map_err(|error| error.to_string())?;
    file.take(contract::MAX_CONTRACT_BYTES + 1)
        .read_to_end(&mut contents)
        .map_err(|error| error.to_string())?;
    Ok(contents)
}

/// Checks that a document can refer to a file. A document of others must not show the contents of files that are not
/// parts of documents, such as the settings of a repository. `path` contains no `.` and no `..`.
///
/// # Errors
/// Returns the reason why the file is not read.
pub(super) fn check_name(path: &str) -> Result<(), String> {
    if path.split('/').any(|step| step.starts_with('.')) {
        return Err("files and folders whose names begin with a dot are not read".to_owned());
    }
    let path = path.to_ascii_lowercase();
    if ![".yaml", ".yml", ".json"].iter().any(|extension| path.ends_with(extension)) {
        return Err("only files that end with .yaml, .yml or .json are read".to_owned());
    }
    Ok(())
}

/// Returns the path of a referenced file, relative to the folder of the document: `reference` is relative to `from`,
/// the path of the file that contains it. Returns `None` if the path leaves the folder.
pub(super) fn resolve_path(from: &str, reference: &str) -> Option<String> {
    let reference = percent_encoding::percent_decode_str(reference).decode_utf8().ok()?;
    if reference.starts_with('/') || reference.contains(['\\', '\0']) {
        return None;
    }
    let mut steps: Vec<&str> = from.split('/').collect();
    steps.pop();
    for step in reference.split('/') {
        match step {
            "." | "" => {}
            ".." => drop(steps.pop()?),
            step => steps.push(step),
        }
    }
    Some(steps.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_file_and_stay_in_the_folder() {
        for (from, reference, path) in [
            ("api.yaml", "pet.yaml", Some("pet.yaml")),
            ("api.yaml", "./a/b%20c.yaml", Some("a/b c.yaml")),
            ("a/b.yaml", "../pet.yaml", Some("pet.yaml")),
            ("a/b.yaml", "c/../d.yaml", Some("a/d.yaml")),
            ("a/b.yaml", "../../pet.yaml", None),
            ("api.yaml", "../api.yaml", None),
            ("api.yaml", "/etc/passwd", None),
            ("api.yaml", "a/%2e%2e/../../x", None),
        ] {
            assert_eq!(resolve_path(from, reference).as_deref(), path, "{from} {reference}");
        }
    }
}
