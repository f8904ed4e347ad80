//! Every crate in the build comes from crates.io and is under a licence that lets us ship it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use super::steps::cargo_program;

/// Licences whose terms a notice in the product fulfils.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// Absent for a crate of this workspace.
    source: Option<String>,
}

/// Reads the locked dependencies and names each that may not be used.
///
/// # Errors
/// A crate from elsewhere, or under another licence.
pub(super) fn run() -> Result<()> {
    let output = Command::new(cargo_program())
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(Path::new("Cargo.toml"))
        .output()
        .context("cannot start `cargo metadata`")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).context("cannot read `cargo metadata`")?;
    let faults: Vec<String> = metadata.packages.iter().filter_map(fault).collect();
    for fault in &faults {
        println!("{fault}");
    }
    match faults.len() {
        0 => Ok(()),
        count => {
            bail!("{count} crates may not be used; take others, or weigh the licence and add it to the list")
        }
    }
}

fn fault(package: &Package) -> Option<String> {
    let Package { name, version, license, source } = package;
    let source = source.as_deref()?;
    if !source.starts_with("registry+") && !source.starts_with("sparse+") {
        return Some(format!("{name} {version} comes from {source}, not from a registry"));
    }
    match license {
        None => Some(format!("{name} {version} names no licence")),
        Some(licence) if allowed(licence) => None,
        Some(licence) => Some(format!("{name} {version} is under {licence}")),
    }
}

/// True when the SPDX expression can be fulfilled with allowed licences alone. `/` is the old way to write OR.
fn allowed(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any(&mut rest) && rest.is_empty()
}

fn any(words: &mut &[&str]) -> bool {
    let mut allowed = all(words);
    while words.first() == Some(&"OR") {
        *words = &words[1..];
        allowed |= all(words);
    }
    allowed
}

fn all(words: &mut &[&str]) -> bool {
    let mut allowed = one(words);
    while words.first() == Some(&"AND") {
        *words = &words[1..];
        allowed &= one(words);
    }
    allowed
}

fn one(words: &mut &[&str]) -> bool {
    match **words {
        ["(", ..] => {
            *words = &words[1..];
            let allowed = any(words);
            let closed = words.first() == Some(&")");
            *words = words.get(1..).unwrap_or_default();
            allowed && closed
        }
        // An exception only takes conditions away.
        [name, "WITH", _, ..] => {
            *words = &words[3..];
            ALLOWED.contains(&name)
        }
        [name, ..] => {
            *words = &words[1..];
            ALLOWED.contains(&name)
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_allowed_when_allowed_licences_fulfil_it() {
        for expression in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR MIT",
        ] {
            assert!(allowed(expression), "{expression}");
        }
        for expression in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR GPL-3.0) AND AGPL-3.0", "", "(MIT", "MIT)"]
        {
            assert!(!allowed(expression), "{expression}");
        }
    }
}
