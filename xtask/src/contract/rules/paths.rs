//! Paths: their braces and their parameters agree, and no request matches two of them.

use crate::contract::model::{Document, Location, Operation};
use crate::contract::node::Text;
use crate::diagnostic::{Code, Diagnostic};

/// Judges every path.
pub fn judge(document: &Document, findings: &mut Vec<Diagnostic>) {
    let mut paths: Vec<&Text> = Vec::new();
    for operation in &document.operations {
        parameters(operation, findings);
        if !paths.iter().any(|path| path.text == operation.path.text) {
            paths.push(&operation.path);
        }
    }
    for (index, path) in paths.iter().enumerate() {
        segments(path, findings);
        for other in &paths[index + 1..] {
            ambiguous(path, other, findings);
        }
    }
}

/// The names in braces.
fn braces(path: &str) -> Vec<&str> {
    path.split('/').filter_map(parameter).collect()
}

/// The name, when a segment is one parameter.
fn parameter(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}').filter(|name| !name.contains(['{', '}']))
}

fn segments(path: &Text, findings: &mut Vec<Diagnostic>) {
    let partial = |segment: &&str| segment.contains(['{', '}']) && parameter(segment).is_none();
    if let Some(segment) = path.split('/').find(partial) {
        findings.push(Diagnostic::error(
            Code::UnsupportedKeyword,
            path.span,
            format!("`{segment}` is a parameter and more in one segment"),
            "give the parameter a segment of its own: `/things/{id}`",
        ));
    }
}

fn parameters(operation: &Operation, findings: &mut Vec<Diagnostic>) {
    let declared = || operation.parameters.iter().filter(|parameter| parameter.location == Location::Path);
    for name in braces(&operation.path) {
        if !declared().any(|parameter| &*parameter.name == name) {
            findings.push(
                Diagnostic::error(
                    Code::PathParameterMismatch,
                    operation.path.span,
                    format!("`{{{name}}}` of the path is no parameter of `{}`", operation.id.text),
                    format!(
                        "add `- {{name: {name}, in: path, required: true, schema: ...}}` to the operation"
                    ),
                )
                .related(operation.span, "this operation"),
            );
        }
    }
    for parameter in declared() {
        let name = &*parameter.name;
        if !braces(&operation.path).contains(&name) {
            findings.push(Diagnostic::error(
                Code::PathParameterMismatch,
                parameter.name.span,
                format!("the path parameter `{name}` stands nowhere in `{}`", operation.path.text),
                format!("write `{{{name}}}` into the path, or remove the parameter"),
            ));
        } else if !parameter.required {
            findings.push(Diagnostic::error(
                Code::PathParameterMismatch,
                parameter.name.span,
                format!("the path parameter `{name}` is not required"),
                "add `required: true`: a path without it is another path",
            ));
        }
    }
}

/// Two paths match the same request when they agree segment by segment, a parameter agreeing with everything. That is
/// clear as long as one of them is everywhere at least as literal as the other: the literal one wins.
fn ambiguous(path: &Text, other: &Text, findings: &mut Vec<Diagnostic>) {
    let (left, right): (Vec<_>, Vec<_>) = (path.split('/').collect(), other.split('/').collect());
    let pairs = || {
        left.iter().zip(&right).map(|(left, right)| (parameter(left).is_some(), parameter(right).is_some()))
    };
    let overlap = left.len() == right.len()
        && left
            .iter()
            .zip(&right)
            .zip(pairs())
            .all(|((left, right), (one, two))| one || two || left == right);
    let left_wins =
        pairs().all(|(left, right)| !left || right) && pairs().any(|(left, right)| !left && right);
    let right_wins =
        pairs().all(|(left, right)| left || !right) && pairs().any(|(left, right)| left && !right);
    if overlap && !left_wins && !right_wins {
        findings.push(
            Diagnostic::error(
                Code::AmbiguousPaths,
                other.span,
                format!("`{}` and `{}` match the same requests", other.text, path.text),
                "tell them apart by a literal segment, or make them one path",
            )
            .related(path.span, "the other path"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::source::Span;

    fn clash(left: &str, right: &str) -> bool {
        let text = |text: &str| Text { text: text.into(), span: Span::default() };
        let mut findings = Vec::new();
        ambiguous(&text(left), &text(right), &mut findings);
        !findings.is_empty()
    }

    #[test]
    fn a_literal_segment_wins_over_a_parameter() {
        assert!(!clash("/a/{id}", "/a/summary"));
        assert!(!clash("/a/{id}", "/a/{id}/b"));
        assert!(!clash("/a/{id}/b", "/a/{id}/c"));
    }

    #[test]
    fn neither_wins_when_each_is_more_literal_somewhere() {
        assert!(clash("/a/{id}", "/a/{name}"));
        assert!(clash("/{kind}/b", "/a/{id}"));
    }
}
