//! Generates all files of a contract.

use contract::Contract;
use contract::plain_text::plain_text;
use proc_macro2::TokenStream;
use sha2::{Digest, Sha256};

use super::files::{self, GeneratedFile};
use super::types::RustTypes;
use super::{
    ContractConfig, LowerTypes, Tables, client_document, downgrade, emit_adapter, emit_document, emit_events,
    emit_mod,
};
use super::{emit_operations, emit_schemas, emit_tables, emit_tag, pretty};

/// Generates the files of a contract by folder.
pub(crate) fn generate_folders<'a>(
    contract: &Contract,
    config: &ContractConfig<'a>,
) -> Vec<(&'a str, Vec<GeneratedFile>)> {
    let tables = config.tables.map(|tables| (tables.output, generate_tables(contract, config, &tables)));
    let lower = config.lower.map(|lower| (lower.output, generate_lower(contract, config, lower)));
    std::iter::once((config.output, generate(contract, config))).chain(tables).chain(lower).collect()
}

/// Generates the tables for lower crates.
fn generate_tables(
    contract: &Contract,
    config: &ContractConfig<'_>,
    tables: &Tables<'_>,
) -> Vec<GeneratedFile> {
    let about = format!("{}: names that the contract defines.", contract.document.title);
    vec![rust_file(contract, config, "mod", &about, emit_tables::tables(&contract.document, tables))]
}

/// Generates the module of a lower crate.
fn generate_lower(contract: &Contract, config: &ContractConfig<'_>, lower: LowerTypes) -> Vec<GeneratedFile> {
    const SCHEMAS_FILE: &str = "schemas.json";
    let document = &contract.document;
    let types = RustTypes::new(document, Some(lower.schema));
    let about = format!("{}: the types of `{}`.", document.title, lower.schema);
    let items = emit_schemas::lower(document, &types, SCHEMAS_FILE);
    let schemas = emit_document::only_schemas(&contract.root, |name| types.is_lower(name));
    vec![
        rust_file(contract, config, "mod", &about, items),
        GeneratedFile { name: SCHEMAS_FILE.to_owned(), text: json(&schemas) },
    ]
}

/// Formats a generated Rust file.
fn rust_file(
    contract: &Contract,
    config: &ContractConfig<'_>,
    name: &str,
    about: &str,
    items: TokenStream,
) -> GeneratedFile {
    let (digest, source) = (digest(&contract.source.text), config.name_in_heading);
    let heading =
        format!("{}{source} (sha256 {digest}), do not edit. Run `cargo xtask codegen`.\n\n", files::HEADING);
    // Texts of the contract must not end the comment.
    let text = pretty::file(&heading, &format!("//! {}\n", plain_text(about)), items);
    GeneratedFile { name: format!("{name}.rs"), text }
}

/// Generates the files of a contract, without those of a lower crate.
pub(crate) fn generate(contract: &Contract, config: &ContractConfig<'_>) -> Vec<GeneratedFile> {
    let document = &contract.document;
    let types = RustTypes::new(document, config.lower.map(|lower| lower.schema));
    let digest = digest(&contract.source.text);
    let for_clients = client_document::for_clients(&contract.root);
    let rust = |name: &str, about: &str, items| rust_file(contract, config, name, about, items);
    let title = &document.title;
    let mut files = vec![
        rust("mod", &format!("{title}: code generated from the contract."), emit_mod::module_file(document)),
        rust(
            "adapter",
            "Serves the traits of all tags as one poem-openapi API.",
            emit_adapter::adapter(document, &types, &config.adapter_type(), config.conventions.profile),
        ),
        rust(
            "document",
            "The text of the contract, in the formats that the server serves.",
            emit_document::document(document, config, &digest, for_clients.is_some()),
        ),
        rust(
            "events",
            "The types of webhook events.",
            emit_events::events(document, &types, config.tables.is_some()),
        ),
        rust(
            "operations",
            "Static descriptions of the operations.",
            emit_operations::operations(document, config.name),
        ),
        rust(
            "schemas",
            "The types of requests and responses.",
            emit_schemas::schemas(document, &types, config.lower.map(|lower| lower.module)),
        ),
    ];
    for tag in emit_adapter::tags_with_operations(document) {
        let name = emit_adapter::tag_module(tag).to_string();
        let about = format!("The operations of `{}`.", tag.name.text);
        files.push(rust(name.trim_start_matches("r#"), &about, emit_tag::tag(document, &types, tag, config)));
    }
    files.push(GeneratedFile { name: config.json(), text: json(&contract.root) });
    files.push(GeneratedFile {
        name: config.json_3_0(),
        text: json(&downgrade::to_openapi_3_0(&contract.root)),
    });
    if let Some(root) = for_clients {
        let text = compact_json(&downgrade::to_openapi_3_0(&root));
        files.push(GeneratedFile { name: config.clients_json(), text: compact_json(&root) });
        files.push(GeneratedFile { name: config.clients_json_3_0(), text });
    }
    files
}

/// Serializes a tree as JSON.
fn json(node: &contract::node::Node) -> String {
    serde_json::to_string_pretty(node).expect("a tree of plain values is valid JSON") + "\n"
}

/// Returns a document that only programs read, on one line.
fn compact_json(node: &contract::node::Node) -> String {
    serde_json::to_string(node).expect("a tree of plain values is valid JSON") + "\n"
}

/// Returns the SHA-256 digest of a text in hexadecimal.
fn digest(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}
