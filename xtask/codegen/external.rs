//! Resolves the paths of a contract outside of the project (`--contract` and `--out`).
//!
//! The generated code is the same as for the project's contracts.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, ensure};
use contract::rust_name;

use super::files::{self, GeneratedFile};

/// Names that the generated file `adapter.rs` uses, so the adapter cannot have them.
pub(super) const RESERVED: [&str; 26] = [
    "Base64",
    "Bytes",
    "Call",
    "Cookie",
    "Date",
    "Header",
    "JsonBody",
    "Keys",
    "Lines",
    "MaybeUndefined",
    "OpenApi",
    "Option",
    "OptionalBody",
    "Path",
    "Query",
    "Responded",
    "S",
    "Scope",
    "SecurityRequirement",
    "SecurityScheme",
    "String",
    "Tag",
    "Text",
    "Timestamp",
    "Uuid",
    "Vec",
];

/// An external contract and its output folder.
#[derive(Debug)]
pub(crate) struct ExternalContract {
    /// The path of the contract, as specified.
    pub contract: String,
    /// The path of the folder, as specified.
    pub output: String,
    /// The path of the contract, relative to the folder.
    pub contract_from_output: String,
    /// The file name of the contract, without its extension.
    pub name: String,
}

impl ExternalContract {
    /// Resolves both paths, relative to `base`. Creates the output folder if it is missing and `create` is set.
    ///
    /// # Errors
    /// Returns an error when a path does not exist or is not valid UTF-8, when the folder cannot be created, when the
    /// contract is in the output folder, or when its name cannot be the name of the adapter.
    pub(crate) fn resolve(base: &Path, contract: &Path, output: &Path, create: bool) -> anyhow::Result<Self> {
        let output_path = to_utf8(output)?;
        let name = to_utf8(Path::new(contract.file_stem().context("--contract is not a file")?))?;
        let adapter = rust_name::upper_camel_case(&name);
        ensure!(
            rust_name::is_identifier(&adapter) && !RESERVED.contains(&&*adapter),
            "the adapter is named after the contract file, but `{adapter}` cannot be its name in Rust; rename the file"
        );
        if create {
            let folder = base.join(output);
            fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", output.display()))?;
        }
        let (from, to) = (canonical(base, output)?, canonical(base, contract)?);
        ensure!(
            to.parent() != Some(&*from),
            "the contract {} is in the output folder; specify another folder with --out",
            contract.display()
        );
        Ok(Self {
            contract: to_utf8(contract)?,
            output: output_path,
            contract_from_output: to_utf8(&relative(&from, &to))?,
            name,
        })
    }

    /// Checks that the output folder contains only generated files, so that nothing else is overwritten.
    ///
    /// # Errors
    /// Returns an error when the folder contains a file that was not generated, or an entry cannot be read.
    pub(crate) fn ensure_only_generated_files(
        &self,
        base: &Path,
        files: &[GeneratedFile],
    ) -> anyhow::Result<()> {
        let foreign = files::find_foreign_file(base, &self.output, files)?;
        ensure!(
            foreign.is_none(),
            "{} was not generated; remove it, or specify another folder with --out",
            foreign.unwrap_or_default()
        );
        Ok(())
    }
}

fn canonical(base: &Path, path: &Path) -> anyhow::Result<PathBuf> {
    fs::canonicalize(base.join(path)).with_context(|| format!("cannot read {}", path.display()))
}

fn to_utf8(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str().with_context(|| format!("{}: the path is not valid UTF-8", path.display()))?;
    Ok(text.to_owned())
}

/// Returns the relative path from a folder to a file. Both paths are canonical.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let shared = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
    let up = from[shared..].iter().map(|_| Component::ParentDir);
    up.chain(to[shared..].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_relative_path_goes_up_and_down() {
        let path = |from: &str, to: &str| relative(Path::new(from), Path::new(to)).display().to_string();
        assert_eq!(path("/a/src/api", "/a/openapi/v1.yaml"), "../../openapi/v1.yaml");
        assert_eq!(path("/a/out", "/a/v1.yaml"), "../v1.yaml");
        assert_eq!(path("/a", "/a/b/v1.yaml"), "b/v1.yaml");
    }
}
