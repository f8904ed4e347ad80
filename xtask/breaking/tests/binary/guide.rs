//! `guide`.

use std::fs;
use std::path::Path;

use crate::support::{CONTRACT, Folder, breaking_contract};

const OLD: &str = include_str!("../cases/guide-old.yaml");
const NEW: &str = include_str!("../cases/guide-new.yaml");

#[test]
fn breaking_changes_do_not_change_the_exit_code() {
    let folder = Folder::repository();
    folder.write("openapi.yaml", CONTRACT);
    folder.commit("one");
    folder.write("openapi.yaml", breaking_contract());
    let guide = folder.run(&["guide", "--base", "HEAD", "openapi.yaml"]);
    assert_eq!((guide.code, guide.errors.as_str()), (Some(0), ""), "{guide:?}");
    assert!(guide.output.contains("`name`: `maxLength` changed from 10 to 20"), "{guide:?}");
    let unchanged = folder.run(&["guide", "--base", "HEAD", "HEAD:openapi.yaml"]);
    assert_eq!(unchanged.code, Some(0), "{unchanged:?}");
    assert!(unchanged.output.ends_with("\n\nClients of the old version need no changes.\n"), "{unchanged:?}");
}

#[test]
fn a_guide_compares_the_operations_of_two_versions() {
    let folder = Folder::new();
    folder.write("v1.yaml", OLD);
    folder.write("v2.yaml", OLD.replace("/v1/", "/v2/"));
    let guide = folder.run(&["guide", "--base", "v1.yaml", "v2.yaml"]);
    let text = "All paths begin with `/v2/` instead of `/v1/`. Examples show the new paths.\n\n\
                Clients of the old version need no further changes.\n";
    assert!(guide.code == Some(0) && guide.output.ends_with(text), "{guide:?}");
    let check = folder.run(&["check", "--base", "v1.yaml", "v2.yaml"]);
    assert!(check.code == Some(1) && check.output.contains("was removed"), "{check:?}");
}

#[test]
fn a_document_that_cannot_be_read_is_an_error() {
    let folder = Folder::new();
    folder.write("openapi.yaml", CONTRACT);
    let missing = folder.run(&["guide", "--base", "openapi.yaml", "missing.yaml"]);
    assert_eq!((missing.code, missing.output.as_str()), (Some(2), ""), "{missing:?}");
    assert!(missing.errors.contains("missing.yaml does not exist"), "{missing:?}");
    folder.write("broken.yaml", "openapi: [\n");
    assert_eq!(folder.run(&["guide", "--base", "openapi.yaml", "broken.yaml"]).code, Some(2));
    let help = folder.run(&["guide", "--help"]);
    assert!(help.code == Some(0) && help.output.contains("--base <DOCUMENT>"), "{help:?}");
    assert!(!help.output.contains("--format"), "{help:?}");
}

#[test]
fn the_readme_contains_a_part_of_a_guide() {
    let folder = Folder::new();
    folder.write("old.yaml", OLD);
    folder.write("new.yaml", NEW);
    let guide = folder.run(&["guide", "--base", "old.yaml", "new.yaml"]);
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md")).unwrap();
    let (_, excerpt) = readme.split_once("````markdown\n").expect("the README contains an excerpt");
    let (excerpt, _) = excerpt.split_once("````").expect("the excerpt ends");
    assert!(guide.output.contains(excerpt), "{guide:?}");
}
