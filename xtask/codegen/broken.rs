//! Contracts that were broken at random places: each is generated from, or refused with its source drawn.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use contract::source::Source;
use contract::testing::mutation::{self, changed, changes, edited, edits};
use contract::testing::{AROUND, SOUND, chained, drawn, nested, workspace};
use contract::{Contract, Customs, read};
use proptest::prelude::*;

use super::{V1, generate};

/// The number of a sound contract: most cases take one of the two that are quickly read.
fn number() -> impl Strategy<Value = usize> {
    prop_oneof![20 => Just(0usize), 40 => Just(1), 1 => Just(2)]
}

fn customs() -> Customs<'static> {
    Customs { beginning: "/", spelled: V1.customs.spelled }
}

/// Judges a text. One that makes it fail is written to `target/broken`: made smaller, it becomes a file of the folder
/// `broken`.
fn judged(name: &str, text: &str) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| judge(name, text))) {
        let folder = workspace().join("target/broken");
        fs::create_dir_all(&folder).expect("a folder can be made");
        fs::write(folder.join(name), text).expect("a text can be written");
        resume_unwind(panic);
    }
}

/// Reads a text as `codegen` does. What has no findings is generated from.
fn judge(name: &str, text: &str) {
    match read(Source::new(name, text), &customs()) {
        Ok(contract) => drop(files(&contract)),
        Err(refused) => drawn(&refused),
    }
}

fn files(contract: &Contract) -> usize {
    generate(contract, &V1).len()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: mutation::cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_contract_with_changed_values_is_generated_from_or_refused_with_its_source(number in number(), changes in changes()) {
        judged("broken.json", &changed(&SOUND[number].1, &changes));
    }

    #[test]
    fn a_contract_with_changed_text_is_generated_from_or_refused_with_its_source(number in number(), edits in edits()) {
        judged("broken.yaml", &edited(&SOUND[number].0, &edits));
    }
}

#[test]
fn depth_costs_no_stack_and_references_no_time() {
    for around in AROUND {
        for deep in [10, 93, 186, 1_000] {
            judged("deep.yaml", &nested(around, deep));
        }
    }
    for last in ["Thing", "S0", "S20", "Nobody"] {
        for count in [30, 250, 1_000] {
            judged("chain.yaml", &chained(count, last));
        }
    }
    let extending = |count: usize, part: &str| {
        let schema = |at| {
            let base = part.replace("BASE", &format!("{{ $ref: '#/components/schemas/E{}' }}", at + 1));
            format!("    E{at}: {base}\n")
        };
        let last =
            format!("    E{count}: {{ type: object, properties: {{ a: {{ type: string, enum: [a] }} }} }}\n");
        SOUND[0].0.clone() + &(0..count).map(schema).collect::<String>() + &last
    };
    for count in [10, 40, 300] {
        judged("twice.yaml", &extending(count, "{ allOf: [BASE, BASE, { type: object, properties: {} }] }"));
        let inside = "{ allOf: [BASE, { type: object, properties: { a: { type: string } } }] }";
        let both = format!("{{ type: object, properties: {{ a: {inside}, b: {inside} }} }}");
        judged("types.yaml", &extending(count, &both));
    }
}

#[test]
fn what_once_made_the_generator_panic_is_refused_or_generated_from() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("broken");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("the folder of regressions can be read") {
        let path = entry.expect("its entries can be read").path();
        let text = fs::read_to_string(&path).expect("a regression can be read");
        judged(&path.file_name().expect("a file has a name").to_string_lossy(), &text);
        count += 1;
    }
    assert!(count > 0);
}
