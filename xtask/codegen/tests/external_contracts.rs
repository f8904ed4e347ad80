//! Tests `--contract`, `--out` and `--profile`.

use clap::Parser;

use super::{CodegenCommandLine, contract_with};
use crate::CodegenOutcome;

#[test]
fn an_external_contract_is_generated_into_the_output_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |path: &str, text: &str| {
        std::fs::write(folder.path().join(path), text).expect("the file is writable")
    };
    let generate = |args: &[&str]| {
        let parsed = CodegenCommandLine::try_parse_from(
            [&["codegen", "--contract", "a/my-things.yaml"], args].concat(),
        );
        let args = parsed.expect("valid arguments").args;
        let (contract, out) =
            (args.contract.clone().expect("--contract is set"), args.out.clone().expect("--out is set"));
        crate::generate_external(folder.path(), &contract, &out, &args).map_err(|error| format!("{error:#}"))
    };
    std::fs::create_dir(folder.path().join("a")).expect("a temporary folder");
    write("a/my-things.yaml", &contract_with("", ""));
    assert_eq!(generate(&["--out", "b/things"]), Ok(CodegenOutcome::UpToDate));
    let read = |file: &str| {
        std::fs::read_to_string(folder.path().join("b/things").join(file)).expect("the file exists")
    };
    assert!(
        read("document.rs").contains("include_str!(\"../../a/my-things.yaml\")"),
        "{}",
        read("document.rs")
    );
    // The path in the first line does not depend on the current folder.
    assert!(
        read("mod.rs").starts_with("// Generated from ../../a/my-things.yaml (sha256 "),
        "{}",
        read("mod.rs")
    );
    assert!(read("adapter.rs").contains("pub struct MyThings<S>(pub S);"));
    assert!(read("things.rs").contains("use contract_runtime::response"));
    // A second run has nothing to do, and `--check` succeeds.
    assert_eq!(generate(&["--out", "b/things", "--check"]), Ok(CodegenOutcome::UpToDate));
    assert_eq!(generate(&["--out", "b/things"]), Ok(CodegenOutcome::UpToDate));

    // Files that were not generated are not overwritten.
    let error = generate(&["--out", "a"]).expect_err("the contract is in that folder");
    assert_eq!(
        error,
        "the contract a/my-things.yaml is in the output folder; specify another folder with --out"
    );
    std::fs::create_dir(folder.path().join("c")).expect("a temporary folder");
    for (file, text) in [("c/main.rs", "fn main() {}"), ("c/mod.rs", "mod mine;")] {
        write(file, text);
        let error = generate(&["--out", "c"]).expect_err("the folder contains another file");
        assert!(error.starts_with(&format!("{file} was not generated; remove it")), "{error}");
        assert_eq!(std::fs::read_to_string(folder.path().join(file)).expect("the file exists"), text);
        std::fs::remove_file(folder.path().join(file)).expect("the file can be removed");
    }
    let without_out = CodegenCommandLine::try_parse_from(["codegen", "--contract", "a/my-things.yaml"]);
    assert!(without_out.is_err_and(|error| error.to_string().contains("--out")), "--contract requires --out");
}

/// Generates code from an external contract into `out`.
fn generate_external(base: &std::path::Path, contract: &str) -> Result<CodegenOutcome, String> {
    let args = CodegenCommandLine::try_parse_from(["codegen", "--contract", contract, "--out", "out"]);
    let args = args.expect("valid arguments").args;
    crate::generate_external(base, contract.as_ref(), "out".as_ref(), &args)
        .map_err(|error| format!("{error:#}"))
}

#[test]
fn an_external_contract_can_use_the_error_envelope_of_this_project() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let second = include_str!("../../../tests/second_version/contract.yaml");
    assert!(second.contains("retryAfterSeconds"), "the contract has the field");
    std::fs::write(folder.path().join("second.yaml"), second).expect("the file is writable");
    assert_eq!(generate_external(folder.path(), "second.yaml"), Ok(CodegenOutcome::UpToDate));
}

#[test]
fn a_contract_with_other_rules_requires_the_open_profile() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let operation = "{ get: { responses: { default: { description: Anything. } } } }";
    let text = format!("openapi: 3.0.3\ninfo: {{ title: A, version: '1' }}\npaths: {{ /a: {operation} }}\n");
    std::fs::write(folder.path().join("other.yaml"), text).expect("the file is writable");
    let error = generate_external(folder.path(), "other.yaml").expect_err("the version is not supported");
    assert!(error.contains("expected OpenAPI 3.1.x, found `3.0.3`"), "{error}");
    let args = ["codegen", "--contract", "other.yaml", "--out", "out", "--profile", "open"];
    let args = CodegenCommandLine::try_parse_from(args).expect("valid arguments").args;
    let outcome = crate::generate_external(folder.path(), "other.yaml".as_ref(), "out".as_ref(), &args);
    assert_eq!(outcome.expect("the files are writable"), CodegenOutcome::UpToDate);
    let read =
        |file: &str| std::fs::read_to_string(folder.path().join("out").join(file)).expect("the file exists");
    assert!(read("default.rs").contains("pub enum GetAResponse"), "{}", read("default.rs"));
    assert!(read("document.rs").contains("converted to OpenAPI 3.1"), "{}", read("document.rs"));
    let without_contract = CodegenCommandLine::try_parse_from(["codegen", "--profile", "open"]);
    assert!(without_contract.is_err(), "--profile requires --contract");
}

#[test]
fn a_contract_whose_security_cannot_be_enforced_is_a_finding() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let operation =
        "{ get: { security: [{ key: [] }], responses: { default: { description: Anything. } } } }";
    let text = format!("openapi: 3.1.0\ninfo: {{ title: A, version: '1' }}\npaths: {{ /a: {operation} }}\n");
    std::fs::write(folder.path().join("other.yaml"), text).expect("the file is writable");
    let args = ["codegen", "--contract", "other.yaml", "--out", "out", "--profile", "open"];
    let args = CodegenCommandLine::try_parse_from(args).expect("valid arguments").args;
    let outcome = crate::generate_external(folder.path(), "other.yaml".as_ref(), "out".as_ref(), &args);
    assert_eq!(outcome.expect("the contract can be read"), CodegenOutcome::Findings);
}

#[test]
fn outdated_generated_files_are_removed_and_other_files_are_kept() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |path: &str, text: &str| {
        std::fs::write(folder.path().join(path), text).expect("the file is writable")
    };
    let exists = |path: &str| folder.path().join(path).exists();
    write("c.yaml", &contract_with("", ""));
    assert_eq!(generate_external(folder.path(), "c.yaml"), Ok(CodegenOutcome::UpToDate));
    assert!(exists("out/things.rs"));

    // The tag is renamed: its old file was generated, so it is removed.
    write(
        "c.yaml",
        &contract_with("", "").replace("[things]", "[others]").replace("name: things", "name: others"),
    );
    assert_eq!(generate_external(folder.path(), "c.yaml"), Ok(CodegenOutcome::UpToDate));
    assert!(exists("out/others.rs") && !exists("out/things.rs"));

    // JSON has no heading: without generated Rust in the folder, it counts as a foreign file.
    std::fs::remove_dir_all(folder.path().join("out")).expect("the folder can be removed");
    std::fs::create_dir(folder.path().join("out")).expect("a temporary folder");
    write("out/c.json", "{}");
    let error = generate_external(folder.path(), "c.yaml").expect_err("the folder contains another file");
    assert!(error.starts_with("out/c.json was not generated; remove it"), "{error}");
    assert!(!exists("out/mod.rs"), "no file is written");
}

#[test]
fn a_rejected_contract_creates_no_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert!(generate_external(folder.path(), "none.yaml").is_err());
    for (name, text) in [("bad.yaml", "a: [1\n"), ("incomplete.yaml", "openapi: 3.1.0\n")] {
        std::fs::write(folder.path().join(name), text).expect("the file is writable");
        assert_ne!(generate_external(folder.path(), name), Ok(CodegenOutcome::UpToDate));
    }
    assert!(!folder.path().join("out").exists());
}

#[test]
fn the_file_name_of_a_contract_must_be_a_valid_adapter_name() {
    let names = [("m².yaml", "M²"), ("tag.yaml", "Tag"), ("open-api.yaml", "OpenApi"), ("s.yaml", "S")];
    for (name, adapter) in names {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join(name), contract_with("", "")).expect("the file is writable");
        let error = generate_external(folder.path(), name).expect_err("the name is not valid");
        assert!(error.contains(&format!("`{adapter}` cannot be its name")), "{error}");
        assert!(!folder.path().join("out").exists(), "{name}");
    }
}
