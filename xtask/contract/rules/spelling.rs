//! Names are snake_case, but for those that a contract's server spells otherwise.

use heck::ToSnakeCase;

use super::sites;
use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, Location};
use crate::node::{Node, Text};

/// Judges the names of parameters and properties but for `others`, which are spelled as they are spelled wherever they
/// occur. Headers follow the custom of HTTP and are left alone.
pub(super) fn judge(root: &Node, document: &Document, others: &[&str], findings: &mut Vec<Diagnostic>) {
    for parameter in document.operations.iter().flat_map(|operation| &operation.parameters) {
        if parameter.location != Location::Header {
            name("parameter", &parameter.name, others, findings);
        }
    }
    for site in sites::schemas(root) {
        let properties = site.schema.get("properties").and_then(Node::entries);
        for property in properties.unwrap_or_default() {
            name("property", &property.key, others, findings);
        }
    }
}

fn name(what: &str, name: &Text, others: &[&str], findings: &mut Vec<Diagnostic>) {
    let snake = name.to_snake_case();
    let known = findings.iter().any(|finding| finding.code == Code::Spelling && finding.span == name.span);
    if known || others.contains(&&**name) || (**name == *snake && !snake.is_empty()) {
        return;
    }
    if snake.is_empty() {
        let message = format!("the {what} `{}` has neither a letter nor a digit", name.text);
        let help = "give it a name in snake_case";
        findings.push(Diagnostic::error(Code::Spelling, name.span, message, help));
        return;
    }
    let mut help = format!("write `{snake}`");
    if !others.is_empty() {
        let others: Vec<_> = others.iter().map(|name| format!("`{name}`")).collect();
        help += &format!("; only {} are spelled otherwise", others.join(", "));
    }
    let message = format!("the {what} `{}` is not spelled in snake_case", name.text);
    findings.push(Diagnostic::error(Code::Spelling, name.span, message, help));
}
