//! Names are snake_case, but for those that the API's first description spells otherwise.

use heck::ToSnakeCase;

use super::sites;
use crate::contract::model::{Document, Location};
use crate::contract::node::{Node, Text};
use crate::diagnostic::{Code, Diagnostic};

/// Spelled as they are spelled, wherever they occur.
const ALLOWED: [&str; 3] = ["studentId", "courseId", "retryAfterSeconds"];

/// Judges the names of parameters and properties. Headers follow the custom of HTTP and are left alone.
pub fn judge(root: &Node, document: &Document, findings: &mut Vec<Diagnostic>) {
    for parameter in document.operations.iter().flat_map(|operation| &operation.parameters) {
        if parameter.location != Location::Header {
            name("parameter", &parameter.name, findings);
        }
    }
    for site in sites::schemas(root) {
        let properties = site.schema.get("properties").and_then(Node::entries);
        for property in properties.unwrap_or_default() {
            name("property", &property.key, findings);
        }
    }
}

fn name(what: &str, name: &Text, findings: &mut Vec<Diagnostic>) {
    let snake = name.to_snake_case();
    let known = findings.iter().any(|finding| finding.code == Code::Spelling && finding.span == name.span);
    if **name == *snake || ALLOWED.contains(&&**name) || known {
        return;
    }
    findings.push(Diagnostic::error(
        Code::Spelling,
        name.span,
        format!("the {what} `{}` is not spelled in snake_case", name.text),
        format!(
            "write `{snake}`; only {} are spelled otherwise",
            ALLOWED.map(|name| format!("`{name}`")).join(", ")
        ),
    ));
}
