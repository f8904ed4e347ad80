//! Resolves file names from the command line: first in the current directory, then at the workspace root.

use std::path::{Component, Path, PathBuf};

/// The directories in which file names are resolved.
#[derive(Debug)]
pub(crate) struct FileResolver {
    /// The current directory.
    current_directory: PathBuf,
    /// The workspace root.
    pub workspace: PathBuf,
}

impl FileResolver {
    /// Creates a resolver for the two directories.
    pub(crate) fn new(current_directory: &Path, workspace: &Path) -> Self {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Self { current_directory: real(current_directory), workspace: real(workspace) }
    }

    /// Returns the file or directory that a name denotes: relative to the workspace root, or absolute if it is outside of the
    /// workspace.
    pub(crate) fn find(&self, name: &str) -> Option<String> {
        let candidates = [self.current_directory.join(name), self.workspace.join(name)];
        let found = candidates.iter().find(|path| path.exists())?;
        let without_dots = without_dots(found);
        Some(without_dots.strip_prefix(&self.workspace).unwrap_or(&without_dots).display().to_string())
    }
}

/// Removes `.` and `..` from a path.
fn without_dots(path: &Path) -> PathBuf {
    let mut without_dots = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(without_dots.pop()),
            other => without_dots.push(other),
        }
    }
    without_dots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_resolved_in_the_current_directory_before_the_workspace_root() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let api = root.path().join("api");
        std::fs::create_dir(&api).unwrap();
        for file in [root.path().join("a.yaml"), root.path().join("b.yaml"), api.join("a.yaml")] {
            std::fs::write(file, "").unwrap();
        }
        let other = outside.path().canonicalize().unwrap().join("c.yaml");
        std::fs::write(&other, "").unwrap();
        let files = FileResolver::new(&api, root.path());
        let found = |name: &str| files.find(name);
        assert_eq!(found("a.yaml").as_deref(), Some("api/a.yaml"));
        assert_eq!(found("./a.yaml").as_deref(), Some("api/a.yaml"));
        assert_eq!(found("../a.yaml").as_deref(), Some("a.yaml"));
        assert_eq!(found("b.yaml").as_deref(), Some("b.yaml"));
        assert_eq!(found("api/a.yaml").as_deref(), Some("api/a.yaml"));
        let whole = files.workspace.join("b.yaml");
        assert_eq!(found(whole.to_str().unwrap()).as_deref(), Some("b.yaml"));
        assert_eq!(found(other.to_str().unwrap()).as_deref(), other.to_str());
        assert_eq!(found("c.yaml"), None);
    }
}
