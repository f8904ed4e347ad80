//! Documents and files that were written to make the program fail, use up its resources, or read other files.

use crate::support::{CONTRACT, Folder, Outcome};

/// Compares a base with the valid document `api.yaml`. A run that takes longer than 30 seconds fails.
fn check(folder: &Folder, base: &str) -> Outcome {
    folder.write("api.yaml", CONTRACT);
    folder.run_script(&format!("timeout 30 openapi-gate check --base '{base}' api.yaml"), &[])
}

/// Asserts that a base is rejected with a message.
fn assert_rejected(folder: &Folder, base: &str, message: &str) {
    let outcome = check(folder, base);
    assert!(outcome.code == Some(2) && outcome.errors.contains(message), "{base}: {message}: {outcome:?}");
}

/// Returns a document with an unknown key.
fn document_with(value: &str) -> String {
    format!("openapi: 3.1.0\npaths: {{}}\nunknown: {value}\n")
}

#[test]
fn references_that_multiply_are_rejected() {
    let folder = Folder::new();
    folder.write("a.yaml", "- $ref: a.yaml\n- $ref: a.yaml\n");
    folder.write("base.yaml", document_with("{$ref: a.yaml}"));
    assert_rejected(&folder, "base.yaml", "nested deeper than 192 levels");
    for level in 0..30 {
        let next = format!("{{$ref: b{}.yaml}}", level + 1);
        folder.write(&format!("b{level}.yaml"), format!("[{next}, {next}, {next}]\n"));
    }
    folder.write("b30.yaml", "text\n");
    folder.write("base.yaml", document_with("{$ref: b0.yaml}"));
    assert_rejected(&folder, "base.yaml", "references insert more than 1000000 values");
}

#[test]
fn nesting_over_many_files_is_rejected_without_a_stack_overflow() {
    let folder = Folder::new();
    for level in 0..190 {
        let nested = format!("{}{{$ref: c{}.yaml}}{}", "[".repeat(180), level + 1, "]".repeat(180));
        folder.write(&format!("c{level}.yaml"), nested);
    }
    folder.write("c190.yaml", "text\n");
    folder.write("base.yaml", document_with("{$ref: c0.yaml}"));
    assert_rejected(&folder, "base.yaml", "nested deeper than 192 levels");
}

#[test]
fn a_property_that_is_named_mapping_can_refer_to_files() {
    let folder = Folder::new();
    folder.write("b.yaml", "type: string\n");
    let base =
        "openapi: 3.1.0\npaths: {}\ncomponents: {schemas: {A: {properties: {mapping: {$ref: b.yaml}}}}}\n";
    folder.write("base.yaml", base.replace("{$ref: b.yaml}", "{items: {$ref: b.yaml}}"));
    let outcome = check(&folder, "base.yaml");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

#[test]
fn an_output_that_cannot_be_written_is_not_a_panic() {
    let folder = Folder::new();
    folder.write("api.yaml", CONTRACT);
    folder.write("warning.yaml", "openapi: 3.0.0\npaths: {/a: {get: {responses: }}}\n");
    folder.write("openapi-gate-waivers.toml", "");
    for (arguments, code) in [
        ("--base missing.yaml api.yaml 2>/dev/full", 2),
        ("--base api.yaml api.yaml 2>/dev/full", 0),
        ("--base warning.yaml warning.yaml 2>/dev/full", 0),
        ("--format github --base warning.yaml warning.yaml >/dev/full", 2),
        ("--format github --base warning.yaml warning.yaml >/dev/full 2>/dev/full", 2),
    ] {
        let outcome = folder.run_script(&format!("openapi-gate check {arguments}"), &[]);
        assert_eq!(outcome.code, Some(code), "{arguments}: {outcome:?}");
        assert!(!outcome.errors.contains("panicked"), "{arguments}: {outcome:?}");
    }
}

#[test]
fn ignored_paths_with_many_stars_are_matched_quickly() {
    let folder = Folder::new();
    folder.write("openapi-gate.toml", format!("ignored-paths = ['{}b']\n", "*a".repeat(40)));
    folder.write("base.yaml", CONTRACT.replace("/a:", &format!("/{}:", "a".repeat(1_000))));
    assert_eq!(check(&folder, "base.yaml").code, Some(1));
}
