//! A source file as tokens.

use std::path::Path;

use anyhow::{Context as _, Result};
use codegen::CONTRACTS;
use proc_macro2::TokenStream;

/// A Rust file of the repository.
pub(super) struct Source {
    /// Its path from the root, with slashes.
    pub(super) file: String,
    pub(super) text: String,
    pub(super) tokens: TokenStream,
}

impl Source {
    pub(super) fn read(repository: &Path, file: &str) -> Result<Self> {
        let text =
            std::fs::read_to_string(repository.join(file)).with_context(|| format!("cannot read {file}"))?;
        Self::parse(file, text)
    }

    pub(super) fn parse(file: &str, text: String) -> Result<Self> {
        let tokens = text.parse().map_err(|error| anyhow::anyhow!("{file} is not Rust: {error}"))?;
        Ok(Self { file: file.to_owned(), text, tokens })
    }

    /// True for what the generator wrote; it is held by its own check.
    pub(super) fn is_generated(&self) -> bool {
        CONTRACTS.iter().any(|names| below(&self.file, names.output))
    }
}

/// Whether a file is a folder's own, or stands in it.
fn below(file: &str, folder: &str) -> bool {
    file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/') || rest == ".rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_generator_writes_is_known_by_its_contracts() {
        let generated = |file: &str| Source::parse(file, String::new()).unwrap().is_generated();
        assert!(generated("src/api/generated/schemas.rs") && generated("tests/second/generated/mod.rs"));
        assert!(!generated("src/domain/generated/schemas.rs") && !generated("src/api/generated_by_hand.rs"));
    }
}
