//! The rehearsal of v2 (`tests/it/rehearsal`): what the gate finds between v1 and the draft, and the migration guide.

use std::collections::BTreeMap;

use contract::node::{Node, Value};

use super::super::path_version;
use super::super::report::{self, ComparisonResult};
use super::super::rule::Level;
use super::{TODAY, compare, read};

const V1: &str = include_str!("../../../openapi/v1.yaml");
const V2: &str = include_str!("../../../tests/it/rehearsal/v2.yaml");

/// Compares v1 with the draft, except for what the draft leaves out because it does not change: the webhooks, and the headers of
/// responses that middleware sets.
fn result() -> ComparisonResult {
    let (mut base, revision) = (read("v1.yaml", V1), read("v2.yaml", V2));
    let Value::Mapping(sections) = &mut base.root.value else { panic!("the contract is a mapping") };
    sections.retain(|section| section.key.text != "webhooks");
    remove_headers(&mut base.root);
    let path_versions = path_version::align(&mut base.root, &revision.root);
    let findings = compare(&base, &revision, TODAY);
    ComparisonResult { base, revision, findings, waiver_errors: Vec::new(), path_versions }
}

fn remove_headers(node: &mut Node) {
    match &mut node.value {
        Value::Mapping(entries) => {
            for entry in entries {
                if let ("headers", Value::Mapping(headers)) = (&*entry.key.text, &mut entry.value.value) {
                    headers.retain(|header| ["Link", "Location"].contains(&&*header.key.text));
                }
                remove_headers(&mut entry.value);
            }
        }
        Value::Sequence(items) => items.iter_mut().for_each(remove_headers),
        _ => {}
    }
}

#[test]
fn the_gate_finds_each_kind_of_change() {
    let result = result();
    let mut found: BTreeMap<(Level, &str), usize> = BTreeMap::new();
    for finding in result.findings.iter().filter(|finding| finding.level > Level::Info) {
        *found.entry((finding.level, &finding.id)).or_default() += 1;
    }
    let found: Vec<String> =
        found.into_iter().map(|((level, id), count)| format!("{level:?} {id}: {count}")).collect();
    insta::assert_snapshot!(found.join("\n"), @r"
    Error api-path-removed-without-deprecation: 1
    Error new-required-request-property: 2
    Error request-parameter-became-required: 1
    Error request-parameter-default-value-changed: 1
    Error request-parameter-enum-value-removed: 8
    Error request-parameter-max-decreased: 1
    Error request-parameter-removed: 14
    Error request-property-became-not-nullable: 1
    Error request-property-became-required: 1
    Error request-property-items-schema-added: 1
    Error request-property-max-items-set: 1
    Error request-property-pattern-changed: 1
    Error request-property-removed: 2
    Error request-property-type-changed: 1
    Error response-property-additional-properties-schema-removed: 1
    Error response-property-became-optional: 2
    Error response-property-max-properties-unset: 1
    Error response-property-property-names-removed: 1
    Error response-property-type-changed: 1
    Error response-required-property-removed: 17
    Error response-success-status-removed: 1
    ");
}

#[test]
fn the_migration_guide_from_v1_to_the_draft() {
    insta::assert_snapshot!("rehearsal_guide", report::guide(&result()));
}
