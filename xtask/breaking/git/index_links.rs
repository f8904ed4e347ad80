//! Symbolic links in the index, which `git cat-file` does not follow.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Result, bail};

use super::{run, shown};

/// The maximum number of links that are followed for one file.
const MAX_LINKS: usize = 40;

/// The symbolic links in the index.
#[derive(Debug)]
pub(super) struct IndexLinks {
    /// The paths of the links, relative to the repository.
    paths: HashSet<String>,
    /// The path of the directory in which git runs: empty, or with a slash at its end.
    prefix: String,
}

impl IndexLinks {
    /// Reads the links of the index.
    ///
    /// # Errors
    /// Returns an error when git cannot be started.
    pub(super) fn read(directory: &Path) -> Result<Self> {
        let listed = run(directory, &["ls-files", "--stage", "-z", "--full-name", "--", ":/"])?;
        let listed = listed.unwrap_or_default();
        // An entry consists of mode, blob and stage, and after a tab the path.
        let link = |entry: &[u8]| {
            let entry = std::str::from_utf8(entry).ok()?;
            let (fields, path) = entry.split_once('\t')?;
            (fields.starts_with("120000 ") && fields.ends_with(" 0")).then(|| path.to_owned())
        };
        let paths = listed.split(|byte| *byte == 0).filter_map(link).collect();
        let prefix = run(directory, &["rev-parse", "--show-prefix"])?.unwrap_or_default();
        let prefix = String::from_utf8_lossy(&prefix).trim_end_matches('\n').to_owned();
        Ok(Self { paths, prefix })
    }

    /// Follows the links in a path. Returns the path of the target relative to the repository, or `None` if the path
    /// contains no link. `name` is the name of the file in messages, and `target_of` returns the content of a link.
    ///
    /// # Errors
    /// Returns an error if the target is outside of the repository, or the links form a loop.
    pub(super) fn follow(
        &self,
        path: &str,
        name: &str,
        mut target_of: impl FnMut(&str) -> Result<Option<Vec<u8>>>,
    ) -> Result<Option<String>> {
        if self.paths.is_empty() {
            return Ok(None);
        }
        let is_relative = ["./", "../"].iter().any(|start| path.starts_with(start));
        let path = if is_relative { format!("{}{path}", self.prefix) } else { path.to_owned() };
        let mut pending: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
        let mut followed: Vec<String> = Vec::new();
        let mut link_count = 0;
        while let Some(step) = pending.pop() {
            match step.as_str() {
                "." | "" => continue,
                ".." if followed.pop().is_some() => continue,
                ".." => bail!("{} is a symbolic link that leads out of the repository", shown(name)),
                _ => followed.push(step),
            }
            let current = followed.join("/");
            if !self.paths.contains(&current) {
                continue;
            }
            link_count += 1;
            let target = target_of(&current)?.map(|target| String::from_utf8_lossy(&target).into_owned());
            match target {
                Some(target) if link_count <= MAX_LINKS && !target.starts_with('/') => {
                    followed.pop();
                    pending.extend(target.split('/').rev().map(str::to_owned));
                }
                Some(_) if link_count <= MAX_LINKS => {
                    bail!("{} is a symbolic link that leads out of the repository", shown(name))
                }
                _ => bail!("{} is a symbolic link to a file that does not exist", shown(name)),
            }
        }
        Ok((link_count > 0).then(|| followed.join("/")))
    }
}
