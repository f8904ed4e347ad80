//! Every crate in the build comes from where it may, is none that is banned, and is under a licence that lets us ship it.
//!
//! What may be is written in `.deny.toml`, in the words of cargo-deny; this reads the part of them that it needs.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use spdx::{Expression, ParseMode};

use super::steps::cargo_program;

/// The rules, at the workspace's root.
const RULES: &str = ".deny.toml";

#[derive(Deserialize)]
struct Rules {
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

#[derive(Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    allow_registry: Vec<String>,
}

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
/// A crate from elsewhere, a banned one, or one under another licence.
pub(super) fn run() -> Result<()> {
    let rules: Rules =
        toml::from_str(&fs::read_to_string(RULES).with_context(|| format!("cannot read {RULES}"))?)
            .with_context(|| format!("cannot read {RULES}"))?;
    let output = Command::new(cargo_program())
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path", "Cargo.toml"])
        .output()
        .context("cannot start `cargo metadata`")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).context("cannot read `cargo metadata`")?;
    let faults: Vec<String> = metadata.packages.iter().filter_map(|package| rules.fault(package)).collect();
    for fault in &faults {
        println!("{fault}");
    }
    match faults.len() {
        0 => Ok(()),
        count => {
            bail!("{count} crates may not be used; take others, or weigh the reason and add it to {RULES}")
        }
    }
}

impl Rules {
    fn fault(&self, Package { name, version, license, source }: &Package) -> Option<String> {
        let source = source.as_deref()?;
        let known = source
            .strip_prefix("registry+")
            .is_some_and(|registry| self.sources.allow_registry.iter().any(|allowed| allowed == registry));
        if !known {
            return Some(format!("{name} {version} comes from {source}"));
        }
        if self.bans.deny.iter().any(|ban| ban.name == *name) {
            return Some(format!("{name} {version} is banned"));
        }
        match license {
            None => Some(format!("{name} {version} names no licence")),
            Some(licence) if self.allow(licence) => None,
            Some(licence) => Some(format!("{name} {version} is under {licence}")),
        }
    }

    /// True when the SPDX expression can be fulfilled with allowed licences alone. An exception only takes conditions
    /// away.
    fn allow(&self, expression: &str) -> bool {
        let Ok(expression) = Expression::parse_mode(expression, ParseMode::LAX) else { return false };
        expression.evaluate(|needed| {
            let id = needed.license.id().map(|id| id.name);
            id.is_some_and(|id| self.licenses.allow.iter().any(|allowed| allowed == id))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        toml::from_str(
            r#"
            licenses.allow = ["MIT", "Unicode-3.0"]
            bans.deny = [{ crate = "openssl-sys" }]
            sources.allow-registry = ["https://registry.example"]
            "#,
        )
        .unwrap()
    }

    fn fault(name: &str, licence: Option<&str>, source: &str) -> Option<String> {
        let package = Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: licence.map(str::to_owned),
            source: Some(source.to_owned()),
        };
        rules().fault(&package)
    }

    #[test]
    fn an_expression_is_allowed_when_allowed_licences_fulfil_it() {
        let rules = rules();
        for expression in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR MIT",
        ] {
            assert!(rules.allow(expression), "{expression}");
        }
        for expression in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR GPL-3.0) AND AGPL-3.0", "", "(MIT", "MIT)"]
        {
            assert!(!rules.allow(expression), "{expression}");
        }
    }

    #[test]
    fn a_crate_from_elsewhere_or_banned_or_without_licence_is_named() {
        let known = "registry+https://registry.example";
        assert_eq!(fault("a", Some("MIT"), known), None);
        assert_eq!(
            fault("a", Some("MIT"), "git+https://elsewhere.example").as_deref(),
            Some("a 1.0.0 comes from git+https://elsewhere.example")
        );
        assert_eq!(fault("openssl-sys", Some("MIT"), known).as_deref(), Some("openssl-sys 1.0.0 is banned"));
        assert_eq!(fault("a", None, known).as_deref(), Some("a 1.0.0 names no licence"));
        assert_eq!(fault("a", Some("GPL-3.0"), known).as_deref(), Some("a 1.0.0 is under GPL-3.0"));
    }
}
