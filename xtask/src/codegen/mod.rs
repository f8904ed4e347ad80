//! `cargo xtask codegen`: the contract into Rust.
//!
//! Owns which files are generated and in what order they are made. Every construct of the contract is generated or was
//! refused before; nothing here links the server, so that it runs when the server does not compile.

mod attributes;
mod emit_adapter;
mod emit_document;
mod emit_events;
mod emit_mod;
mod emit_operations;
mod emit_schemas;
mod emit_tag;
mod emit_unions;
pub mod files;
mod imports;
mod pretty;
pub mod stale;
mod twin;
mod types;

use std::path::Path;

use heck::ToUpperCamelCase;
use quote::format_ident;
use sha2::{Digest, Sha256};

use self::files::File;
use self::types::Types;
use crate::Outcome;
use crate::contract::{self, Contract, Customs};
use crate::diagnostic::Format;

/// Where a contract and its generated code stand, relative to the workspace.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// The contract.
    pub contract: &'static str,
    /// The generated folder.
    pub output: &'static str,
    /// The contract as seen from the generated folder.
    pub contract_from_output: &'static str,
    /// The contract's name: `v1`.
    pub stem: &'static str,
    /// What the generated code calls the server's library.
    pub library: &'static str,
    /// What the server asks of the contract.
    pub customs: Customs<'static>,
}

/// The contract that the server serves.
pub const V1: Names = Names {
    contract: "openapi/v1.yaml",
    output: "src/api/generated",
    contract_from_output: "../../../openapi/v1.yaml",
    stem: "v1",
    library: "crate",
    customs: Customs { beginning: "/api/v1/" },
};

/// Every contract that code is generated from. A version of the API is one line more.
pub const CONTRACTS: &[Names] = &[
    V1,
    // Every supported construct, compiled and called by the tests beside v1.
    Names {
        contract: "tests/second/contract.yaml",
        output: "tests/second/generated",
        contract_from_output: "../contract.yaml",
        stem: "v2",
        library: "creator_api",
        customs: Customs { beginning: "/api/v2/" },
    },
];

impl Names {
    fn json(&self) -> String {
        format!("{}.json", self.stem)
    }

    fn twin(&self) -> String {
        format!("{}.openapi-3.0.json", self.stem)
    }

    fn adapter(&self) -> String {
        self.stem.to_upper_camel_case()
    }
}

/// Generates from every contract, or compares with `check`.
///
/// # Errors
/// When a contract cannot be read or a folder not written.
pub fn run(workspace: &Path, check: bool, format: Format) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::Fine;
    for names in CONTRACTS {
        if one(workspace, names, check, format)? == Outcome::Findings {
            outcome = Outcome::Findings;
        }
    }
    Ok(outcome)
}

fn one(workspace: &Path, names: &Names, check: bool, format: Format) -> anyhow::Result<Outcome> {
    let contract = match contract::read(contract::open(workspace, names.contract)?, &names.customs) {
        Ok(contract) => contract,
        Err(refused) => return refused.told(format),
    };
    if check {
        let stale = stale::of(workspace, &contract, names)?;
        print!("{}", stale::render(&stale, format));
        return Ok(if stale.is_empty() { Outcome::Fine } else { Outcome::Findings });
    }
    for line in files::write(workspace, names.output, &generate(&contract, names))? {
        println!("{line}");
    }
    Ok(Outcome::Fine)
}

/// Every file of the generated folder.
pub fn generate(contract: &Contract, names: &Names) -> Vec<File> {
    let document = &contract.document;
    let types = Types::new(document);
    let library = &format_ident!("{}", names.library);
    let digest = digest(&contract.source.text);
    let heading = format!(
        "// Generated from {} (sha256 {digest}), do not edit. Run `cargo xtask codegen`.\n\n",
        names.contract
    );
    let rust = |name: &str, about: &str, items| File {
        name: format!("{name}.rs"),
        text: pretty::file(&heading, &format!("//! {about}\n"), items),
    };
    let title = &document.title;
    let mut files = vec![
        rust("mod", &format!("{title}, as the contract has it."), emit_mod::module_file(document)),
        rust(
            "adapter",
            "The traits of all tags as one poem-openapi API.",
            emit_adapter::adapter(document, &types, &names.adapter(), library),
        ),
        rust(
            "document",
            "The contract itself, for serving.",
            emit_document::document(document, names, &digest),
        ),
        rust("events", "What webhooks send.", emit_events::events(document, &types, library)),
        rust(
            "operations",
            "The contract as static tables.",
            emit_operations::operations(document, names.stem, library),
        ),
        rust(
            "schemas",
            "The types of requests and responses.",
            emit_schemas::schemas(document, &types, library),
        ),
    ];
    for tag in emit_adapter::served(document) {
        let name = emit_adapter::module(tag).to_string();
        let about = format!("The operations of `{}`.", tag.name.text);
        files.push(rust(
            name.trim_start_matches("r#"),
            &about,
            emit_tag::tag(document, &types, tag, library),
        ));
    }
    files.push(File { name: names.json(), text: json(&contract.root) });
    files.push(File { name: names.twin(), text: json(&twin::twin(&contract.root)) });
    files
}

fn json(node: &contract::node::Node) -> String {
    serde_json::to_string_pretty(node).expect("a tree of plain values becomes JSON") + "\n"
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod constructs {
    use super::*;

    /// The contract with every construct that is supported.
    fn constructs() -> Vec<File> {
        let names = CONTRACTS.last().expect("it is the last one");
        let source = contract::open(&crate::workspace(), names.contract).expect("it can be read");
        let contract = contract::read(source, &names.customs)
            .unwrap_or_else(|refused| panic!("{}", refused.render(Format::Text)));
        generate(&contract, names)
    }

    #[test]
    fn every_supported_construct_is_generated() {
        let names: Vec<_> = constructs().into_iter().map(|file| file.name).collect();
        let expected = [
            "mod.rs",
            "adapter.rs",
            "document.rs",
            "events.rs",
            "operations.rs",
            "schemas.rs",
            "things.rs",
            "type.rs",
            "v2.json",
            "v2.openapi-3.0.json",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn generation_is_deterministic_to_the_byte() {
        let pairs = constructs().into_iter().zip(constructs());
        pairs.for_each(|(one, two)| assert_eq!(one.text, two.text, "{}", one.name));
    }

    #[test]
    fn the_json_is_the_contract_key_by_key() {
        let files = constructs();
        let json = files.iter().find(|file| file.name == "v2.json").expect("it is generated");
        let places: Vec<_> =
            ["\"openapi\"", "\"servers\"", "\"paths\"", "\"webhooks\"", "\"NewThing\"", "\"LargeThing\""]
                .map(|key| json.text.find(key).expect("the key is there"))
                .into();
        assert!(places.is_sorted(), "the order of the contract is kept");
    }
}
