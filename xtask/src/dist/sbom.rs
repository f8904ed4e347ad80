//! The software bill of materials, in the JSON format of CycloneDX 1.6.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::dependencies::{Crate, Dependencies};
use super::{FILES, OUTPUT, Release, sha256};

/// Writes the bill of materials of the program, and returns its path.
///
/// # Errors
/// Returns an error when a file cannot be read or written.
pub(super) fn write(release: &Release, dependencies: &Dependencies) -> Result<PathBuf> {
    let path = Path::new(OUTPUT).join(format!("creator-api-{}.cdx.json", release.version));
    let program = sha256(&fs::read(Path::new(FILES).join("bin/creator-api"))?);
    let document = document(release.epoch, &program, dependencies)?;
    fs::write(&path, format!("{document:#}\n"))
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// Returns the document. `program` is the SHA-256 of the program.
fn document(epoch: u64, program: &str, dependencies: &Dependencies) -> Result<Value> {
    let root = dependencies.root()?;
    let mut application = component(root, "application", dependencies);
    application["hashes"] = json!([{"alg": "SHA-256", "content": program}]);
    let components: Vec<Value> = dependencies
        .crates
        .iter()
        .filter(|package| package.id != root.id)
        .map(|package| component(package, "library", dependencies))
        .collect();
    let reference_of = |id: &String| {
        let package = dependencies.crates.iter().find(|package| package.id == *id);
        package.map(reference)
    };
    let edges: Vec<Value> = dependencies
        .edges
        .iter()
        .map(|(id, others)| {
            let mut others: Vec<String> = others.iter().filter_map(reference_of).collect();
            others.sort_unstable();
            json!({"ref": reference_of(id), "dependsOn": others})
        })
        .collect();
    let timestamp = jiff::Timestamp::from_second(i64::try_from(epoch)?)?;
    Ok(json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": serial_number(&sha256(json!([program, components]).to_string().as_bytes())),
        "version": 1,
        "metadata": {
            "timestamp": timestamp.to_string(),
            "tools": {"components": [{"type": "application", "name": "cargo xtask dist"}]},
            "component": application,
        },
        "components": components,
        "dependencies": edges,
    }))
}

/// Describes a crate.
fn component(package: &Crate, kind: &str, dependencies: &Dependencies) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": reference(package),
        "name": package.name,
        "version": package.version,
    });
    if let Some(license) = &package.license {
        // Old crates separate alternatives with a slash.
        component["licenses"] = json!([{"expression": license.replace(" / ", " OR ").replace('/', " OR ")}]);
    }
    if let Some(description) = &package.description {
        component["description"] = json!(description.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    if package.source.is_some() {
        component["purl"] = json!(reference(package));
    }
    let key = (package.name.clone(), package.version.clone());
    if let Some(checksum) = dependencies.checksums.get(&key) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    if let Some(repository) = &package.repository {
        component["externalReferences"] = json!([{"type": "vcs", "url": repository}]);
    }
    component
}

/// Returns the package URL of a crate of the registry. The crates of this workspace are not in it.
fn reference(package: &Crate) -> String {
    let Crate { name, version, source, .. } = package;
    // A package URL encodes the plus sign.
    let version = version.replace('+', "%2B");
    match source {
        Some(_) => format!("pkg:cargo/{name}@{version}"),
        None => format!("workspace:{name}@{version}"),
    }
}

/// Returns a UUID of the version 8 (RFC 9562) from hexadecimal digits, which identifies the content.
fn serial_number(digits: &str) -> String {
    let [first, second, third, fourth, fifth] =
        [&digits[..8], &digits[8..12], &digits[13..16], &digits[17..20], &digits[20..32]];
    format!("urn:uuid:{first}-{second}-8{third}-8{fourth}-{fifth}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_crate_is_listed_once_with_its_license_and_checksum() {
        std::env::set_current_dir(crate::workspace()).unwrap();
        let dependencies = Dependencies::of_program("x86_64-unknown-linux-gnu").unwrap();
        let document = document(0, &"0".repeat(64), &dependencies).unwrap();
        let components = document["components"].as_array().unwrap();
        assert_eq!(components.len() + 1, dependencies.crates.len());
        let mut references = BTreeSet::from([document["metadata"]["component"]["bom-ref"].as_str().unwrap()]);
        for component in components {
            assert!(references.insert(component["bom-ref"].as_str().unwrap()), "{component}");
            assert!(component["licenses"][0]["expression"].is_string(), "{component}");
            let is_downloaded = component["purl"].is_string();
            assert_eq!(component["hashes"].is_array(), is_downloaded, "{component}");
        }
        let edges = document["dependencies"].as_array().unwrap();
        assert_eq!(edges.len(), dependencies.crates.len());
        for edge in edges {
            assert!(references.contains(edge["ref"].as_str().unwrap()), "{edge}");
            for other in edge["dependsOn"].as_array().unwrap() {
                assert!(references.contains(other.as_str().unwrap()), "{edge}");
            }
        }
    }

    #[test]
    fn the_serial_number_is_a_uuid() {
        assert_eq!(
            serial_number("0123456789abcdef0123456789abcdef"),
            "urn:uuid:01234567-89ab-8def-8123-456789abcdef"
        );
    }
}
