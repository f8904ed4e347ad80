//! Contracts with random errors: each is either compared, or rejected with diagnostics that contain source excerpts.

use contract::source::Source;
use contract::testing::mutation::{self, apply_edits, apply_mutations, edits, mutations};
use contract::testing::{
    NESTINGS, VALID_CONTRACTS, assert_rendered, contract_with_nested_schema, contract_with_reference_chain,
};
use proptest::prelude::*;

use super::super::ReportFormat;
use super::super::document::{self, OpenApiDocument};
use super::super::report::{self, ComparisonResult};
use super::{TODAY, compare};

/// Parses a document, or checks that the diagnostics of an invalid document can be rendered.
fn read(name: &str, text: &str) -> Option<OpenApiDocument> {
    match document::read(Source::new(name, text)) {
        Ok(document) => Some(document),
        Err(invalid_contract) => {
            assert_rendered(&invalid_contract);
            None
        }
    }
}

/// Compares a valid document with a changed one in both directions, unless the changed one is rejected.
fn compare_both_ways(valid: &str, name: &str, changed: &str) {
    let read_both = || Some((read("valid.yaml", valid)?, read(name, changed)?));
    if let Some((base, revision)) = read_both() {
        compare_and_render(base, revision);
    }
    if let Some((revision, base)) = read_both() {
        compare_and_render(base, revision);
    }
}

fn compare_and_render(base: OpenApiDocument, revision: OpenApiDocument) {
    let findings = compare(&base, &revision, TODAY);
    let result =
        ComparisonResult { base, revision, findings, waiver_errors: Vec::new(), path_versions: None };
    for format in [ReportFormat::Text, ReportFormat::Json, ReportFormat::Github, ReportFormat::Markdown] {
        let totals = if format == ReportFormat::Json { "\"harmless\":" } else { "harmless change" };
        assert!(report::breaking_changes(&result, format).contains(totals), "{format:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: mutation::case_count(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_contract_with_changed_values_is_compared_or_rejected_with_source_excerpts(number in 0..2usize, mutations in mutations()) {
        let (valid, tree) = &VALID_CONTRACTS[number];
        compare_both_ways(valid, "broken.json", &apply_mutations(tree, &mutations));
    }

    #[test]
    fn a_contract_with_changed_text_is_compared_or_rejected_with_source_excerpts(number in 0..2usize, edits in edits()) {
        let (valid, _) = &VALID_CONTRACTS[number];
        compare_both_ways(valid, "broken.yaml", &apply_edits(valid, &edits));
    }
}

#[test]
fn deep_nesting_and_long_reference_chains_are_handled() {
    let valid = &VALID_CONTRACTS[0].0;
    for nesting in NESTINGS {
        for depth in [10, 93, 186, 1_000] {
            compare_both_ways(valid, "deep.yaml", &contract_with_nested_schema(nesting, depth));
        }
    }
    for last_target in ["Thing", "S0", "S20", "Nobody"] {
        for count in [30, 1_000] {
            let text = contract_with_reference_chain(count, last_target);
            compare_both_ways(valid, "chain.yaml", &text);
            compare_both_ways(&text, "other.yaml", &text.replace("a: {", "c: {"));
        }
    }
}
