//! The integrations that `xtask/README.md` describes: each is taken from it and used in a new repository.

use std::fs;
use std::path::Path;

use contract::source::Source;
use contract::yaml::{AliasPolicy, read_with};

use serde_json::Value;

use crate::support::{CONTRACT, Folder, PROGRAM, breaking_contract};

/// Returns the first code block of the README after a text.
fn code_after(text: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = fs::read_to_string(path).expect("the README can be read");
    let (_, after) = readme.split_once(text).unwrap_or_else(|| panic!("`{text}` is missing in the README"));
    let (_, block) = after.split_once("```").expect("a code block begins");
    let (_, block) = block.split_once('\n').expect("the first line is the language");
    block.split_once("```").expect("the code block ends").0.to_owned()
}

/// Creates a repository with the contract on `main`.
fn repository() -> Folder {
    let folder = Folder::repository();
    folder.write("openapi.yaml", CONTRACT);
    folder.commit("one");
    folder
}

/// Returns the steps of the workflow in the README.
fn workflow_steps() -> Vec<Value> {
    let block = code_after("**In CI** (here GitHub Actions), a complete workflow");
    let mut diagnostics = Vec::new();
    let workflow = read_with(&Source::new("workflow.yaml", block), AliasPolicy::Expand, &mut diagnostics)
        .expect("the workflow is YAML")
        .to_json();
    assert_eq!(workflow["on"], "pull_request");
    workflow["jobs"]["compare"]["steps"].as_array().expect("the job has steps").clone()
}

/// Clones a repository as the checkout step does.
fn clone(origin: &Folder) -> Folder {
    let clone = Folder::new();
    clone.git(&["clone", "--quiet", "--depth", "1", &format!("file://{}", origin.path().display()), "."]);
    clone.git(&["config", "user.name", "T"]);
    clone.git(&["config", "user.email", "t@example.com"]);
    clone.git(&["checkout", "--quiet", "-b", "topic"]);
    clone
}

#[test]
fn the_workflow_fails_for_a_breaking_change_of_a_pull_request() {
    let steps = workflow_steps();
    let script = steps.last().and_then(|step| step["run"].as_str()).expect("a `run` step");
    let run = |clone: &Folder| clone.run_script(script, &[("GITHUB_BASE_REF", "main"), ("CI", "true")]);
    let origin = repository();
    let clone_of_repository = clone(&origin);
    let unchanged = run(&clone_of_repository);
    assert_eq!((unchanged.code, unchanged.errors.as_str()), (Some(0), ""), "{unchanged:?}");
    clone_of_repository.write("openapi.yaml", breaking_contract());
    clone_of_repository.commit("two");
    let breaking = run(&clone_of_repository);
    assert_eq!(breaking.code, Some(1), "{breaking:?}");
    assert!(breaking.output.starts_with("::error file=openapi.yaml,line=17,"), "{breaking:?}");
    clone_of_repository.git(&["mv", "openapi.yaml", "renamed.yaml"]);
    clone_of_repository.commit("three");
    assert_eq!(run(&clone_of_repository).code, Some(2), "the contract cannot be moved away");
    // The first contract.
    let origin = Folder::repository();
    origin.write("a.txt", "1\n");
    origin.commit("one");
    let clone_without_contract = clone(&origin);
    clone_without_contract.write("openapi.yaml", CONTRACT);
    clone_without_contract.commit("two");
    let first = run(&clone_without_contract);
    assert_eq!((first.code, first.errors.as_str()), (Some(0), ""), "{first:?}");
    assert!(first.output.contains("there is nothing to compare"), "{first:?}");
    clone_without_contract.git(&["remote", "set-url", "origin", "file:///nowhere"]);
    assert!(
        run(&clone_without_contract).code > Some(1),
        "a target branch that cannot be fetched is an error"
    );
}

#[test]
fn the_workflow_installs_the_program_of_this_crate() {
    let steps = workflow_steps();
    let install = steps.iter().find_map(|step| step["run"].as_str()).expect("a `run` step");
    let package = install.strip_prefix(r#"cargo install --locked --git "$SOURCE" --rev "$COMMIT" "#);
    assert_eq!(package, Some(env!("CARGO_PKG_NAME")));
    let program = Path::new(PROGRAM).file_stem().and_then(|name| name.to_str()).expect("a name");
    let cached = steps.iter().find_map(|step| step["with"]["path"].as_str()).expect("a cached file");
    assert_eq!(cached, format!("~/.cargo/bin/{program}"));
}

#[test]
fn the_waiver_file_accepts_a_finding() {
    let folder = repository();
    folder.write("new.yaml", breaking_contract());
    let args = ["check", "--base", "openapi.yaml", "new.yaml"];
    let json = folder.run(&[&args[..], &["--format", "json"]].concat()).output;
    let finding: Value = serde_json::from_str(json.lines().next().expect("a finding")).unwrap();
    let example = code_after("**A waiver file**");
    let fingerprint = finding["fingerprint"].as_str().expect("a fingerprint");
    let waivers = example.replace("0123456789ab", fingerprint).replace("2026-12-31", "2999-12-31");
    assert_ne!(waivers, example);
    folder.write("openapi-gate-waivers.toml", waivers);
    let with_waivers = || folder.run(&[&args[..], &["--waivers", "openapi-gate-waivers.toml"]].concat());
    let waived = with_waivers();
    assert_eq!(waived.code, Some(0), "{waived:?}");
    assert!(waived.output.contains("waived: All clients were updated in June."), "{waived:?}");
    folder.write("openapi-gate-waivers.toml", example);
    assert_eq!(with_waivers().code, Some(2), "the waiver matches no finding");
}

#[test]
fn the_pre_commit_hook_rejects_a_breaking_change() {
    let folder = Folder::repository();
    let hook = folder.write(".git/hooks/pre-commit", code_after("**As a pre-commit hook**"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(hook, fs::Permissions::from_mode(0o755))
            .expect("the hook can be made executable");
    }
    let commit = || folder.run_script("git add --all; git commit --quiet --message change", &[]);
    folder.write("openapi.yaml", CONTRACT);
    let first = commit();
    assert_eq!(first.code, Some(0), "{first:?}");
    folder.write("openapi.yaml", breaking_contract());
    let breaking = commit();
    assert_ne!(breaking.code, Some(0), "{breaking:?}");
    assert!((breaking.output + &breaking.errors).contains("`maxLength` changed from 10 to 20"));
    folder.write("openapi.yaml", CONTRACT.replace("maxLength: 10", "maxLength: 5"));
    assert_eq!(commit().code, Some(0), "a harmless change");
    // The hook checks the version in the index, not the one in the working tree.
    folder.write("openapi.yaml", CONTRACT.replace("maxLength: 10", "maxLength: 4"));
    folder.git(&["add", "openapi.yaml"]);
    folder.write("openapi.yaml", breaking_contract());
    let staged = folder.run_script("git commit --quiet --message staged", &[]);
    assert_eq!(staged.code, Some(0), "{staged:?}");
}

#[test]
fn git_diff_shows_changes_of_the_api() {
    let folder = repository();
    let configured = folder.run_script(&code_after("**In `git diff`**"), &[]);
    assert_eq!(configured.code, Some(0), "{configured:?}");
    folder.write("openapi.yaml", breaking_contract());
    folder.write("other.txt", "1\n");
    folder.git(&["add", "other.txt"]);
    let diff = folder.git(&["diff", "HEAD"]);
    assert!(
        diff.contains("openapi-gate openapi.yaml\nBreaking\n  getA 200 -> name: `maxLength` changed"),
        "{diff}"
    );
    assert!(diff.contains("at b/openapi.yaml:17:40"), "{diff}");
    assert!(diff.contains("+++ b/other.txt"), "other files are shown as usual: {diff}");
    folder.write("openapi.yaml", "openapi: [\n");
    let invalid = folder.git(&["diff", "HEAD"]);
    assert!(invalid.contains("invalid YAML") && invalid.contains("+++ b/other.txt"), "{invalid}");
    folder.write("openapi.yaml", breaking_contract());
    folder.commit("two");
    assert!(folder.git(&["show", "--ext-diff", "HEAD"]).contains("`maxLength` changed from 10 to 20"));
    assert!(folder.git(&["show", "--ext-diff", "HEAD~1"]).contains("the document was added"));
    folder.git(&["rm", "--quiet", "openapi.yaml"]);
    assert!(folder.git(&["diff", "--cached"]).contains("the document was deleted"));
}

#[test]
fn the_configuration_contains_all_keys_and_their_defaults() {
    let folder = repository();
    let documented = code_after("**The configuration** `openapi-gate.toml`");
    let defaults = folder.run(&["rules"]).output;
    folder.write("openapi-gate.toml", &documented);
    folder.write("openapi-gate-waivers.toml", "");
    let outcome = folder.run(&["check", "--base", "openapi.yaml", "openapi.yaml"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let policies = |listed: &str| listed.split("policies:").nth(1).unwrap_or_default().replace("none", "");
    let listed = folder.run(&["rules"]).output;
    assert_eq!(policies(&listed).replace("openapi-gate.toml", ""), policies(&defaults));
    for policy in policies(&defaults).lines().filter(|line| line.contains(" = ")) {
        assert!(documented.contains(policy.trim()), "{policy}");
    }
}

#[test]
fn a_contract_that_is_served_is_read_from_standard_input() {
    let folder = Folder::new();
    folder.write("our-copy.yaml", CONTRACT);
    folder.write("served.yaml", breaking_contract());
    let script = code_after("URLs are not downloaded");
    let (_, command) = script.split_once('|').expect("the output of curl is piped");
    let outcome = folder.run_script(&format!("cat served.yaml | {}", command.trim()), &[]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.output.contains("--> standard input:17:40"), "{outcome:?}");
}
