//! Renders the differences between contract and code.

use contract::Contract;
use contract::diagnostic::{self, DiagnosticFormat};

use super::compare::{Difference, DocumentDifferences};

/// The diagnostic code and the title of each list.
const CONTRACT_ONLY: (&str, &str) = ("contract-only", "in the contract, not in the code");
const CODE_ONLY: (&str, &str) = ("code-only", "in the code, not in the contract");
const HELP: &str =
    "run `cargo xtask codegen`; if nothing changes, fix the generator or the list of limitations";

/// Renders both lists, each difference with its position in the contract.
pub(crate) fn render(
    contract: &Contract,
    differences: &DocumentDifferences,
    format: DiagnosticFormat,
) -> String {
    let lists = [(CONTRACT_ONLY, &differences.contract_only), (CODE_ONLY, &differences.code_only)];
    let mut text = String::new();
    for ((code, title), list) in lists {
        if format == DiagnosticFormat::Text && !list.is_empty() {
            text += &format!("{title}:\n");
        }
        for difference in list {
            text += &render_difference(contract, difference, code, title, format);
        }
    }
    if format == DiagnosticFormat::Text && !differences.is_empty() {
        text += &format!("help: {HELP}\n");
    }
    text
}

fn render_difference(
    contract: &Contract,
    difference: &Difference,
    code: &str,
    title: &str,
    format: DiagnosticFormat,
) -> String {
    let source = &contract.source;
    let span = contract.root.span_at(&difference.pointer);
    let position = source.position(span);
    let uses = match difference.other_uses {
        0 => String::new(),
        1 => " (and 1 more use)".to_owned(),
        count => format!(" (and {count} more uses)"),
    };
    let message = format!("{}{uses}", difference.path);
    match format {
        DiagnosticFormat::Text => {
            format!("  {}:{}:{}: {message}\n", source.name, position.line, position.column)
        }
        DiagnosticFormat::Json => diagnostic::json_line(&serde_json::json!({
            "code": code,
            "file": source.name,
            "line": position.line,
            "column": position.column,
            "message": message,
            "help": HELP,
        })),
        DiagnosticFormat::Github => {
            let message = format!("{title}: {message}");
            diagnostic::workflow_command(&source.name, position.line, position.column, code, &message)
        }
    }
}
