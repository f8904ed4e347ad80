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
pub mod files;
mod pretty;
mod twin;
mod types;

use std::path::Path;

use heck::ToUpperCamelCase;
use sha2::{Digest, Sha256};

use self::files::File;
use self::types::Types;
use crate::Outcome;
use crate::contract::{self, Contract};
use crate::diagnostic::{self, Format};

/// Where a contract and its generated code stand, relative to the workspace.
pub struct Names {
    /// The contract.
    pub contract: String,
    /// The generated folder.
    pub output: String,
    /// The contract as seen from the generated folder.
    pub contract_from_output: String,
    /// The contract's name without its ending: `v1`.
    pub stem: String,
}

impl Names {
    /// The one contract of this workspace.
    pub fn v1() -> Self {
        Self {
            contract: "openapi/v1.yaml".into(),
            output: "src/api/generated".into(),
            contract_from_output: "../../../openapi/v1.yaml".into(),
            stem: "v1".into(),
        }
    }

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

/// Generates, or compares with `check`.
///
/// # Errors
/// When the contract cannot be read or the folder not written.
pub fn run(workspace: &Path, check: bool, format: Format) -> anyhow::Result<Outcome> {
    let names = Names::v1();
    let source = contract::open(workspace, &names.contract)?;
    let contract = match contract::read(source) {
        Ok(contract) => contract,
        Err(refused) => {
            print!("{}", refused.render(format));
            return Ok(Outcome::Findings);
        }
    };
    if check {
        let stale = stale(workspace, &contract, &names)?;
        print!("{}", render_stale(&stale, format));
        return Ok(if stale.is_empty() { Outcome::Fine } else { Outcome::Findings });
    }
    for line in files::write(workspace, &names.output, &generate(&contract, &names))? {
        println!("{line}");
    }
    Ok(Outcome::Fine)
}

/// What of the generated folder is not what the contract generates.
///
/// # Errors
/// When the folder cannot be read.
pub fn stale(workspace: &Path, contract: &Contract, names: &Names) -> anyhow::Result<Vec<files::Stale>> {
    files::compare(workspace, &names.output, &generate(contract, names))
}

/// What to do about stale files.
const REMEDY: &str = "run `cargo xtask codegen` and commit what it writes";

/// Stale files as people or programs read them.
pub fn render_stale(stale: &[files::Stale], format: Format) -> String {
    let mut text = String::new();
    for file in stale {
        let what = match file {
            files::Stale::Differs { .. } => "is not what the contract generates",
            files::Stale::Orphan { .. } => "stands in the generated folder and nothing generates it",
        };
        match (format, file) {
            (Format::Github, _) => {
                let message = format!("{} {what}\n{REMEDY}", file.path());
                text += &diagnostic::workflow_command(file.path(), 1, 1, "stale", &message);
            }
            (Format::Json, _) => {
                let path = file.path();
                text += &diagnostic::line(
                    &serde_json::json!({ "code": "stale", "file": path, "message": what, "help": REMEDY }),
                );
            }
            (Format::Text, files::Stale::Differs { diff, path }) => {
                text += &format!("{path} {what}\n{diff}\n")
            }
            (Format::Text, files::Stale::Orphan { path }) => text += &format!("{path} {what}\n"),
        }
    }
    if format == Format::Text && !stale.is_empty() {
        text += &format!("{REMEDY}\n");
    }
    text
}

/// Every file of the generated folder.
pub fn generate(contract: &Contract, names: &Names) -> Vec<File> {
    let document = &contract.document;
    let types = Types::new(document);
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
            emit_adapter::adapter(document, &types, &names.adapter()),
        ),
        rust(
            "document",
            "The contract itself, for serving.",
            emit_document::document(document, names, &digest),
        ),
        rust("events", "What webhooks send.", emit_events::events(document, &types)),
        rust("operations", "The contract as static tables.", emit_operations::operations(document)),
        rust("schemas", "The types of requests and responses.", emit_schemas::schemas(document, &types)),
    ];
    for tag in emit_adapter::served(document) {
        let name = emit_adapter::module(tag).to_string();
        let about = format!("The operations of `{}`.", tag.name.text);
        files.push(rust(name.trim_start_matches("r#"), &about, emit_tag::tag(document, &types, tag)));
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
mod tests {
    use super::*;
    use crate::contract::source::Source;

    /// A contract of its own with every construct that is supported.
    fn constructs() -> Vec<File> {
        let text = include_str!("fixtures/constructs.yaml");
        let source = Source::new("constructs.yaml", text);
        let contract =
            contract::read(source).unwrap_or_else(|refused| panic!("{}", refused.render(Format::Text)));
        let names = Names {
            contract: "constructs.yaml".into(),
            output: "constructs".into(),
            contract_from_output: "constructs.yaml".into(),
            stem: "constructs".into(),
        };
        generate(&contract, &names)
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
            "constructs.json",
            "constructs.openapi-3.0.json",
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
        let json = files.iter().find(|file| file.name == "constructs.json").expect("it is generated");
        let places: Vec<_> =
            ["\"openapi\"", "\"servers\"", "\"paths\"", "\"webhooks\"", "\"NewThing\"", "\"LargeThing\""]
                .map(|key| json.text.find(key).expect("the key is there"))
                .into();
        assert!(places.is_sorted(), "the order of the contract is kept");
    }
}
