//! Tests of the breaking-change gate: every rule of oasdiff exists or is omitted for a reason, each rule reports its
//! change and not a harmless counterpart, and no input makes the gate panic.

mod addresses;
mod ambiguous_names;
mod behavior;
mod catalog;
mod document_changes;
mod documents;
mod exhaustive;
mod files;
mod gate;
mod guide;
mod laws;
mod malformed;
mod media_types;
mod mutations;
mod pairs;
mod random;
mod rehearsal;
mod rejected_documents;
mod release;
mod schemas;
mod semantics;
mod serialization;
mod split_documents;
mod usage;
mod verdicts;
mod webhook_responses;

use contract::source::Source;
use contract::yaml::{AliasPolicy, read_with};
use jiff::civil::{Date, date};

use super::config::Settings;
use super::document::{self, OpenApiDocument};
use super::find_changes;
use super::finding::Finding;
use super::rule::Level;

/// The current date in tests.
const TODAY: Date = date(2026, 3, 1);

/// Parses a valid document.
fn read(name: &str, text: &str) -> OpenApiDocument {
    document::read(Source::new(name, text)).unwrap_or_else(|invalid| {
        panic!("{}\n{text}", invalid.render(contract::diagnostic::DiagnosticFormat::Text))
    })
}

/// Compares two documents.
fn differences(base: &str, revision: &str) -> Vec<Finding> {
    compare(&read("base.yaml", base), &read("revision.yaml", revision), TODAY)
}

/// Compares two documents with the policies of this project.
fn compare(base: &OpenApiDocument, revision: &OpenApiDocument, today: Date) -> Vec<Finding> {
    find_changes(base, revision, &Settings::project(), today).expect("the documents can be compared")
}

/// Returns the ids and levels of findings.
fn ids_and_levels(findings: &[Finding]) -> Vec<(String, Level)> {
    findings.iter().map(|finding| (finding.id.clone(), finding.level)).collect()
}

/// Parses YAML, such as a file of test cases.
fn yaml(text: &str) -> serde_json::Value {
    let mut diagnostics = Vec::new();
    let tree = read_with(&Source::new("cases.yaml", text), AliasPolicy::Expand, &mut diagnostics);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    tree.expect("test cases are valid YAML").to_json()
}
