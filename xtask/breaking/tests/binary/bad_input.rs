//! Input that cannot be compared: exit code 2 and a message that names the remedy.

use std::fs::File;
use std::process::{Command, Stdio};

use crate::support::{CONTRACT, Folder, PROGRAM, breaking_contract};

/// Compares a base with the valid document `api.yaml`. Returns the error.
fn base_error(folder: &Folder, base: &str) -> String {
    let outcome = folder.run(&["check", "--base", base, "api.yaml"]);
    assert_eq!((outcome.code, outcome.output.as_str()), (Some(2), ""), "{base}: {outcome:?}");
    outcome.errors
}

#[test]
fn a_base_that_is_not_a_document_is_rejected() {
    let folder = Folder::repository();
    folder.write("api.yaml", CONTRACT);
    folder.write("folder/a.yaml", CONTRACT);
    folder.commit("one");
    folder.write("empty.yaml", "");
    folder.write("binary.yaml", [0x7f, b'E', b'L', b'F', 0xff, 0, 1]);
    folder.write("text.yaml", "hello\n");
    folder.write("conflict.yaml", format!("<<<<<<< HEAD\n{CONTRACT}=======\n{CONTRACT}>>>>>>> other\n"));
    let large = File::create(folder.path().join("large.yaml")).expect("the file can be created");
    large.set_len(32 * 1024 * 1024 + 1).expect("the file can be extended");
    for (base, message) in [
        ("folder", "expected a file, found a folder"),
        ("HEAD:folder", "HEAD:folder is a folder; specify a file"),
        ("empty.yaml", "the file is empty"),
        ("binary.yaml", "is not valid UTF-8 at byte 4"),
        ("text.yaml", "expected an OpenAPI document, found a string"),
        ("conflict.yaml", "invalid YAML"),
        ("large.yaml", "larger than the maximum of 32 MiB"),
        (
            "https://example.com/openapi.yaml",
            "run `curl --fail --location https://example.com/openapi.yaml` first",
        ),
        ("v9", "`v9` is neither a file nor a git revision"),
        ("v9:api.yaml", "`v9` is neither a file nor a git revision"),
        ("--upload-pack=x", "`--upload-pack=x` is neither a file nor a git revision"),
        ("HEAD:other.yaml", "git revision `HEAD` does not contain other.yaml"),
        (":other.yaml", "the index does not contain other.yaml; run `git add other.yaml`"),
        ("other.yaml", "other.yaml does not exist"),
        ("", "--base is empty"),
    ] {
        let base_argument = format!("--base={base}");
        let outcome = folder.run(&["check", &base_argument, "api.yaml"]);
        assert_eq!((outcome.code, outcome.output.as_str()), (Some(2), ""), "{base}: {outcome:?}");
        assert!(outcome.errors.contains(message), "{base}: {}", outcome.errors);
    }
    let outside = Folder::new();
    outside.write("api.yaml", CONTRACT);
    assert!(base_error(&outside, "HEAD").contains("the folder is not a git repository"));
    let both = folder.run(&["check", "--base", "-", "-"]);
    assert!(both.code == Some(2) && both.errors.contains("only one of the documents"), "{both:?}");
    let without_path = folder.run_with_input(&["check", "--base", "HEAD", "-"], CONTRACT);
    assert!(
        without_path.errors.contains("specify the path of the base as `--base HEAD:PATH`"),
        "{without_path:?}"
    );
}

#[test]
fn deep_nesting_is_rejected_or_compared_without_a_stack_overflow() {
    let folder = Folder::new();
    folder.write("api.yaml", CONTRACT);
    let schema = |depth: usize| {
        let nested = "{\"properties\":{\"a\":".repeat(depth) + "{}" + &"}}".repeat(depth);
        format!("{{\"openapi\":\"3.1.0\",\"paths\":{{}},\"components\":{{\"schemas\":{{\"A\":{nested}}}}}}}")
    };
    folder.write("deep.json", schema(100_000));
    assert!(base_error(&folder, "deep.json").contains("nested deeper than 192 levels"));
    folder.write("limit.json", schema(94));
    assert_eq!(folder.run(&["check", "--base", "limit.json", "limit.json"]).code, Some(0));
    let mut aliases = "openapi: 3.1.0\npaths: {}\nx-a0: &a0 [x]\n".to_owned();
    for at in 1..2_000 {
        aliases += &format!("x-a{at}: &a{at} [*a{}]\n", at - 1);
    }
    folder.write("aliases.yaml", aliases);
    assert!(base_error(&folder, "aliases.yaml").contains("nested deeper than 192 levels"));
}

#[test]
fn references_that_cannot_be_followed_are_rejected() {
    let folder = Folder::repository();
    folder.write("../escaped.yaml", "type: string\n");
    folder.write("api.yaml", CONTRACT);
    folder.write("loop.yaml", "$ref: loop.yaml\n");
    for (reference, message) in [
        ("../escaped.yaml", "it leads out of the folder of the document"),
        ("loop.yaml", "circular reference"),
        ("missing.yaml", "the file does not exist"),
    ] {
        let text = format!("openapi: 3.1.0\ncomponents: {{schemas: {{A: {{$ref: {reference}}}}}}}\n");
        folder.write("base.yaml", &text);
        assert!(base_error(&folder, "base.yaml").contains(message), "{reference}");
        folder.commit("base");
        let expected = if reference == "missing.yaml" { "does not contain the file" } else { message };
        let error = base_error(&folder, "HEAD:base.yaml");
        assert!(error.contains(expected), "{reference}: {error}");
    }
    std::fs::remove_file(folder.path().join("../escaped.yaml")).expect("the file can be removed");
}

#[test]
fn closed_or_empty_standard_input_is_rejected() {
    let folder = Folder::new();
    folder.write("api.yaml", CONTRACT);
    for close in ["<&-", "</dev/null"] {
        let outcome = folder.run_script(&format!("openapi-gate check --base - api.yaml {close}"), &[]);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.errors.contains("standard input is empty"), "{outcome:?}");
    }
    let outcome = folder.run_with_input(&["check", "--base", "-", "api.yaml"], &breaking_contract());
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.output.starts_with("api.yaml compared with standard input: 0 breaking"), "{outcome:?}");
}

#[test]
fn a_closed_standard_output_is_not_an_error() {
    let mut command = Command::new(PROGRAM);
    command.args(["rules", "--format", "markdown"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program can be started");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn during_a_rebase_the_versions_of_both_sides_can_be_compared() {
    let folder = Folder::repository();
    folder.write("api.yaml", CONTRACT);
    folder.commit("one");
    folder.git(&["checkout", "--quiet", "-b", "topic"]);
    folder.write("api.yaml", breaking_contract());
    folder.commit("two");
    folder.git(&["checkout", "--quiet", "main"]);
    folder.write("api.yaml", CONTRACT.replace("maxLength: 10", "maxLength: 30"));
    folder.commit("three");
    folder.git(&["checkout", "--quiet", "topic"]);
    let rebase = folder.run_script("git rebase --quiet main", &[]);
    assert_ne!(rebase.code, Some(0), "the rebase stops at a conflict");
    let of_index = folder.run(&["check", "--base", "HEAD", ":api.yaml"]);
    assert_eq!(of_index.code, Some(2), "{of_index:?}");
    assert!(
        of_index.errors.contains("api.yaml has a merge conflict; resolve it and run `git add"),
        "{of_index:?}"
    );
    assert_eq!(folder.run(&["check", "--base", "HEAD", "api.yaml"]).code, Some(2), "it has conflict markers");
    let sides = folder.run(&["check", "--base", "main", "REBASE_HEAD:api.yaml"]);
    assert_eq!(sides.code, Some(0), "20 characters are less than 30: {sides:?}");
    folder.write("api.yaml", CONTRACT);
    folder.git(&["add", "api.yaml"]);
    assert_eq!(folder.run(&["check", "--base", "HEAD", ":api.yaml"]).code, Some(0));
}
