//! Tests of releases.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use super::super::finding::Finding;
use super::super::{Compatibility, ReleaseArgs, release, today};
use super::TODAY;
use super::gate::{
    BASE, RELEASED, WAIVERS, compare_with_base, git, repository, repository_and_clone, revision, waiver,
};

fn v1() -> ReleaseArgs {
    ReleaseArgs { contract: "openapi/v1.yaml".to_owned() }
}

/// Writes the contract and releases it.
fn release_text(workspace: &Path, contract: &str) -> anyhow::Result<Compatibility> {
    fs::write(workspace.join("openapi/v1.yaml"), contract).unwrap();
    release(workspace, &v1())
}

/// Returns the changelog, with `TODAY` instead of the date.
fn changelog(workspace: &Path) -> String {
    let text = fs::read_to_string(workspace.join("openapi/CHANGELOG.md")).unwrap();
    text.replace(&today().to_string(), "TODAY")
}

/// Returns the contract with another version.
fn with_version(contract: &str, version: &str) -> String {
    contract.replace("version: 1.0.0", &format!("version: {version}"))
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
    assert_eq!(release_text(path, &with_version(&revision(), "1.1.0")).unwrap(), Compatibility::Compatible);
    assert_eq!(fs::read_to_string(&released).unwrap(), with_version(&revision(), "1.1.0"));
    assert_snapshot!(changelog(path), @r"
    # Changelog

    ## v1 1.1.0 - TODAY

    ### Breaking

    - `getA`: `maxLength` changed from 10 to 20 (`200 -> name`). A client that relies on the old bounds receives values outside them.

    ## v1 1.0.0 - TODAY

    ### Added

    - First release.
    ");
    assert!(!waivers.exists(), "the waivers are deleted");
    fs::write(&waivers, waiver(&finding.fingerprint, "2099-01-01")).unwrap();
    let error = format!("{:#}", release(path, &v1()).unwrap_err());
    assert!(error.starts_with("openapi/released/v1.yaml was not changed: no verdict"), "{error}");
    assert!(error.contains("matches no finding; remove it"), "{error}");
}

#[test]
fn a_release_adds_its_changes_to_the_changelog() {
    let directory = repository();
    let path = directory.path();
    release_text(path, BASE).unwrap();
    let first = "# Changelog\n\n## v1 1.0.0 - TODAY\n\n### Added\n\n- First release.\n";
    assert_eq!(changelog(path), first);
    // A description is not visible to clients, so the version may stay.
    release_text(path, &BASE.replace("Fine.", "The item.")).unwrap();
    assert_eq!(changelog(path), first);

    let operation =
        "  /b:\n    get:\n      operationId: getB\n      responses: {'204': {description: Done.}}\n";
    let shared = "                  detail: {$ref: '#/components/schemas/Detail'}\n";
    let schema = "components: {schemas: {Detail: {type: string}}}\n";
    let added = format!("{BASE}{shared}{operation}{schema}");
    let error = format!("{:#}", release_text(path, &added).unwrap_err());
    assert!(
        error.starts_with("openapi/released/v1.yaml was not changed: ")
            && error.ends_with("version 1.0.0 was not increased; increase `info.version`"),
        "{error}"
    );
    let added = with_version(&added, "1.1.0");
    assert_eq!(release_text(path, &added).unwrap(), Compatibility::Compatible);
    let deprecated = added.replace(
        "      operationId: getB",
        "      deprecated: true\n      x-sunset: 2099-01-01\n      operationId: getB",
    );
    release_text(path, &deprecated.replace("1.1.0", "1.2.0")).unwrap();
    release_text(path, &deprecated.replace("1.1.0", "1.2.1")).unwrap();
    assert_snapshot!(changelog(path), @r"
    # Changelog

    ## v1 1.2.1 - TODAY

    ### Changed

    - Only descriptions and examples changed.

    ## v1 1.2.0 - TODAY

    ### Deprecations

    - `getB`: deprecated with sunset on 2099-01-01. Stop using it before this day.

    ## v1 1.1.0 - TODAY

    ### Added

    - `getA`: the optional property `detail` was added (`200 -> detail`).
    - `getB`: `GET /b` was added.

    ## v1 1.0.0 - TODAY

    ### Added

    - First release.
    ");

    let error = release_text(path, &deprecated.replace("1.1.0", "1.0.9")).unwrap_err();
    assert!(format!("{error:#}").contains("decreased from 1.2.1 to 1.0.9"), "{error:#}");
}

#[test]
fn the_changelog_names_webhooks_as_receivers_know_them() {
    let directory = repository();
    let path = directory.path();
    let webhook = "webhooks:\n  thing.made:\n    post:\n      operationId: onThingMade\n      requestBody:\n        \
                   content: {application/json: {schema: {type: object, properties: {a: {type: string}}}}}\n      \
                   responses: {'200': {description: Fine.}}\n";
    release_text(path, &format!("{BASE}{webhook}")).unwrap();
    let added = webhook.replace("{a: {type: string}}", "{a: {type: string}, b: {type: string}}");
    release_text(path, &with_version(&format!("{BASE}{added}"), "1.1.0")).unwrap();
    assert!(
        changelog(path).contains("- `thing.made`: the optional property `b` was added"),
        "{}",
        changelog(path)
    );
}

#[test]
fn a_release_does_not_repeat_a_version_of_the_changelog() {
    let directory = repository();
    let path = directory.path();
    let file = path.join("openapi/CHANGELOG.md");
    let text = "Written by hand.\n\n## v1 1.0.0 - 2026-01-01\n\nEarlier.\n";
    fs::write(&file, text).unwrap();
    let error = format!("{:#}", release_text(path, BASE).unwrap_err());
    assert!(error.starts_with("openapi/CHANGELOG.md already contains v1 1.0.0"), "{error}");
    assert!(!path.join(RELEASED).exists());
    assert_eq!(fs::read_to_string(&file).unwrap(), text);

    release_text(path, &with_version(BASE, "1.0.0-rc.1")).unwrap();
    let title = "Written by hand.\n\n## v1 1.0.0-rc.1 - TODAY\n\n### Added\n\n- First release.\n\n";
    assert_eq!(changelog(path), text.replace("Written by hand.\n\n", title));
}

#[test]
fn the_changelog_begins_with_the_released_versions() {
    let openapi = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../openapi");
    let changelog = fs::read_to_string(openapi.join("CHANGELOG.md")).unwrap();
    for contract in ["v1", "developer-v1", "platform-v1"] {
        let released = fs::read_to_string(openapi.join(format!("released/{contract}.yaml"))).unwrap();
        let version = released.lines().find_map(|line| line.strip_prefix("  version: ")).unwrap();
        let newest = changelog.lines().find(|line| line.starts_with(&format!("## {contract} "))).unwrap();
        assert!(newest.starts_with(&format!("## {contract} {version} - ")), "{newest}");
    }
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
