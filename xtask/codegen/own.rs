//! A contract of one's own: where it stands, where its code goes, and what is not overwritten there.
//!
//! Owns the paths. What is generated is the same as for the project's own contracts.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, ensure};
use contract::rust_name;

use super::files::{self, File};

/// What the adapter's file names itself, so that the adapter must be called otherwise.
pub(super) const TAKEN: [&str; 23] = [
    "Base64",
    "Bytes",
    "Call",
    "Cookie",
    "Date",
    "Header",
    "JsonBody",
    "Key",
    "Keys",
    "MaybeUndefined",
    "OpenApi",
    "Option",
    "Path",
    "Query",
    "S",
    "Scheme",
    "Scope",
    "String",
    "Tag",
    "Text",
    "Timestamp",
    "Uuid",
    "Vec",
];

/// A contract and a folder, both as they were given and as they stand.
#[derive(Debug)]
pub(crate) struct Own {
    /// The contract, as it was given.
    pub contract: String,
    /// The folder, as it was given.
    pub output: String,
    /// The contract as seen from the folder.
    pub contract_from_output: String,
    /// The contract's name without its ending.
    pub stem: String,
}

impl Own {
    /// Looks where things stand, from this folder; makes the output's when it is missing and `make` says so.
    ///
    /// # Errors
    /// When one of the two is not there or not named in UTF-8, the contract stands in the folder that is generated, or its
    /// name cannot be the adapter's.
    pub(crate) fn find(here: &Path, contract: &Path, output: &Path, make: bool) -> anyhow::Result<Self> {
        let named = text(output)?;
        let stem = text(Path::new(contract.file_stem().context("--contract names no file")?))?;
        let adapter = rust_name::upper(&stem);
        ensure!(
            rust_name::can_be_written(&adapter) && !TAKEN.contains(&&*adapter),
            "the adapter is called after the contract, and cannot be called `{adapter}` in Rust; name the file otherwise"
        );
        if make {
            let place = here.join(output);
            fs::create_dir_all(&place).with_context(|| format!("cannot make {}", output.display()))?;
        }
        let (from, to) = (real(here, output)?, real(here, contract)?);
        ensure!(
            to.parent() != Some(&*from),
            "the contract {} stands in the folder that would be generated; name another with --out",
            contract.display()
        );
        Ok(Self {
            contract: text(contract)?,
            output: named,
            contract_from_output: text(&relative(&from, &to))?,
            stem,
        })
    }

    /// Keeps what somebody else wrote.
    ///
    /// # Errors
    /// When the folder holds a file that was not generated.
    pub(crate) fn spare(&self, here: &Path, files: &[File]) -> anyhow::Result<()> {
        let foreign = files::foreign(here, &self.output, files)?;
        ensure!(
            foreign.is_none(),
            "{} was not generated; remove it, or name a folder of its own with --out",
            foreign.unwrap_or_default()
        );
        Ok(())
    }
}

fn real(here: &Path, path: &Path) -> anyhow::Result<PathBuf> {
    fs::canonicalize(here.join(path)).with_context(|| format!("cannot read {}", path.display()))
}

fn text(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str().with_context(|| format!("{} is not named in UTF-8", path.display()))?;
    Ok(text.to_owned())
}

/// The way from a folder to a file, both absolute and without detours.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = from[shared..].iter().map(|_| Component::ParentDir);
    up.chain(to[shared..].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_the_contract_goes_up_and_down() {
        let way = |from: &str, to: &str| relative(Path::new(from), Path::new(to)).display().to_string();
        assert_eq!(way("/a/src/api", "/a/openapi/v1.yaml"), "../../openapi/v1.yaml");
        assert_eq!(way("/a/out", "/a/v1.yaml"), "../v1.yaml");
        assert_eq!(way("/a", "/a/b/v1.yaml"), "b/v1.yaml");
    }
}
