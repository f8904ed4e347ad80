//! The diff driver for git: names of files, and files that were added, deleted or renamed.

use crate::support::{CONTRACT, Folder, breaking_contract};

/// Creates a repository in which all YAML files are shown by the driver.
fn repository() -> Folder {
    let folder = Folder::repository();
    folder.write(".gitattributes", "*.yaml diff=openapi\n");
    folder.git(&["config", "diff.openapi.command", "openapi-gate git-diff"]);
    folder.commit("one");
    folder
}

/// Returns the part of a diff about a file.
fn part<'a>(diff: &'a str, header: &str) -> &'a str {
    let start = diff.find(&format!("openapi-gate {header}\n"));
    let start = start.unwrap_or_else(|| panic!("`{header}` is missing: {diff}"));
    let rest = &diff[start..];
    rest[1..].find("openapi-gate ").map_or(rest, |end| &rest[..=end])
}

/// Names of files that look like options, commands or several names.
const NAMES: [&str; 9] = [
    "my api.yaml",
    "-x.yaml",
    "-h.yaml",
    "--help.yaml",
    "--.yaml",
    "API entwürfe/ünï.yaml",
    "it's \"$HOME\" `id`.yaml",
    "a:b.yaml",
    "HEAD:c.yaml",
];

#[test]
fn files_can_have_any_name() {
    let folder = repository();
    for name in NAMES {
        folder.write(name, CONTRACT);
    }
    folder.commit("two");
    for name in NAMES {
        folder.write(name, breaking_contract());
    }
    for args in [&["diff"][..], &["diff", "HEAD"]] {
        let diff = folder.git(args);
        for name in NAMES {
            let change = format!(
                "`maxLength` changed from 10 to 20\n    response-property-max-length-increased at b/{name}:17:40"
            );
            assert!(part(&diff, name).contains(&change), "{name}: {diff}");
        }
    }
    folder.commit("three");
    let shown = folder.git(&["show", "--ext-diff"]);
    for name in NAMES {
        assert!(
            part(&shown, name).contains(&format!("b/{name} compared with a/{name}: 1 breaking")),
            "{shown}"
        );
    }
    // A control character is not printed.
    folder.write("a\tb\u{1b}[31m.yaml", CONTRACT);
    folder.git(&["add", "."]);
    let diff = folder.git(&["diff", "--cached"]);
    assert!(!diff.contains(['\t', '\u{1b}']) && diff.contains("the document was added"), "{diff:?}");
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_utf_8_is_explained() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let folder = repository();
    let path = folder.path().join(OsStr::from_bytes(b"a\xff.yaml"));
    std::fs::write(&path, CONTRACT).unwrap();
    folder.write("z.yaml", CONTRACT);
    folder.commit("two");
    std::fs::write(&path, breaking_contract()).unwrap();
    folder.write("z.yaml", breaking_contract());
    let diff = folder.git(&["diff"]);
    assert!(diff.contains("the name of the document is not UTF-8"), "{diff}");
    assert!(part(&diff, "z.yaml").contains("1 breaking change"), "{diff}");
}

#[test]
fn added_deleted_and_renamed_documents_are_shown() {
    let folder = repository();
    folder
        .write("old folder/api.yaml", CONTRACT.replace("{type: string, maxLength: 10}", "{$ref: name.yaml}"));
    folder.write("old folder/name.yaml", "{type: string, maxLength: 10}\n");
    folder.write("deleted.yaml", "openapi: 3.1.0\npaths: {}\n");
    folder.write("moved.yaml", CONTRACT);
    folder.commit("two");
    folder.git(&["mv", "--", "moved.yaml", "-moved to.yaml"]);
    folder.write("-moved to.yaml", breaking_contract());
    folder.git(&["rm", "--quiet", "deleted.yaml"]);
    folder.write("added.yaml", "components: {}\n");
    folder.git(&["add", "--all"]);
    let diff = folder.git(&["diff", "--cached", "--find-renames"]);
    assert!(part(&diff, "added.yaml").ends_with("\nthe document was added\n"), "{diff}");
    assert!(part(&diff, "deleted.yaml").ends_with("\nthe document was deleted\n"), "{diff}");
    let moved = part(&diff, "moved.yaml -> -moved to.yaml");
    assert!(moved.contains("at b/-moved to.yaml:17:40"), "{diff}");
    assert!(moved.contains("b/-moved to.yaml compared with a/moved.yaml: 1 breaking change"), "{diff}");
    // The files to which a renamed document refers are beside its new name.
    folder.commit("three");
    folder.git(&["mv", "old folder", "new folder"]);
    let diff = folder.git(&["diff", "--cached", "--find-renames"]);
    let moved = part(&diff, "old folder/api.yaml -> new folder/api.yaml");
    assert!(moved.contains(": 0 breaking changes, 0 warnings, 0 harmless changes"), "{diff}");
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_is_not_compared() {
    let folder = repository();
    let link_to = |target: &str| {
        let _ = std::fs::remove_file(folder.path().join("api.yaml"));
        std::os::unix::fs::symlink(target, folder.path().join("api.yaml")).unwrap();
    };
    link_to("one.yaml");
    folder.commit("two");
    link_to("two.yaml");
    let diff = folder.git(&["diff"]);
    assert_eq!(diff, "openapi-gate api.yaml\nthe document is a symbolic link\n");
}
