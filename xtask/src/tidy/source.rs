//! A source file as tokens.

use std::path::Path;

use anyhow::{Context as _, Result};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

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

    /// True for what a program wrote; it is held by its own check.
    pub(super) fn is_generated(&self) -> bool {
        self.file.contains("/generated/")
    }

    /// True for a module of tests, which may reach further than the code it tests.
    pub(super) fn is_test(&self) -> bool {
        self.file.ends_with("/tests.rs") || self.file.contains("/tests/") || self.file.starts_with("tests/")
    }
}

/// The tokens without the modules that exist for tests alone (`#[cfg(test)] mod tests { ... }`).
pub(super) fn without_tests(tokens: TokenStream) -> Vec<TokenTree> {
    let mut kept = Vec::new();
    let mut skipping = false;
    for token in tokens {
        match &token {
            TokenTree::Group(group) if is_cfg_test(group) => {
                skipping = true;
                kept.push(token);
            }
            TokenTree::Group(group) if skipping && group.delimiter() == Delimiter::Brace => skipping = false,
            TokenTree::Punct(punct) if skipping && punct.as_char() == ';' => skipping = false,
            _ if skipping => {}
            _ => kept.push(token),
        }
    }
    kept
}

fn is_cfg_test(group: &Group) -> bool {
    group.delimiter() == Delimiter::Bracket && group.stream().to_string().replace(' ', "") == "cfg(test)"
}
