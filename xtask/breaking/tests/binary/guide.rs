//! `guide`.

use crate::support::{CONTRACT, Folder, breaking_contract};

#[test]
fn breaking_changes_do_not_change_the_exit_code() {
    let folder = Folder::repository();
    folder.write("openapi.yaml", CONTRACT);
    folder.commit("one");
    folder.write("openapi.yaml", breaking_contract());
    let guide = folder.run(&["guide", "--base", "HEAD", "openapi.yaml"]);
    assert_eq!((guide.code, guide.errors.as_str()), (Some(0), ""), "{guide:?}");
    assert!(guide.output.contains("field `name`: `maxLength` changed from 10 to 20"), "{guide:?}");
    let unchanged = folder.run(&["guide", "--base", "HEAD", "HEAD:openapi.yaml"]);
    assert_eq!(unchanged.code, Some(0), "{unchanged:?}");
    assert!(unchanged.output.ends_with("\n\nClients of the old version need no changes.\n"), "{unchanged:?}");
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
