//! The half of `check` that links the server.

use std::path::Path;

use anyhow::bail;
use creator_api::api::generated::adapter::V1;
use creator_api::api::generated::{document, events};
use creator_api::api::v1::Handlers;
use serde_json::Value;

use super::{compare, facts, own, report};
use crate::Outcome;
use crate::codegen::Names;
use crate::contract;
use crate::diagnostic::Format;

/// The code's own document, as JSON.
///
/// # Errors
/// When it has no valid form.
pub fn code() -> anyhow::Result<Value> {
    own::document::<V1<Handlers>>(document::TITLE, document::VERSION, events::EVENT_TYPES)
}

/// Compares the contract with the code and prints both lists.
///
/// # Errors
/// When the contract cannot be read.
pub fn run(workspace: &Path, format: Format, print_code: bool) -> anyhow::Result<Outcome> {
    let code = code()?;
    if print_code {
        println!("{}", serde_json::to_string_pretty(&code)?);
        return Ok(Outcome::Fine);
    }
    let Ok(contract) = contract::read(contract::open(workspace, &Names::v1().contract)?) else {
        bail!("the contract has findings; `cargo xtask codegen --check` shows them");
    };
    let differences = compare::compare(&facts::of(&contract.root.to_json()), &facts::of(&code));
    print!("{}", report::render(&contract, &differences, format));
    if format == Format::Text {
        for (row, count) in &differences.unsayable {
            eprintln!("beyond poem-openapi ({count} times): {}; shown by {}", row.what, row.test);
        }
    }
    Ok(if differences.is_empty() { Outcome::Fine } else { Outcome::Findings })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::compare::{Difference, Differences};
    use crate::check::unsayable;
    use crate::contract::Contract;

    fn contract() -> Contract {
        let workspace = crate::workspace();
        let source = contract::open(&workspace, &Names::v1().contract).expect("the contract can be read");
        contract::read(source).expect("the contract has no findings")
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
        let differences = between(&contract().root.to_json(), &code().expect("the code has a document"));
        for row in unsayable::ROWS {
            assert!(
                differences.unsayable.iter().any(|(used, _)| used.id == row.id),
                "{} covers nothing",
                row.id
            );
        }
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
