//! The half of `check` that links the server.

use std::path::Path;

use anyhow::bail;
use creator_api::api::generated::adapter::V1;
use creator_api::api::generated::{document, events};
use serde_json::Value;

use super::stand_in::Handlers;
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
            eprintln!("beyond poem-openapi: {} ({count} times); shown by {}", row.id, row.test);
        }
    }
    Ok(if differences.is_empty() { Outcome::Fine } else { Outcome::Findings })
}
