//! The crates that are compiled into the program.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::output;
use crate::test::steps::cargo_command;

/// The name of the root crate.
pub(super) const ROOT: &str = "creator-api";

/// A crate with an exact version.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Crate {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) license: Option<String>,
    pub(super) description: Option<String>,
    pub(super) repository: Option<String>,
    /// `None` for the crates of this workspace.
    pub(super) source: Option<String>,
    pub(super) manifest_path: PathBuf,
}

/// All crates of the program, with what each depends on.
pub(super) struct Dependencies {
    /// Sorted by name and version. The root crate is one of them.
    pub(super) crates: Vec<Crate>,
    /// The ids of the crates on which each crate depends, by its id.
    pub(super) edges: BTreeMap<String, BTreeSet<String>>,
    /// The SHA-256 of the downloaded crates, by name and version.
    pub(super) checksums: HashMap<(String, String), String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Crate>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    /// `None` for a normal dependency.
    kind: Option<String>,
}

#[derive(Deserialize)]
struct LockFile {
    package: Vec<LockedCrate>,
}

#[derive(Deserialize)]
struct LockedCrate {
    name: String,
    version: String,
    checksum: Option<String>,
}

impl Dependencies {
    /// Returns the crates that are compiled into the program for this target: without macros, build scripts and tests.
    ///
    /// # Errors
    /// Returns an error when cargo fails.
    pub(super) fn of_program(target: &str) -> Result<Self> {
        // The features of the program alone. The metadata below unifies them with those of the tests.
        let edges = ["--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"];
        let mut command = cargo_command();
        command.args(["tree", "--locked", "--package", ROOT, "--target", target]).args(edges);
        let compiled = compiled_crates(&output(&mut command)?);

        let mut command = cargo_command();
        command.args(["metadata", "--format-version", "1", "--locked", "--filter-platform", target]);
        let metadata: Metadata = serde_json::from_str(&output(&mut command)?)
            .context("cannot parse the output of `cargo metadata`")?;
        let is_compiled =
            |package: &Crate| compiled.contains(&(package.name.clone(), package.version.clone()));
        let mut crates: Vec<Crate> = metadata.packages.into_iter().filter(is_compiled).collect();
        crates.sort_by(|left, right| (&left.name, &left.version).cmp(&(&right.name, &right.version)));
        let ids: BTreeSet<&str> = crates.iter().map(|package| package.id.as_str()).collect();
        let nodes = metadata.resolve.nodes.into_iter().filter(|node| ids.contains(node.id.as_str()));
        let edges = nodes.map(|node| {
            let normal = node.deps.into_iter().filter(|dependency| {
                let is_normal = dependency.dep_kinds.iter().any(|kind| kind.kind.is_none());
                is_normal && ids.contains(dependency.pkg.as_str())
            });
            (node.id, normal.map(|dependency| dependency.pkg).collect())
        });
        let edges = edges.collect();
        let lock: LockFile =
            toml::from_str(&fs::read_to_string("Cargo.lock")?).context("cannot parse Cargo.lock")?;
        let checksums = lock
            .package
            .into_iter()
            .filter_map(|locked| Some(((locked.name, locked.version), locked.checksum?)));
        Ok(Self { crates, edges, checksums: checksums.collect() })
    }

    /// Returns the root crate.
    pub(super) fn root(&self) -> Result<&Crate> {
        self.crates.iter().find(|package| package.name == ROOT).context("the root crate is missing")
    }
}

/// Returns the names and versions in the output of `cargo tree`, such as `serde v1.0.0 (*)`.
fn compiled_crates(tree: &str) -> BTreeSet<(String, String)> {
    let crates = tree.lines().filter_map(|line| {
        let mut words = line.split(' ');
        Some((words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned()))
    });
    crates.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crates_of_the_program_are_connected_and_without_those_of_tests_and_build_scripts() {
        std::env::set_current_dir(crate::workspace()).unwrap();
        let dependencies = Dependencies::of_program("x86_64-unknown-linux-gnu").unwrap();
        let has = |name: &str| dependencies.crates.iter().any(|package| package.name == name);
        assert!(has("tokio") && has("libsqlite3-sys") && has("domain"));
        for other in ["fantoccini", "cc", "serde_derive", "insta", "xtask"] {
            assert!(!has(other), "{other} is not part of the program");
        }
        let mut reached = BTreeSet::from([dependencies.root().unwrap().id.as_str()]);
        let mut pending: Vec<&str> = reached.iter().copied().collect();
        while let Some(id) = pending.pop() {
            pending.extend(dependencies.edges[id].iter().map(String::as_str).filter(|id| reached.insert(id)));
        }
        let unreached: Vec<&Crate> =
            dependencies.crates.iter().filter(|package| !reached.contains(package.id.as_str())).collect();
        assert!(unreached.is_empty(), "{unreached:?}");
    }
}
