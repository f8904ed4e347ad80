//! Compares the contract with the code, both ways, and with the tests and the tables.
//!
//! Owns the order of the comparisons. `cargo xtask check` runs them as a program of its own, since they link the server
//! and the other tools must work when it does not compile.

mod compare;
mod facts;
mod finding;
mod gates;
mod own;
mod report;
#[cfg(test)]
#[allow(unreachable_pub, reason = "generated code is `pub` among its own")]
mod second;
mod tables;
mod unsayable;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use api::generated::adapter::V1;
use api::generated::{document, events, operations};
use api::v1::Handlers;
use codegen::V1 as NAMES;
use contract::diagnostic::Format;
use serde_json::Value;

use self::finding::Finding;

/// The root of the workspace.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The code's own document, as JSON.
///
/// # Errors
/// When it has no valid form.
fn code() -> anyhow::Result<Value> {
    own::document::<V1<Handlers>>(document::TITLE, document::VERSION, events::EVENT_TYPES)
}

/// How the comparisons are printed.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Args {
    /// How findings are printed.
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Print the code's own OpenAPI document and stop.
    #[arg(long)]
    pub print_code: bool,
}

/// Prints every difference. Returns whether there is none.
///
/// # Errors
/// When a file or a database cannot be read.
pub fn run(args: Args) -> anyhow::Result<bool> {
    let workspace = &workspace();
    let (code, format) = (code()?, args.format);
    if args.print_code {
        println!("{}", serde_json::to_string_pretty(&code)?);
        return Ok(true);
    }
    let Ok(contract) = contract::read(contract::open(workspace, NAMES.contract)?, &NAMES.customs) else {
        bail!("the contract has findings; `cargo xtask codegen --check` shows them");
    };
    let differences = compare::compare(&facts::of(&contract.root.to_json()), &facts::of(&code));
    print!("{}", report::render(&contract, &differences, format));
    let mut findings = gates::judge(workspace, &contract)?;
    findings.extend(served(workspace)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let postgres = std::env::var("DATABASE_URL").ok().filter(|url| url.starts_with("postgres"));
    findings.extend(runtime.block_on(tables::judge(postgres.as_deref()))?);
    print!("{}", finding::render(&findings, format));
    if format == Format::Text {
        for (row, count) in &differences.unsayable {
            eprintln!("beyond poem-openapi ({count} times): {}; shown by {}", row.what, row.test);
        }
    }
    Ok(differences.is_empty() && findings.is_empty())
}

/// The documents that the server carries, against the files that they were made from: byte for byte.
fn served(workspace: &Path) -> anyhow::Result<Vec<Finding>> {
    let carried = &operations::CONTRACT;
    let generated = |file: String| format!("{}/{file}", NAMES.output);
    let documents = [
        (NAMES.contract.to_owned(), carried.yaml),
        (generated(format!("{}.json", NAMES.stem)), carried.json),
        (generated(format!("{}.openapi-3.0.json", NAMES.stem)), carried.json_3_0),
    ];
    let mut findings = Vec::new();
    for (file, text) in documents {
        let there =
            std::fs::read_to_string(workspace.join(&file)).with_context(|| format!("cannot read {file}"))?;
        if let Some((line, _)) = lines(&there, text).next() {
            findings.push(Finding {
                code: "served",
                message: format!("the server carries another {file} than the one that stands here"),
                file,
                line,
                column: 1,
                help: "build the server anew from what stands here".to_owned(),
            });
        }
    }
    Ok(findings)
}

/// The lines in which two texts differ, counted from 1.
fn lines<'t>(one: &'t str, other: &'t str) -> impl Iterator<Item = (usize, &'t str)> {
    let longest = one.lines().count().max(other.lines().count()) + 1;
    let (mut ours, mut theirs) = (one.split_inclusive('\n'), other.split_inclusive('\n'));
    (1..=longest).filter_map(move |line| {
        let (our, their) = (ours.next(), theirs.next());
        (our != their).then(|| (line, our.unwrap_or_default()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Difference, Differences};
    use contract::Contract;

    fn contract() -> Contract {
        let workspace = workspace();
        let source = contract::open(&workspace, NAMES.contract).expect("the contract can be read");
        contract::read(source, &NAMES.customs).expect("the contract has no findings")
    }

    fn between(contract: &Value, code: &Value) -> Differences {
        compare::compare(&facts::of(contract), &facts::of(code))
    }

    fn paths(list: &[Difference]) -> Vec<&str> {
        list.iter().map(|difference| &*difference.path).collect()
    }

    /// Takes out the thing at a pointer.
    fn without(document: &mut Value, parent: &str, key: &str) {
        let parent =
            document.pointer_mut(parent).and_then(Value::as_object_mut).expect("the parent is there");
        parent.remove(key).expect("the thing is there");
    }

    #[test]
    fn the_contract_and_the_code_say_the_same() {
        let contract = contract();
        let differences = between(&contract.root.to_json(), &code().expect("the code has a document"));
        assert!(differences.is_empty(), "{}", report::render(&contract, &differences, Format::Text));
    }

    #[test]
    fn every_row_of_what_cannot_be_said_is_needed() {
        let first = between(&contract().root.to_json(), &code().expect("the code has a document"));
        let second = second_version().1;
        for row in unsayable::ROWS {
            let used = first.unsayable.iter().chain(&second.unsayable).any(|(used, _)| used.id == row.id);
            assert!(used, "{} covers nothing", row.id);
        }
    }

    /// The contract with every construct, and what only it or its code says.
    fn second_version() -> (Contract, Differences) {
        let names = codegen::CONTRACTS.last().expect("it is the last one");
        let source = contract::open(&workspace(), names.contract).expect("the contract can be read");
        let contract = contract::read(source, &names.customs).expect("the contract has no findings");
        let code = second::code();
        let differences = between(&contract.root.to_json(), &code);
        (contract, differences)
    }

    #[test]
    fn every_supported_construct_is_in_the_code_as_the_contract_has_it() {
        let (contract, differences) = second_version();
        assert!(differences.is_empty(), "{}", report::render(&contract, &differences, Format::Text));
    }

    #[test]
    fn a_document_that_was_changed_since_the_server_was_built_is_found() {
        assert_eq!(served(&workspace()).expect("the files are read"), []);
        assert_eq!(lines("a\nb\n", "a\nb\n").next(), None);
        assert_eq!(lines("a\nb\n", "a\nc\n").next(), Some((2, "b\n")));
        assert_eq!(lines("a\n", "a").next(), Some((1, "a\n")));
    }

    #[test]
    fn an_operation_taken_out_of_the_contract_is_found_in_the_code() {
        let mut contract = contract().root.to_json();
        without(&mut contract, "/paths", "/api/v1/orders");
        let differences = between(&contract, &code().expect("the code has a document"));
        assert_eq!(paths(&differences.code_only), ["GET /api/v1/orders"]);
        assert!(differences.contract_only.is_empty());
    }

    #[test]
    fn an_operation_and_an_event_taken_out_of_the_code_are_found_in_the_contract() {
        let contract = contract();
        let mut code = code().expect("the code has a document");
        without(&mut code, "/paths/~1api~1v1~1students", "post");
        without(&mut code, "/webhooks", "order.paid");
        let differences = between(&contract.root.to_json(), &code);
        assert_eq!(paths(&differences.contract_only), ["POST /api/v1/students", "webhook `order.paid`"]);
        assert!(differences.code_only.is_empty());
        let place = contract.source.place(contract.root.place_of(&differences.contract_only[0].pointer));
        let line = contract.source.text.lines().nth(place.line - 1);
        assert_eq!(line, Some("    post:"), "the place is that of the method");
    }

    #[test]
    fn a_field_of_another_type_stands_in_both_lists_with_its_place() {
        let contract = contract();
        let mut changed = contract.root.to_json();
        changed["components"]["schemas"]["Price"]["properties"]["amount"]["type"] = Value::from("string");
        let differences = between(&changed, &code().expect("the code has a document"));
        let ends = |list: &[Difference], end: &str| {
            let [only] = list else { panic!("one difference is expected: {list:?}") };
            assert!(only.path.ends_with(end), "{}", only.path);
            assert!(
                only.pointer.starts_with("/components/schemas/Price/properties/amount"),
                "{}",
                only.pointer
            );
        };
        ends(&differences.contract_only, "property `price` > property `amount` > type string");
        ends(&differences.code_only, "property `price` > property `amount` > type integer");
    }
}
