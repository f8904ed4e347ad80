//! Compares the contract with the code, the tests, and the database tables.
//!
//! `cargo xtask check` runs this crate as a separate program: it links the server, while the other tools must work even
//! if the server does not compile.

mod code_document;
mod compare;
mod facts;
mod finding;
mod gates;
mod limitations;
mod report;
#[cfg(test)]
#[allow(unreachable_pub, reason = "generated code is `pub` within its own module")]
mod second_version;
mod tables;

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use api::developer::DeveloperHandlers;
use api::developer::generated as developer;
use api::developer::generated::adapter::DeveloperV1;
use api::generated as v1;
use api::generated::adapter::V1;
use api::platform::PlatformHandlers;
use api::platform::generated as platform;
use api::platform::generated::adapter::PlatformV1;
use api::v1::Handlers;
use codegen::{
    ContractConfig, DEVELOPER_V1 as DEVELOPER_CONFIG, PLATFORM_V1 as PLATFORM_CONFIG, V1 as V1_CONFIG,
};
use contract::Contract;
use contract::diagnostic::DiagnosticFormat;
use serde_json::Value;

use self::finding::CheckFinding;
use self::gates::Gates;

/// Returns the workspace root.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A contract of the server, and the code that implements it.
struct ServedContract {
    config: ContractConfig<'static>,
    /// Returns the OpenAPI document of the code, as JSON.
    code: fn() -> anyhow::Result<Value>,
    /// The documents that are embedded in the server.
    embedded: &'static contract_runtime::contract::Contract,
    gates: Gates,
}

/// The contracts of the server.
const SERVED: [ServedContract; 3] = [
    ServedContract { config: V1_CONFIG, code, embedded: &v1::operations::CONTRACT, gates: gates::V1_GATES },
    ServedContract {
        config: DEVELOPER_CONFIG,
        code: developer_code,
        embedded: &developer::operations::CONTRACT,
        gates: gates::DEVELOPER_GATES,
    },
    ServedContract {
        config: PLATFORM_CONFIG,
        code: platform_code,
        embedded: &platform::operations::CONTRACT,
        gates: gates::PLATFORM_GATES,
    },
];

/// Returns the OpenAPI document of the code of v1, as JSON.
///
/// # Errors
/// Returns an error when the document is invalid.
fn code() -> anyhow::Result<Value> {
    use v1::{document, events};
    code_document::document::<V1<Handlers>>(document::TITLE, document::VERSION, events::EVENT_TYPES)
}

/// Returns the OpenAPI document of the code of the Developer API, as JSON.
///
/// # Errors
/// Returns an error when the document is invalid.
fn developer_code() -> anyhow::Result<Value> {
    let (title, version) = (developer::document::TITLE, developer::document::VERSION);
    code_document::document::<DeveloperV1<DeveloperHandlers>>(title, version, &[])
}

/// Returns the OpenAPI document of the code of the Platform API, as JSON.
///
/// # Errors
/// Returns an error when the document is invalid.
fn platform_code() -> anyhow::Result<Value> {
    let (title, version) = (platform::document::TITLE, platform::document::VERSION);
    code_document::document::<PlatformV1<PlatformHandlers>>(title, version, &[])
}

/// The command-line arguments.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct CheckArgs {
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: DiagnosticFormat,
    /// Print the OpenAPI document of the code and exit
    #[arg(long)]
    pub print_code: bool,
}

/// Prints all differences, or the document of the code with `--print-code`. Returns true if there are no differences,
/// and with `--print-code`. Checks PostgreSQL only if `DATABASE_URL` is the URL of a PostgreSQL server.
///
/// # Errors
/// Returns an error when the contract or the document of the code is invalid, or when a file or a database cannot be
/// read.
pub fn run(args: CheckArgs) -> anyhow::Result<bool> {
    let workspace = &workspace();
    let format = args.format;
    if args.print_code {
        println!("{}", serde_json::to_string_pretty(&code()?)?);
        return Ok(true);
    }
    let (mut findings, mut has_differences) = (Vec::new(), false);
    for served in &SERVED {
        let contract = read_contract(workspace, &served.config)?;
        let code = (served.code)()?;
        let differences = compare::compare(&facts::of(&contract.root.to_json()), &facts::of(&code));
        print!("{}", report::render(&contract, &differences, format));
        has_differences |= !differences.is_empty();
        findings.extend(gates::check(workspace, &contract, served.gates)?);
        findings.extend(check_embedded_documents(workspace, served)?);
        if format == DiagnosticFormat::Text {
            for (limitation, count) in &differences.limitations {
                eprintln!(
                    "not supported by poem-openapi ({count} times in {}): {}; tested by {}",
                    served.config.contract, limitation.construct, limitation.test
                );
            }
        }
    }
    findings.extend(gates::missing_tests(workspace));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let postgres = std::env::var("DATABASE_URL").ok().filter(|url| url.starts_with("postgres"));
    findings.extend(runtime.block_on(tables::check(postgres.as_deref()))?);
    print!("{}", finding::render(&findings, format));
    Ok(!has_differences && findings.is_empty())
}

/// Reads a contract of the server.
///
/// # Errors
/// Returns an error when the contract cannot be read or is invalid.
fn read_contract(workspace: &Path, config: &ContractConfig<'_>) -> anyhow::Result<Contract> {
    let source = contract::read_file(workspace, config.contract)?;
    let invalid =
        |_| anyhow!("{} is invalid; run `cargo xtask codegen --check` for details", config.contract);
    contract::read(source, &config.conventions).map_err(invalid)
}

/// Compares the documents that are embedded in the server with the files that they were built from, byte for byte.
fn check_embedded_documents(workspace: &Path, served: &ServedContract) -> anyhow::Result<Vec<CheckFinding>> {
    let ServedContract { config, embedded, .. } = served;
    let generated = |file: String| format!("{}/{file}", config.output);
    let documents = [
        (config.contract.to_owned(), embedded.yaml),
        (generated(format!("{}.json", config.name)), embedded.json),
        (generated(format!("{}.openapi-3.0.json", config.name)), embedded.json_3_0),
    ];
    // Without extensible enums, the contract is also the document for client generators.
    let for_clients = [
        (generated(format!("{}.clients.json", config.name)), embedded.clients_json),
        (generated(format!("{}.clients.openapi-3.0.json", config.name)), embedded.clients_json_3_0),
    ];
    let has_client_documents = embedded.clients_json != embedded.json;
    let mut findings = Vec::new();
    for (file, text) in documents.into_iter().chain(for_clients.into_iter().filter(|_| has_client_documents))
    {
        let file_text =
            std::fs::read_to_string(workspace.join(&file)).with_context(|| format!("cannot read {file}"))?;
        if let Some((line, _)) = differing_lines(&file_text, text).next() {
            findings.push(CheckFinding {
                code: "served",
                message: format!("the server was built with a different {file}"),
                file,
                line,
                column: 1,
                help: "rebuild the server".to_owned(),
            });
        }
    }
    Ok(findings)
}

/// Compares two texts line by line. Returns the number of each differing line, counted from 1, with the line of `left`,
/// which is empty if only `right` has the line.
fn differing_lines<'t>(left: &'t str, right: &'t str) -> impl Iterator<Item = (usize, &'t str)> {
    let longest = left.lines().count().max(right.lines().count()) + 1;
    let (mut left_lines, mut right_lines) = (left.split_inclusive('\n'), right.split_inclusive('\n'));
    (1..=longest).filter_map(move |line| {
        let (left, right) = (left_lines.next(), right_lines.next());
        (left != right).then(|| (line, left.unwrap_or_default()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Difference, DocumentDifferences};

    fn contract() -> Contract {
        let workspace = workspace();
        let source = contract::read_file(&workspace, V1_CONFIG.contract).expect("the contract can be read");
        contract::read(source, &V1_CONFIG.conventions).expect("the contract is valid")
    }

    fn compare_documents(contract: &Value, code: &Value) -> DocumentDifferences {
        compare::compare(&facts::of(contract), &facts::of(code))
    }

    fn paths(list: &[Difference]) -> Vec<&str> {
        list.iter().map(|difference| &*difference.path).collect()
    }

    /// Removes a key of the object at a JSON pointer.
    fn remove_key(document: &mut Value, parent: &str, key: &str) {
        let parent = document.pointer_mut(parent).and_then(Value::as_object_mut).expect("the parent exists");
        parent.remove(key).expect("the key exists");
    }

    #[test]
    fn the_contracts_and_the_code_are_equal() {
        for served in &SERVED {
            let contract = read_contract(&workspace(), &served.config).expect("the contract is valid");
            let code = (served.code)().expect("the code has a document");
            let differences = compare_documents(&contract.root.to_json(), &code);
            let rendered = report::render(&contract, &differences, DiagnosticFormat::Text);
            assert!(differences.is_empty(), "{rendered}");
        }
    }

    #[test]
    fn every_limitation_is_used() {
        let first = compare_documents(&contract().root.to_json(), &code().expect("the code has a document"));
        let second = second_version().1;
        for limitation in limitations::LIMITATIONS {
            let used = first
                .limitations
                .iter()
                .chain(&second.limitations)
                .any(|(counted, _)| counted.id == limitation.id);
            assert!(used, "{} is unused", limitation.id);
        }
    }

    /// Returns the second contract, which contains every supported construct, and its differences from the code.
    fn second_version() -> (Contract, DocumentDifferences) {
        let config = codegen::CONTRACTS.last().expect("there is a contract");
        let source = contract::read_file(&workspace(), config.contract).expect("the contract can be read");
        let contract = contract::read(source, &config.conventions).expect("the contract is valid");
        let code = second_version::code();
        let differences = compare_documents(&contract.root.to_json(), &code);
        (contract, differences)
    }

    #[test]
    fn every_supported_construct_is_equal_in_contract_and_code() {
        let (contract, differences) = second_version();
        assert!(
            differences.is_empty(),
            "{}",
            report::render(&contract, &differences, DiagnosticFormat::Text)
        );
    }

    #[test]
    fn a_document_that_changed_after_the_build_is_reported() {
        for served in &SERVED {
            assert_eq!(check_embedded_documents(&workspace(), served).expect("the files are read"), []);
        }
        assert_eq!(differing_lines("a\nb\n", "a\nb\n").next(), None);
        assert_eq!(differing_lines("a\nb\n", "a\nc\n").next(), Some((2, "b\n")));
        assert_eq!(differing_lines("a\n", "a").next(), Some((1, "a\n")));
    }

    #[test]
    fn an_operation_that_the_contract_lacks_is_reported() {
        let mut contract = contract().root.to_json();
        remove_key(&mut contract, "/paths", "/api/v1/orders");
        let differences = compare_documents(&contract, &code().expect("the code has a document"));
        assert_eq!(paths(&differences.code_only), ["GET /api/v1/orders"]);
        assert!(differences.contract_only.is_empty());
    }

    #[test]
    fn an_operation_and_an_event_that_the_code_lacks_are_reported() {
        let contract = contract();
        let mut code = code().expect("the code has a document");
        remove_key(&mut code, "/paths/~1api~1v1~1students", "post");
        remove_key(&mut code, "/webhooks", "order.paid");
        let differences = compare_documents(&contract.root.to_json(), &code);
        assert_eq!(paths(&differences.contract_only), ["POST /api/v1/students", "webhook `order.paid`"]);
        assert!(differences.code_only.is_empty());
        let position = contract.source.position(contract.root.span_at(&differences.contract_only[0].pointer));
        let line = contract.source.text.lines().nth(position.line - 1);
        assert_eq!(line, Some("    post:"), "the position is that of the method");
    }

    #[test]
    fn a_property_of_another_type_is_in_both_lists_with_its_position() {
        let contract = contract();
        let mut changed = contract.root.to_json();
        changed["components"]["schemas"]["Price"]["properties"]["amount"]["type"] = Value::from("string");
        let differences = compare_documents(&changed, &code().expect("the code has a document"));
        let assert_only = |list: &[Difference], suffix: &str| {
            let [only] = list else { panic!("expected one difference, got {list:?}") };
            assert!(only.path.ends_with(suffix), "{}", only.path);
            assert!(
                only.pointer.starts_with("/components/schemas/Price/properties/amount"),
                "{}",
                only.pointer
            );
        };
        assert_only(&differences.contract_only, "property `price` > property `amount` > type string");
        assert_only(&differences.code_only, "property `price` > property `amount` > type integer");
    }
}
