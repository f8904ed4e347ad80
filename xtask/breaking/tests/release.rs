//! Tests of releases.

use std::fs;

use super::super::finding::Finding;
use super::super::{Compatibility, ReleaseArgs, release};
use super::TODAY;
use super::gate::{
    BASE, RELEASED, WAIVERS, compare_with_base, git, repository, repository_and_clone, revision, waiver,
};

fn v1() -> ReleaseArgs {
    ReleaseArgs { contract: "openapi/v1.yaml".to_owned() }
}

#[test]
fn a_release_requires_a_compatible_contract() {
    let directory = repository();
    let path = directory.path();
    let released = path.join("openapi/released/v1.yaml");
    fs::write(path.join("openapi/v1.yaml"), BASE).unwrap();
    assert_eq!(release(path, &v1()).unwrap(), Compatibility::Compatible);
    assert_eq!(fs::read_to_string(&released).unwrap(), BASE);
    fs::write(path.join("openapi/v1.yaml"), revision()).unwrap();
    assert_eq!(release(path, &v1()).unwrap(), Compatibility::Breaking);
    assert_eq!(fs::read_to_string(&released).unwrap(), BASE, "the released contract was not changed");
    let finding = compare_with_base(None, TODAY).unwrap().findings.into_iter().find(Finding::breaks).unwrap();
    let waivers = path.join("openapi/released/waivers.toml");
    fs::write(&waivers, waiver(&finding.fingerprint, "2099-01-01")).unwrap();
    assert_eq!(release(path, &v1()).unwrap(), Compatibility::Compatible);
    assert_eq!(fs::read_to_string(&released).unwrap(), revision());
    assert!(!waivers.exists(), "the waivers are deleted");
    fs::write(&waivers, waiver(&finding.fingerprint, "2099-01-01")).unwrap();
    let error = format!("{:#}", release(path, &v1()).unwrap_err());
    assert!(error.starts_with("openapi/released/v1.yaml was not changed: no verdict"), "{error}");
    assert!(error.contains("matches no finding; remove it"), "{error}");
}

#[test]
fn waivers_of_the_target_branch_do_not_apply_to_a_release() {
    let (repository, directory) = repository_and_clone();
    let finding = compare_with_base(None, TODAY).unwrap().findings.into_iter().find(Finding::breaks).unwrap();
    fs::write(repository.path().join(WAIVERS), waiver(&finding.fingerprint, "2099-01-01")).unwrap();
    git(repository.path(), &["add", "."]);
    git(repository.path(), &["commit", "--quiet", "--message", "four"]);
    let clone = directory.path().join("clone");
    git(&clone, &["fetch", "--quiet"]);
    // An earlier release on this branch has deleted the waivers.
    fs::write(clone.join("openapi/v1.yaml"), revision()).unwrap();
    assert_eq!(release(&clone, &v1()).unwrap(), Compatibility::Breaking);
    assert_eq!(fs::read_to_string(clone.join(RELEASED)).unwrap(), BASE);
}
