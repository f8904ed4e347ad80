//! Names that can be both those of files and of git revisions.

use crate::support::{CONTRACT, Folder, breaking_contract};

/// Creates a repository whose working tree contains files with the names of revisions.
fn repository() -> Folder {
    let folder = Folder::repository();
    folder.write("api.yaml", CONTRACT);
    folder.commit("one");
    folder.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    for name in ["api.yaml", "HEAD", "HEAD:api.yaml", ":api.yaml", "origin/main", "origin/main:api.yaml"] {
        folder.write(name, breaking_contract());
    }
    folder
}

#[test]
fn a_file_with_the_name_of_a_revision_does_not_replace_the_base() {
    let folder = repository();
    for (base, revision) in [
        ("origin/main", "refs/remotes/origin/main"),
        ("origin/main:api.yaml", "refs/remotes/origin/main:api.yaml"),
        ("HEAD", "refs/heads/main"),
        ("HEAD:api.yaml", "refs/heads/main:api.yaml"),
        (":api.yaml", ":0:api.yaml"),
    ] {
        let check = |base: &str| folder.run(&["check", "--base", base, "api.yaml"]);
        let ambiguous = check(base);
        assert_eq!((ambiguous.code, ambiguous.output.as_str()), (Some(2), ""), "{base}: {ambiguous:?}");
        let message =
            format!("`{base}` is ambiguous; write `./{base}` for the file or `{revision}` for the revision");
        assert!(ambiguous.errors.contains(&message), "{base}: {ambiguous:?}");
        assert_eq!(check(&format!("./{base}")).code, Some(0), "{base}: the file is equal");
        assert_eq!(check(revision).code, Some(1), "{base}: the revision is different");
    }
    folder.git(&["checkout", "--quiet", "--detach"]);
    let detached = folder.run(&["check", "--base", "HEAD", "api.yaml"]);
    assert!(detached.errors.contains("or `HEAD^{commit}` for the revision"), "{detached:?}");
    assert_eq!(folder.run(&["check", "--base", "HEAD^{commit}", "api.yaml"]).code, Some(1));
}

#[test]
fn revisions_of_a_bare_repository_are_compared() {
    let folder = Folder::repository();
    folder.write("api.yaml", CONTRACT);
    folder.commit("one");
    folder.write("api.yaml", breaking_contract());
    folder.commit("two");
    folder.git(&["clone", "--quiet", "--bare", ".", "bare"]);
    let compare = "cd bare && openapi-gate check --base main~1:api.yaml main:api.yaml";
    let outcome = folder.run_script(compare, &[]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.output.contains("1 breaking change, 0 warnings"), "{outcome:?}");
}

#[test]
fn a_file_with_the_name_of_a_revision_does_not_replace_the_waivers() {
    let folder = repository();
    let base = "refs/remotes/origin/main";
    let outcome = folder.run(&["check", "--base", base, "--waivers", "origin/main", "api.yaml"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.errors.contains("`origin/main` is ambiguous"), "{outcome:?}");
}
