//! Tests random mutations of contracts: code is generated, or the contract is rejected with source excerpts.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use contract::source::Source;
use contract::testing::mutation::{self, apply_edits, apply_mutations, edits, mutations};
use contract::testing::{
    NESTINGS, VALID_CONTRACTS, assert_rendered, contract_with_nested_schema, contract_with_reference_chain,
    workspace,
};
use contract::{Conventions, Profile, read};
use proptest::prelude::*;

use super::{ContractConfig, V1, generate};

/// Chooses the index of a valid contract, mostly one of the two small ones.
fn contract_index() -> impl Strategy<Value = usize> {
    prop_oneof![20 => Just(0usize), 40 => Just(1), 1 => Just(2)]
}

fn conventions() -> Conventions<'static> {
    Conventions { path_prefix: "/", ..V1.conventions }
}

/// Checks a contract. If it causes a panic, saves it in `target/codegen-regressions`. Reduce such a contract and add it
/// to the folder `regressions`.
fn check(name: &str, text: &str) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| try_generate(name, text))) {
        let folder = workspace().join("target/codegen-regressions");
        fs::create_dir_all(&folder).expect("the folder can be created");
        fs::write(folder.join(name), text).expect("the contract can be saved");
        resume_unwind(panic);
    }
}

/// Reads a contract as `codegen` does in each profile, and generates code if the contract is valid.
fn try_generate(name: &str, text: &str) {
    for profile in [Profile::Server, Profile::Open] {
        let conventions = Conventions { profile, ..conventions() };
        match read(Source::new(name, text), &conventions) {
            Ok(contract) => drop(generate(&contract, &ContractConfig { conventions, ..V1 })),
            Err(invalid) => assert_rendered(&invalid),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: mutation::case_count(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_contract_with_changed_values_generates_code_or_is_rejected(index in contract_index(), mutations in mutations()) {
        check("mutated.json", &apply_mutations(&VALID_CONTRACTS[index].1, &mutations));
    }

    #[test]
    fn a_contract_with_changed_text_generates_code_or_is_rejected(index in contract_index(), edits in edits()) {
        check("mutated.yaml", &apply_edits(&VALID_CONTRACTS[index].0, &edits));
    }
}

#[test]
fn deep_nesting_and_long_reference_chains_are_handled() {
    for nesting in NESTINGS {
        for depth in [10, 93, 186, 1_000] {
            check("deep.yaml", &contract_with_nested_schema(nesting, depth));
        }
    }
    for last in ["Thing", "S0", "S20", "Nobody"] {
        for count in [30, 250, 1_000] {
            check("chain.yaml", &contract_with_reference_chain(count, last));
        }
    }
    let extending = |count: usize, part: &str| {
        let schema = |at| {
            let base = part.replace("BASE", &format!("{{ $ref: '#/components/schemas/E{}' }}", at + 1));
            format!("    E{at}: {base}\n")
        };
        let last =
            format!("    E{count}: {{ type: object, properties: {{ a: {{ type: string, enum: [a] }} }} }}\n");
        VALID_CONTRACTS[0].0.clone() + &(0..count).map(schema).collect::<String>() + &last
    };
    for count in [10, 40, 300] {
        check("twice.yaml", &extending(count, "{ allOf: [BASE, BASE, { type: object, properties: {} }] }"));
        let inside = "{ allOf: [BASE, { type: object, properties: { a: { type: string } } }] }";
        let both = format!("{{ type: object, properties: {{ a: {inside}, b: {inside} }} }}");
        check("types.yaml", &extending(count, &both));
    }
}

#[test]
fn regressions_generate_code_or_are_rejected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("the folder of regressions can be read") {
        let path = entry.expect("the entry can be read").path();
        let text = fs::read_to_string(&path).expect("a regression can be read");
        check(&path.file_name().expect("a file has a name").to_string_lossy(), &text);
        count += 1;
    }
    assert!(count > 0);
}
