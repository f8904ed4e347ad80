//! Finds and reads a document: a file, standard input, or a file at a git revision.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use contract::source::{RepositoryPaths, Source};

use super::bundle::ReferencedFiles;
use super::{git, names};

/// The text of a document, and where the files are to which it refers.
#[derive(Debug)]
pub(crate) struct Input {
    /// The text.
    pub source: Source,
    /// The files beside the document.
    pub files: ReferencedFiles,
}

impl Input {
    /// Reads a file. `name` is relative to `directory`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if a symbolic link leads out of the repository.
    pub(crate) fn from_file(directory: &Path, name: &str) -> Result<Self> {
        names::ensure_link_is_inside(directory, name)?;
        let source = contract::read_file(directory, name)?;
        Ok(Self { source, files: Self::files_beside(directory, name) })
    }

    /// Returns the files beside a file. `name` is relative to `directory`.
    pub(crate) fn files_beside(directory: &Path, name: &str) -> ReferencedFiles {
        let folder = directory.join(name).parent().map(Path::to_owned).unwrap_or_default();
        let shown_folder = Path::new(name).parent().map(Path::to_owned).unwrap_or_default();
        ReferencedFiles::Folder { folder, shown_folder }
    }

    /// Reads a file at a git revision. `path` is relative to the repository or, if it begins with `./` or `../`, to
    /// `directory`. An empty git revision is the index.
    ///
    /// # Errors
    /// Returns an error with a remedy when the git revision does not exist or does not contain the file.
    pub(crate) fn from_revision(directory: &Path, revision: &str, path: &str) -> Result<Self> {
        git::ensure_revision(directory, revision)?;
        let name = format!("{revision}:{path}");
        let Some(bytes) = git::contents(directory, &name)? else {
            bail!("{}", missing_file(directory, revision, path)?);
        };
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let separator = if folder.is_empty() { "" } else { "/" };
        let prefix = format!("{revision}:{folder}{separator}");
        let mut source = contract::source_from_bytes(&name.replacen(":./", ":", 1), bytes)?;
        source.set_paths(RepositoryPaths::None);
        let files =
            ReferencedFiles::Revision { directory: directory.to_owned(), prefix, reader: None.into() };
        Ok(Self { source, files })
    }

    /// Sets the paths of the files in the repository, which services need to show annotations. `name` is that of the
    /// document, and relative to `directory`.
    pub(crate) fn locate(&mut self, directory: &Path, name: &DocumentName) {
        let git_path = |option: &str| {
            let output = git::run(directory, &["rev-parse", option]).ok().flatten()?;
            Some(String::from_utf8(output).ok()?.trim_end_matches('\n').to_owned())
        };
        let paths = match name {
            DocumentName::File(name) if Path::new(name).is_absolute() => git_path("--show-toplevel")
                .map(|root| RepositoryPaths::Prefix { name: format!("{root}/"), folder: String::new() }),
            DocumentName::File(_) => git_path("--show-prefix")
                .map(|folder| RepositoryPaths::Prefix { name: String::new(), folder }),
            DocumentName::AtRevision(revision, path) => {
                // During a merge, `:1:PATH` to `:3:PATH` are the versions in the index.
                let stage = ["1:", "2:", "3:"].into_iter().find(|stage| path.starts_with(stage));
                let stage = stage.filter(|_| revision.is_empty()).unwrap_or_default();
                let is_relative = ["./", "../"].iter().any(|start| path[stage.len()..].starts_with(start));
                let folder = if is_relative { git_path("--show-prefix") } else { Some(String::new()) };
                folder.map(|folder| RepositoryPaths::Prefix { name: format!("{revision}:{stage}"), folder })
            }
            DocumentName::StandardInput | DocumentName::Revision(_) => None,
        };
        if let Some(paths) = paths {
            self.source.set_paths(paths);
        }
    }

    /// Reads standard input.
    fn from_standard_input() -> Result<Self> {
        let mut bytes = Vec::new();
        let limit = contract::MAX_CONTRACT_BYTES + 1;
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes).context("cannot read standard input")?;
        ensure!(!bytes.is_empty(), "standard input is empty; pipe a document to it, or specify a file");
        let mut source = contract::source_from_bytes("standard input", bytes)?;
        source.set_paths(RepositoryPaths::None);
        Ok(Self { source, files: ReferencedFiles::None })
    }
}

/// What the name of a document on the command line means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DocumentName {
    /// `-`
    StandardInput,
    /// An existing file or folder.
    File(String),
    /// `REVISION:PATH`; the git revision is empty for the index.
    AtRevision(String, String),
    /// A git revision without a path.
    Revision(String),
}

impl DocumentName {
    /// Parses a name. `file` is the path of the file with that name, if it exists. A name that is neither a file nor
    /// contains a colon is a git revision.
    ///
    /// # Errors
    /// Returns an error with a remedy for an empty name, a URL, the name of a missing file, and a name of both a file
    /// and a git revision.
    pub(crate) fn parse(directory: &Path, name: &str, file: Option<String>, argument: &str) -> Result<Self> {
        ensure!(!name.is_empty(), "{argument} is empty; specify a file or a git revision");
        if name == "-" {
            return Ok(Self::StandardInput);
        }
        if file.is_none() && name.contains("://") {
            bail!(
                "{name} is a URL, and documents are not downloaded; run `curl --fail --location {name}` first, and \
                 specify its output as a file or, with `-`, as standard input"
            );
        }
        if let Some(file) = file {
            names::ensure_only_file(directory, name)?;
            return Ok(Self::File(file));
        }
        if let Some((revision, path)) = name.split_once(':') {
            // `:0:PATH` is the full form of `:PATH`.
            let path = path.strip_prefix("0:").filter(|_| revision.is_empty()).unwrap_or(path);
            return Ok(Self::AtRevision(revision.to_owned(), path.to_owned()));
        }
        if looks_like_file(name) && !git::is_revision(directory, name) {
            bail!("{argument}: {name} does not exist; specify another file or a git revision");
        }
        Ok(Self::Revision(name.to_owned()))
    }

    /// Returns the git revision, if the document is read from one.
    pub(crate) fn revision(&self) -> Option<&str> {
        match self {
            Self::AtRevision(revision, _) | Self::Revision(revision) => Some(revision),
            Self::StandardInput | Self::File(_) => None,
        }
    }

    /// Reads the document. `path` is the path at the git revision, for a name without one.
    ///
    /// # Errors
    /// Returns an error with a remedy when the document cannot be read.
    pub(crate) fn read(&self, directory: &Path, path: Option<&str>) -> Result<Input> {
        match (self, path) {
            (Self::StandardInput, _) => Input::from_standard_input(),
            (Self::File(name), _) => Input::from_file(directory, name),
            (Self::AtRevision(revision, path), _) => Input::from_revision(directory, revision, path),
            (Self::Revision(revision), Some(path)) => Input::from_revision(directory, revision, path),
            (Self::Revision(revision), None) => {
                git::ensure_revision(directory, revision)?;
                bail!("`{revision}` is a git revision; specify the document in it as `{revision}:PATH`")
            }
        }
    }

    /// Returns the path of the document in other git revisions, in the form that git expects.
    pub(crate) fn path_in_revisions(&self, directory: &Path) -> Option<String> {
        match self {
            Self::File(name) if Path::new(name).is_absolute() => {
                let name = Path::new(name).canonicalize().ok()?;
                let name = name.strip_prefix(directory.canonicalize().ok()?).ok()?.display().to_string();
                Some(format!("./{name}"))
            }
            Self::File(name) => Some(format!("./{name}")),
            Self::AtRevision(_, path) => Some(path.clone()),
            Self::StandardInput | Self::Revision(_) => None,
        }
    }
}

fn looks_like_file(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".yaml", ".yml", ".json"].iter().any(|extension| name.ends_with(extension))
        || name.starts_with(['/', '.'])
}

/// Explains why git cannot find a file at an existing git revision.
fn missing_file(directory: &Path, revision: &str, path: &str) -> Result<String> {
    let shown = path.strip_prefix("./").unwrap_or(path);
    let name = format!("{revision}:{path}");
    if git::run(directory, &["cat-file", "-e", &name])?.is_some() {
        return Ok(format!("{revision}:{shown} is a folder; specify a file"));
    }
    if !revision.is_empty() {
        return Ok(format!("git revision `{revision}` does not contain {shown}; specify another file"));
    }
    // While a rebase or a merge waits for a conflict to be resolved, the index contains both versions of the file.
    let unmerged = git::run(directory, &["ls-files", "--unmerged", "--", shown])?.unwrap_or_default();
    Ok(if unmerged.is_empty() {
        format!("the index does not contain {shown}; run `git add {shown}`")
    } else {
        format!("{shown} has a merge conflict; resolve it and run `git add {shown}`")
    })
}
