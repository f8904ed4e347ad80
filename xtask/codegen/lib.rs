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
mod files;
mod imports;
mod own;
mod pretty;
pub mod stale;
mod twin;
mod types;

use std::path::{Path, PathBuf};

use anyhow::Context;
use contract::diagnostic::Format;
use contract::{Contract, Customs, rust_name};
use sha2::{Digest, Sha256};

use self::files::File;
use self::own::Own;
use self::types::Types;

/// Where a contract and its generated code stand, relative to the workspace.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The contract.
    pub contract: &'a str,
    /// The generated folder.
    pub output: &'a str,
    /// The contract as seen from the generated folder.
    pub contract_from_output: &'a str,
    /// The contract's name: `v1`.
    pub stem: &'a str,
    /// What the server asks of the contract.
    pub customs: Customs<'a>,
    /// Headers that the server's middleware sets on whole classes of answers, in lower case.
    pub ambient: &'a [&'a str],
}

/// What this server sets on whole classes of answers.
const AMBIENT: &[&str] = &[
    "cache-control",
    "etag",
    "idempotent-replayed",
    "retry-after",
    "www-authenticate",
    "x-ratelimit-daily-limit",
    "x-ratelimit-daily-remaining",
    "x-ratelimit-daily-reset",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-request-id",
];

/// What the error envelope of this project spells so, in every version.
const ENVELOPE: &[&str] = &["retryAfterSeconds"];

/// The contract that the server serves.
pub const V1: Names<'static> = Names {
    contract: "openapi/v1.yaml",
    output: "src/api/generated",
    contract_from_output: "../../../openapi/v1.yaml",
    stem: "v1",
    customs: Customs {
        beginning: "/api/v1/",
        // As the first description of the API spelled them.
        spelled: &["studentId", "courseId", "retryAfterSeconds"],
    },
    ambient: AMBIENT,
};

/// Every contract that code is generated from. A version of the API is one entry more, and its folder.
pub const CONTRACTS: &[Names<'static>] = &[
    V1,
    // Every supported construct, compiled and called by the tests beside v1.
    Names {
        contract: "tests/second/contract.yaml",
        output: "tests/second/generated",
        contract_from_output: "../contract.yaml",
        stem: "v2",
        customs: Customs { beginning: "/api/v2/", spelled: ENVELOPE },
        ambient: AMBIENT,
    },
];

impl Names<'_> {
    fn json(&self) -> String {
        format!("{}.json", self.stem)
    }

    fn twin(&self) -> String {
        format!("{}.openapi-3.0.json", self.stem)
    }

    fn adapter(&self) -> String {
        rust_name::upper(self.stem)
    }
}

/// What is generated, and how.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write nothing; show what is stale and exit 1.
    #[arg(long)]
    check: bool,
    /// Generate from this contract instead of the project's own; any path, from where you stand.
    #[arg(long, value_name = "FILE", requires = "out")]
    contract: Option<PathBuf>,
    /// The folder for its code, which holds nothing else.
    #[arg(long, value_name = "FOLDER", requires = "contract")]
    out: Option<PathBuf>,
    /// How findings are printed.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// What a run found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every generated file is what its contract generates.
    Fresh,
    /// A contract was refused or, with `--check`, a file is stale; the findings are printed.
    Findings,
}

/// Generates from every contract, or compares with `check`.
///
/// # Errors
/// When a contract cannot be read or a folder not written.
pub fn run(workspace: &Path, args: &Args) -> anyhow::Result<Verdict> {
    if let (Some(contract), Some(out)) = (&args.contract, &args.out) {
        let here = std::env::current_dir().context("cannot tell which folder this is")?;
        return of_ones_own(&here, contract, out, args);
    }
    let mut verdict = Verdict::Fresh;
    for names in CONTRACTS {
        if one(workspace, names, args.check, args.format)? == Verdict::Findings {
            verdict = Verdict::Findings;
        }
    }
    Ok(verdict)
}

/// Generates from a contract that is none of the project's.
fn of_ones_own(here: &Path, contract: &Path, out: &Path, args: &Args) -> anyhow::Result<Verdict> {
    let customs = Customs { beginning: "/", spelled: ENVELOPE };
    // Before the folder is made: a contract that is refused leaves nothing behind.
    let name = contract.to_str().with_context(|| format!("{} is not named in UTF-8", contract.display()))?;
    let document = match contract::read(contract::open(here, name)?, &customs) {
        Ok(document) => document,
        Err(refused) => {
            refused.told(args.format)?;
            return Ok(Verdict::Findings);
        }
    };
    let own = Own::find(here, contract, out, !args.check)?;
    let names = Names {
        contract: &own.contract,
        output: &own.output,
        contract_from_output: &own.contract_from_output,
        stem: &own.stem,
        customs,
        ambient: AMBIENT,
    };
    if !args.check {
        own.spare(here, &generate(&document, &names))?;
    }
    put(here, &document, &names, args.check, args.format)
}

fn one(workspace: &Path, names: &Names<'_>, check: bool, format: Format) -> anyhow::Result<Verdict> {
    match contract::read(contract::open(workspace, names.contract)?, &names.customs) {
        Ok(contract) => put(workspace, &contract, names, check, format),
        Err(refused) => {
            refused.told(format)?;
            Ok(Verdict::Findings)
        }
    }
}

/// Writes what a contract generates, or compares with `check`.
fn put(
    workspace: &Path,
    contract: &Contract,
    names: &Names<'_>,
    check: bool,
    format: Format,
) -> anyhow::Result<Verdict> {
    if check {
        let stale = stale::of(workspace, contract, names)?;
        print!("{}", stale::render(&stale, format));
        return Ok(if stale.is_empty() { Verdict::Fresh } else { Verdict::Findings });
    }
    for line in files::write(workspace, names.output, &generate(contract, names))? {
        println!("{line}");
    }
    Ok(Verdict::Fresh)
}

/// Every file of the generated folder.
pub(crate) fn generate(contract: &Contract, names: &Names<'_>) -> Vec<File> {
    let document = &contract.document;
    let types = Types::new(document);
    let digest = digest(&contract.source.text);
    let heading = format!(
        "{}{} (sha256 {digest}), do not edit. Run `cargo xtask codegen`.\n\n",
        files::HEADING,
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
            emit_adapter::adapter(document, &types, &names.adapter()),
        ),
        rust(
            "document",
            "The contract itself, for serving.",
            emit_document::document(document, names, &digest),
        ),
        rust("events", "What webhooks send.", emit_events::events(document, &types)),
        rust(
            "operations",
            "The contract as static tables.",
            emit_operations::operations(document, names.stem),
        ),
        rust("schemas", "The types of requests and responses.", emit_schemas::schemas(document, &types)),
    ];
    for tag in emit_adapter::served(document) {
        let name = emit_adapter::module(tag).to_string();
        let about = format!("The operations of `{}`.", tag.name.text);
        files.push(rust(name.trim_start_matches("r#"), &about, emit_tag::tag(document, &types, tag, names)));
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
mod broken;
#[cfg(test)]
mod tests;

#[cfg(test)]
mod constructs {
    use super::*;

    /// The contract with every construct that is supported.
    fn constructs() -> Vec<File> {
        let names = CONTRACTS.last().expect("it is the last one");
        let source = contract::open(&contract::testing::workspace(), names.contract).expect("it can be read");
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
