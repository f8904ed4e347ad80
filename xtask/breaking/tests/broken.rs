//! Contracts that were broken at random places: each is compared with what it was, or refused with its source drawn.

use contract::source::Source;
use contract::testing::mutation::{self, changed, changes, edited, edits};
use contract::testing::{AROUND, SOUND, chained, drawn, nested};
use proptest::prelude::*;

use super::super::Format;
use super::super::compare::compare;
use super::super::document::{self, Document};
use super::super::report::{self, Compared};
use super::TODAY;

fn read(name: &str, text: &str) -> Option<Document> {
    match document::read(Source::new(name, text)) {
        Ok(document) => Some(document),
        Err(refused) => {
            drawn(&refused);
            None
        }
    }
}

/// Compares a sound text with a broken one both ways, when the broken one can be compared at all.
fn judged(sound: &str, name: &str, broken: &str) {
    let read = || Some((read("sound.yaml", sound)?, read(name, broken)?));
    if let Some((base, revision)) = read() {
        told(base, revision);
    }
    if let Some((revision, base)) = read() {
        told(base, revision);
    }
}

fn told(base: Document, revision: Document) {
    let findings = compare(&base, &revision, TODAY);
    let compared = Compared { base, revision, findings, faults: Vec::new() };
    for format in [Format::Text, Format::Json, Format::Github, Format::Markdown] {
        assert!(format == Format::Github || !report::gate(&compared, format).is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: mutation::cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_contract_with_changed_values_is_compared_or_refused_with_its_source(number in 0..2usize, changes in changes()) {
        let (sound, tree) = &SOUND[number];
        judged(sound, "broken.json", &changed(tree, &changes));
    }

    #[test]
    fn a_contract_with_changed_text_is_compared_or_refused_with_its_source(number in 0..2usize, edits in edits()) {
        let (sound, _) = &SOUND[number];
        judged(sound, "broken.yaml", &edited(sound, &edits));
    }
}

#[test]
fn depth_costs_no_stack_and_references_no_time() {
    let sound = &SOUND[0].0;
    for around in AROUND {
        for deep in [10, 93, 186, 1_000] {
            judged(sound, "deep.yaml", &nested(around, deep));
        }
    }
    for last in ["Thing", "S0", "S20", "Nobody"] {
        for count in [30, 1_000] {
            let text = chained(count, last);
            judged(sound, "chain.yaml", &text);
            judged(&text, "other.yaml", &text.replace("a: {", "c: {"));
        }
    }
}
