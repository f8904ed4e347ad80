//! That every dependency a crate declares is named somewhere in its source.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use proc_macro2::{TokenStream, TokenTree};
use serde::Deserialize;

use super::Finding;
use super::source::Source;

/// The part of `cargo metadata` that is read here.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    rename: Option<String>,
}

/// Every dependency of the workspace's crates that no file of its crate names.
pub(super) fn check(repository: &Path, sources: &[Source]) -> Result<Vec<Finding>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(repository)
        .output()
        .context("cannot start `cargo metadata`")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).context("cannot read `cargo metadata`")?;
    let repository = repository.canonicalize()?;
    let folders: Vec<String> = metadata.packages.iter().map(|package| folder(package, &repository)).collect();
    let mut findings = Vec::new();
    for (package, own) in metadata.packages.iter().zip(&folders) {
        let mut named = HashSet::new();
        for source in sources.iter().filter(|source| crate_of(&source.file, &folders) == Some(own)) {
            words(source.tokens.clone(), &mut named);
        }
        findings.extend(unused(package, &named).map(|name| {
            let remedy = "take it out of the manifest";
            Finding::new(
                &format!("{own}Cargo.toml"),
                1,
                format!("nothing uses the dependency `{name}`"),
                remedy,
            )
        }));
    }
    Ok(findings)
}

/// A package's folder from the root, with a slash at its end; empty for the root itself.
fn folder(package: &Package, repository: &Path) -> String {
    let folder = package.manifest_path.parent().unwrap_or(Path::new(""));
    match folder.strip_prefix(repository) {
        Ok(below) if below.as_os_str().is_empty() => String::new(),
        Ok(below) => format!("{}/", below.display()),
        Err(_) => format!("{}/", folder.display()),
    }
}

/// The folder of the crate that a file belongs to: the longest that it lies in.
fn crate_of<'a>(file: &str, folders: &'a [String]) -> Option<&'a String> {
    folders.iter().filter(|folder| file.starts_with(folder.as_str())).max_by_key(|folder| folder.len())
}

fn unused<'a>(package: &'a Package, named: &HashSet<String>) -> impl Iterator<Item = &'a str> {
    let names =
        package.dependencies.iter().map(|dependency| dependency.rename.as_ref().unwrap_or(&dependency.name));
    names.filter(|name| !named.contains(&name.replace('-', "_"))).map(String::as_str)
}

/// Every identifier of a file, inside macros too.
fn words(tokens: TokenStream, into: &mut HashSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(word) => drop(into.insert(word.to_string())),
            TokenTree::Group(group) => words(group.stream(), into),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_is_used_where_its_name_stands() {
        let dependency = |name: &str, rename: Option<&str>| Dependency {
            name: name.to_owned(),
            rename: rename.map(str::to_owned),
        };
        let dependencies =
            vec![dependency("sea-orm", None), dependency("toml", None), dependency("old", Some("new"))];
        let package = Package { manifest_path: PathBuf::new(), dependencies };
        let mut named = HashSet::new();
        words("use sea_orm::X; mac!(new::Y); \"toml\";".parse().unwrap(), &mut named);
        assert_eq!(unused(&package, &named).collect::<Vec<_>>(), ["toml"]);
    }

    #[test]
    fn a_file_belongs_to_the_innermost_crate() {
        let folders = ["".to_owned(), "xtask/".to_owned()];
        assert_eq!(crate_of("xtask/src/main.rs", &folders).unwrap(), "xtask/");
        assert_eq!(crate_of("src/main.rs", &folders).unwrap(), "");
    }
}
