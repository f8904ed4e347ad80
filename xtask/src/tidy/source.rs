//! Reads source files and parses them into tokens.

use std::path::Path;

use anyhow::{Context as _, Result};
use codegen::{CONTRACTS, ContractConfig};
use proc_macro2::TokenStream;

/// A Rust file of the repository.
pub(super) struct SourceFile {
    /// The path relative to the root, with slashes as separators.
    pub(super) file: String,
    pub(super) text: String,
    pub(super) tokens: TokenStream,
}

impl SourceFile {
    pub(super) fn read(repository: &Path, file: &str) -> Result<Self> {
        let text =
            std::fs::read_to_string(repository.join(file)).with_context(|| format!("cannot read {file}"))?;
        Self::parse(file, text)
    }

    pub(super) fn parse(file: &str, text: String) -> Result<Self> {
        let tokens = text.parse().map_err(|error| anyhow::anyhow!("{file} is not valid Rust: {error}"))?;
        Ok(Self { file: file.to_owned(), text, tokens })
    }

    /// Returns whether `cargo xtask codegen` generates the file. `codegen --check` checks these files.
    pub(super) fn is_generated(&self) -> bool {
        CONTRACTS.iter().flat_map(ContractConfig::outputs).any(|folder| is_in_folder(&self.file, folder))
    }
}

/// Returns whether a file is in a folder, or is the module file beside the folder.
fn is_in_folder(file: &str, folder: &str) -> bool {
    file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/') || rest == ".rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_are_recognized_by_the_folders_of_the_contracts() {
        let generated = |file: &str| SourceFile::parse(file, String::new()).unwrap().is_generated();
        assert!(
            generated("src/api/generated/schemas.rs") && generated("tests/second_version/generated/mod.rs")
        );
        assert!(generated("src/domain/contract/mod.rs") && generated("src/feed/generated/mod.rs"));
        assert!(!generated("src/domain/generated/schemas.rs") && !generated("src/api/generated_by_hand.rs"));
    }
}
