//! Compares two versions of an API whose paths differ in the version, such as `/api/v1/courses` and `/api/v2/courses`.

use contract::node::{Node, Value};
use contract::operations::version_prefix;

/// The beginning of all paths of the base and of all paths of the revision, up to the version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathVersions {
    /// The beginning in the base, such as `/api/v1/`.
    pub base: String,
    /// The beginning in the revision, such as `/api/v2/`.
    pub revision: String,
}

/// Gives the paths of the base the version of those of the revision, so that their operations are compared. Returns `None` and
/// changes nothing if the paths of a document do not all have the same version, or both documents have the same one.
pub(crate) fn align(base: &mut Node, revision: &Node) -> Option<PathVersions> {
    let versions = PathVersions { base: common_prefix(base)?, revision: common_prefix(revision)? };
    if versions.base == versions.revision {
        return None;
    }
    let Value::Mapping(sections) = &mut base.value else { return None };
    let paths = sections.iter_mut().filter(|section| section.key.text == "paths");
    for paths in paths {
        let Value::Mapping(paths) = &mut paths.value.value else { continue };
        for path in paths.iter_mut().filter(|path| path.key.text.starts_with('/')) {
            path.key.text = format!("{}{}", versions.revision, &path.key.text[versions.base.len()..]);
        }
    }
    Some(versions)
}

/// Returns the beginning of all paths up to the version, if all have the same one.
fn common_prefix(root: &Node) -> Option<String> {
    let paths = root.get("paths")?.entries()?.iter().map(|path| path.key.text.as_str());
    let mut prefixes = paths.filter(|path| path.starts_with('/')).map(version_prefix);
    let first = prefixes.next().filter(|first| !first.is_empty())?;
    prefixes.all(|prefix| prefix == first).then(|| first.to_owned())
}
