//! The gate, tried: that it has every rule, that each rule fires and its harmless twin does not, and that nothing it is
//! given makes it fail.

mod answered;
mod broken;
mod catalogue;
mod documents;
mod gate;
mod mutations;
mod noticed;
mod pairs;
mod random;
mod refusals;
mod schemas;
mod semantics;
mod stories;
mod unseen;

use contract::source::Source;
use contract::yaml::{Aliases, read_with};
use jiff::civil::{Date, date};

use super::compare::compare;
use super::document::{self, Document};
use super::finding::Finding;
use super::rule::Level;

/// The day on which the tests compare.
const TODAY: Date = date(2026, 3, 1);

/// Reads a document that must be sound.
fn read(name: &str, text: &str) -> Document {
    document::read(Source::new(name, text))
        .unwrap_or_else(|refused| panic!("{}\n{text}", refused.render(contract::diagnostic::Format::Text)))
}

/// What differs between two texts.
fn differences(base: &str, revision: &str) -> Vec<Finding> {
    compare(&read("base.yaml", base), &read("revision.yaml", revision), TODAY)
}

/// The ids and levels of findings.
fn told(findings: &[Finding]) -> Vec<(String, Level)> {
    findings.iter().map(|finding| (finding.id.clone(), finding.level)).collect()
}

/// A file of cases.
fn yaml(text: &str) -> serde_json::Value {
    let mut findings = Vec::new();
    let tree = read_with(&Source::new("cases.yaml", text), Aliases::Copied, &mut findings);
    assert!(findings.is_empty(), "{findings:?}");
    tree.expect("a file of cases is YAML").to_json()
}
