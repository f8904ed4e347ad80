//! The two lists, as people or programs read them.

use contract::Contract;
use contract::diagnostic::{self, Format};

use super::compare::{Difference, Differences};

/// The lists and their codes.
const CONTRACT_ONLY: (&str, &str) = ("contract-only", "in the contract, not in the code");
const CODE_ONLY: (&str, &str) = ("code-only", "in the code, not in the contract");
const HELP: &str =
    "run `cargo xtask codegen`; if it is fresh, the generator or the list of what cannot be said is at fault";

/// Renders both lists, each difference with its place in the contract.
pub(crate) fn render(contract: &Contract, differences: &Differences, format: Format) -> String {
    let lists = [(CONTRACT_ONLY, &differences.contract_only), (CODE_ONLY, &differences.code_only)];
    let mut text = String::new();
    for ((code, title), list) in lists {
        if format == Format::Text && !list.is_empty() {
            text += &format!("{title}:\n");
        }
        for difference in list {
            text += &one(contract, difference, code, title, format);
        }
    }
    if format == Format::Text && !differences.is_empty() {
        text += &format!("help: {HELP}\n");
    }
    text
}

fn one(contract: &Contract, difference: &Difference, code: &str, title: &str, format: Format) -> String {
    let source = &contract.source;
    let span = contract.root.place_of(&difference.pointer);
    let place = source.place(span);
    let uses = match difference.other_uses {
        0 => String::new(),
        count => format!(" (and {count} more uses)"),
    };
    let message = format!("{}{uses}", difference.path);
    match format {
        Format::Text => format!("  {}:{}:{}: {message}\n", source.name, place.line, place.column),
        Format::Json => diagnostic::line(&serde_json::json!({
            "code": code,
            "file": source.name,
            "line": place.line,
            "column": place.column,
            "message": message,
            "help": HELP,
        })),
        Format::Github => {
            let message = format!("{title}: {message}");
            diagnostic::workflow_command(&source.name, place.line, place.column, code, &message)
        }
    }
}
