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
        let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Self { current_directory: canonical(current_directory), workspace: canonical(workspace) }
    }

    /// Returns the path of an existing file or directory: relative to the workspace root, or absolute if it is outside
    /// of the workspace. Returns `None` if it exists in neither directory.
    pub(crate) fn find(&self, name: &str) -> Option<String> {
        let candidates = [self.current_directory.join(name), self.workspace.join(name)];
        let existing = candidates.iter().find(|path| path.exists())?;
        let path = without_dots(existing);
        Some(path.strip_prefix(&self.workspace).unwrap_or(&path).display().to_string())
    }
}

/// Removes `.` and `..` from a path, without following symbolic links.
pub(crate) fn without_dots(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(normalized.pop()),
            component => normalized.push(component),
        }
    }
    normalized
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
        let outside_file = outside.path().canonicalize().unwrap().join("c.yaml");
        std::fs::write(&outside_file, "").unwrap();
        let resolver = FileResolver::new(&api, root.path());
        let find = |name: &str| resolver.find(name);
        assert_eq!(find("a.yaml").as_deref(), Some("api/a.yaml"));
        assert_eq!(find("./a.yaml").as_deref(), Some("api/a.yaml"));
        assert_eq!(find("../a.yaml").as_deref(), Some("a.yaml"));
        assert_eq!(find("b.yaml").as_deref(), Some("b.yaml"));
        assert_eq!(find("api/a.yaml").as_deref(), Some("api/a.yaml"));
        let absolute = resolver.workspace.join("b.yaml");
        assert_eq!(find(absolute.to_str().unwrap()).as_deref(), Some("b.yaml"));
        assert_eq!(find(outside_file.to_str().unwrap()).as_deref(), outside_file.to_str());
        assert_eq!(find("c.yaml"), None);
    }
}
