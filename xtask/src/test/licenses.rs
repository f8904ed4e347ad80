//! Checks the sources, the bans and the licenses of all dependencies.
//!
//! The rules are in `.deny.toml`, in the format of cargo-deny. This step reads only the rules that it needs.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use spdx::{Expression, ParseMode};

use super::steps::cargo_program;

/// The file of the rules, in the root of the workspace.
const RULES: &str = ".deny.toml";

#[derive(Deserialize)]
struct DenyRules {
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
struct LockedMetadata {
    packages: Vec<LockedPackage>,
}

#[derive(Deserialize)]
struct LockedPackage {
    name: String,
    version: String,
    license: Option<String>,
    /// `None` for a local crate, such as those of this workspace.
    source: Option<String>,
}

/// Checks all locked dependencies and prints each violation.
///
/// # Errors
/// Returns an error when a dependency comes from a source that is not allowed, is banned, or has no allowed license,
/// and when the rules or the dependencies cannot be read.
pub(super) fn run() -> Result<()> {
    let rules: DenyRules =
        toml::from_str(&fs::read_to_string(RULES).with_context(|| format!("cannot read {RULES}"))?)
            .with_context(|| format!("cannot read {RULES}"))?;
    let output = Command::new(cargo_program())
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path", "Cargo.toml"])
        .output()
        .context("cannot start `cargo metadata`")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let metadata: LockedMetadata =
        serde_json::from_slice(&output.stdout).context("cannot parse the output of `cargo metadata`")?;
    let violations: Vec<String> =
        metadata.packages.iter().filter_map(|package| rules.violation(package)).collect();
    for violation in &violations {
        println!("{violation}");
    }
    match violations.len() {
        0 => Ok(()),
        count => {
            bail!(
                "dependencies that are not allowed: {count}; replace them, or extend {RULES} if there is a good reason"
            )
        }
    }
}

impl DenyRules {
    fn violation(&self, LockedPackage { name, version, license, source }: &LockedPackage) -> Option<String> {
        let source = source.as_deref()?;
        let is_allowed_source = source
            .strip_prefix("registry+")
            .is_some_and(|registry| self.sources.allow_registry.iter().any(|allowed| allowed == registry));
        if !is_allowed_source {
            return Some(format!("{name} {version} comes from {source}"));
        }
        if self.bans.deny.iter().any(|ban| ban.name == *name) {
            return Some(format!("{name} {version} is banned"));
        }
        match license {
            None => Some(format!("{name} {version} has no license")),
            Some(license) if self.is_allowed(license) => None,
            Some(license) => Some(format!("{name} {version} has the license {license}")),
        }
    }

    /// Returns whether allowed licenses satisfy the SPDX expression. Exceptions are ignored, because they only remove
    /// conditions.
    fn is_allowed(&self, expression: &str) -> bool {
        let Ok(expression) = Expression::parse_mode(expression, ParseMode::LAX) else { return false };
        expression.evaluate(|requirement| {
            let id = requirement.license.id().map(|id| id.name);
            id.is_some_and(|id| self.licenses.allow.iter().any(|allowed| allowed == id))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> DenyRules {
        toml::from_str(
            r#"
            licenses.allow = ["MIT", "Unicode-3.0"]
            bans.deny = [{ crate = "openssl-sys" }]
            sources.allow-registry = ["https://registry.example"]
            "#,
        )
        .unwrap()
    }

    fn violation(name: &str, license: Option<&str>, source: &str) -> Option<String> {
        let package = LockedPackage {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: license.map(str::to_owned),
            source: Some(source.to_owned()),
        };
        rules().violation(&package)
    }

    #[test]
    fn an_expression_is_allowed_if_allowed_licenses_satisfy_it() {
        let rules = rules();
        for expression in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR MIT",
        ] {
            assert!(rules.is_allowed(expression), "{expression}");
        }
        for expression in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR GPL-3.0) AND AGPL-3.0", "", "(MIT", "MIT)"]
        {
            assert!(!rules.is_allowed(expression), "{expression}");
        }
    }

    #[test]
    fn a_crate_with_another_source_or_a_ban_or_no_license_is_reported() {
        let allowed_source = "registry+https://registry.example";
        assert_eq!(violation("a", Some("MIT"), allowed_source), None);
        assert_eq!(
            violation("a", Some("MIT"), "git+https://elsewhere.example").as_deref(),
            Some("a 1.0.0 comes from git+https://elsewhere.example")
        );
        assert_eq!(
            violation("openssl-sys", Some("MIT"), allowed_source).as_deref(),
            Some("openssl-sys 1.0.0 is banned")
        );
        assert_eq!(violation("a", None, allowed_source).as_deref(), Some("a 1.0.0 has no license"));
        assert_eq!(
            violation("a", Some("GPL-3.0"), allowed_source).as_deref(),
            Some("a 1.0.0 has the license GPL-3.0")
        );
    }
}
