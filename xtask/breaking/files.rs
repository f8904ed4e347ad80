//! Which file a name on the command line means.
//!
//! Owns the order: where one stands comes first, then the root of the workspace. It never opens a file.

use std::path::{Component, Path, PathBuf};

/// The two folders from which a name may lead to a file.
#[derive(Debug)]
pub(crate) struct Files {
    /// Where one stands.
    here: PathBuf,
    /// The root of the workspace.
    pub workspace: PathBuf,
}

impl Files {
    /// Takes the two folders.
    pub(crate) fn new(here: &Path, workspace: &Path) -> Self {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Self { here: real(here), workspace: real(workspace) }
    }

    /// The file or folder that a name leads to, called by its way from the root of the workspace; whole when it is outside.
    pub(crate) fn find(&self, name: &str) -> Option<String> {
        let candidates = [self.here.join(name), self.workspace.join(name)];
        let found = candidates.iter().find(|path| path.exists())?;
        let plain = plain(found);
        Some(plain.strip_prefix(&self.workspace).unwrap_or(&plain).display().to_string())
    }
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_for_where_one_stands_and_then_at_the_root() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let api = root.path().join("api");
        std::fs::create_dir(&api).unwrap();
        for file in [root.path().join("a.yaml"), root.path().join("b.yaml"), api.join("a.yaml")] {
            std::fs::write(file, "").unwrap();
        }
        let other = outside.path().canonicalize().unwrap().join("c.yaml");
        std::fs::write(&other, "").unwrap();
        let files = Files::new(&api, root.path());
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
