//! A source file as tokens.

use std::path::Path;

use anyhow::{Context as _, Result};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::codegen::CONTRACTS;

/// A Rust file of the repository.
pub(super) struct Source {
    /// Its path from the root, with slashes.
    pub(super) file: String,
    pub(super) text: String,
    pub(super) tokens: TokenStream,
    /// True for what exists for tests alone, which may reach further than the code it tests; see [`mark_tests`].
    pub(super) test: bool,
}

impl Source {
    pub(super) fn read(repository: &Path, file: &str) -> Result<Self> {
        let text =
            std::fs::read_to_string(repository.join(file)).with_context(|| format!("cannot read {file}"))?;
        Self::parse(file, text)
    }

    pub(super) fn parse(file: &str, text: String) -> Result<Self> {
        let tokens = text.parse().map_err(|error| anyhow::anyhow!("{file} is not Rust: {error}"))?;
        Ok(Self { file: file.to_owned(), text, tokens, test: false })
    }

    /// True for what the generator wrote; it is held by its own check.
    pub(super) fn is_generated(&self) -> bool {
        CONTRACTS.iter().any(|names| below(&self.file, names.output))
    }

    /// The folder of the modules that this file declares.
    fn folder(&self) -> &str {
        let stem = self.file.trim_end_matches(".rs");
        let own = stem.rsplit_once('/').filter(|(_, name)| ["lib", "main", "mod"].contains(name));
        own.map_or(stem, |(folder, _)| folder)
    }
}

/// Whether a file is a folder's own, or stands in it.
fn below(file: &str, folder: &str) -> bool {
    file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/') || rest == ".rs")
}

/// Marks what exists for tests alone: modules that are declared so, and the folder `tests` beside the `src` of a crate.
pub(super) fn mark_tests(sources: &mut [Source]) {
    let mut folders = Vec::new();
    for source in sources.iter() {
        let folder = source.folder();
        folders.extend(test_modules(source.tokens.clone()).map(|name| format!("{folder}/{name}")));
        if source.file.ends_with("src/lib.rs") || source.file.ends_with("src/main.rs") {
            folders.push(format!("{}tests", folder.trim_end_matches("src")));
        }
    }
    for source in sources {
        source.test = folders.iter().any(|folder| below(&source.file, folder));
    }
}

/// The modules at the top of a file that exist for tests alone.
fn test_modules(tokens: TokenStream) -> impl Iterator<Item = String> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = Vec::new();
    let mut tested = false;
    for pair in tokens.windows(2) {
        match pair {
            [TokenTree::Group(group), _] if is_cfg_test(group) => tested = true,
            [TokenTree::Group(group), _] if group.delimiter() == Delimiter::Brace => tested = false,
            [TokenTree::Punct(punct), _] if punct.as_char() == ';' => tested = false,
            [TokenTree::Ident(word), TokenTree::Ident(name)] if tested && word == "mod" => {
                found.push(name.to_string());
            }
            _ => {}
        }
    }
    found.into_iter()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_a_test_where_it_is_declared_as_one() {
        let files = [
            ("src/lib.rs", "pub mod feed; pub mod reach; #[cfg(test)] pub(crate) mod fixtures;"),
            ("src/fixtures.rs", ""),
            ("src/feed/mod.rs", "mod change; #[cfg(test)] #[rustfmt::skip] mod tests; mod tests_of_others;"),
            ("src/feed/change.rs", "#[cfg(test)] mod tests { mod deep; } mod generated;"),
            ("src/feed/change/tests/deep.rs", ""),
            ("src/feed/change/generated.rs", ""),
            ("src/feed/tests/mod.rs", "mod demo;"),
            ("src/feed/tests/demo.rs", ""),
            ("src/feed/tests_of_others.rs", ""),
            ("src/domain/tests/orders.rs", ""),
            ("src/domain/tests.rs", ""),
            ("src/tests/orders.rs", ""),
            ("src/reach.rs", "#[cfg(test)] use a::b; mod inner;"),
            ("src/reach/inner.rs", ""),
            ("tests/it/main.rs", ""),
            ("entity/src/lib.rs", ""),
            ("entity/tests/it/main.rs", ""),
        ];
        let parse = |(file, text): &(&str, &str)| Source::parse(file, (*text).to_owned()).unwrap();
        let mut sources: Vec<Source> = files.iter().map(parse).collect();
        mark_tests(&mut sources);
        let tests: Vec<&str> =
            sources.iter().filter(|source| source.test).map(|source| &*source.file).collect();
        assert_eq!(
            tests,
            [
                "src/fixtures.rs",
                "src/feed/change/tests/deep.rs",
                "src/feed/tests/mod.rs",
                "src/feed/tests/demo.rs",
                "tests/it/main.rs",
                "entity/tests/it/main.rs",
            ]
        );
    }

    #[test]
    fn what_the_generator_writes_is_known_by_its_contracts() {
        let generated = |file: &str| Source::parse(file, String::new()).unwrap().is_generated();
        assert!(generated("src/api/generated/schemas.rs") && generated("tests/second/generated/mod.rs"));
        assert!(!generated("src/domain/generated/schemas.rs") && !generated("src/api/generated_by_hand.rs"));
    }
}
