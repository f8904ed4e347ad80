//! Finds dependencies that the source of a crate does not use.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use proc_macro2::{TokenStream, TokenTree};
use serde::Deserialize;

use super::TidyFinding;
use super::source::SourceFile;

/// The output of `cargo metadata`, as far as needed.
#[derive(Deserialize)]
struct WorkspaceMetadata {
    packages: Vec<WorkspacePackage>,
}

#[derive(Deserialize)]
struct WorkspacePackage {
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    rename: Option<String>,
}

/// Returns a finding for each dependency of a crate that no source file of the crate uses.
pub(super) fn check(repository: &Path, sources: &[SourceFile]) -> Result<Vec<TidyFinding>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(repository)
        .output()
        .context("cannot start `cargo metadata`")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let metadata: WorkspaceMetadata =
        serde_json::from_slice(&output.stdout).context("cannot parse the output of `cargo metadata`")?;
    let repository = repository.canonicalize()?;
    let folders: Vec<String> = metadata.packages.iter().map(|package| folder(package, &repository)).collect();
    let mut findings = Vec::new();
    for (package, package_folder) in metadata.packages.iter().zip(&folders) {
        let mut used_names = HashSet::new();
        for source in sources.iter().filter(|source| crate_of(&source.file, &folders) == Some(package_folder))
        {
            collect_identifiers(source.tokens.clone(), &mut used_names);
        }
        findings.extend(unused(package, &used_names).map(|name| {
            let remedy = "remove it from the manifest";
            TidyFinding::new(
                &format!("{package_folder}Cargo.toml"),
                1,
                format!("unused dependency `{name}`"),
                remedy,
            )
        }));
    }
    Ok(findings)
}

/// Returns the folder of a package relative to the root, with a trailing slash. Empty for the root.
fn folder(package: &WorkspacePackage, repository: &Path) -> String {
    let folder = package.manifest_path.parent().unwrap_or(Path::new(""));
    match folder.strip_prefix(repository) {
        Ok(relative) if relative.as_os_str().is_empty() => String::new(),
        Ok(relative) => format!("{}/", relative.display()),
        Err(_) => format!("{}/", folder.display()),
    }
}

/// Returns the folder of the crate of a file: the longest folder that contains the file.
fn crate_of<'a>(file: &str, folders: &'a [String]) -> Option<&'a String> {
    folders.iter().filter(|folder| file.starts_with(folder.as_str())).max_by_key(|folder| folder.len())
}

/// Returns the dependencies that are not used.
fn unused<'a>(package: &'a WorkspacePackage, used_names: &HashSet<String>) -> impl Iterator<Item = &'a str> {
    let names =
        package.dependencies.iter().map(|dependency| dependency.rename.as_ref().unwrap_or(&dependency.name));
    names.filter(|name| !used_names.contains(&name.replace('-', "_"))).map(String::as_str)
}

/// Collects all identifiers, including those in macros.
fn collect_identifiers(tokens: TokenStream, identifiers: &mut HashSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(identifier) => drop(identifiers.insert(identifier.to_string())),
            TokenTree::Group(group) => collect_identifiers(group.stream(), identifiers),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_is_used_if_its_name_is_an_identifier() {
        let dependency = |name: &str, rename: Option<&str>| Dependency {
            name: name.to_owned(),
            rename: rename.map(str::to_owned),
        };
        let dependencies =
            vec![dependency("sea-orm", None), dependency("toml", None), dependency("old", Some("new"))];
        let package = WorkspacePackage { manifest_path: PathBuf::new(), dependencies };
        let mut used_names = HashSet::new();
        collect_identifiers("use sea_orm::X; mac!(new::Y); \"toml\";".parse().unwrap(), &mut used_names);
        assert_eq!(unused(&package, &used_names).collect::<Vec<_>>(), ["toml"]);
    }

    #[test]
    fn a_file_belongs_to_the_innermost_crate() {
        let folders = ["".to_owned(), "xtask/".to_owned()];
        assert_eq!(crate_of("xtask/src/main.rs", &folders).unwrap(), "xtask/");
        assert_eq!(crate_of("src/main.rs", &folders).unwrap(), "");
    }
}
